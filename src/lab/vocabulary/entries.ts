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

/**
 * Rows that lie further than `radius` from those before them, and for each row one within it; null if there are
 * more than `most`.
 */
function leaders({ count, size, values }: Rows, radius: number, most: number) {
  const found: number[] = [];
  const labels = new Int32Array(count).fill(-1);
  for (let row = 0; row < count; row++) {
    if (labels[row] >= 0) continue;
    if (found.length >= most) return null;
    for (let other = row; other < count; other++) {
      if (labels[other] >= 0) continue;
      const distance = distanceUpTo(radius * radius, values, other, values, row, size);
      if (distance <= radius * radius) labels[other] = found.length;
    }
    found.push(row);
  }
  const centres = new Float32Array(found.length * size);
  found.forEach((row, k) => centres.set(values.subarray(row * size, (row + 1) * size), k * size));
  return { centres, labels };
}

/** Squared distance of row `i` of one array to row `j` of another; any number above `limit` if it is larger. */
function distanceUpTo(
  limit: number,
  a: Float32Array,
  i: number,
  b: Float32Array,
  j: number,
  size: number,
): number {
  let sum = 0;
  for (let k = 0, p = i * size, q = j * size; k < size && sum <= limit; k++, p++, q++) {
    const difference = a[p] - b[q];
    sum += difference * difference;
  }
  return sum;
}

/**
 * The nearest centre of each row, the first of several; a good guess saves nearly all the work, as clusters
 * lie far apart.
 */
function assign(
  { count, size, values }: Rows,
  centres: Float32Array,
  guess: Int32Array,
): Int32Array {
  const clusters = centres.length / size;
  const labels = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    let best = guess[row] < clusters ? guess[row] : 0;
    let least = distanceUpTo(Infinity, values, row, centres, best, size);
    for (let k = 0; k < clusters; k++) {
      const distance = distanceUpTo(least, values, row, centres, k, size);
      if (distance < least || (distance === least && k < best)) {
        best = k;
        least = distance;
      }
    }
    labels[row] = best;
  }
  return labels;
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
      (other) => distanceUpTo(radius * radius, centres, k, centres, other, size) <= radius * radius,
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
  const found = leaders(rows, radius, most);
  if (found === null) return null;
  let { centres, labels }: Pick<Clusters, 'centres' | 'labels'> = found;
  for (let pass = 0; pass < PASSES; pass++) {
    labels = assign(rows, centres, labels);
    const { counts, means } = meansOf(rows, labels, centres.length / rows.size);
    const met = means.filter((_, i) => counts[Math.floor(i / rows.size)] > 0);
    centres = merged(
      met,
      counts.filter((count) => count > 0),
      rows.size,
      radius,
    );
  }
  labels = assign(rows, centres, labels);
  return { centres, labels, counts: meansOf(rows, labels, centres.length / rows.size).counts };
}
