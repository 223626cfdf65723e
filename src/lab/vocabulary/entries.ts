/**
 * The distinct values among many: clusters of a given radius. A first pass takes every row that is too far
 * from all clusters so far as a new one; three more move the clusters to the mean of their rows and merge
 * those that come within a radius of a larger one. Which row comes first does not matter as long as
 * clusters lie further apart than two radii, and those of trained models do: about one sigma_z wide, at
 * least six apart.
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

/** Centres without those that lie within `radius` of a larger cluster's. */
function merged(centres: Float32Array, counts: Float32Array, size: number, radius: number) {
  const order = [...counts.keys()].sort((a, b) => counts[b] - counts[a]);
  const kept = order.reduce<number[]>((found, k) => {
    const isNear = found.some(
      (other) => squaredDistance(centres, k, centres, other, size) <= radius * radius,
    );
    return isNear ? found : [...found, k];
  }, []);
  return Float32Array.from(
    kept.sort((a, b) => a - b).flatMap((k) => [...centres.subarray(k * size, (k + 1) * size)]),
  );
}

const PASSES = 3;

/** Clusters of rows; null if there are more than `most`. */
export function clustersOf(rows: Rows, radius: number, most: number): Clusters | null {
  let centres = leaders(rows, radius, most);
  if (centres === null) return null;
  for (let pass = 0; pass < PASSES; pass++) {
    const { counts, means } = meansOf(rows, assign(rows, centres), centres.length / rows.size);
    const met = means.filter((_, i) => counts[Math.floor(i / rows.size)] > 0);
    centres = merged(
      met,
      counts.filter((count) => count > 0),
      rows.size,
      radius,
    );
  }
  const labels = assign(rows, centres);
  return { centres, labels, counts: meansOf(rows, labels, centres.length / rows.size).counts };
}
