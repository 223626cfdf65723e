/**
 * Initialisers with PyTorch's formulas and PyTorch's order of random draws: on the CPU, the same
 * seed gives the same weights in both. Each one fills a tensor in place, without recording
 * gradients, from a generator that the caller names.
 */
import { noGrad } from './autograd.js';
import { TorchError } from './errors.js';
import type { Generator } from './random.js';
import type { Tensor } from './tensor.js';

/** Non-linearities with a known gain. */
export type Nonlinearity = 'linear' | 'sigmoid' | 'tanh' | 'relu' | 'leakyRelu' | 'selu';

/** Whether to keep the variance of activations or of gradients. */
export type FanMode = 'fanIn' | 'fanOut';

/** Inputs and outputs of one unit; of a weight [out, in, ...kernel], or of one of its transpose. */
export function fans(shape: readonly number[]): {
  readonly fanIn: number;
  readonly fanOut: number;
} {
  if (shape.length < 2) {
    throw new TorchError('fans', `[${shape.join(', ')}]: expected at least 2 dimensions`);
  }
  const kernel = shape.slice(2).reduce((product, size) => product * size, 1);
  return { fanIn: shape[1] * kernel, fanOut: shape[0] * kernel };
}

/** PyTorch's recommended gain; `slope` is that of `leakyRelu`. */
export function gain(nonlinearity: Nonlinearity, slope = 0.01): number {
  switch (nonlinearity) {
    case 'linear':
    case 'sigmoid':
      return 1;
    case 'tanh':
      return 5 / 3;
    case 'relu':
      return Math.SQRT2;
    case 'leakyRelu':
      return Math.sqrt(2 / (1 + slope * slope));
    case 'selu':
      return 3 / 4;
  }
}

export function constant(tensor: Tensor, value: number): Tensor {
  return noGrad(() => tensor.fill_(value));
}

export function uniform(tensor: Tensor, low: number, high: number, generator: Generator): Tensor {
  return noGrad(() => tensor.uniform_(low, high, generator));
}

export function normal(tensor: Tensor, mean: number, std: number, generator: Generator): Tensor {
  return noGrad(() => tensor.normal_(mean, std, generator));
}

/** Glorot and Bengio (2010), uniform. */
export function xavierUniform(tensor: Tensor, generator: Generator, scale = 1): Tensor {
  if (tensor.numel === 0) return tensor;
  const { fanIn, fanOut } = fans(tensor.shape);
  const bound = Math.sqrt(3) * scale * Math.sqrt(2 / (fanIn + fanOut));
  return uniform(tensor, -bound, bound, generator);
}

/** Glorot and Bengio (2010), normal. */
export function xavierNormal(tensor: Tensor, generator: Generator, scale = 1): Tensor {
  if (tensor.numel === 0) return tensor;
  const { fanIn, fanOut } = fans(tensor.shape);
  return normal(tensor, 0, scale * Math.sqrt(2 / (fanIn + fanOut)), generator);
}

/** Options of the initialisers of He et al. (2015), with PyTorch's defaults. */
export interface KaimingOptions {
  readonly slope?: number;
  readonly mode?: FanMode;
  readonly nonlinearity?: Nonlinearity;
}

function kaimingStd(
  shape: readonly number[],
  { slope = 0, mode = 'fanIn', nonlinearity = 'leakyRelu' }: KaimingOptions,
): number {
  return gain(nonlinearity, slope) / Math.sqrt(fans(shape)[mode]);
}

/** He et al. (2015), uniform. */
export function kaimingUniform(
  tensor: Tensor,
  generator: Generator,
  options: KaimingOptions = {},
): Tensor {
  if (tensor.numel === 0) return tensor;
  const bound = Math.sqrt(3) * kaimingStd(tensor.shape, options);
  return uniform(tensor, -bound, bound, generator);
}

/** He et al. (2015), normal. */
export function kaimingNormal(
  tensor: Tensor,
  generator: Generator,
  options: KaimingOptions = {},
): Tensor {
  if (tensor.numel === 0) return tensor;
  return normal(tensor, 0, kaimingStd(tensor.shape, options), generator);
}

/** The default of PyTorch's linear and convolutional layers: weights within ±1/sqrt(fanIn). */
export function layerWeight(tensor: Tensor, generator: Generator): Tensor {
  return kaimingUniform(tensor, generator, { slope: Math.sqrt(5) });
}

/** The default of their biases, given the weight's shape. */
export function layerBias(
  tensor: Tensor,
  weightShape: readonly number[],
  generator: Generator,
): Tensor {
  const { fanIn } = fans(weightShape);
  const bound = fanIn > 0 ? 1 / Math.sqrt(fanIn) : 0;
  return uniform(tensor, -bound, bound, generator);
}
