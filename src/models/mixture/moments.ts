/** Responsibility-weighted size, mean and covariance of each component: the statistics of an M step. */
import type { Points } from './points.js';

export interface Moments {
  /** Effective number of points [components]; never exactly zero. */
  readonly sizes: Float64Array;
  /** [components, dimension] */
  readonly means: Float64Array;
  /** [components, dimension, dimension], the floor already added to the diagonals. */
  readonly covariances: Float64Array;
}

/** Keeps the division by the size of an empty component finite. */
const SMALLEST_SIZE = 10 * Number.EPSILON;

/** Two dimensions without inner loops: centred second moments in one pass after the means. */
function planeCovariances(points: Points, resp: Float64Array, moments: Moments): void {
  const { values, count } = points;
  const { sizes, means, covariances } = moments;
  const components = sizes.length;
  for (let k = 0; k < components; k++) {
    const meanX = means[2 * k];
    const meanY = means[2 * k + 1];
    let xx = 0;
    let xy = 0;
    let yy = 0;
    for (let i = 0, at = k; i < count; i++, at += components) {
      const weight = resp[at];
      const dx = values[2 * i] - meanX;
      const dy = values[2 * i + 1] - meanY;
      xx += weight * dx * dx;
      xy += weight * dx * dy;
      yy += weight * dy * dy;
    }
    covariances.set([xx, xy, xy, yy], 4 * k);
  }
}

function generalCovariances(points: Points, resp: Float64Array, moments: Moments): void {
  const { values, count, dimension } = points;
  const { sizes, means, covariances } = moments;
  const components = sizes.length;
  const gap = new Float64Array(dimension);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < components; k++) {
      const weight = resp[i * components + k];
      for (let j = 0; j < dimension; j++) {
        gap[j] = values[i * dimension + j] - means[k * dimension + j];
      }
      for (let row = 0; row < dimension; row++) {
        const at = (k * dimension + row) * dimension;
        for (let j = 0; j < dimension; j++) covariances[at + j] += weight * gap[row] * gap[j];
      }
    }
  }
}

/** Moments of `points` under responsibilities [count, components]; `floor` widens every covariance. */
export function momentsOf(
  points: Points,
  responsibilities: Float64Array,
  components: number,
  floor: number,
): Moments {
  const { values, count, dimension } = points;
  const sizes = new Float64Array(components);
  const means = new Float64Array(components * dimension);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < components; k++) {
      const weight = responsibilities[i * components + k];
      sizes[k] += weight;
      for (let j = 0; j < dimension; j++) {
        means[k * dimension + j] += weight * values[i * dimension + j];
      }
    }
  }
  for (let k = 0; k < components; k++) {
    sizes[k] += SMALLEST_SIZE;
    for (let j = 0; j < dimension; j++) means[k * dimension + j] /= sizes[k];
  }
  const square = dimension * dimension;
  const moments = { sizes, means, covariances: new Float64Array(components * square) };
  if (dimension === 2) planeCovariances(points, responsibilities, moments);
  else generalCovariances(points, responsibilities, moments);
  for (let k = 0; k < components; k++) {
    for (let j = 0; j < square; j++) moments.covariances[k * square + j] /= sizes[k];
    for (let j = 0; j < dimension; j++) {
      moments.covariances[k * square + j * (dimension + 1)] += floor;
    }
  }
  return moments;
}
