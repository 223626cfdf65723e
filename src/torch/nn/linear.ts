/**
 * Linear layers, M of them side by side, and embeddings: tables of vectors.
 */
import { layerBias, layerWeight, normal } from '../init.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';
import { drawn, drawnEach, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { embedding, linear } from '../functional.js';
import { baddbmm, bmm } from '../linalg.js';
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

/**
 * M independent linear layers as one batched product.
 *
 * Input [M, N, inFeatures], output [M, N, outFeatures]; weight [M, outFeatures, inFeatures], so
 * that each slice is the weight of a `Linear`; bias [M, outFeatures].
 */
export class BatchedLinear extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;

  constructor(
    readonly groups: number,
    readonly inFeatures: number,
    readonly outFeatures: number,
    options: LinearOptions,
  ) {
    super();
    requireGenerator('BatchedLinear', options);
    const shape = [outFeatures, inFeatures];
    const [weight, bias] = drawnEach(groups, [shape, [outFeatures]], options, (tensors, g) => {
      layerWeight(tensors[0], g);
      if (options.bias ?? true) layerBias(tensors[1], shape, g);
    });
    this.weight = parameter(weight);
    this.bias = (options.bias ?? true) ? parameter(bias) : null;
  }

  forward(x: Tensor): Tensor {
    const transposed = this.weight.transpose(1, 2); // [M, in, out]
    if (this.bias === null) return bmm(x, transposed);
    return baddbmm(this.bias.unsqueeze(1), x, transposed); // bias [M, 1, out]
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
