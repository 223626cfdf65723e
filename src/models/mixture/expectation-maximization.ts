/**
 * Maximum likelihood Gaussian mixture by EM: the GMM learner of Algorithm 1. Same steps as
 * scikit-learn's GaussianMixture from the same start.
 */
import { iterate, startingResponsibilities } from './learner.js';
import type { FittedMixture, LearnerOptions } from './learner.js';
import { densitiesOf, normalize, weightedLogDensities, type GaussianMixture } from './mixture.js';
import { momentsOf } from './moments.js';
import type { Points } from './points.js';

/** Fits `options.components` Gaussians to the points. */
export function fitGaussianMixture(points: Points, options: LearnerOptions): FittedMixture {
  const { components } = options;
  const floor = options.covarianceFloor ?? 1e-6;
  const maximize = (responsibilities: Float64Array): GaussianMixture => {
    const { sizes, means, covariances } = momentsOf(points, responsibilities, components, floor);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const weights = sizes.map((size) => size / total);
    return { dimension: points.dimension, components, weights, means, covariances };
  };
  let mixture = maximize(startingResponsibilities(points, options));
  const scores = new Float64Array(points.count * components);
  const outcome = iterate(() => {
    weightedLogDensities(points, densitiesOf(mixture), scores);
    const { meanLogLikelihood } = normalize(scores, components);
    mixture = maximize(scores);
    return meanLogLikelihood;
  }, options);
  return { mixture, ...outcome };
}
