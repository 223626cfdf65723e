/**
 * A convolution of pictures with one channel, its batch normalisation and the ReLU behind it, in one. Outputs of
 * a convolution are sums of pixels, so their mean and variance follow from those of the pixels: if the pixels
 * under a kernel w have means m and covariances S, its outputs have mean w·m + b and variance w'S w. To normalise
 * then means to change the weights; no pass over the maps is needed. `convNormRelu` chooses it.
 *
 * Windows of 3x3 pixels go through kernels of our own on a GPU (native/picture_conv.cc), others through a product
 * of matrices.
 */
import { noGrad } from '../autograd.js';
import { cat, full } from '../creation.js';
import { aten, operator } from '../dispatch.js';
import { pad } from '../functional.js';
import { bmm } from '../linalg.js';
import { autocast, autocastDtype } from '../runtime.js';
import type { Tensor } from '../tensor.js';
import type { DType } from '../types.js';

/**
 * The product counts pixels from white in steps of 1/255. White, the most of a picture, is then zero, and a pixel
 * of one byte is a whole number, which bf16 holds exactly; and variances lose no digits to a large mean.
 */
const WHITE = 255;
/** Lines are multiples of it: products are fastest if rows of a matrix begin at multiples of 16 bytes. */
const ALIGNED = 8;

export interface PictureConvolution {
  /** [C, 1, kernel, kernel] */
  readonly weight: Tensor;
  /** [C] */
  readonly bias: Tensor | null;
  readonly stride: number;
  readonly padding: number;
}

/** A batch normalisation; tensors are [C]. */
export interface PictureNorm {
  readonly weight: Tensor;
  readonly bias: Tensor;
  readonly runningMean: Tensor;
  readonly runningVar: Tensor;
  readonly eps: number;
  /** In training, the share of this batch in the running statistics; null: it normalises by them. */
  readonly momentum: number | null;
}

const hasKernels = operator('crab::has_picture_kernels', '', 'pictureStage');
const pictureMaps = operator('crab::picture_maps', '', 'pictureStage');
const pictureMoments = operator('crab::picture_moments', '', 'pictureStage');

/** A convolution with its normalisation in it. */
interface Normalised {
  /** [C, taps] */
  readonly kernels: Tensor;
  /** [C] */
  readonly summand: Tensor;
}

/** Pictures [B, 1, H, W], which need no gradient, to maps [B, C, H', W'], channels-last. */
export function pictureStage(
  pictures: Tensor,
  conv: PictureConvolution,
  norm: PictureNorm,
): Tensor {
  const { weight, stride, padding } = conv;
  const [channels, , kernel] = weight.shape;
  const dtype = autocastDtype(pictures.device) ?? pictures.dtype;
  const isOwn = hasKernels.call(pictures, channels, kernel, stride, padding) === true;
  return isOwn && (dtype === 'f32' || dtype === 'bf16')
    ? stageByKernels(pictures, conv, norm, dtype)
    : stageByProduct(pictures, conv, norm, dtype);
}

/** By kernels of our own, which count pixels from black; exported for tests, since it runs anywhere. */
export function stageByKernels(
  pictures: Tensor,
  { weight, bias, stride, padding }: PictureConvolution,
  norm: PictureNorm,
  dtype: DType,
): Tensor {
  const [channels, , kernel] = weight.shape;
  const taps = weight.reshape([channels, kernel * kernel]);
  const momentsOf = (): Moments => {
    const both = pictureMoments.tensor(pictures, kernel, stride, padding); // [1 + taps, taps]
    const [means, covariances] = both.split([1, kernel * kernel]);
    return { means: means.add(1).squeeze(0), covariances };
  };
  const [rows, columns] = placesAlong(pictures, kernel, stride, padding);
  const count = pictures.shape[0] * rows * columns;
  const { kernels, summand } = normalised(taps, bias, norm, momentsOf, count);
  const weights = cat([kernels, summand.unsqueeze(1)], 1); // [C, taps + 1]
  return pictureMaps.tensor(pictures, weights, stride, padding, dtype === 'bf16');
}

/** As a product of matrices, which counts pixels from white in steps of 1/255. */
function stageByProduct(
  pictures: Tensor,
  { weight, bias, stride, padding }: PictureConvolution,
  norm: PictureNorm,
  dtype: DType,
): Tensor {
  const [channels, , kernel] = weight.shape;
  const places = placesOf(pictures, { kernel, stride, padding });
  const taps = weight.reshape([channels, kernel * kernel]);
  const onWhite = bias === null ? taps.sum(1) : taps.sum(1).add(bias); // [C]
  const { kernels, summand } = normalised(
    taps.div(WHITE),
    onWhite,
    norm,
    () => pixelMoments(places),
    pictures.shape[0] * places.rows * places.columns,
  );
  // As windows are: one pixel higher and wider, and the last pixel a one.
  const squares = pad(kernels.unflatten(1, [kernel, kernel]), [0, 1, 0, 1]).flatten(1); // [C, window]
  const last = squares.shape[1] - 1;
  const weights = cat([squares.narrow(1, 0, last), summand.unsqueeze(1)], 1).transpose(0, 1);
  const windows = windowsOf(places, dtype); // [B, places, (kernel + 1)^2]
  const [b] = windows.shape;
  // One product for each picture: a GPU is slow at a single one that is long and thin, as the gradient is.
  return bmm(windows, weights.expand([b, ...weights.shape]).to({ dtype }))
    .relu_()
    .unflatten(1, [places.rows, places.columns])
    .permute([0, 3, 1, 2]);
}

/** The places of a kernel on pictures. */
interface Places {
  /** Pictures with their borders, counted from white: [B, height, width]. */
  readonly pixels: Tensor;
  readonly rows: number;
  readonly columns: number;
  readonly kernel: number;
  readonly stride: number;
}

/** Rows and columns of places of a kernel on pictures [B, 1, H, W]. */
function placesAlong(
  { shape }: Tensor,
  kernel: number,
  stride: number,
  padding: number,
): readonly number[] {
  return shape.slice(2).map((side) => Math.floor((side + 2 * padding - kernel) / stride) + 1);
}

function placesOf(
  pictures: Tensor,
  { kernel, stride, padding }: { kernel: number; stride: number; padding: number },
): Places {
  const [b, , h, w] = pictures.shape;
  const [rows, columns] = placesAlong(pictures, kernel, stride, padding);
  // Windows are one pixel higher and wider than the kernel.
  const [height, needed] = [rows, columns].map((n) => stride * (n - 1) + kernel + 1);
  const width = Math.ceil(Math.max(needed, padding + w) / ALIGNED) * ALIGNED;
  const { dtype, device } = pictures;
  const pixels = full([b, Math.max(height, padding + h), width], -WHITE, { dtype, device }); // black
  pixels.narrow(1, padding, h).narrow(2, padding, w).add_(pictures.squeeze(1), WHITE);
  return { pixels, rows, columns, kernel, stride };
}

/** Of the pixels under a kernel: means [taps] and covariances [taps, taps]. */
interface Moments {
  readonly means: Tensor;
  readonly covariances: Tensor;
}

/**
 * Kernels [C, taps] and what they add [C] or null, with the normalisation of their outputs in them. In training
 * these are normalised by the moments of the pixels, of which there are `count` windows.
 */
function normalised(
  kernels: Tensor,
  added: Tensor | null,
  norm: PictureNorm,
  momentsOf: () => Moments,
  count: number,
): Normalised {
  const { runningMean, runningVar, momentum } = norm;
  let [mean, variance]: [Tensor, Tensor] = [runningMean, runningVar];
  if (momentum !== null) {
    const { means, covariances } = noGrad(momentsOf);
    // Sums of products and no matmul: this must not be rounded to TF32 or bf16.
    const plain = kernels.mul(means).sum(1);
    mean = added === null ? plain : plain.add(added);
    variance = kernels.unsqueeze(2).mul(covariances).mul(kernels.unsqueeze(1)).sum([1, 2]);
    noGrad(() => {
      runningMean.lerp_(mean, momentum);
      runningVar.lerp_(variance.mul(count / (count - 1)), momentum);
    });
  }
  const scale = norm.weight.mul(variance.add(norm.eps).rsqrt()); // [C]
  const centre = added === null ? mean.neg() : added.sub(mean);
  return {
    kernels: kernels.mul(scale.unsqueeze(1)),
    summand: norm.bias.add(centre.mul(scale)),
  };
}

/**
 * The moments of the pixels under a kernel, by products of lines. Each row of places sees `kernel` whole
 * lines of a picture. Products of these lines with themselves hold what every pair of taps needs.
 */
function pixelMoments({ pixels, rows, columns, kernel, stride }: Places): Moments {
  const [b, height, width] = pixels.shape;
  const [line, taps, count] = [kernel * width, kernel * kernel, b * rows * columns];
  const lines = pixels.asStrided([rows, b, line], [stride * width, height * width, 1]);
  const products = autocast(pixels.device, 'bf16', () => bmm(lines.transpose(1, 2), lines), false)
    .sum(0) // [kernel * width, kernel * width]
    .asStrided(
      [kernel, kernel, kernel, kernel, columns],
      [width * line, line, width, 1, stride * (line + 1)],
    )
    .sum(4)
    .reshape([taps, taps]);
  const means = pixels
    .sum(0) // [height, width]
    .asStrided([kernel, kernel, rows, columns], [width, 1, stride * width, stride])
    .sum([2, 3])
    .reshape([taps])
    .div(count);
  const covariances = products.div(count).sub(means.unsqueeze(1).mul(means));
  return { means, covariances };
}

/** Two elements as one: copies of single ones in new places take a GPU twice as long. */
const PAIR: Partial<Record<DType, DType>> = { f32: 'i64', bf16: 'i32', f16: 'i32' };
const viewAs = aten('view.dtype');

/** What a kernel sees at each place and one pixel more on two sides, the last of all a one: [B, places, window]. */
function windowsOf({ pixels, rows, columns, kernel, stride }: Places, dtype: DType): Tensor {
  const [b, height, width] = pixels.shape;
  const side = kernel + 1;
  const pair = side % 2 === 0 && stride % 2 === 0 ? PAIR[dtype] : undefined;
  const step = pair === undefined ? 1 : 2;
  const single = pixels.to({ dtype });
  const source = pair === undefined ? single : viewAs.tensor(single, pair);
  const copied = source
    .asStrided(
      [b, rows, columns, side, side / step],
      [height * width, stride * width, stride, width, step].map((each) => each / step),
    )
    .reshape([b, rows * columns, (side * side) / step]);
  const windows = pair === undefined ? copied : viewAs.tensor(copied, dtype);
  windows.select(2, side * side - 1).fill_(1);
  return windows;
}
