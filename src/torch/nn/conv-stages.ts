/**
 * Stages of a convolutional network: a convolution, batch normalisation and ReLU, computed by the fastest of
 * several equal forms.
 */
import { noGrad } from '../autograd.js';
import { batchNormLeakyRelu, conv2d } from '../functional.js';
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

/** Maps [N, in, H, W] through a convolution, its batch normalisation and a ReLU: [N, out, H', W']. */
export function convNormRelu(x: Tensor, { conv, norm }: ConvStage): Tensor {
  const { weight, bias, runningMean, runningVar, eps, group, training } = norm;
  const momentum = training ? norm.momentum : null;
  const isWhole = weight !== null && bias !== null && runningMean !== null && runningVar !== null;
  if (!isWhole || group !== null || (training && momentum === null)) {
    return norm.forward(conv.forward(x));
  }
  const own = { weight, bias, runningMean, runningVar, eps };
  if (x.device !== 'cpu' && takesPictures(conv, x)) {
    if (training) norm.numBatchesTracked?.add_(1);
    const [[stride], [padding]] = [conv.geometry.stride, conv.geometry.padding];
    const convolution = { weight: conv.weight, bias: conv.bias, stride, padding };
    return pictureStage(x, convolution, { ...own, momentum });
  }
  const convolutionBias = conv.bias;
  if (momentum === null || convolutionBias === null) return norm.forward(conv.forward(x));
  // Normalisation takes away again what the convolution's bias adds. So the maps are left as they are, only the
  // running mean is told, and the bias gets the gradient that it has: zero.
  norm.numBatchesTracked?.add_(1);
  const unmoved = bias.add(convolutionBias, 0);
  const maps = conv2d(x, conv.weight, null, conv.geometry);
  const options = { momentum, eps, slope: 0 };
  const y = batchNormLeakyRelu(maps, runningMean, runningVar, weight, unmoved, options);
  noGrad(() => runningMean.add_(convolutionBias, momentum));
  return y;
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
