/**
 * Batch and layer normalisation. Running statistics are updated in place on the device and never
 * read back, so that a step with them can be captured in a CUDA graph.
 */
import { noGrad } from '../autograd.js';
import { ones, zeros } from '../creation.js';
import type { ProcessGroup } from '../distributed.js';
import {
  batchNorm,
  batchNormAddRelu,
  batchNormLeakyRelu,
  layerNorm,
  leakyRelu,
} from '../functional.js';
import type { Tensor } from '../tensor.js';
import type { Device, DType } from '../types.js';
import { buffer, Module, parameter } from './module.js';
import type { Buffer, Parameter } from './module.js';

export interface BatchNorm2dOptions {
  readonly eps?: number;
  /** Share of the newest batch in the running statistics; null: the average of all batches. */
  readonly momentum?: number | null;
  readonly affine?: boolean;
  readonly trackRunningStats?: boolean;
  /** Slope of a leaky ReLU behind it, computed in one pass with it if possible; 0 is a ReLU; absent: none. */
  readonly leakyRelu?: number;
  readonly device?: Device;
  readonly dtype?: DType;
}

/**
 * Normalises every channel over the batch and the image; in use, by the running statistics.
 *
 * Input and output [N, numFeatures, H, W]; or, as PyTorch's BatchNorm1d, [N, numFeatures] or
 * [N, numFeatures, L].
 */
export class BatchNorm2d extends Module {
  readonly weight: Parameter | null;
  readonly bias: Parameter | null;
  readonly runningMean: Buffer | null;
  readonly runningVar: Buffer | null;
  readonly numBatchesTracked: Buffer | null;
  readonly eps: number;
  readonly momentum: number | null;
  readonly leakyRelu: number | null;
  /** In training, normalises by the statistics of all ranks' batches together; null: by its own. */
  group: ProcessGroup | null = null;

  constructor(
    readonly numFeatures: number,
    options: BatchNorm2dOptions = {},
  ) {
    super();
    const { eps = 1e-5, affine = true, trackRunningStats = true, device, dtype } = options;
    this.eps = eps;
    this.momentum = options.momentum === undefined ? 0.1 : options.momentum;
    this.leakyRelu = options.leakyRelu ?? null;
    const shape = [numFeatures];
    const placed = { device, dtype };
    this.weight = affine ? parameter(ones(shape, placed)) : null;
    this.bias = affine ? parameter(zeros(shape, placed)) : null;
    this.runningMean = trackRunningStats ? buffer(zeros(shape, placed)) : null;
    this.runningVar = trackRunningStats ? buffer(ones(shape, placed)) : null;
    this.numBatchesTracked = trackRunningStats ? buffer(zeros([], { dtype: 'i64', device })) : null;
  }

  forward(x: Tensor): Tensor {
    const { weight, bias, runningMean, runningVar, eps, momentum, group, leakyRelu: slope } = this;
    if (this.training) this.numBatchesTracked?.add_(1);
    if (this.training && momentum !== null) {
      if (group !== null) return group.batchNorm(x, { ...this, momentum }, slope ?? 1);
      if (slope !== null && weight !== null && bias !== null) {
        const options = { momentum, eps, slope };
        return batchNormLeakyRelu(x, runningMean, runningVar, weight, bias, options);
      }
    }
    const y = this.#normalized(x);
    if (slope === null) return y;
    return slope === 0 ? y.relu_() : leakyRelu(y, slope);
  }

  /** relu(normalised x + residual), both [N, numFeatures, ...], in one pass if possible; not with `leakyRelu`. */
  forwardAddRelu(x: Tensor, residual: Tensor): Tensor {
    const { weight, bias, runningMean, runningVar, eps, momentum, group } = this;
    const isOwnBatch = this.training && momentum !== null && group === null;
    if (!isOwnBatch || weight === null || bias === null) {
      return this.forward(x).add(residual).relu();
    }
    this.numBatchesTracked?.add_(1);
    const options = { momentum, eps };
    return batchNormAddRelu(x, residual, runningMean, runningVar, weight, bias, options);
  }

  #normalized(x: Tensor): Tensor {
    const { weight, bias, runningMean, runningVar, eps, momentum } = this;
    if (!this.training) {
      const training = runningMean === null; // without running statistics the batch's own serve
      return batchNorm(x, runningMean, runningVar, weight, bias, { training, eps });
    }
    if (momentum !== null) {
      const options = { training: true, momentum, eps };
      return batchNorm(x, runningMean, runningVar, weight, bias, options);
    }
    this.#averageStatistics(x);
    return batchNorm(x, null, null, weight, bias, { training: true, eps });
  }

  /** The equal average over all batches needs their number, which stays on the device. */
  #averageStatistics(x: Tensor): void {
    const { runningMean, runningVar, numBatchesTracked } = this;
    if (runningMean === null || runningVar === null || numBatchesTracked === null) return;
    noGrad(() => {
      const axes = x.shape.map((_, axis) => axis).filter((axis) => axis !== 1);
      const share = numBatchesTracked.to({ dtype: runningMean.dtype }).reciprocal();
      runningMean.lerp_(x.mean(axes), share);
      runningVar.lerp_(x.var(axes), share);
    });
  }
}

export interface LayerNormOptions {
  readonly eps?: number;
  readonly elementwiseAffine?: boolean;
  readonly device?: Device;
  readonly dtype?: DType;
}

/**
 * Normalises over the last axes.
 *
 * Input and output [..., ...normalizedShape].
 */
export class LayerNorm extends Module {
  readonly normalizedShape: readonly number[];
  readonly weight: Parameter | null;
  readonly bias: Parameter | null;
  readonly eps: number;

  constructor(normalizedShape: number | readonly number[], options: LayerNormOptions = {}) {
    super();
    const { eps = 1e-5, elementwiseAffine = true, device, dtype } = options;
    this.normalizedShape =
      typeof normalizedShape === 'number' ? [normalizedShape] : [...normalizedShape];
    this.eps = eps;
    const placed = { device, dtype };
    this.weight = elementwiseAffine ? parameter(ones(this.normalizedShape, placed)) : null;
    this.bias = elementwiseAffine ? parameter(zeros(this.normalizedShape, placed)) : null;
  }

  forward(x: Tensor): Tensor {
    return layerNorm(x, this.normalizedShape, this.weight, this.bias, this.eps);
  }
}
