/**
 * The concept-specific target predictors f_target^m (Method, "Target Predictor"): four 3x3
 * convolutions over the 3x3 matrix of concepts with r beside each position, zeros at the targets.
 */
import { atLeastSingle, cat, nn, type Tensor } from '../../torch/index.js';
import type { NetworkConfig } from './config.js';
import { MATRIX_PANELS } from '../../matrix/index.js';

/** Side of the matrix, and of the kernels. */
const SIDE = 3;

export class TargetPredictor extends nn.Module {
  readonly layers: readonly nn.BatchedConv2d[];

  constructor(config: NetworkConfig, options: nn.LayerOptions) {
    super();
    const { concepts, conceptSize, ruleSize, targetHidden, targetOutputRelu } = config;
    const widths = [conceptSize + ruleSize, ...targetHidden, conceptSize];
    this.layers = widths.slice(1).map((width, i) => {
      const relu = i < targetHidden.length || targetOutputRelu;
      const shape = { ...options, padding: 1, relu };
      return new nn.BatchedConv2d(concepts, widths[i], width, SIDE, shape);
    });
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
    let x = cat([known, beside], 4) // [M, S, N, 9, d_z + d_r]
      .reshape([m, s * n, SIDE, SIDE, -1])
      .permute([0, 1, 4, 2, 3]); // [M, S * N, d_z + d_r, 3, 3]
    for (const layer of this.layers) x = layer.forward(x);
    return atLeastSingle(x)
      .permute([0, 1, 3, 4, 2]) // [M, S * N, 3, 3, d_z]
      .reshape([m, s, n, MATRIX_PANELS, size]);
  }
}
