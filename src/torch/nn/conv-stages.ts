/**
 * Stages of a convolutional network: a convolution, batch normalisation and ReLU, computed by the fastest of
 * several equal forms.
 */
import { scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import { Conv2d } from './convolution.js';
import type { Conv2dOptions } from './convolution.js';
import { Module } from './module.js';
import { BatchNorm2d } from './normalization.js';
import { pictureStage } from './picture-stage.js';

/** A convolution and what normalises its outputs; `norm` has `leakyRelu: 0`. */
export interface ConvStage {
  readonly conv: Conv2d;
  readonly norm: BatchNorm2d;
}

/**
 * Whether first stages of pictures are computed as one product on a GPU (picture-stage.ts). It is exact, but nobody
 * has timed it there yet: CRAB_PICTURE_STAGE=1 tries it, bench/convolution-forms.ts compares.
 */
const AS_PRODUCT = process.env['CRAB_PICTURE_STAGE'] === '1';

/** Maps [N, in, H, W] through a convolution, its batch normalisation and a ReLU: [N, out, H', W']. */
export function convNormRelu(x: Tensor, { conv, norm }: ConvStage): Tensor {
  const { weight, bias, runningMean, runningVar, eps, group, training } = norm;
  const momentum = training ? norm.momentum : null;
  const hasForm = weight !== null && bias !== null && runningMean !== null && runningVar !== null;
  const isTracked = group === null && (momentum !== null || !training);
  if (!AS_PRODUCT || x.device === 'cpu' || !hasForm || !isTracked || !takesPictures(conv, x)) {
    return norm.forward(conv.forward(x));
  }
  if (training) norm.numBatchesTracked?.add_(1);
  const [[stride], [padding]] = [conv.geometry.stride, conv.geometry.padding];
  return pictureStage(
    x,
    { weight: conv.weight, bias: conv.bias, stride, padding },
    { weight, bias, runningMean, runningVar, eps, momentum },
  );
}

/** Whether these are pictures of one channel and the kernel is square, of an odd side. */
function takesPictures({ weight, geometry }: Conv2d, x: Tensor): boolean {
  const { stride, padding, dilation } = geometry;
  const [, inputs, height, width] = weight.shape;
  const isSquare = [stride, padding, [height, width]].every(([a, b]) => a === b);
  const isPlain = isSquare && height % 2 === 1 && dilation.every((each) => each === 1);
  return isPlain && inputs === 1 && x.ndim === 4 && x.shape[1] === 1 && !x.requiresGrad;
}

/**
 * Stages one after the other. Their state is named as that of a Sequential of convolutions, normalisations and
 * ReLUs: `0`, `1`, `3`, `4`, ...
 *
 * Input [N, first of channels, H, W], output [N, last of channels, H', W'].
 */
export class ConvStages extends Module {
  readonly stages: readonly ConvStage[];

  constructor(channels: readonly number[], kernel: number, options: Conv2dOptions) {
    super();
    const { device, dtype } = options;
    this.stages = channels.slice(1).map((to, n) => ({
      conv: new Conv2d(channels[n], to, kernel, options),
      norm: new BatchNorm2d(to, { leakyRelu: 0, device, dtype }),
    }));
  }

  override stateFields(): Iterable<[string, unknown]> {
    return this.stages.flatMap(({ conv, norm }, n): [string, unknown][] => [
      [String(3 * n), conv],
      [String(3 * n + 1), norm],
    ]);
  }

  forward(x: Tensor): Tensor {
    return scope(() => this.stages.reduce(convNormRelu, x));
  }
}
