/**
 * The concept-specific target predictors f_target^m (Method, "Target Predictor"): four 3x3
 * convolutions over the 3x3 matrix of concepts with r beside each position, zeros at the targets.
 *
 * All M run as one: on a CPU as a grouped convolution; on a GPU, for whose convolution kernels a 3x3
 * matrix is too small, as one batched product from all positions to all positions.
 */
import { baddbmm, cat, conv2d, nn, tensor, type Tensor } from '../../torch/index.js';
import { uniformParameter } from './concept-linear.js';
import type { NetworkConfig } from './config.js';
import { atLeastSingle } from './distributions.js';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { SIDE, SPREAD, TAPS } from './neighbours.js';

/** M convolutions of one layer; weight [M * out, in, 3, 3] as of a grouped convolution, bias [M * out]. */
export class ConceptConvolution extends nn.Module {
  readonly weight: nn.Parameter;
  readonly bias: nn.Parameter;

  constructor(
    readonly concepts: number,
    readonly inputs: number,
    readonly outputs: number,
    options: nn.LayerOptions,
  ) {
    super();
    const bound = 1 / Math.sqrt(inputs * TAPS);
    const channels = concepts * outputs;
    this.weight = uniformParameter([channels, inputs, SIDE, SIDE], bound, options);
    this.bias = uniformParameter([channels], bound, options);
  }

  /** [B, M * in, 3, 3] to [B, M * out, 3, 3]. */
  grouped(x: Tensor): Tensor {
    return conv2d(x, this.weight, this.bias, { padding: 1, groups: this.concepts });
  }

  /**
   * [M, B, 9 * in] to [M, B, 9 * out]. The kernel is spread out to a matrix from every position to every
   * other, two fifths of it zeros: cheaper than gathering nine neighbours of each position, and back.
   * `spread` [9, 81] from SPREAD.
   */
  dense(x: Tensor, spread: Tensor): Tensor {
    const { concepts: m, inputs, outputs } = this;
    const weight = this.weight
      .reshape([m * outputs * inputs, TAPS])
      .matmul(spread) // [M * out * in, 81]
      .reshape([m, outputs, inputs, MATRIX_PANELS, MATRIX_PANELS]) // [M, out, in, to, from]
      .permute([0, 4, 2, 3, 1]) // [M, from, in, to, out]
      .reshape([m, MATRIX_PANELS * inputs, MATRIX_PANELS * outputs]);
    const bias = this.bias.reshape([m, 1, outputs]).repeat([1, 1, MATRIX_PANELS]); // [M, 1, 9 * out]
    return baddbmm(bias, x, weight);
  }
}

export class TargetPredictor extends nn.Module {
  readonly layers: readonly ConceptConvolution[];
  /** SPREAD as a tensor [9, 81]. */
  readonly spread: nn.Buffer;
  readonly #config: NetworkConfig;

  constructor(config: NetworkConfig, options: nn.LayerOptions) {
    super();
    this.#config = config;
    const { concepts, conceptSize, ruleSize, targetHidden } = config;
    const widths = [conceptSize + ruleSize, ...targetHidden, conceptSize];
    this.layers = widths
      .slice(1)
      .map((width, i) => new ConceptConvolution(concepts, widths[i], width, options));
    const spread = tensor([...SPREAD], { device: options.device }).reshape([
      TAPS,
      MATRIX_PANELS * MATRIX_PANELS,
    ]);
    this.spread = nn.buffer(spread, { persistent: false });
  }

  /**
   * Concepts [M, N, 9, d_z], context [S, N, 9] (0 at targets), rules [M, S, N, d_r]; predicted means at
   * every position [M, S, N, 9, d_z], f32, of which those at targets are meant.
   */
  forward(concepts: Tensor, context: Tensor, rules: Tensor): Tensor {
    const [m, n, , size] = concepts.shape;
    const s = context.shape[0];
    const known = concepts.unsqueeze(1).mul(context.reshape([1, s, n, MATRIX_PANELS, 1])); // [M, S, N, 9, d_z]
    const beside = rules.unsqueeze(3).expand([m, s, n, MATRIX_PANELS, rules.shape[3]]); // [M, S, N, 9, d_r]
    const x = cat([known, beside], 4).flatten(1, 2); // [M, S * N, 9, d_z + d_r]
    const y = x.device === 'cpu' ? this.#grouped(x) : this.#dense(x);
    return atLeastSingle(y).reshape([m, s, n, MATRIX_PANELS, size]);
  }

  #activated(x: Tensor, layer: number): Tensor {
    const hidden = layer < this.layers.length - 1;
    return hidden || this.#config.targetOutputRelu ? x.relu_() : x;
  }

  /** Convolutions over [B, M * channels, 3, 3]; input and output [M, B, 9, channels]. */
  #grouped(x: Tensor): Tensor {
    const [m, b, , inputs] = x.shape;
    let image = x.permute([1, 0, 3, 2]).reshape([b, m * inputs, SIDE, SIDE]);
    this.layers.forEach((layer, i) => {
      image = this.#activated(layer.grouped(image), i);
    });
    return image.reshape([b, m, this.#config.conceptSize, MATRIX_PANELS]).permute([1, 0, 3, 2]);
  }

  /** Input and output [M, B, 9, channels]. */
  #dense(x: Tensor): Tensor {
    const [m, b] = x.shape;
    let y = x.reshape([m, b, MATRIX_PANELS * x.shape[3]]);
    this.layers.forEach((layer, i) => {
      y = this.#activated(layer.dense(y, this.spread), i);
    });
    return y.reshape([m, b, MATRIX_PANELS, this.#config.conceptSize]);
  }
}
