/** What the two mixture learners share: options, starting responsibilities, and the loop. */
import { Random } from '../../matrix/index.js';
import { ModelError } from '../errors.js';
import { kMeans } from './k-means.js';
import type { GaussianMixture } from './mixture.js';
import type { Points } from './points.js';

/** Where the search starts: from k-means, or from a cluster for each point. */
export type MixtureStart =
  | { readonly kind: 'k-means'; readonly seed: number }
  | { readonly kind: 'labels'; readonly labels: ArrayLike<number> };

export interface LearnerOptions {
  readonly components: number;
  readonly start: MixtureStart;
  /** Added to the diagonal of every covariance, so that no component collapses onto a point. */
  readonly covarianceFloor?: number;
  /** The search ends when its objective changes by less. */
  readonly tolerance?: number;
  readonly maxIterations?: number;
}

export interface FittedMixture {
  readonly mixture: GaussianMixture;
  /** EM: mean log likelihood. Variational: lower bound of the evidence, up to a constant. */
  readonly objective: number;
  readonly iterations: number;
  readonly converged: boolean;
}

function oneHot(labels: ArrayLike<number>, components: number): Float64Array {
  const out = new Float64Array(labels.length * components);
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i];
    if (!Number.isInteger(label) || label < 0 || label >= components) {
      throw new ModelError(`mixture start: label ${label} is not one of 0..${components - 1}`);
    }
    out[i * components + label] = 1;
  }
  return out;
}

/** Responsibilities [count, components] to start from. */
export function startingResponsibilities(points: Points, options: LearnerOptions): Float64Array {
  const { components, start } = options;
  if (!Number.isInteger(components) || components < 1 || components > points.count) {
    throw new ModelError(`mixture: ${components} components from ${points.count} points`);
  }
  switch (start.kind) {
    case 'k-means':
      return oneHot(kMeans(points, components, new Random(start.seed)).labels, components);
    case 'labels':
      if (start.labels.length !== points.count) {
        throw new ModelError(
          `mixture start: ${start.labels.length} labels for ${points.count} points`,
        );
      }
      return oneHot(start.labels, components);
  }
}

/** Repeats `step`, which returns the objective, until it settles. */
export function iterate(
  step: () => number,
  options: LearnerOptions,
): { objective: number; iterations: number; converged: boolean } {
  const tolerance = options.tolerance ?? 1e-3;
  const maxIterations = options.maxIterations ?? 100;
  let objective = -Infinity;
  for (let iterations = 1; iterations <= maxIterations; iterations++) {
    const previous = objective;
    objective = step();
    if (Math.abs(objective - previous) < tolerance) {
      return { objective, iterations, converged: true };
    }
  }
  return { objective, iterations: maxIterations, converged: false };
}
