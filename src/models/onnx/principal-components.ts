/**
 * The leading principal components of samples, by subspace iteration: repeated products with the
 * samples turn a random basis towards the directions of most variance. Plain and offline; exact to
 * the few digits that a choice of ranks needs.
 */
import { uniformStream } from '../mixture/random.js';

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

/** Eigenvalues and vectors (rows) of a small symmetric matrix, by Jacobi's rotations, falling. */
export function symmetricEigen(
  matrix: Float64Array,
  size: number,
): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const a = matrix.slice();
  const v = new Float64Array(size * size);
  for (let i = 0; i < size; i++) v[i * (size + 1)] = 1;
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    let diagonal = 0;
    for (let i = 0; i < size; i++) {
      diagonal += a[i * (size + 1)] ** 2;
      for (let j = 0; j < i; j++) off += a[i * size + j] ** 2;
    }
    if (off <= 1e-22 * diagonal) break;
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(a, v, size, p, q);
  }
  const order = Array.from({ length: size }, (_, i) => i).sort(
    (i, j) => a[j * (size + 1)] - a[i * (size + 1)],
  );
  const vectors = new Float64Array(size * size);
  order.forEach((from, to) => vectors.set(v.subarray(from * size, (from + 1) * size), to * size));
  return { values: Float64Array.from(order, (i) => a[i * (size + 1)]), vectors };
}

/** One rotation that takes a[p][q] away; `v` holds the vectors as rows. */
function rotate(a: Float64Array, v: Float64Array, n: number, p: number, q: number): void {
  const apq = a[p * n + q];
  if (Math.abs(apq) < 1e-300) return;
  const theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const c = 1 / Math.hypot(t, 1);
  const s = t * c;
  for (let k = 0; k < n; k++) {
    const [kp, kq] = [a[k * n + p], a[k * n + q]];
    a[k * n + p] = c * kp - s * kq;
    a[k * n + q] = s * kp + c * kq;
  }
  for (let k = 0; k < n; k++) {
    const [pk, qk] = [a[p * n + k], a[q * n + k]];
    a[p * n + k] = c * pk - s * qk;
    a[q * n + k] = s * pk + c * qk;
    const [vp, vq] = [v[p * n + k], v[q * n + k]];
    v[p * n + k] = c * vp - s * vq;
    v[q * n + k] = s * vp + c * vq;
  }
}

/** The `rank` leading components. */
export function principalComponents(samples: Samples, rank: number): PrincipalComponents {
  const { count, size } = samples;
  const { mean, rows } = centred(samples);
  const total = rows.reduce((sum, value) => sum + value * value, 0) / count;
  const k = Math.min(size, count, rank + EXTRA);
  const random = uniformStream(1);
  let basis: Float64Array = Float64Array.from({ length: k * size }, () => random() - 0.5);
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
