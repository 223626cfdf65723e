/** The little linear algebra of covariances that several layers need, on row-major f64 matrices. */
import { FormatError } from './errors.js';

/** The lower factor L of a symmetric positive definite matrix, A = L L'. */
export function cholesky(matrix: Float64Array, size: number): Float64Array {
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
export function invertLower(lower: Float64Array, size: number): Float64Array {
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
  const lower = invertLower(cholesky(matrix, size), size);
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
