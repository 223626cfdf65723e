/**
 * Transformer: panels become vectors, and a Transformer over the nine positions fills in those of missing
 * panels. A baseline of the CRAB paper, which gives its sizes; positions, norms and loss are our choice. No
 * concepts, no rule variable, nothing random but noise and dropout while training.
 */
import { integer, number, object, type Read } from '../../base/index.js';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { atLeastSingle, empty, nn, where, type Tensor } from '../../torch/index.js';
import { equalDeviationKl, sampled } from '../crab/distributions.js';
import { PAPER_ROWS } from '../crab/presets.js';
import { AttentionBlock } from '../parts/attention.js';
import { ConceptModel } from '../parts/concept-model.js';
import {
  deviation,
  generativeSystem,
  weightsReader,
  type TargetBatch,
} from '../parts/generative.js';
import { coderReader, CRAB_CODER, meanOverSets, PanelCoder } from '../parts/panel-coder.js';
import { width } from '../parts/settings.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';
import { transformerExport } from './export.js';

const network = object({
  coder: coderReader,
  /** Numbers that describe a panel. */
  width,
  blocks: integer({ min: 1, max: 64 }),
  heads: integer({ min: 1, max: 64 }),
  /** Width of the hidden layer of each block. */
  hidden: width,
  dropout: number({ min: 0, max: 0.99 }),
});

const objective = object({
  sigmaX: deviation,
  /** Noise of the vectors that panels are painted from; without it their scale could shrink for free. */
  sigmaZ: deviation,
  weights: weightsReader('targetRegularizer'),
});

/** A parameter drawn uniformly from ±bound on the generator's device, then moved to its own. */
function uniformParameter(
  shape: readonly number[],
  bound: number,
  { generator, device = generator.device }: nn.LayerOptions,
): nn.Parameter {
  const drawn = empty(shape, { device: generator.device }).uniform_(-bound, bound, generator);
  return nn.parameter(drawn.to({ device }));
}

class Transformer extends ConceptModel {
  readonly coder: PanelCoder;
  /** What stands at each position, added to its panel: [9, width]. */
  readonly positions: nn.Parameter;
  /** What stands for a missing panel, [width]. */
  readonly missing: nn.Parameter;
  readonly blocks: readonly AttentionBlock[];
  readonly norm: nn.LayerNorm;
  readonly out: nn.Linear;

  constructor(sizes: Read<typeof network>, options: CreateOptions) {
    super();
    const { coder, width, blocks } = sizes;
    this.coder = new PanelCoder(coder, { outputs: width, inputs: width }, options);
    const bound = 1 / Math.sqrt(width);
    this.positions = uniformParameter([MATRIX_PANELS, width], bound, options);
    this.missing = uniformParameter([width], bound, options);
    this.blocks = Array.from({ length: blocks }, () => new AttentionBlock(sizes, options));
    this.norm = new nn.LayerNorm(width);
    this.out = new nn.Linear(width, width, options);
  }

  /** Vectors of panels [N, 9, width], context [N, S, 9]; those expected everywhere [N, S, 9, width]. */
  predict(vectors: Tensor, context: Tensor): Tensor {
    const [n, s] = context.shape;
    const known = where(context.eq(0).unsqueeze(3), this.missing, vectors.unsqueeze(1));
    let x = known.add(this.positions).flatten(0, 1); // [N * S, 9, width]
    for (const block of this.blocks) x = block.forward(x);
    const filled = atLeastSingle(this.out.forward(this.norm.forward(x)));
    return filled.reshape([n, s, MATRIX_PANELS, -1]);
  }

  conceptsOf(panels: Tensor): Tensor {
    return this.coder.encode(panels).unsqueeze(2); // [N, P, 1, width]
  }

  predictConcepts(concepts: Tensor, context: Tensor): Tensor {
    return this.predict(concepts.squeeze(2), context.unsqueeze(1)).squeeze(1).unsqueeze(2);
  }

  paint(concepts: Tensor): Tensor {
    return this.coder.decode(concepts.squeeze(2));
  }
}

/** CRAB's objective without its rules: paint targets from their own noisy vectors, and foretell those. */
function evaluate(model: Transformer, batch: TargetBatch, own: Read<typeof objective>) {
  const { sigmaX, sigmaZ } = own;
  const { panels, context } = batch;
  const vectors = model.coder.encode(panels); // [N, 9, width]
  const noisy = sampled(vectors, sigmaZ, batch.noise(...vectors.shape.slice(1)));
  const predicted = model.predict(vectors, context); // [N, S, 9, width]
  const errors = equalDeviationKl(vectors.unsqueeze(1), predicted, sigmaZ).sum(3); // [N, S, 9]
  return {
    reconstruction: model.coder.targetLikelihood(batch, noisy.unsqueeze(1), sigmaX).squeeze(0),
    targetRegularizer: meanOverSets(errors, context),
  };
}

export const transformer = generativeSystem({
  name: 'transformer',
  title: 'Transformer over the nine panels, a baseline of the CRAB paper',
  can: ['impute'],
  network,
  objective,
  settings: (configuration) => {
    // The paper gives no loss: weight and noise are those of CRAB.
    const { sigmaZ, betaTarget } = PAPER_ROWS[configuration];
    return {
      network: {
        coder: CRAB_CODER,
        width: 256,
        blocks: 4,
        heads: 4,
        hidden: 1024,
        dropout: 0.1,
      },
      objective: { sigmaX: 0.1, sigmaZ, weights: { targetRegularizer: constant(betaTarget) } },
      optimizer: { learningRate: 1e-4, batchSize: 512 },
    };
  },
  create: (sizes, options) => new Transformer(sizes, options),
  likelihoods: ['reconstruction'],
  evaluate,
  exports: transformerExport,
});
