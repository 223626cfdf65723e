/**
 * Multi-head attention (Vaswani et al., 2017) with PyTorch's parameters and batch-first shapes.
 * Keys and values have the width of the queries.
 */
import { TorchError } from '../errors.js';
import { constant, xavierUniform } from '../init.js';
import { linear, softmax } from '../functional.js';
import type { Generator } from '../random.js';
import type { Tensor } from '../tensor.js';
import { dropoutMask } from './activations.js';
import { drawn } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { Linear } from './linear.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';

export interface MultiheadAttentionOptions extends LayerOptions {
  readonly bias?: boolean;
  /** Probability that an attention weight is dropped in training, from the layer's generator. */
  readonly dropout?: number;
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
    if (embedDim % numHeads !== 0) {
      throw new TorchError(
        'MultiheadAttention',
        `${embedDim} features do not divide among ${numHeads} heads`,
      );
    }
    const bias = options.bias ?? true;
    this.dropout = options.dropout ?? 0;
    this.#generator = options.generator;
    // PyTorch draws the output layer first, then the projections; its own biases start at zero.
    this.outProj = new Linear(embedDim, embedDim, { ...options, bias });
    if (this.outProj.bias !== null) constant(this.outProj.bias, 0);
    this.inProjWeight = parameter(drawn([3 * embedDim, embedDim], options, xavierUniform));
    this.inProjBias = bias ? parameter(drawn([3 * embedDim], options, () => undefined)) : null;
  }

  /** The output alone; faster than `attend`, which also averages the weights. */
  forward(query: Tensor, key = query, value = key, masks: AttentionMasks = {}): Tensor {
    return this.#project(this.#weights(query, key, masks), query, value);
  }

  /** The output and the attention weights. */
  attend(query: Tensor, key = query, value = key, masks: AttentionMasks = {}): AttentionResult {
    const weights = this.#weights(query, key, masks);
    return { output: this.#project(weights, query, value), weights: weights.mean([1]) };
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
  #weights(query: Tensor, key: Tensor, { attentionMask, keyPaddingMask }: AttentionMasks): Tensor {
    const scale = 1 / Math.sqrt(this.embedDim / this.numHeads);
    const keys = this.#heads(key, 1);
    let scores = this.#heads(query, 0).mul(scale).matmul(keys.transpose(-1, -2));
    if (attentionMask !== undefined) {
      const [batch, heads, length, source] = scores.shape;
      const mask =
        attentionMask.shape.length === 3
          ? attentionMask.reshape([batch, heads, length, source])
          : attentionMask;
      scores = mask.dtype === 'bool' ? scores.maskedFill(mask, -Infinity) : scores.add(mask);
    }
    if (keyPaddingMask !== undefined) {
      const mask = keyPaddingMask.unsqueeze(1).unsqueeze(1); // [N, 1, 1, S]
      scores = scores.maskedFill(mask, -Infinity);
    }
    const weights = softmax(scores, -1);
    if (!this.training || this.dropout === 0) return weights;
    return weights.mul(dropoutMask(weights, this.dropout, this.#generator));
  }

  #project(weights: Tensor, query: Tensor, value: Tensor): Tensor {
    const mixed = weights.matmul(this.#heads(value, 2)); // [N, heads, L, E / heads]
    const [batch, length] = query.shape;
    return this.outProj.forward(
      mixed.transpose(1, 2).reshape([batch, length, this.embedDim]), // [N, L, E]
    );
  }
}
