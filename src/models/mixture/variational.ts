/**
 * Bayesian Gaussian mixture by variational inference, as the released code uses through
 * scikit-learn's BayesianGaussianMixture: Gauss-Wishart components (a Wishart over each full
 * precision), weights by a truncated Dirichlet process (stick breaking). Components without
 * evidence lose their weight. Bishop 2006, chapter 10.2; Blei and Jordan 2006.
 */
import { whiteningFactors, logDeterminantOfTriangle } from './linear-algebra.js';
import { iterate, startingResponsibilities } from './learner.js';
import type { FittedMixture, LearnerOptions } from './learner.js';
import { logNormalizers, normalize, weightedLogDensities } from './mixture.js';
import { momentsOf, type Moments } from './moments.js';
import type { Points } from './points.js';
import { digamma, logBeta, logGamma } from './special-functions.js';

/** How many points the prior on a mean counts for. */
const MEAN_PRECISION = 1;

/** Of each component; the degrees of freedom of its Wishart are the dimension. */
interface Prior {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
}

/** Posterior over component means and precisions (Gauss-Wishart), and over weights. */
interface Posterior {
  readonly sticks: Sticks;
  readonly meanPrecisions: Float64Array;
  readonly means: Float64Array;
  readonly degreesOfFreedom: Float64Array;
  /** Scale matrices divided by the degrees of freedom: the covariances of the fitted mixture. */
  readonly covariances: Float64Array;
  readonly whitening: Float64Array;
}

/** Posterior of the weights: expected logs, expected weights, log of the normaliser. */
interface Sticks {
  readonly expectedLogs: Float64Array;
  readonly weights: Float64Array;
  readonly logNormalizer: number;
}

function dataPrior(points: Points, floor: number): Prior {
  const { count, dimension } = points;
  const { means, covariances } = momentsOf(points, new Float64Array(count).fill(1), 1, 0);
  // The unbiased covariance of all points. Points that all coincide still need an invertible scale.
  const covariance = covariances.map((value) => (value * count) / Math.max(1, count - 1));
  for (let j = 0; j < dimension; j++) {
    const at = j * (dimension + 1);
    covariance[at] = Math.max(covariance[at], floor);
  }
  return { mean: means, covariance };
}

/** The weights under a Dirichlet process of concentration 1 / components. */
function stickBreaking(sizes: Float64Array): Sticks {
  const components = sizes.length;
  const concentration = 1 / components;
  const expectedLogs = new Float64Array(components);
  const weights = new Float64Array(components);
  let remaining = sizes.reduce((sum, size) => sum + size, 0);
  let logLeft = 0;
  let left = 1;
  let logNormalizer = 0;
  for (let k = 0; k < components; k++) {
    remaining -= sizes[k];
    const a = 1 + sizes[k];
    const b = concentration + (k === components - 1 ? 0 : Math.max(0, remaining));
    const both = digamma(a + b);
    expectedLogs[k] = digamma(a) - both + logLeft;
    weights[k] = (a / (a + b)) * left;
    logLeft += digamma(b) - both;
    left *= b / (a + b);
    logNormalizer -= logBeta(a, b);
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return { expectedLogs, weights: weights.map((weight) => weight / total), logNormalizer };
}

function update(moments: Moments, prior: Prior): Posterior {
  const { sizes, means: sampleMeans, covariances: samples } = moments;
  const components = sizes.length;
  const dimension = prior.mean.length;
  const meanPrecisions = sizes.map((size) => MEAN_PRECISION + size);
  const degreesOfFreedom = sizes.map((size) => dimension + size);
  const means = new Float64Array(components * dimension);
  const covariances = new Float64Array(components * dimension * dimension);
  for (let k = 0; k < components; k++) {
    const pull = (sizes[k] * MEAN_PRECISION) / meanPrecisions[k];
    for (let i = 0; i < dimension; i++) {
      const mean = k * dimension + i;
      const weighted = MEAN_PRECISION * prior.mean[i] + sizes[k] * sampleMeans[mean];
      means[mean] = weighted / meanPrecisions[k];
      for (let j = 0; j < dimension; j++) {
        const at = (k * dimension + i) * dimension + j;
        const gaps =
          (sampleMeans[mean] - prior.mean[i]) * (sampleMeans[k * dimension + j] - prior.mean[j]);
        const scale = prior.covariance[i * dimension + j] + sizes[k] * samples[at] + pull * gaps;
        covariances[at] = scale / degreesOfFreedom[k];
      }
    }
  }
  return {
    sticks: stickBreaking(sizes),
    meanPrecisions,
    means,
    degreesOfFreedom,
    covariances,
    whitening: whiteningFactors(covariances, components, dimension),
  };
}

/** Expected log of weight times density, as an offset beside -|y|²/2 (Bishop 10.64 to 10.66). */
function expectedOffsets(posterior: Posterior, dimension: number): Float64Array {
  const { sticks, meanPrecisions, degreesOfFreedom, whitening } = posterior;
  const normalizers = logNormalizers(whitening, meanPrecisions.length, dimension);
  return normalizers.map((normalizer, k) => {
    let logLambda = dimension * Math.LN2 - dimension * Math.log(degreesOfFreedom[k]);
    for (let i = 0; i < dimension; i++) logLambda += digamma(0.5 * (degreesOfFreedom[k] - i));
    const spread = dimension / meanPrecisions[k];
    return normalizer + sticks.expectedLogs[k] + 0.5 * (logLambda - spread);
  });
}

/** Lower bound of the evidence up to a constant, from the entropy of the responsibilities. */
function lowerBound(posterior: Posterior, entropy: number, dimension: number): number {
  const { sticks, meanPrecisions, degreesOfFreedom, whitening } = posterior;
  let bound = entropy - sticks.logNormalizer;
  for (let k = 0; k < meanPrecisions.length; k++) {
    const freedom = degreesOfFreedom[k];
    const logDeterminant =
      logDeterminantOfTriangle(whitening, k * dimension * dimension, dimension) -
      0.5 * dimension * Math.log(freedom);
    bound += freedom * logDeterminant + 0.5 * freedom * dimension * Math.LN2;
    for (let i = 0; i < dimension; i++) bound += logGamma(0.5 * (freedom - i));
    bound -= 0.5 * dimension * Math.log(meanPrecisions[k]);
  }
  return bound;
}

/** Fits a Bayesian mixture of at most `options.components` Gaussians to the points. */
export function fitBayesianMixture(points: Points, options: LearnerOptions): FittedMixture {
  const { components } = options;
  const { dimension } = points;
  const floor = options.covarianceFloor ?? 1e-6;
  const prior = dataPrior(points, floor);
  const maximize = (responsibilities: Float64Array): Posterior =>
    update(momentsOf(points, responsibilities, components, floor), prior);
  let posterior = maximize(startingResponsibilities(points, options));
  const scores = new Float64Array(points.count * components);
  const outcome = iterate(() => {
    const { means, whitening } = posterior;
    const offsets = expectedOffsets(posterior, dimension);
    weightedLogDensities(points, { dimension, components, means, whitening, offsets }, scores);
    const { entropy } = normalize(scores, components);
    posterior = maximize(scores);
    return lowerBound(posterior, entropy, dimension);
  }, options);
  const { sticks, means, covariances } = posterior;
  return {
    mixture: { dimension, components, weights: sticks.weights, means, covariances },
    ...outcome,
  };
}
