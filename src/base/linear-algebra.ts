/** The little linear algebra of covariances that several layers need, on row-major f64 matrices. */
import { FormatError } from './errors.js';

/** The lower factor L of a symmetric positive definite matrix, A = L L'. */
function cholesky(matrix: Float64Array, size: number): Float64Array {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j];
      for (let k = 0; k < j; k++) sum -= lower[i * size + k] * lower[j * size + k];
      if (i !== j) {
        lower[i * size + j] = sum / lower[j * size + j];
        continue;
      }
      if (!(sum > 0)) throw new FormatError('a covariance is not positive definite');
      lower[i * size + i] = Math.sqrt(sum);
    }
  }
  return lower;
}

/** The inverse of a lower triangular matrix. */
function invertLower(lower: Float64Array, size: number): Float64Array {
  const inverse = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    const row = i * size;
    // Row i of the inverse: (e_i - sum_k<i L_ik inverse_k) / L_ii.
    for (let k = 0; k < i; k++) {
      const factor = lower[row + k];
      for (let j = 0; j <= k; j++) inverse[row + j] -= factor * inverse[k * size + j];
    }
    inverse[row + i] = 1;
    for (let j = 0; j <= i; j++) inverse[row + j] /= lower[row + i];
  }
  return inverse;
}

/** The inverse of a symmetric positive definite matrix. */
export function invertPositive(matrix: Float64Array, size: number): Float64Array {
  const lower = choleskyInverse(matrix, size);
  const inverse = new Float64Array(size * size);
  // inverse(L)' inverse(L), summed row by row of inverse(L).
  for (let k = 0; k < size; k++) {
    for (let i = 0; i <= k; i++) {
      const factor = lower[k * size + i];
      for (let j = 0; j <= k; j++) inverse[i * size + j] += factor * lower[k * size + j];
    }
  }
  return inverse;
}

/** The inverse of the lower Cholesky factor: it whitens vectors of that covariance. */
export const choleskyInverse = (matrix: Float64Array, size: number): Float64Array =>
  invertLower(cholesky(matrix, size), size);

const SWEEPS = 60;

/**
 * Eigenvalues, falling, and eigenvectors (rows of [size, size]) of a symmetric matrix, by Jacobi's
 * rotations: each makes one pair of entries off the diagonal zero.
 */
export function symmetricEigen(
  matrix: Float64Array,
  size: number,
): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const a = matrix.slice();
  const v = new Float64Array(size * size);
  for (let i = 0; i < size; i++) v[i * (size + 1)] = 1;
  let scale = 0;
  for (const value of a) scale += value * value;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let off = 0;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) off += a[p * size + q] ** 2;
    }
    if (off <= 1e-22 * scale) break;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        if (a[p * size + q] ** 2 > 1e-30 * scale) rotate(a, v, size, p, q);
      }
    }
  }
  const order = Array.from({ length: size }, (_, i) => i).sort(
    (i, j) => a[j * (size + 1)] - a[i * (size + 1)],
  );
  const vectors = new Float64Array(size * size);
  order.forEach((from, to) => vectors.set(v.subarray(from * size, (from + 1) * size), to * size));
  return { values: Float64Array.from(order, (i) => a[i * (size + 1)]), vectors };
}

/** Takes a[p][q] away by one rotation, and turns the vectors, rows of `v`, along. */
function rotate(a: Float64Array, v: Float64Array, size: number, p: number, q: number): void {
  const theta = (a[q * (size + 1)] - a[p * (size + 1)]) / (2 * a[p * size + q]);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  const turn = (m: Float64Array, i: number, j: number): void => {
    const [x, y] = [m[i], m[j]];
    m[i] = c * x - s * y;
    m[j] = s * x + c * y;
  };
  for (let k = 0; k < size; k++) turn(a, k * size + p, k * size + q);
  for (let k = 0; k < size; k++) {
    turn(a, p * size + k, q * size + k);
    turn(v, p * size + k, q * size + k);
  }
}
