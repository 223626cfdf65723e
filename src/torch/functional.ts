/**
 * The functions networks are made of, as in torch.nn.functional. Shapes: images are [N, C, H, W];
 * features are last.
 */
import { optionsFor, requireProbability } from './handle.js';
import { emptyLike } from './creation.js';
import { noGrad } from './autograd.js';
import { operator } from './dispatch.js';
import type { Generator } from './random.js';
import type { Tensor } from './tensor.js';

/** One number for both dimensions, or one for each. */
export type Pair = number | readonly [number, number];

const pair = (value: Pair): readonly [number, number] =>
  typeof value === 'number' ? [value, value] : value;

const linearOp = operator('linear');
const conv2dOp = operator('conv2d');
const convTranspose2dOp = operator('conv_transpose2d', 'input');
const batchNormOp = operator('batch_norm');
const batchNormActOp = operator('crab::batch_norm_act', '', 'batchNormLeakyRelu');
const batchedLinearOp = operator('crab::batched_linear', '', 'batchedLinear');
const gatedLinearOp = operator('crab::gated_linear', '', 'gatedLinear');
const layerNormOp = operator('layer_norm');
const groupNormOp = operator('group_norm');
const maxPool2dOp = operator('max_pool2d');
const avgPool2dOp = operator('avg_pool2d');
const adaptiveAvgPool2dOp = operator('adaptive_avg_pool2d');
const nearestOp = operator('upsample_nearest2d', 'vec', 'interpolate');
const bilinearOp = operator('upsample_bilinear2d', 'vec', 'interpolate');
const bicubicOp = operator('upsample_bicubic2d', 'vec', 'interpolate');
const dropoutOp = operator('dropout');
const embeddingOp = operator('embedding');
const softmaxOp = operator('softmax', 'int');
const logSoftmaxOp = operator('log_softmax', 'int');
const eluOp = operator('elu');
const geluOp = operator('gelu');
const leakyReluOp = operator('leaky_relu');
const softplusOp = operator('softplus');
const hardtanhOp = operator('hardtanh');
const padOp = operator('pad');
const oneHotOp = operator('one_hot');
const unfoldOp = operator('im2col', '', 'unfold2d');
const lstmOp = operator('lstm', 'input');

/** The tensor itself, or in f32 if autocast made it a half-precision one. */
export function atLeastSingle(x: Tensor): Tensor {
  return x.dtype === 'bf16' || x.dtype === 'f16' ? x.to({ dtype: 'f32' }) : x;
}

/** x W^T + b: x [..., in], weight [out, in], bias [out] -> [..., out]. */
export function linear(x: Tensor, weight: Tensor, bias: Tensor | null = null): Tensor {
  return linearOp.tensor(x, weight, bias);
}

/**
 * M linear layers: x [M, N, in], weight [M, in, out], bias [M, 1, out] -> [M, N, out]. The same as baddbmm,
 * and faster on a CPU where N is small and weights are many.
 */
export function batchedLinear(x: Tensor, weight: Tensor, bias: Tensor): Tensor {
  return batchedLinearOp.tensor(x, weight, bias);
}

/**
 * M linear layers of the same inputs under G sets of gates, which multiply blocks of F inputs: x
 * [M, N, P, F], gates [G, N, P], weight [M, P * F, out], bias [M, 1, out] -> [M, G * N, out]. On a CPU it
 * costs little more than one set where blocks have gates in common and these need no gradient.
 */
export function gatedLinear(x: Tensor, gates: Tensor, weight: Tensor, bias: Tensor): Tensor {
  return gatedLinearOp.tensor(x, gates, weight, bias);
}

export interface ConvolutionOptions {
  stride?: Pair;
  padding?: Pair;
  dilation?: Pair;
  groups?: number;
}

/** x [N, in, H, W], weight [out, in / groups, h, w], bias [out] -> [N, out, H', W']. */
export function conv2d(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | null = null,
  options: ConvolutionOptions = {},
): Tensor {
  optionsFor('conv2d', options);
  const { stride = 1, padding = 0, dilation = 1, groups = 1 } = options;
  return conv2dOp.tensor(x, weight, bias, stride, padding, dilation, groups);
}

export interface TransposedConvolutionOptions extends ConvolutionOptions {
  outputPadding?: Pair;
}

/** x [N, in, H, W], weight [in, out / groups, h, w], bias [out] -> [N, out, H', W']. */
export function convTranspose2d(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | null = null,
  options: TransposedConvolutionOptions = {},
): Tensor {
  optionsFor('convTranspose2d', options);
  const { stride = 1, padding = 0, outputPadding = 0, dilation = 1, groups = 1 } = options;
  return convTranspose2dOp.tensor(
    x,
    weight,
    bias,
    stride,
    padding,
    outputPadding,
    groups,
    dilation,
  );
}

export interface BatchNormOptions {
  /** Normalise by this batch and move the running statistics, instead of normalising by them. */
  training?: boolean;
  momentum?: number;
  eps?: number;
}

/** x [N, C, ...], the others [C]. With `training`, the running tensors are changed in place. */
export function batchNorm(
  x: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  weight: Tensor | null = null,
  bias: Tensor | null = null,
  options: BatchNormOptions = {},
): Tensor {
  optionsFor('batchNorm', options);
  const { training = false, momentum = 0.1, eps = 1e-5 } = options;
  return batchNormOp.tensor(
    x,
    weight,
    bias,
    runningMean,
    runningVar,
    training,
    momentum,
    eps,
    true,
  );
}

/**
 * The same by this batch's statistics with a leaky ReLU behind it (`slope` 0: a ReLU), as one operator:
 * on channels-last data half the passes over memory. Has no second derivative there.
 */
export function batchNormLeakyRelu(
  x: Tensor,
  runningMean: Tensor | null,
  runningVar: Tensor | null,
  weight: Tensor,
  bias: Tensor,
  options: { momentum?: number; eps?: number; slope?: number } = {},
): Tensor {
  optionsFor('batchNormLeakyRelu', options);
  const { momentum = 0.1, eps = 1e-5, slope = 0 } = options;
  return batchNormActOp.tensor(x, weight, bias, runningMean, runningVar, momentum, eps, slope);
}

/** Normalises over the last dimensions, which have `shape`. */
export function layerNorm(
  x: Tensor,
  shape: readonly number[],
  weight: Tensor | null = null,
  bias: Tensor | null = null,
  eps = 1e-5,
): Tensor {
  return layerNormOp.tensor(x, shape, weight, bias, eps);
}

export function groupNorm(
  x: Tensor,
  groups: number,
  weight: Tensor | null = null,
  bias: Tensor | null = null,
  eps = 1e-5,
): Tensor {
  return groupNormOp.tensor(x, groups, weight, bias, eps);
}

export interface PoolOptions {
  /** By default the window's size. */
  stride?: Pair;
  padding?: Pair;
  ceilMode?: boolean;
}

export function maxPool2d(
  x: Tensor,
  kernel: Pair,
  options: PoolOptions & { dilation?: Pair } = {},
): Tensor {
  optionsFor('maxPool2d', options);
  const { stride = kernel, padding = 0, dilation = 1, ceilMode = false } = options;
  return maxPool2dOp.tensor(x, kernel, stride, padding, dilation, ceilMode);
}

export function avgPool2d(
  x: Tensor,
  kernel: Pair,
  options: PoolOptions & { countIncludePad?: boolean } = {},
): Tensor {
  optionsFor('avgPool2d', options);
  const { stride = kernel, padding = 0, ceilMode = false, countIncludePad = true } = options;
  return avgPool2dOp.tensor(x, kernel, stride, padding, ceilMode, countIncludePad);
}

export function adaptiveAvgPool2d(x: Tensor, size: Pair): Tensor {
  return adaptiveAvgPool2dOp.tensor(x, size);
}

export interface InterpolateOptions {
  /** The new height and width, or */
  size?: Pair;
  /** how many times larger they become. */
  scaleFactor?: Pair;
  mode?: 'nearest' | 'bilinear' | 'bicubic';
  alignCorners?: boolean;
}

/** Images of another size: x [N, C, H, W] -> [N, C, H', W']. */
export function interpolate(x: Tensor, options: InterpolateOptions): Tensor {
  optionsFor('interpolate', options);
  const size = options.size === undefined ? null : pair(options.size);
  const scale = options.scaleFactor === undefined ? null : pair(options.scaleFactor);
  const { mode = 'nearest', alignCorners = false } = options;
  if (mode === 'nearest') return nearestOp.tensor(x, size, scale);
  return (mode === 'bilinear' ? bilinearOp : bicubicOp).tensor(x, size, alignCorners, scale);
}

/** Zeroes elements with probability `p` and scales the others by 1 / (1 - p), while training. */
export function dropout(
  x: Tensor,
  p: number,
  training: boolean,
  generator: Generator | null = null,
): Tensor {
  requireProbability('dropout', p);
  if (generator === null || !training || p === 0) return dropoutOp.tensor(x, p, training);
  return x.mul(dropoutMask(x, p, generator));
}

/** Zeros with probability `p`, else 1 / (1 - p), in the shape of `x`. */
function dropoutMask(x: Tensor, p: number, generator: Generator): Tensor {
  return noGrad(() => {
    const mask = emptyLike(x).bernoulli_(1 - p, generator);
    return p < 1 ? mask.div_(1 - p) : mask;
  });
}

/** Rows of weight [entries, features] by indices [...] -> [..., features]. */
export function embedding(indices: Tensor, weight: Tensor, paddingIdx = -1): Tensor {
  return embeddingOp.tensor(weight, indices, paddingIdx);
}

export function softmax(x: Tensor, dim: number): Tensor {
  return softmaxOp.tensor(x, dim);
}

export function logSoftmax(x: Tensor, dim: number): Tensor {
  return logSoftmaxOp.tensor(x, dim);
}

export function elu(x: Tensor, alpha = 1): Tensor {
  return eluOp.tensor(x, alpha);
}

export function gelu(x: Tensor, approximate: 'none' | 'tanh' = 'none'): Tensor {
  return geluOp.tensor(x, approximate);
}

export function leakyRelu(x: Tensor, slope = 0.01): Tensor {
  return leakyReluOp.tensor(x, slope);
}

/** log(1 + exp(beta x)) / beta; x itself where beta x > threshold. */
export function softplus(x: Tensor, beta = 1, threshold = 20): Tensor {
  return softplusOp.tensor(x, beta, threshold);
}

export function hardtanh(x: Tensor, min = -1, max = 1): Tensor {
  return hardtanhOp.tensor(x, min, max);
}

export interface PadOptions {
  mode?: 'constant' | 'reflect' | 'replicate' | 'circular';
  value?: number;
}

/** `amounts`: before and after the last dimension, then the one before it, and so on. */
export function pad(x: Tensor, amounts: readonly number[], options: PadOptions = {}): Tensor {
  optionsFor('pad', options);
  return padOp.tensor(x, amounts, options.mode, options.value);
}

/** Indices [...] -> [..., classes] of i64, 1 at the index; classes -1: one more than the largest. */
export function oneHot(indices: Tensor, classes = -1): Tensor {
  return oneHotOp.tensor(indices, classes);
}

/** Windows of an image as columns: [N, C, H, W] -> [N, C h w, L]. */
export function unfold2d(
  x: Tensor,
  kernel: Pair,
  options: Omit<ConvolutionOptions, 'groups'> = {},
): Tensor {
  optionsFor('unfold2d', options);
  const { stride = 1, padding = 0, dilation = 1 } = options;
  return unfoldOp.tensor(x, kernel, dilation, padding, stride);
}

export interface LstmOptions {
  layers?: number;
  bias?: boolean;
  dropout?: number;
  training?: boolean;
  bidirectional?: boolean;
  batchFirst?: boolean;
}

/** PyTorch's LSTM: state = [h, c], parameters in the order of its `_flat_weights`. */
export function lstm(
  x: Tensor,
  state: readonly [Tensor, Tensor],
  parameters: readonly Tensor[],
  options: LstmOptions = {},
): { output: Tensor; h: Tensor; c: Tensor } {
  optionsFor('lstm', options);
  const { layers = 1, bias = true, dropout: p = 0, training = false } = options;
  const { bidirectional = false, batchFirst = false } = options;
  const [output, h, c] = lstmOp.tensors(
    x,
    state,
    parameters,
    bias,
    layers,
    p,
    training,
    bidirectional,
    batchFirst,
  );
  return { output, h, c };
}
