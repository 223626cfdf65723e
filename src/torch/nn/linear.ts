/**
 * Linear layers, M of them side by side, and embeddings: tables of vectors.
 */
import { TorchError } from '../errors.js';
import { layerBias, layerWeight, normal, uniform } from '../init.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';
import { drawn, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { batchedLinear, embedding, gatedLinear, linear } from '../functional.js';
import { bmm } from '../linalg.js';
import { blocksAsProduct, sameAsProduct } from './linear-forms.js';
import type { Tensor } from '../tensor.js';

export interface LinearOptions extends LayerOptions {
  readonly bias?: boolean;
}

/**
 * x W^T + b.
 *
 * Input [..., inFeatures], output [..., outFeatures]; weight [outFeatures, inFeatures].
 */
export class Linear extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;

  constructor(
    readonly inFeatures: number,
    readonly outFeatures: number,
    options: LinearOptions,
  ) {
    super();
    requireGenerator('Linear', options);
    const shape = [outFeatures, inFeatures];
    this.weight = parameter(drawn(shape, options, layerWeight));
    this.bias =
      (options.bias ?? true)
        ? parameter(drawn([outFeatures], options, (t, g) => layerBias(t, shape, g)))
        : null;
  }

  forward(x: Tensor): Tensor {
    return linear(x, this.weight, this.bias);
  }
}

export interface BatchedLinearOptions extends LinearOptions {
  /** Inputs of the whole layer if this is a part of one; sets the scale of the first weights. */
  readonly fanIn?: number;
}

/**
 * M independent linear layers as one batched product.
 *
 * Input [M, N, inFeatures], output [M, N, outFeatures]; bias [M, 1, outFeatures]; weight
 * [M, inFeatures, outFeatures], the order in which the product reads it: with the transpose, PyTorch's
 * order, it is a third slower on a CPU.
 */
export class BatchedLinear extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;

  constructor(
    readonly groups: number,
    readonly inFeatures: number,
    readonly outFeatures: number,
    options: BatchedLinearOptions,
  ) {
    super();
    requireGenerator('BatchedLinear', options);
    // PyTorch's default for linear layers: weights and biases within ±1/sqrt(inputs).
    const bound = 1 / Math.sqrt(options.fanIn ?? inFeatures);
    const within = (shape: readonly number[]): Parameter =>
      parameter(drawn(shape, options, (t, g) => uniform(t, -bound, bound, g)));
    this.weight = within([groups, inFeatures, outFeatures]);
    this.bias = (options.bias ?? true) ? within([groups, 1, outFeatures]) : null;
  }

  forward(x: Tensor): Tensor {
    const { weight, bias } = this;
    return bias === null ? bmm(x, weight) : batchedLinear(x, weight, bias);
  }

  /** Of the same inputs for all M: [..., in] to the results side by side, [..., M * out]. */
  ofSame(x: Tensor): Tensor {
    return sameAsProduct(x, this.weight, this.bias);
  }

  /** Of inputs side by side, [..., M * in], to the results side by side, [..., M * out]. */
  sideBySide(x: Tensor): Tensor {
    if (x.device !== 'cpu') return blocksAsProduct(x, this.weight, this.bias);
    const rows = x.reshape([-1, this.groups, this.inFeatures]).transpose(0, 1); // [M, rows, in]
    const results = this.forward(rows).transpose(0, 1); // [rows, M, out]
    return results.reshape([...x.shape.slice(0, -1), this.groups * this.outFeatures]);
  }

  /**
   * Of blocks of inputs [M, N, P, in / P] under G sets of gates [G, N, P], which multiply them: [M, G * N,
   * out]. All sets together take about the time of one.
   */
  gated(x: Tensor, gates: Tensor): Tensor {
    if (this.bias === null) throw new TorchError('gatedLinear', 'the layer has no bias');
    return gatedLinear(x, gates, this.weight, this.bias);
  }
}

export interface EmbeddingOptions extends LayerOptions {
  /** This row is zero at the start and never learns. */
  readonly paddingIdx?: number;
}

/**
 * A table of vectors looked up by integer.
 *
 * Input i64 [...], output [..., embeddingDim]; weight [numEmbeddings, embeddingDim].
 */
export class Embedding extends Module {
  readonly weight: Parameter;
  readonly paddingIdx: number | undefined;

  constructor(
    readonly numEmbeddings: number,
    readonly embeddingDim: number,
    options: EmbeddingOptions,
  ) {
    super();
    requireGenerator('Embedding', options);
    this.paddingIdx = options.paddingIdx;
    this.weight = parameter(
      drawn([numEmbeddings, embeddingDim], options, (table, generator) => {
        normal(table, 0, 1, generator);
        if (options.paddingIdx !== undefined) table.select(0, options.paddingIdx).zero_();
      }),
    );
  }

  forward(indices: Tensor): Tensor {
    return embedding(indices, this.weight, this.paddingIdx);
  }
}
