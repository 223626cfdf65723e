/**
 * Multi-head attention (Vaswani et al., 2017) with PyTorch's parameters and batch-first shapes.
 * Keys and values have the width of the queries.
 */
import { zerosLike } from '../creation.js';
import { TorchError } from '../errors.js';
import { constant, xavierUniform } from '../init.js';
import { dropout, linear } from '../functional.js';
import { attention, attentionWeights } from '../losses.js';
import type { Generator } from '../random.js';
import type { Tensor } from '../tensor.js';
import { drawn, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { Linear } from './linear.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';

export interface MultiheadAttentionOptions extends LayerOptions {
  readonly bias?: boolean;
  /** Probability that an attention weight is dropped in training. */
  readonly dropout?: number;
  /** What dropout draws from, on the device of the inputs; by default `generator`. */
  readonly dropoutGenerator?: Generator;
}

export interface AttentionMasks {
  /** bool [L, S] or [N * heads, L, S]: true where attention is forbidden; or floats to add. */
  readonly attentionMask?: Tensor;
  /** bool [N, S]: true for keys to ignore. */
  readonly keyPaddingMask?: Tensor;
}

export interface AttentionResult {
  /** [N, L, embedDim] */
  readonly output: Tensor;
  /** [N, L, S], averaged over heads */
  readonly weights: Tensor;
}

/** Query [N, L, E], key and value [N, S, E]; output [N, L, E]. */
export class MultiheadAttention extends Module {
  readonly inProjWeight: Parameter;
  readonly inProjBias: Parameter | null;
  readonly outProj: Linear;
  readonly dropout: number;
  readonly #generator: Generator;

  constructor(
    readonly embedDim: number,
    readonly numHeads: number,
    options: MultiheadAttentionOptions,
  ) {
    super();
    requireGenerator('MultiheadAttention', options);
    if (embedDim % numHeads !== 0) {
      throw new TorchError(
        'MultiheadAttention',
        `${embedDim} features do not divide among ${numHeads} heads`,
      );
    }
    const bias = options.bias ?? true;
    this.dropout = options.dropout ?? 0;
    this.#generator = options.dropoutGenerator ?? options.generator;
    // PyTorch draws the output layer first, then the projections; its own biases start at zero.
    this.outProj = new Linear(embedDim, embedDim, { ...options, bias });
    if (this.outProj.bias !== null) constant(this.outProj.bias, 0);
    this.inProjWeight = parameter(drawn([3 * embedDim, embedDim], options, xavierUniform));
    this.inProjBias = bias ? parameter(drawn([3 * embedDim], options, () => undefined)) : null;
  }

  /** The output alone, by libtorch's fused kernel where it has one and nothing is dropped. */
  forward(query: Tensor, key = query, value = key, masks: AttentionMasks = {}): Tensor {
    if (this.training && this.dropout > 0) return this.attend(query, key, value, masks).output;
    const [q, k, v] = [this.#heads(query, 0), this.#heads(key, 1), this.#heads(value, 2)];
    const mask = combined(masks, query.size(0), this.numHeads);
    // libtorch's boolean masks say what may be looked at.
    const allowed = mask?.dtype === 'bool' ? mask.logicalNot() : mask;
    return this.#project(attention(q, k, v, allowed));
  }

  /** The output and the attention weights. */
  attend(query: Tensor, key = query, value = key, masks: AttentionMasks = {}): AttentionResult {
    const weights = this.#weights(query, key, combined(masks, query.size(0), this.numHeads));
    const output = this.#project(weights.matmul(this.#heads(value, 2)));
    return { output, weights: weights.mean([1]) };
  }

  /** Part 0 queries, 1 keys, 2 values: [N, S, E] to [N, heads, S, E / heads]. */
  #heads(x: Tensor, part: 0 | 1 | 2): Tensor {
    const size = this.embedDim;
    const weight = this.inProjWeight.narrow(0, part * size, size);
    const bias = this.inProjBias === null ? null : this.inProjBias.narrow(0, part * size, size);
    const [batch, length] = x.shape;
    return linear(x, weight, bias)
      .reshape([batch, length, this.numHeads, size / this.numHeads])
      .transpose(1, 2);
  }

  /** [N, heads, L, S] */
  #weights(query: Tensor, key: Tensor, mask: Tensor | null): Tensor {
    const weights = attentionWeights(this.#heads(query, 0), this.#heads(key, 1), mask);
    if (!this.training || this.dropout === 0) return weights;
    return dropout(weights, this.dropout, true, this.#generator);
  }

  /** Values mixed by the heads, [N, heads, L, E / heads], to the output [N, L, E]. */
  #project(mixed: Tensor): Tensor {
    const [batch, , length] = mixed.shape;
    return this.outProj.forward(mixed.transpose(1, 2).reshape([batch, length, this.embedDim]));
  }
}

/** Both masks as one that broadcasts to [N, heads, L, S]: bool, true where forbidden, or added. */
function combined(masks: AttentionMasks, batch: number, heads: number): Tensor | null {
  const { attentionMask, keyPaddingMask } = masks;
  const padding = keyPaddingMask?.unsqueeze(1).unsqueeze(1) ?? null; // [N, 1, 1, S]
  if (attentionMask === undefined) return padding;
  const [length, source] = attentionMask.shape.slice(-2);
  const mask =
    attentionMask.ndim === 3
      ? attentionMask.reshape([batch, heads, length, source]) // from [N * heads, L, S]
      : attentionMask;
  if (padding === null) return mask;
  if (mask.dtype === 'bool') return mask.logicalOr(padding);
  return mask.add(zerosLike(padding, { dtype: mask.dtype }).maskedFill(padding, -Infinity));
}
