/**
 * The functions networks are made of, as in torch.nn.functional. Shapes: images are [N, C, H, W];
 * features are last. Options that are left out take PyTorch's defaults.
 */
import { optionsFor, requireProbability } from './handle.js';
import { empty, emptyLike } from './creation.js';
import { noGrad } from './autograd.js';
import { aten, operator } from './dispatch.js';
import { fn, fnWith } from './methods.js';
import type { Generator } from './random.js';
import type { Tensor } from './tensor.js';

/** One number for both dimensions, or one for each. */
export type Pair = number | readonly [number, number];

const pair = (value: Pair): readonly [number, number] =>
  typeof value === 'number' ? [value, value] : value;

type Optional = Tensor | null;

/** The tensor itself, or in f32 if autocast made it a half-precision one. */
export function atLeastSingle(x: Tensor): Tensor {
  return x.dtype === 'bf16' || x.dtype === 'f16' ? x.to({ dtype: 'f32' }) : x;
}

// ---- layers with weights -------------------------------------------------------------------------------

/** x W^T + b: x [..., in], weight [out, in], bias [out] -> [..., out]. */
export const linear = fn<[x: Tensor, weight: Tensor, bias?: Optional]>('linear');

/**
 * M linear layers: x [M, N, in], weight [M, in, out], bias [M, 1, out] -> [M, N, out]. The same as baddbmm,
 * and faster on a CPU where N is small and weights are many.
 */
export const batchedLinear = fn<[x: Tensor, weight: Tensor, bias: Tensor]>('crab::batched_linear');

/**
 * M linear layers of the same inputs under G sets of gates, which multiply blocks of F inputs: x
 * [M, N, P, F], gates [G, N, P], weight [M, P * F, out], bias [M, 1, out] -> [M, G * N, out]. On a CPU it
 * costs little more than one set where blocks have gates in common and these need no gradient.
 */
export const gatedLinear =
  fn<[x: Tensor, gates: Tensor, weight: Tensor, bias: Tensor]>('crab::gated_linear');

export interface ConvolutionOptions {
  stride?: Pair;
  padding?: Pair;
  dilation?: Pair;
  groups?: number;
}

/** x [N, in, H, W], weight [out, in / groups, h, w], bias [out] -> [N, out, H', W']. */
export const conv2d = fnWith<
  [x: Tensor, weight: Tensor, bias?: Optional, options?: ConvolutionOptions]
>('conv2d', 3);

export interface TransposedConvolutionOptions extends ConvolutionOptions {
  outputPadding?: Pair;
}

/** x [N, in, H, W], weight [in, out / groups, h, w], bias [out] -> [N, out, H', W']. */
export const convTranspose2d = fnWith<
  [x: Tensor, weight: Tensor, bias?: Optional, options?: TransposedConvolutionOptions]
>('conv_transpose2d.input', 3);

/** Rows of weight [entries, features] by indices [...] -> [..., features]. */
export function embedding(indices: Tensor, weight: Tensor, paddingIdx = -1): Tensor {
  return embeddingOp.tensor(weight, indices, paddingIdx);
}
const embeddingOp = aten('embedding');

// ---- normalisation -------------------------------------------------------------------------------------

export interface BatchNormOptions {
  /** Normalise by this batch and move the running statistics, instead of normalising by them. */
  training?: boolean;
  momentum?: number;
  eps?: number;
}

const batchNormOp = aten('batch_norm');
const batchNormActOp = operator('crab::batch_norm_act', '', 'batchNormLeakyRelu');
const batchNormAddReluOp = operator('crab::batch_norm_add_relu', '', 'batchNormAddRelu');

/** x [N, C, ...], the others [C]. With `training`, the running tensors are changed in place. */
export function batchNorm(
  x: Tensor,
  runningMean: Optional,
  runningVar: Optional,
  weight: Optional = null,
  bias: Optional = null,
  options: BatchNormOptions = {},
): Tensor {
  const defaults = { training: false, momentum: 0.1, eps: 1e-5, cudnnEnabled: true };
  const statistics = [weight, bias, runningMean, runningVar];
  return batchNormOp.with([x, ...statistics], options, defaults);
}

/**
 * The same by this batch's statistics with a leaky ReLU behind it (`slope` 0: a ReLU), as one operator:
 * on channels-last data half the passes over memory. Has no second derivative there.
 */
export function batchNormLeakyRelu(
  x: Tensor,
  runningMean: Optional,
  runningVar: Optional,
  weight: Tensor,
  bias: Tensor,
  options: { momentum?: number; eps?: number; slope?: number } = {},
): Tensor {
  const defaults = { momentum: 0.1, eps: 1e-5, slope: 0 };
  return batchNormActOp.with([x, weight, bias, runningMean, runningVar], options, defaults);
}

/**
 * relu(normalised x + residual), as residual networks have it, by this batch's statistics. On a GPU one operator
 * for channels-last data, without a second derivative.
 */
export function batchNormAddRelu(
  x: Tensor,
  residual: Tensor,
  runningMean: Optional,
  runningVar: Optional,
  weight: Tensor,
  bias: Tensor,
  options: { momentum?: number; eps?: number } = {},
): Tensor {
  const given = [x, residual, weight, bias, runningMean, runningVar];
  return batchNormAddReluOp.with(given, options, { momentum: 0.1, eps: 1e-5 });
}

type Affine = [weight?: Optional, bias?: Optional, eps?: number];

/** Normalises over the last dimensions, which have `shape`. */
export const layerNorm = fn<[x: Tensor, shape: readonly number[], ...Affine]>('layer_norm');

export const groupNorm = fn<[x: Tensor, groups: number, ...Affine]>('group_norm');

// ---- pooling, sizes and padding ------------------------------------------------------------------------

export interface PoolOptions {
  /** By default the window's size. */
  stride?: Pair;
  padding?: Pair;
  ceilMode?: boolean;
}

export const maxPool2d = fnWith<
  [x: Tensor, kernel: Pair, options?: PoolOptions & { dilation?: Pair }]
>('crab::max_pool2d', 2, 'maxPool2d');

export const avgPool2d = fnWith<
  [x: Tensor, kernel: Pair, options?: PoolOptions & { countIncludePad?: boolean }]
>('avg_pool2d', 2);

export const adaptiveAvgPool2d = fn<[x: Tensor, size: Pair]>('adaptive_avg_pool2d');

export interface InterpolateOptions {
  /** The new height and width, or */
  size?: Pair;
  /** how many times larger they become. */
  scaleFactor?: Pair;
  mode?: 'nearest' | 'bilinear' | 'bicubic';
  alignCorners?: boolean;
  /** Average what falls together where images shrink; not with `nearest`. */
  antialias?: boolean;
}

const upsample = {
  nearest: aten('upsample_nearest2d.vec', 'interpolate'),
  bilinear: aten('upsample_bilinear2d.vec', 'interpolate'),
  bicubic: aten('upsample_bicubic2d.vec', 'interpolate'),
};
const smoothed = {
  nearest: upsample.nearest,
  bilinear: aten('_upsample_bilinear2d_aa.vec', 'interpolate'),
  bicubic: aten('_upsample_bicubic2d_aa.vec', 'interpolate'),
};

/** Images of another size: x [N, C, H, W] -> [N, C, H', W']. */
export function interpolate(x: Tensor, options: InterpolateOptions): Tensor {
  const {
    size,
    scaleFactor,
    mode = 'nearest',
    alignCorners = false,
  } = optionsFor('interpolate', options);
  const [outputSize, factors] = [size, scaleFactor].map((p) => (p === undefined ? null : pair(p)));
  const corners = mode === 'nearest' ? [] : [alignCorners];
  return (options.antialias ? smoothed : upsample)[mode].tensor(x, outputSize, ...corners, factors);
}

export interface PadOptions {
  mode?: 'constant' | 'reflect' | 'replicate' | 'circular';
  value?: number;
}

/** `amounts`: before and after the last dimension, then the one before it, and so on. */
export const pad = fnWith<[x: Tensor, amounts: readonly number[], options?: PadOptions]>('pad', 2);

/** Windows of an image as columns: [N, C, H, W] -> [N, C h w, L]. */
export const unfold2d = fnWith<
  [x: Tensor, kernel: Pair, options?: Omit<ConvolutionOptions, 'groups'>]
>('im2col', 2, 'unfold2d', { stride: 1, padding: 0, dilation: 1 });

// ---- element by element, and along one dimension -------------------------------------------------------

/** Drops by the mask that `maskOf` makes room for; without a generator as libtorch does. */
function dropping(name: string, label: string, maskOf: (x: Tensor) => Tensor) {
  const op = aten(name, label);
  return (x: Tensor, p: number, training: boolean, generator: Generator | null = null): Tensor => {
    requireProbability(label, p);
    if (generator === null || !training || p === 0) return op.tensor(x, p, training);
    const mask = noGrad(() => {
      const kept = maskOf(x).bernoulli_(1 - p, generator);
      return p < 1 ? kept.div_(1 - p) : kept;
    });
    return x.mul(mask);
  };
}

/** Zeroes elements with probability `p` and scales the others by 1 / (1 - p), while training. */
export const dropout = dropping('dropout', 'dropout', (x) => emptyLike(x));

/** The same for whole maps: x [N, C, ...] loses channels, not single elements. */
export const dropout2d = dropping('feature_dropout', 'dropout2d', ({ shape, dtype, device }) =>
  empty([...shape.slice(0, 2), ...shape.slice(2).map(() => 1)], { dtype, device }),
);

export const softmax = fn<[x: Tensor, dim: number]>('softmax.int');
export const logSoftmax = fn<[x: Tensor, dim: number]>('log_softmax.int');
export const elu = fn<[x: Tensor, alpha?: number]>('elu');
export const gelu = fn<[x: Tensor, approximate?: 'none' | 'tanh']>('gelu');
export const leakyRelu = fn<[x: Tensor, slope?: number]>('leaky_relu');
/** log(1 + exp(beta x)) / beta; x itself where beta x > threshold. */
export const softplus = fn<[x: Tensor, beta?: number, threshold?: number]>('softplus');
export const hardtanh = fn<[x: Tensor, min?: number, max?: number]>('hardtanh');

/** Indices [...] -> [..., classes] of i64, 1 at the index; classes -1: one more than the largest. */
export const oneHot = fn<[indices: Tensor, classes?: number]>('one_hot');
