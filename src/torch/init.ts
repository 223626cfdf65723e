/**
 * Initialisers with PyTorch's formulas and PyTorch's order of random draws: on the CPU, the same
 * seed gives the same weights in both. Each one fills a tensor in place, without recording
 * gradients, from a generator that the caller names.
 */
import { productOf } from '../base/index.js';
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
  const kernel = productOf(shape.slice(2));
  return { fanIn: shape[1] * kernel, fanOut: shape[0] * kernel };
}

/** PyTorch's recommended gain; `slope` is that of `leakyRelu`. */
export function gain(nonlinearity: Nonlinearity, slope = 0.01): number {
  if (nonlinearity === 'leakyRelu') return Math.sqrt(2 / (1 + slope * slope));
  return { linear: 1, sigmoid: 1, tanh: 5 / 3, relu: Math.SQRT2, selu: 3 / 4 }[nonlinearity];
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

/** Fills a tensor with numbers of this deviation, uniform or normal; one without elements stays as it is. */
function spread(
  kind: 'uniform' | 'normal',
  tensor: Tensor,
  deviation: (shape: readonly number[]) => number,
  generator: Generator,
): Tensor {
  if (tensor.numel === 0) return tensor;
  const std = deviation(tensor.shape);
  if (kind === 'normal') return normal(tensor, 0, std, generator);
  const bound = Math.sqrt(3) * std;
  return uniform(tensor, -bound, bound, generator);
}

const xavierStd =
  (scale: number) =>
  (shape: readonly number[]): number => {
    const { fanIn, fanOut } = fans(shape);
    return scale * Math.sqrt(2 / (fanIn + fanOut));
  };

/** Glorot and Bengio (2010), uniform. */
export const xavierUniform = (tensor: Tensor, generator: Generator, scale = 1): Tensor =>
  spread('uniform', tensor, xavierStd(scale), generator);

/** Glorot and Bengio (2010), normal. */
export const xavierNormal = (tensor: Tensor, generator: Generator, scale = 1): Tensor =>
  spread('normal', tensor, xavierStd(scale), generator);

/** Options of the initialisers of He et al. (2015), with PyTorch's defaults. */
export interface KaimingOptions {
  readonly slope?: number;
  readonly mode?: FanMode;
  readonly nonlinearity?: Nonlinearity;
}

const kaimingStd =
  ({ slope = 0, mode = 'fanIn', nonlinearity = 'leakyRelu' }: KaimingOptions = {}) =>
  (shape: readonly number[]): number =>
    gain(nonlinearity, slope) / Math.sqrt(fans(shape)[mode]);

/** He et al. (2015), uniform. */
export const kaimingUniform = (t: Tensor, generator: Generator, options?: KaimingOptions): Tensor =>
  spread('uniform', t, kaimingStd(options), generator);

/** He et al. (2015), normal. */
export const kaimingNormal = (t: Tensor, generator: Generator, options?: KaimingOptions): Tensor =>
  spread('normal', t, kaimingStd(options), generator);

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
