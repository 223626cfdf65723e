/**
 * A convolution of pictures with one channel, its batch normalisation and the ReLU behind it, as one product.
 * Outputs of a convolution are sums of pixels, so their mean and variance follow from those of the pixels: if
 * the pixels under a kernel w have means m and covariances S, its outputs have mean w·m + b and variance w'S w.
 * To normalise then means to change the weights; no pass over the maps is needed. `convNormRelu` chooses it.
 *
 * Pixels are counted from white in steps of 1/255. White, the most of a picture, is then zero, and a pixel of
 * one byte is a whole number, which bf16 holds exactly; and variances lose no digits to a large mean.
 */
import { noGrad } from '../autograd.js';
import { cat, full } from '../creation.js';
import { aten } from '../dispatch.js';
import { pad } from '../functional.js';
import { bmm } from '../linalg.js';
import { autocast, autocastDtype } from '../runtime.js';
import type { Tensor } from '../tensor.js';
import type { DType } from '../types.js';

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

/** Pictures [B, 1, H, W], which need no gradient, to maps [B, C, H', W'], channels-last. */
export function pictureStage(
  pictures: Tensor,
  { weight, bias, stride, padding }: PictureConvolution,
  norm: PictureNorm,
): Tensor {
  const [channels, , kernel] = weight.shape;
  const places = placesOf(pictures, { kernel, stride, padding });
  const taps = weight.reshape([channels, kernel * kernel]);
  const kernels = taps.div(WHITE); // [C, taps], for pixels in steps of 1/255
  const onWhite = bias === null ? taps.sum(1) : taps.sum(1).add(bias); // [C]
  const { mean, variance } = statistics(kernels, onWhite, places, norm);
  const scale = norm.weight.mul(variance.add(norm.eps).rsqrt()); // [C]
  const summand = norm.bias.add(onWhite.sub(mean).mul(scale)); // [C]
  const scaled = kernels.mul(scale.unsqueeze(1)).unflatten(1, [kernel, kernel]);
  const squares = pad(scaled, [0, 1, 0, 1]).flatten(1); // [C, (kernel + 1)^2]; the last one is of ones
  const last = squares.shape[1] - 1;
  const weights = cat([squares.narrow(1, 0, last), summand.unsqueeze(1)], 1).transpose(0, 1);
  const dtype = autocastDtype(pictures.device) ?? pictures.dtype;
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

function placesOf(
  pictures: Tensor,
  { kernel, stride, padding }: { kernel: number; stride: number; padding: number },
): Places {
  const [b, , h, w] = pictures.shape;
  const [rows, columns] = [h, w].map((n) => Math.floor((n + 2 * padding - kernel) / stride) + 1);
  // Windows are one pixel higher and wider than the kernel.
  const [height, needed] = [rows, columns].map((n) => stride * (n - 1) + kernel + 1);
  const width = Math.ceil(Math.max(needed, padding + w) / ALIGNED) * ALIGNED;
  const { dtype, device } = pictures;
  const pixels = full([b, Math.max(height, padding + h), width], -WHITE, { dtype, device }); // black
  pixels.narrow(1, padding, h).narrow(2, padding, w).add_(pictures.squeeze(1), WHITE);
  return { pixels, rows, columns, kernel, stride };
}

/** Mean and variance of each channel of the convolution, [C]; in training those of this batch. */
function statistics(
  kernels: Tensor,
  onWhite: Tensor,
  places: Places,
  { runningMean, runningVar, momentum }: PictureNorm,
): { mean: Tensor; variance: Tensor } {
  if (momentum === null) return { mean: runningMean, variance: runningVar };
  const { means, covariances } = noGrad(() => pixelStatistics(places)); // [taps], [taps, taps]
  // Sums of products and no matmul: this must not be rounded to TF32 or bf16.
  const mean = kernels.mul(means).sum(1).add(onWhite);
  const variance = kernels.unsqueeze(2).mul(covariances).mul(kernels.unsqueeze(1)).sum([1, 2]);
  noGrad(() => {
    const count = places.pixels.shape[0] * places.rows * places.columns;
    runningMean.lerp_(mean, momentum);
    runningVar.lerp_(variance.mul(count / (count - 1)), momentum);
  });
  return { mean, variance };
}

/**
 * Means [taps] and covariances [taps, taps] of the pixels under a kernel. Each row of places sees `kernel` whole
 * lines of a picture. Products of these lines with themselves hold what every pair of taps needs.
 */
function pixelStatistics({ pixels, rows, columns, kernel, stride }: Places) {
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
