/**
 * k-means with a k-means++ start (several candidates a centre, the best kept), then Lloyd's
 * iterations; a cluster left empty takes the point farthest from its centre. With given starting
 * centres it takes the same steps as scikit-learn's Lloyd variant.
 */
import { areEqual } from '../../base/index.js';
import type { Random } from '../../matrix/index.js';
import { ModelError } from '../errors.js';
import type { Points } from './points.js';

const MOST_ITERATIONS = 300;
/** Squared movement of the centres, relative to the mean variance of a coordinate, that ends the search. */
const TOLERANCE = 1e-4;

export interface KMeansResult {
  /** [clusters, dimension] */
  readonly centres: Float64Array;
  /** Cluster of each point. */
  readonly labels: Int32Array;
  /** Sum of squared distances to the nearest centre. */
  readonly inertia: number;
}

function squaredDistance(
  a: Float64Array,
  aOffset: number,
  b: Float64Array,
  bOffset: number,
  dimension: number,
): number {
  let sum = 0;
  for (let i = 0; i < dimension; i++) {
    const difference = a[aOffset + i] - b[bOffset + i];
    sum += difference * difference;
  }
  return sum;
}

/** Index of the first entry whose running sum of `weights` exceeds `threshold`. */
function pickByWeight(weights: Float64Array, threshold: number): number {
  let running = 0;
  for (let i = 0; i < weights.length; i++) {
    running += weights[i];
    if (running > threshold) return i;
  }
  return weights.length - 1;
}

/** Starting centres by k-means++ with 2 + ⌊ln k⌋ candidates for each centre after the first. */
function plusPlusCentres(points: Points, clusters: number, random: Random): Float64Array {
  const { values, count, dimension } = points;
  const centres = new Float64Array(clusters * dimension);
  const candidates = 2 + Math.floor(Math.log(clusters));
  const take = (cluster: number, point: number): void => {
    const row = values.subarray(point * dimension, (point + 1) * dimension);
    centres.set(row, cluster * dimension);
  };
  take(0, Math.min(count - 1, Math.floor(random.uniform() * count)));
  let nearest = new Float64Array(count);
  let potential = 0;
  for (let i = 0; i < count; i++) {
    nearest[i] = squaredDistance(values, i * dimension, centres, 0, dimension);
    potential += nearest[i];
  }
  for (let cluster = 1; cluster < clusters; cluster++) {
    let best = { potential: Infinity, point: 0, nearest };
    for (let trial = 0; trial < candidates; trial++) {
      const point = pickByWeight(nearest, random.uniform() * potential);
      const distances = new Float64Array(count);
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const d = squaredDistance(values, i * dimension, values, point * dimension, dimension);
        distances[i] = Math.min(nearest[i], d);
        sum += distances[i];
      }
      if (sum < best.potential) best = { potential: sum, point, nearest: distances };
    }
    take(cluster, best.point);
    nearest = best.nearest;
    potential = best.potential;
  }
  return centres;
}

/** Labels each point with its nearest centre; returns the inertia. */
function assign(
  points: Points,
  centres: Float64Array,
  labels: Int32Array,
  gaps: Float64Array,
): number {
  const { values, count, dimension } = points;
  let inertia = 0;
  for (let i = 0; i < count; i++) {
    const first = i * dimension;
    let least = Infinity;
    let nearest = 0;
    for (let k = 0, offset = 0; offset < centres.length; k++, offset += dimension) {
      let distance = 0;
      for (let j = 0; j < dimension; j++) {
        const difference = values[first + j] - centres[offset + j];
        distance += difference * difference;
      }
      if (distance < least) {
        least = distance;
        nearest = k;
      }
    }
    labels[i] = nearest;
    gaps[i] = least;
    inertia += least;
  }
  return inertia;
}

/** New centres from labels; an empty cluster takes the point farthest from its own centre. */
function recentre(
  points: Points,
  labels: Int32Array,
  gaps: Float64Array,
  clusters: number,
): Float64Array {
  const { values, count, dimension } = points;
  const centres = new Float64Array(clusters * dimension);
  const sizes = new Float64Array(clusters);
  for (let i = 0; i < count; i++) {
    sizes[labels[i]]++;
    for (let j = 0; j < dimension; j++) {
      centres[labels[i] * dimension + j] += values[i * dimension + j];
    }
  }
  const empty = [...sizes.keys()].filter((k) => sizes[k] === 0);
  if (empty.length > 0) {
    const farthest = [...gaps.keys()].sort((a, b) => gaps[b] - gaps[a]);
    empty.forEach((cluster, rank) => {
      const point = farthest[rank];
      for (let j = 0; j < dimension; j++) {
        const value = values[point * dimension + j];
        centres[labels[point] * dimension + j] -= value;
        centres[cluster * dimension + j] = value;
      }
      sizes[labels[point]]--;
      sizes[cluster] = 1;
    });
  }
  for (let k = 0; k < clusters; k++) {
    if (sizes[k] === 0) continue;
    for (let j = 0; j < dimension; j++) centres[k * dimension + j] /= sizes[k];
  }
  return centres;
}

/** Mean over the coordinates of their variance. */
function meanVariance({ values, count, dimension }: Points): number {
  let total = 0;
  for (let j = 0; j < dimension; j++) {
    let mean = 0;
    for (let i = 0; i < count; i++) mean += values[i * dimension + j];
    mean /= count;
    for (let i = 0; i < count; i++) total += (values[i * dimension + j] - mean) ** 2;
  }
  return total / (count * dimension);
}

/** Lloyd's iterations from given centres [clusters, dimension]. */
export function kMeansFrom(points: Points, start: Float64Array): KMeansResult {
  const { count, dimension } = points;
  const threshold = TOLERANCE * meanVariance(points);
  let labels = new Int32Array(count).fill(-1);
  const gaps = new Float64Array(count);
  const clusters = start.length / dimension;
  let centres = start;
  let settled = false;
  for (let iteration = 0; iteration < MOST_ITERATIONS && !settled; iteration++) {
    const next = new Int32Array(count);
    assign(points, centres, next, gaps);
    const moved = recentre(points, next, gaps, clusters);
    settled = areEqual(next, labels);
    const shift = squaredDistance(moved, 0, centres, 0, moved.length);
    labels = next;
    centres = moved;
    if (shift <= threshold) break;
  }
  const inertia = assign(points, centres, labels, gaps);
  return { centres, labels, inertia };
}

/** k-means from a k-means++ start. */
export function kMeans(points: Points, clusters: number, random: Random): KMeansResult {
  if (!Number.isInteger(clusters) || clusters < 1 || clusters > points.count) {
    throw new ModelError(`k-means: ${clusters} clusters of ${points.count} points`);
  }
  return kMeansFrom(points, plusPlusCentres(points, clusters, random));
}
