/**
 * The leading principal components of samples, by subspace iteration: repeated products with the
 * samples turn a random basis towards the directions of most variance. Plain and offline; exact to
 * the few digits that a choice of ranks needs.
 */
import { symmetricEigen } from '../../base/index.js';
import { Random } from '../../matrix/index.js';

/** Rows [count, size], row-major. */
export interface Samples {
  readonly count: number;
  readonly size: number;
  readonly values: Float32Array;
}

export interface PrincipalComponents {
  /** [size] */
  readonly mean: Float64Array;
  /** Orthonormal directions [rank, size], by falling variance. */
  readonly directions: Float64Array;
  /** Variance along each, [rank]. */
  readonly variances: Float64Array;
  /** Sum of all variances, also of those left out. */
  readonly total: number;
}

const ITERATIONS = 2;
const EXTRA = 8;

function centred({ count, size, values }: Samples): { mean: Float64Array; rows: Float64Array } {
  const mean = new Float64Array(size);
  for (let i = 0; i < values.length; i++) mean[i % size] += values[i] / count;
  const rows = Float64Array.from(values, (value, i) => value - mean[i % size]);
  return { mean, rows };
}

/** rows [n, size] times basis [k, size] transposed: [n, k]. */
function project(rows: Float64Array, basis: Float64Array, size: number): Float64Array {
  const n = rows.length / size;
  const k = basis.length / size;
  const out = new Float64Array(n * k);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < k; j++) {
      let sum = 0;
      for (let a = i * size, b = j * size; b < (j + 1) * size; a++, b++) sum += rows[a] * basis[b];
      out[i * k + j] = sum;
    }
  }
  return out;
}

/** scores [n, k] transposed times rows [n, size]: [k, size]. */
function combine(scores: Float64Array, rows: Float64Array, size: number): Float64Array {
  const n = rows.length / size;
  const k = scores.length / n;
  const out = new Float64Array(k * size);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < k; j++) {
      const by = scores[i * k + j];
      for (let a = i * size, b = j * size; b < (j + 1) * size; a++, b++) out[b] += by * rows[a];
    }
  }
  return out;
}

/** Makes rows [k, size] orthonormal, in place; rows without a direction of their own become zero. */
function orthonormalize(basis: Float64Array, size: number): void {
  const k = basis.length / size;
  for (let i = 0; i < k; i++) {
    const row = basis.subarray(i * size, (i + 1) * size);
    const before = lengthOf(row);
    // Twice, because once leaves rounding errors behind.
    for (let pass = 0; pass < 2; pass++) {
      for (let j = 0; j < i; j++) {
        const other = basis.subarray(j * size, (j + 1) * size);
        let dot = 0;
        for (let x = 0; x < size; x++) dot += row[x] * other[x];
        for (let x = 0; x < size; x++) row[x] -= dot * other[x];
      }
    }
    const length = lengthOf(row);
    const scale = length > 1e-10 * before && length > 0 ? 1 / length : 0;
    for (let x = 0; x < size; x++) row[x] *= scale;
  }
}

function lengthOf(row: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < row.length; i++) sum += row[i] * row[i];
  return Math.sqrt(sum);
}

/** The `rank` leading components. */
export function principalComponents(samples: Samples, rank: number): PrincipalComponents {
  const { count, size } = samples;
  const { mean, rows } = centred(samples);
  const total = rows.reduce((sum, value) => sum + value * value, 0) / count;
  const k = Math.min(size, count, rank + EXTRA);
  const random = new Random(1);
  let basis: Float64Array = Float64Array.from({ length: k * size }, () => random.uniform() - 0.5);
  orthonormalize(basis, size);
  for (let i = 0; i < ITERATIONS; i++) {
    basis = combine(project(rows, basis, size), rows, size);
    orthonormalize(basis, size);
  }
  const scores = project(rows, basis, size); // [count, k]
  const small = combine(scores, scores, k).map((value) => value / count); // [k, k]
  const { values, vectors } = symmetricEigen(small, k);
  const kept = Math.min(rank, k);
  const directions = new Float64Array(kept * size);
  for (let i = 0; i < kept; i++) {
    for (let j = 0; j < k; j++) {
      const by = vectors[i * k + j];
      for (let x = 0; x < size; x++) directions[i * size + x] += by * basis[j * size + x];
    }
  }
  return { mean, directions, variances: values.slice(0, kept), total };
}
