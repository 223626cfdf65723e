/** A mixture of Gaussians with full covariance as plain data, its densities and its assignments. */
import { indexOfLargest } from '../../base/index.js';
import { logDeterminantOfTriangle, whiteningFactors } from './linear-algebra.js';
import type { Points } from './points.js';

export interface GaussianMixture {
  readonly dimension: number;
  readonly components: number;
  /** [components], summing to one. */
  readonly weights: Float64Array;
  /** [components, dimension] */
  readonly means: Float64Array;
  /** [components, dimension, dimension] */
  readonly covariances: Float64Array;
}

const LOG_TWO_PI = Math.log(2 * Math.PI);

/** What the density of each component needs, worked out once for many points. */
interface Densities {
  readonly dimension: number;
  readonly components: number;
  readonly means: Float64Array;
  /** Inverse Cholesky factors [components, dimension, dimension]. */
  readonly whitening: Float64Array;
  /** Added to -|y|²/2 of each component [components]. */
  readonly offsets: Float64Array;
}

/** Log of the normalising factor of each component's density, given its inverse Cholesky factor. */
export function logNormalizers(
  whitening: Float64Array,
  components: number,
  dimension: number,
): Float64Array {
  return Float64Array.from({ length: components }, (_, k) => {
    const logDeterminant = logDeterminantOfTriangle(
      whitening,
      k * dimension * dimension,
      dimension,
    );
    return logDeterminant - 0.5 * dimension * LOG_TWO_PI;
  });
}

/** The weighted component densities w_k N(x | mean_k, covariance_k) of a mixture. */
export function densitiesOf(mixture: GaussianMixture): Densities {
  const { components, dimension, means, covariances, weights } = mixture;
  const whitening = whiteningFactors(covariances, components, dimension);
  const offsets = logNormalizers(whitening, components, dimension);
  for (let k = 0; k < components; k++) offsets[k] += Math.log(weights[k]);
  return { dimension, components, means, whitening, offsets };
}

/** Log densities [count, components] for two dimensions, the paper's case, without inner loops. */
function planeLogDensities(points: Points, densities: Densities, out: Float64Array): void {
  const { components, means, whitening, offsets } = densities;
  for (let k = 0; k < components; k++) {
    const meanX = means[2 * k];
    const meanY = means[2 * k + 1];
    const a = whitening[4 * k];
    const b = whitening[4 * k + 2];
    const c = whitening[4 * k + 3];
    const offset = offsets[k];
    for (let i = 0, at = k; i < points.count; i++, at += components) {
      const dx = points.values[2 * i] - meanX;
      const dy = points.values[2 * i + 1] - meanY;
      const first = a * dx;
      const second = b * dx + c * dy;
      out[at] = offset - 0.5 * (first * first + second * second);
    }
  }
}

function generalLogDensities(points: Points, densities: Densities, out: Float64Array): void {
  const { components, dimension, means, whitening, offsets } = densities;
  const gap = new Float64Array(dimension);
  for (let k = 0; k < components; k++) {
    for (let i = 0; i < points.count; i++) {
      for (let j = 0; j < dimension; j++) {
        gap[j] = points.values[i * dimension + j] - means[k * dimension + j];
      }
      let squared = 0;
      for (let row = 0; row < dimension; row++) {
        let y = 0;
        const at = (k * dimension + row) * dimension;
        for (let j = 0; j <= row; j++) y += whitening[at + j] * gap[j];
        squared += y * y;
      }
      out[i * components + k] = offsets[k] - 0.5 * squared;
    }
  }
}

/** Weighted log densities of every point under every component, into `out` [count, components]. */
export function weightedLogDensities(
  points: Points,
  densities: Densities,
  out: Float64Array,
): void {
  if (densities.dimension === 2) planeLogDensities(points, densities, out);
  else generalLogDensities(points, densities, out);
}

/**
 * Turns weighted log densities [count, components] into responsibilities in place. Returns the mean
 * log of the normaliser (the mean log likelihood) and the entropy of the responsibilities.
 */
export function normalize(
  scores: Float64Array,
  components: number,
): { meanLogLikelihood: number; entropy: number } {
  const count = scores.length / components;
  let total = 0;
  let entropy = 0;
  for (let start = 0; start < scores.length; start += components) {
    let top = -Infinity;
    for (let k = 0; k < components; k++) top = Math.max(top, scores[start + k]);
    let sum = 0;
    let moment = 0;
    for (let k = 0; k < components; k++) {
      const relative = scores[start + k] - top;
      const value = Math.exp(relative);
      // exp underflows to 0 where relative is very negative; 0 log 0 counts as 0.
      if (value > 0) moment += value * relative;
      scores[start + k] = value;
      sum += value;
    }
    const logSum = Math.log(sum);
    for (let k = 0; k < components; k++) scores[start + k] /= sum;
    total += top + logSum;
    entropy += logSum - moment / sum;
  }
  return { meanLogLikelihood: total / count, entropy };
}

/** Responsibilities [count, components] of a mixture for points, and log densities [count]. */
export function explain(
  mixture: GaussianMixture,
  points: Points,
): { responsibilities: Float64Array; logDensity: Float64Array } {
  const { components } = mixture;
  const scores = new Float64Array(points.count * components);
  weightedLogDensities(points, densitiesOf(mixture), scores);
  const logDensity = new Float64Array(points.count);
  for (let i = 0; i < points.count; i++) {
    const row = scores.subarray(i * components, (i + 1) * components);
    logDensity[i] = normalize(row, components).meanLogLikelihood;
  }
  return { responsibilities: scores, logDensity };
}

/** The most responsible component of each point. */
export function categories(mixture: GaussianMixture, points: Points): Int32Array {
  const { components } = mixture;
  const { responsibilities } = explain(mixture, points);
  return Int32Array.from({ length: points.count }, (_, i) => {
    const row = responsibilities.subarray(i * components, (i + 1) * components);
    return indexOfLargest(row);
  });
}

/** The same mixture with its components ordered by falling weight. */
export function sortedByWeight(mixture: GaussianMixture): GaussianMixture {
  const { components, dimension } = mixture;
  const order = [...mixture.weights.keys()].sort((a, b) => mixture.weights[b] - mixture.weights[a]);
  const reorder = (values: Float64Array, width: number): Float64Array => {
    const out = new Float64Array(values.length);
    order.forEach((from, to) => {
      out.set(values.subarray(from * width, (from + 1) * width), to * width);
    });
    return out;
  };
  return {
    components,
    dimension,
    weights: reorder(mixture.weights, 1),
    means: reorder(mixture.means, dimension),
    covariances: reorder(mixture.covariances, dimension * dimension),
  };
}
