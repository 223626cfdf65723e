/**
 * Convolutions as products of matrices: the same results as the convolutions themselves, in a fraction of
 * the time in the cases below (bench/convolution-forms.ts). `Conv2d`, `ConvTranspose2d`, `BatchedConv2d`
 * and `convNormRelu` choose them; nobody else needs to know.
 *
 * - One channel on one side: a GPU's convolution kernels waste nearly all of their work.
 * - Pictures behind which batch normalisation comes: its statistics follow from those of the pixels, so that
 *   it needs no pass over the maps (picture-stage.ts).
 * - A kernel as large as its map: that is one product; convolution kernels are several times slower at it.
 * - A map as small as a 3x3 kernel: too small for a GPU's convolution kernels.
 */
import { stack, tensor } from '../creation.js';
import { atLeastSingle, linear, pad } from '../functional.js';
import { baddbmm, bmm } from '../linalg.js';
import type { Tensor } from '../tensor.js';

/** The side of the kernel that halves a map with stride 2 and padding 1, and its elements. */
const KERNEL = 4;
const TAPS = KERNEL * KERNEL;

/**
 * The halving convolution of images [B, 1, H, W] to maps [B, C, H/2, W/2] (weight [C, 1, 4, 4]), as a
 * product with the 4x4 squares of pixels; the gradient of the weight is then a product for each image.
 */
export function halvedAsProduct(images: Tensor, weight: Tensor): Tensor {
  const [b, , h, w] = images.shape;
  const [rows, columns, line] = [h / 2, w / 2, w + 2];
  const channels = weight.shape[0];
  const squares = pad(images, [1, 1, 1, 1]) // [B, 1, H + 2, W + 2]
    .asStrided([b, rows, columns, KERNEL, KERNEL], [(h + 2) * line, 2 * line, 2, line, 1])
    .reshape([b, rows * columns, TAPS]);
  const kernels = weight.reshape([1, channels, TAPS]).transpose(1, 2); // [1, 16, C]
  return bmm(squares, kernels.expand([b, TAPS, channels])) // [B, places, C]
    .reshape([b, rows, columns, channels])
    .permute([0, 3, 1, 2]); // [B, C, H/2, W/2], channels-last
}

/**
 * The doubling transposed convolution of maps [B, C, H, W] to images [B, 1, 2H, 2W] (weight [C, 1, 4, 4],
 * bias [1] or none), as the 4x4 squares that each place paints and their sum where they overlap. The sum is
 * in single precision at least.
 */
export function doubledAsProduct(maps: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  const [b, channels, h, w] = maps.shape;
  const kernels = weight.reshape([1, channels, TAPS]).transpose(1, 2); // [1, 16, C]
  const places = maps
    .permute([0, 2, 3, 1])
    .reshape([b, h * w, channels])
    .transpose(1, 2); // [B, C, places]
  const squares = bmm(kernels.expand([b, TAPS, channels]), places); // [B, 16, places]
  const painted = atLeastSingle(squares).reshape([b, KERNEL, KERNEL, h, w]);
  const inRows = overlapped(painted, 3); // [B, 4, H, 2, W]
  const image = overlapped(inRows.reshape([b, KERNEL, 2 * h, w]), 3) // [B, 2H, W, 2]
    .reshape([b, 1, 2 * h, 2 * w]);
  return bias === null ? image : image.add(bias);
}

/**
 * Sums what overlaps along one axis. `x` has four lines of paint in axis 1 for each place along `axis`;
 * lines 1 and 2 of a place fall on its own two pixels, line 3 on the first pixel of the next place and
 * line 0 on the second of the one before. Axis 1 goes; the two pixels come behind `axis`.
 */
function overlapped(x: Tensor, axis: number): Tensor {
  const [before, first, second, after] = [0, 1, 2, 3].map((line) => x.select(1, line));
  const length = x.shape[axis];
  const at = axis - 1; // axis 1 is gone
  const border = Array.from({ length: 2 * (x.ndim - 1 - axis) }, () => 0);
  const fromPrevious = pad(after, [...border, 1, 0]).narrow(at, 0, length);
  const fromNext = pad(before, [...border, 0, 1]).narrow(at, 1, length);
  return stack([first.add(fromPrevious), second.add(fromNext)], at + 1);
}

/**
 * The convolution of maps [B, in, h, w] by a kernel of their own size (weight [out, in, h, w], bias [out] or
 * none) to [B, out, 1, 1], as one product. Copies nothing if both are channels-last.
 */
export function wholeAsProduct(maps: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  const flat = (x: Tensor): Tensor => x.permute([0, 2, 3, 1]).flatten(1); // [B, h * w * in]
  return linear(flat(maps), flat(weight), bias).unsqueeze(-1).unsqueeze(-1);
}

/**
 * A matrix [kernel^2, side^2 * side^2] that spreads a square kernel out over a square map, borders padded
 * with zeros: 1 where a tap leads from one position (last in the columns) to another (before it).
 */
export function spreadMatrix(kernel: number, side: number, padding: number): Tensor {
  const positions = side * side;
  const values = new Float32Array(kernel * kernel * positions * positions);
  for (let tap = 0; tap < kernel * kernel; tap++) {
    for (let to = 0; to < positions; to++) {
      const row = Math.floor(to / side) + Math.floor(tap / kernel) - padding;
      const column = (to % side) + (tap % kernel) - padding;
      if (row < 0 || row >= side || column < 0 || column >= side) continue;
      values[(tap * positions + to) * positions + row * side + column] = 1;
    }
  }
  return tensor(values).reshape([kernel * kernel, positions * positions]);
}

/**
 * M convolutions that keep the size of their maps: x [M, B, P * in], weight [M * out, in, k, k], bias
 * [M * out] to [M, B, P * out], P positions of a map. `spread` from spreadMatrix. The kernel becomes a matrix
 * from every position to every other, two fifths of it zeros for 3x3: cheaper than gathering nine neighbours
 * of each position, and back.
 */
export function groupsAsProduct(
  x: Tensor,
  weight: Tensor,
  bias: Tensor | null,
  spread: Tensor,
): Tensor {
  const m = x.shape[0];
  const [channels, inputs] = weight.shape;
  const outputs = channels / m;
  const positions = Math.sqrt(spread.shape[1]);
  const matrix = weight
    .reshape([channels * inputs, spread.shape[0]])
    .matmul(spread) // [M * out * in, P * P]
    .reshape([m, outputs, inputs, positions, positions]) // [M, out, in, to, from]
    .permute([0, 4, 2, 3, 1]) // [M, from, in, to, out]
    .reshape([m, positions * inputs, positions * outputs]);
  if (bias === null) return bmm(x, matrix);
  return baddbmm(bias.reshape([m, 1, outputs]).repeat([1, 1, positions]), x, matrix);
}
