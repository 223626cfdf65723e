/**
 * M independent linear layers, one for each concept, as one batched product. Weights are stored
 * [M, in, out], the order in which the product reads them: with the transpose of PyTorch's order it is
 * a third slower on a CPU.
 */
import { batchedLinear, bmm, empty, gatedLinear, nn, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';

export interface ConceptLinearOptions extends nn.LayerOptions {
  readonly bias?: boolean;
  /** Inputs of the whole layer where this is a part of one; sets the scale of the first weights. */
  readonly fanIn?: number;
}

/** Input [M, N, in], output [M, N, out]; weight [M, in, out], bias [M, 1, out]. */
export class ConceptLinear extends nn.Module {
  readonly weight: nn.Parameter;
  readonly bias: nn.Parameter | null;

  constructor(concepts: number, inputs: number, outputs: number, options: ConceptLinearOptions) {
    super();
    // PyTorch's default for linear layers: weights and biases within ±1/sqrt(inputs).
    const bound = 1 / Math.sqrt(options.fanIn ?? inputs);
    this.weight = uniformParameter([concepts, inputs, outputs], bound, options);
    this.bias =
      (options.bias ?? true) ? uniformParameter([concepts, 1, outputs], bound, options) : null;
  }

  forward(x: Tensor): Tensor {
    const { weight, bias } = this;
    return bias === null ? bmm(x, weight) : batchedLinear(x, weight, bias);
  }

  /**
   * Of blocks of inputs [M, N, P, in / P] under G sets of gates [G, N, P], which multiply them: [M, G * N,
   * out]. All sets together take about the time of one.
   */
  gated(x: Tensor, gates: Tensor): Tensor {
    if (this.bias === null) throw new ModelError('gated: the layer has no bias');
    return gatedLinear(x, gates, this.weight, this.bias);
  }
}

/** A parameter drawn uniformly from ±bound on the generator's device, then moved to its own. */
export function uniformParameter(
  shape: readonly number[],
  bound: number,
  { generator, device = generator.device }: nn.LayerOptions,
): nn.Parameter {
  const drawn = empty(shape, { device: generator.device }).uniform_(-bound, bound, generator);
  return nn.parameter(drawn.to({ device }));
}
