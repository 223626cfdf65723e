/** Factors of the covariances of a mixture, row by row in Float64Arrays. */
import { choleskyInverse, FormatError } from '../../base/index.js';
import { ModelError } from '../errors.js';

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
  const area = dimension * dimension;
  const factors = new Float64Array(count * area);
  try {
    for (let at = 0; at < factors.length; at += area) {
      factors.set(choleskyInverse(covariances.subarray(at, at + area), dimension), at);
    }
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new ModelError(`${cause.message}; a larger covariance floor would make it so`, { cause });
  }
  return factors;
}
