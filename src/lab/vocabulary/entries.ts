/**
 * The distinct values among many: clusters of a given radius. A first pass takes every row that is too far
 * from all clusters so far as a new one; two more move the clusters to the mean of their rows. Which row
 * comes first does not matter as long as clusters lie further apart than two radii, and those of trained
 * models do: about one sigma_z wide, at least six apart.
 */

/** Rows of equal length in one array. */
export interface Rows {
  readonly count: number;
  readonly size: number;
  /** [count, size] */
  readonly values: Float32Array;
}

export interface Clusters {
  /** [K, size] */
  readonly centres: Float32Array;
  /** Cluster of each row. */
  readonly labels: Int32Array;
  /** Rows of each cluster, [K] */
  readonly counts: Float32Array;
}

function squaredDistance(a: Float32Array, i: number, b: Float32Array, j: number, size: number) {
  let sum = 0;
  for (let k = 0, p = i * size, q = j * size; k < size; k++, p++, q++) {
    const difference = a[p] - b[q];
    sum += difference * difference;
  }
  return sum;
}

/** Rows that lie further than `radius` from those before them; null if there are more than `most`. */
function leaders({ count, size, values }: Rows, radius: number, most: number): Float32Array | null {
  const found: number[] = [];
  const nearest = new Float64Array(count).fill(Infinity);
  for (let row = 0; row < count; row++) {
    if (nearest[row] <= radius * radius) continue;
    if (found.length >= most) return null;
    found.push(row);
    for (let other = row; other < count; other++) {
      if (nearest[other] <= radius * radius) continue;
      const distance = squaredDistance(values, other, values, row, size);
      if (distance < nearest[other]) nearest[other] = distance;
    }
  }
  const centres = new Float32Array(found.length * size);
  found.forEach((row, k) => centres.set(values.subarray(row * size, (row + 1) * size), k * size));
  return centres;
}

function assign({ count, size, values }: Rows, centres: Float32Array): Int32Array {
  const clusters = centres.length / size;
  return Int32Array.from({ length: count }, (_, row) => {
    let best = 0;
    let least = Infinity;
    for (let k = 0; k < clusters; k++) {
      const distance = squaredDistance(values, row, centres, k, size);
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  });
}

function meansOf({ count, size, values }: Rows, labels: Int32Array, clusters: number) {
  const counts = new Float32Array(clusters);
  const sums = new Float64Array(clusters * size);
  for (let row = 0; row < count; row++) {
    counts[labels[row]]++;
    for (let k = 0; k < size; k++) sums[labels[row] * size + k] += values[row * size + k];
  }
  return { counts, means: Float32Array.from(sums, (sum, i) => sum / counts[Math.floor(i / size)]) };
}

const PASSES = 2;

/** Clusters of rows; null if there are more than `most`. */
export function clustersOf(rows: Rows, radius: number, most: number): Clusters | null {
  let centres = leaders(rows, radius, most);
  if (centres === null) return null;
  for (let pass = 0; ; pass++) {
    const labels = assign(rows, centres);
    const { counts, means } = meansOf(rows, labels, centres.length / rows.size);
    const empty = counts.indexOf(0);
    if (empty >= 0) {
      // Its rows all went to others: take it away and look again.
      centres = centres.filter((_, i) => Math.floor(i / rows.size) !== empty);
      continue;
    }
    if (pass >= PASSES) return { centres, labels, counts };
    centres = means;
  }
}
