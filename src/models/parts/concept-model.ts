/**
 * Models that describe panels by concepts (or by one vector), foretell those of missing panels, and
 * paint them. Choosing and painting follow from the three: the candidate is chosen whose concepts are
 * nearest to the foretold ones (squared L2, summed over the missing panels), as the paper does.
 */
import { noGrad, where, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import { SystemModel, type Missing } from '../system.js';
import { contextTensor, hostTargets, targetTensors } from './target-sets.js';

/** A model that foretells concepts from the panels themselves. */
export abstract class ForetellingModel extends SystemModel {
  abstract override conceptsOf(panels: Tensor): Tensor;
  abstract override paint(concepts: Tensor): Tensor;
  /** The concepts expected at every position, [N, 9, M, d]; missing panels are white; mask [N, 9], 0 at missing. */
  abstract foretell(panels: Tensor, context: Tensor): Tensor;

  override score(panels: Tensor, missing: Missing, candidates: Tensor): Tensor {
    return noGrad(() => {
      const expected = this.expect(panels, missing); // [N, T, M, d]
      const [n, c, t, size] = candidates.shape;
      const offered = this.conceptsOf(candidates.reshape([n, c * t, size, size])); // [N, C * T, M, d]
      const gaps = offered.reshape([n, c, ...expected.shape.slice(1)]).sub(expected.unsqueeze(1));
      return gaps.square().sum([2, 3, 4]).neg(); // [N, C]
    });
  }

  /** The concepts expected at the missing positions, as many for each problem: [N, T, M, d]. */
  expect(panels: Tensor, missing: Missing): Tensor {
    return noGrad(() => {
      const { expected } = this.#expect(panels, missing); // [N, 9, M, d]
      const { index } = targetTensors(hostTargets([missing]), panels.device); // [1, N, T]
      const places = index.squeeze(0).unsqueeze(2).unsqueeze(3); // [N, T, 1, 1]
      return expected.gather(
        1,
        places.expand([...index.shape.slice(1), ...expected.shape.slice(2)]),
      );
    });
  }

  override impute(panels: Tensor, missing: Missing): Tensor {
    return noGrad(() => {
      const { expected, present, context } = this.#expect(panels, missing);
      const absent = context.eq(0).unsqueeze(2).unsqueeze(3); // [N, 9, 1, 1]
      return where(absent, this.paint(expected), present);
    });
  }

  /** The concepts expected at every position, [N, 9, M, d]. What stands at missing positions never enters. */
  #expect(panels: Tensor, missing: Missing) {
    if (this.training) {
      throw new ModelError(
        'a model in training mode depends on its whole batch: call eval() first',
      );
    }
    const context = contextTensor(missing, panels.device).squeeze(0); // [N, 9]
    const present = panels.maskedFill(context.eq(0).unsqueeze(2).unsqueeze(3), 1);
    return { expected: this.foretell(present, context), present, context };
  }
}

/** A model that needs no more than the concepts of the context. */
export abstract class ConceptModel extends ForetellingModel {
  abstract override predictConcepts(concepts: Tensor, context: Tensor): Tensor;

  override foretell(panels: Tensor, context: Tensor): Tensor {
    return this.predictConcepts(this.conceptsOf(panels), context);
  }
}
