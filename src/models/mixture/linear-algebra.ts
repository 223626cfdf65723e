/**
 * Cholesky factors of small dense matrices, row by row in Float64Arrays. The dimension is that of a
 * rule (2 in the paper), so plain loops beat any library call.
 */
import { ModelError } from '../errors.js';

/** Lower Cholesky factor of the symmetric matrix at `offset` in `matrix`; written to `out` (same layout). */
export function cholesky(
  matrix: Float64Array,
  out: Float64Array,
  offset: number,
  dimension: number,
): void {
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j < dimension; j++) {
      const at = offset + i * dimension + j;
      if (j > i) {
        out[at] = 0;
        continue;
      }
      let sum = matrix[at];
      for (let k = 0; k < j; k++) {
        sum -= out[offset + i * dimension + k] * out[offset + j * dimension + k];
      }
      if (i !== j) {
        out[at] = sum / out[offset + j * dimension + j];
        continue;
      }
      if (!(sum > 0)) {
        throw new ModelError(
          'cholesky: the matrix is not positive definite; a larger covariance floor would make it so',
        );
      }
      out[at] = Math.sqrt(sum);
    }
  }
}

/** Replaces the lower-triangular matrix at `offset` by its inverse. */
export function invertLowerTriangle(factor: Float64Array, offset: number, dimension: number): void {
  for (let i = 0; i < dimension; i++) {
    const diagonal = 1 / factor[offset + i * dimension + i];
    for (let j = 0; j < i; j++) {
      let sum = 0;
      for (let k = j; k < i; k++) {
        sum += factor[offset + i * dimension + k] * factor[offset + k * dimension + j];
      }
      factor[offset + i * dimension + j] = -sum * diagonal;
    }
    factor[offset + i * dimension + i] = diagonal;
  }
}

/** Log-determinant of the triangular matrix at `offset` (its diagonal is positive). */
export function logDeterminantOfTriangle(
  factor: Float64Array,
  offset: number,
  dimension: number,
): number {
  let sum = 0;
  for (let i = 0; i < dimension; i++) sum += Math.log(factor[offset + i * dimension + i]);
  return sum;
}

/**
 * For `count` covariances [count, d, d]: the inverses of their lower Cholesky factors [count, d, d],
 * which whiten: |W (x - mean)|² is the squared Mahalanobis distance.
 */
export function whiteningFactors(
  covariances: Float64Array,
  count: number,
  dimension: number,
): Float64Array {
  const factors = new Float64Array(count * dimension * dimension);
  for (let k = 0; k < count; k++) {
    const offset = k * dimension * dimension;
    cholesky(covariances, factors, offset, dimension);
    invertLowerTriangle(factors, offset, dimension);
  }
  return factors;
}
