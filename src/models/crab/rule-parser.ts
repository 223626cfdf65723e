/**
 * The concept-specific rule parsers f_rule^m (Method, "Rule Parser"), all M as one batched network:
 *
 *     o_ij = g_ij f_pair(Z_i, Z_j)              i, j = 1..9
 *     mean, deviation of r = f_relation(s o_1:9,1:9)
 *
 * Three forms that compute the same with less: the first layer of f_pair is split, W [Z_i; Z_j] =
 * A Z_i + B Z_j, so that it runs on 9 inputs instead of 81; pair representations are computed once and
 * gated for q(r|z) (all gates open) and for every context of p(r|z_C); and the first layer of f_relation,
 * which has most of its weights, multiplies a pair by them once for all gates.
 */
import { atLeastSingle, nn, softplus, type Tensor } from '../../torch/index.js';
import type { NetworkConfig } from './config.js';
import { MATRIX_PANELS } from '../../matrix/index.js';

/** Independent Gaussians; both tensors have the same shape, f32. */
export interface Gaussian {
  readonly mean: Tensor;
  readonly deviation: Tensor;
}

/** Ordered pairs of panels. */
export const PAIRS = MATRIX_PANELS * MATRIX_PANELS;

/**
 * Gates g_ij = 1 where panels i and j are both context, else 0 (the paper's gate variables).
 * Context [G, N, 9]; gates [G, N, 81].
 */
export function gatesOf(context: Tensor): Tensor {
  const pairs = context.unsqueeze(3).mul(context.unsqueeze(2)); // [G, N, 9, 9]
  return pairs.flatten(2);
}

export class RuleParser extends nn.Module {
  /** A of the first pair layer, with its bias. */
  readonly pairFirst: nn.BatchedLinear;
  /** B of the first pair layer. */
  readonly pairSecond: nn.BatchedLinear;
  readonly pairHidden: nn.BatchedLinear;
  readonly pairOut: nn.BatchedLinear;
  readonly relation: readonly nn.BatchedLinear[];
  readonly #config: NetworkConfig;

  constructor(config: NetworkConfig, options: nn.LayerOptions) {
    super();
    this.#config = config;
    const { concepts, conceptSize, pairHidden, pairFeatures, relationHidden, ruleSize } = config;
    const layer = (inputs: number, outputs: number): nn.BatchedLinear =>
      new nn.BatchedLinear(concepts, inputs, outputs, options);
    const half = { ...options, fanIn: 2 * conceptSize };
    this.pairFirst = new nn.BatchedLinear(concepts, conceptSize, pairHidden[0], half);
    this.pairSecond = new nn.BatchedLinear(concepts, conceptSize, pairHidden[0], {
      ...half,
      bias: false,
    });
    this.pairHidden = layer(pairHidden[0], pairHidden[1]);
    this.pairOut = layer(pairHidden[1], pairFeatures);
    const widths = [PAIRS * pairFeatures, ...relationHidden, 2 * ruleSize];
    this.relation = widths.slice(1).map((width, i) => layer(widths[i], width));
  }

  /** f_pair of every ordered pair of panels: concepts [M, N, 9, d_z], output [M, N, 81, features]. */
  pairs(concepts: Tensor): Tensor {
    const [m, n] = concepts.shape;
    const { pairHidden, pairFeatures } = this.#config;
    const panels = concepts.flatten(1, 2); // [M, N * 9, d_z]
    const first = this.pairFirst.forward(panels).reshape([m, n, MATRIX_PANELS, 1, pairHidden[0]]);
    const second = this.pairSecond.forward(panels).reshape([m, n, 1, MATRIX_PANELS, pairHidden[0]]);
    const hidden = first
      .add(second)
      .relu_()
      .reshape([m, n * PAIRS, pairHidden[0]]); // [M, N * 81, H]
    const deeper = this.pairHidden.forward(hidden).relu_();
    return this.pairOut.forward(deeper).reshape([m, n, PAIRS, pairFeatures]);
  }

  /**
   * f_relation of gated pair representations: pairs [M, N, 81, features], gates [G, N, 81]; the rule
   * of every problem under every set of gates [M, G, N, d_r].
   */
  relate(pairs: Tensor, gates: Tensor): Gaussian {
    const [m, n] = pairs.shape;
    const g = gates.shape[0];
    const [first, ...deeper] = this.relation;
    let x = first.gated(pairs, gates.mul(this.#config.pairScale)); // [M, G * N, hidden]
    for (const layer of deeper) x = layer.forward(x.relu_());
    const { ruleSize } = this.#config;
    const parameters = atLeastSingle(x).reshape([m, g, n, 2 * ruleSize]);
    return {
      mean: parameters.narrow(3, 0, ruleSize),
      deviation: this.#deviation(parameters.narrow(3, ruleSize, ruleSize)),
    };
  }

  /** Concepts [M, N, 9, d_z], gates [G, N, 81]; rules [M, G, N, d_r]. */
  forward(concepts: Tensor, gates: Tensor): Gaussian {
    return this.relate(this.pairs(concepts), gates);
  }

  #deviation(raw: Tensor): Tensor {
    const { ruleDeviationMax } = this.#config;
    return ruleDeviationMax === null ? softplus(raw) : raw.sigmoid().mul(ruleDeviationMax);
  }
}
