/**
 * Products of many rows in double precision, of which calibrated distances are made: by libtorch, which is faster,
 * if it is there, else by loops. Both give the same numbers but for rounding.
 */
import { lowerProducts, type LowerProducts } from '../solver/index.js';
import { cat, isTorchAvailable, noGrad, scope, tensor, type Tensor } from '../torch/index.js';
import { momentsOf } from './statistics.js';

export interface RowAlgebra {
  readonly lowerProducts: LowerProducts;
  /** Squared distances of rows [n][D] to others [m][D]: [n][m]. */
  squaredDistances(rows: readonly Float64Array[], others: readonly Float64Array[]): Float64Array[];
  /** Mean [D] and covariance [D, D] of rows. */
  momentsOf(
    rows: readonly Float64Array[],
    size: number,
  ): { readonly mean: Float64Array; readonly covariance: Float64Array };
}

/** Four sums at a time: the processor need not wait for the one before. */
export function squaredDistance(a: Float64Array, b: Float64Array): number {
  const { length } = a;
  const whole = length - (length % 4);
  let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    const first = a[i] - b[i];
    const second = a[i + 1] - b[i + 1];
    const third = a[i + 2] - b[i + 2];
    const fourth = a[i + 3] - b[i + 3];
    sumA += first * first;
    sumB += second * second;
    sumC += third * third;
    sumD += fourth * fourth;
  }
  for (let i = whole; i < length; i++) sumA += (a[i] - b[i]) ** 2;
  return sumA + sumB + (sumC + sumD);
}

export const PLAIN_ALGEBRA: RowAlgebra = {
  lowerProducts,
  squaredDistances: (rows, others) =>
    rows.map((row) => Float64Array.from(others, (other) => squaredDistance(row, other))),
  momentsOf,
};

/** Rows as one tensor [n, D]. */
function stacked(rows: readonly Float64Array[]): Tensor {
  const size = rows[0].length;
  const values = new Float64Array(rows.length * size);
  rows.forEach((row, i) => values.set(row, i * size));
  return tensor(values, { shape: [rows.length, size] });
}

/** The rows of what `work` gives, [n][m]. */
function rowsOf(work: () => Tensor): Float64Array[] {
  const { values, size } = noGrad(() =>
    scope(() => {
      const found = work().contiguous();
      return { values: found.data() as Float64Array, size: found.shape[1] };
    }),
  );
  return Array.from({ length: values.length / size }, (_, i) =>
    values.subarray(i * size, (i + 1) * size),
  );
}

/** Bands and numbers of rows below which loops are done sooner. */
const WORTH_BAND = 32;
const WORTH_ROWS = 8;

export const TORCH_ALGEBRA: RowAlgebra = {
  lowerProducts: (blocks, band, rows) =>
    blocks.length > 1 || band < WORTH_BAND || rows.length < WORTH_ROWS
      ? lowerProducts(blocks, band, rows)
      : rowsOf(() =>
          stacked(rows).matmul(tensor(blocks[0], { shape: [band, band] }).transpose(0, 1)),
        ),
  squaredDistances: (rows, others) =>
    rowsOf(() => {
      const [a, b] = [stacked(rows), stacked(others)];
      const squares = a
        .square()
        .sum([1])
        .unsqueeze(1)
        .add(b.square().sum([1]).unsqueeze(0));
      return squares.sub(a.matmul(b.transpose(0, 1)).mul(2));
    }),
  momentsOf: (rows, size) => {
    const [mean, ...squares] = rowsOf(() => {
      const x = stacked(rows);
      const average = x.mean([0]).unsqueeze(0); // [1, D]
      return cat([average, x.transpose(0, 1).matmul(x).div(rows.length)], 0); // [1 + D, D]
    });
    const covariance = new Float64Array(size * size);
    squares.forEach((row, i) =>
      row.forEach((value, j) => (covariance[i * size + j] = value - mean[i] * mean[j])),
    );
    return { mean, covariance };
  },
};

export const rowAlgebra = (): RowAlgebra => (isTorchAvailable() ? TORCH_ALGEBRA : PLAIN_ALGEBRA);
