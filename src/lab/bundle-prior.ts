/**
 * The rule prior of a bundle: fitted once more, to rules that the exported networks parse from problems
 * of their own. In training a mixture sees one small batch and one start, and is soon replaced; the one
 * that is kept has thousands of rules and is the likeliest of several starts. No annotation is used.
 *
 * What makes two rules one category is a symmetry: read from right to left, a matrix obeys a rule of the
 * same kind (one more becomes one less, a sum a difference, a shift to the left one to the right), though
 * its r lies elsewhere on the plane. So categories are clusters of what a rule and its mirror image have
 * in common; each is then written as a mixture on the plane of r alone, where rules are told apart
 * later. All these together are p(r).
 */
import { MATRIX_PANELS } from '../matrix/index.js';
import {
  categories,
  fitGaussianMixture,
  mixtureData,
  mixturesOf,
  pointsOf,
  sortedByWeight,
  type FittedMixture,
  type GaussianMixture,
  type MixtureData,
  type Points,
} from '../models/index.js';
import type { ConceptMeans, RuleMixture } from '../solver/index.js';
import { momentsOf } from './statistics.js';
import type { Rules } from './subject.js';

/** Components never get narrower than this share of the spread of a concept's rules. */
const LEAST_SHARE = 0.01;
/** Below this spread the rules of a concept are all the same. */
const LEAST_SPREAD = 0.01;
const STARTS = 24;
/** A category is rarely more than this many clouds: two directions of two step widths. */
const MOST_CLOUDS = 4;
const CLOUD_STARTS = 2;
const LEAST_POINTS_A_CLOUD = 10;
const SEED = 7_600_000_009;

/** A matrix [9] with its columns in reverse. */
export const mirroredMatrix = (matrix: readonly ConceptMeans[]): ConceptMeans[] =>
  Array.from({ length: MATRIX_PANELS }, (_, at) => matrix[at - (at % 3) + 2 - (at % 3)]);

/**
 * What a rule and its mirror image have in common, equal for both: their middle, and the line through
 * them without its direction, as long as half their distance: d_r + d_r (d_r + 1) / 2 values.
 */
function common(rule: readonly number[], mirrored: readonly number[]): number[] {
  const middle = rule.map((value, i) => (value + mirrored[i]) / 2);
  const half = rule.map((value, i) => (value - mirrored[i]) / 2);
  const length = Math.hypot(...half) || 1;
  const line = half.flatMap((a, i) => half.slice(i).map((b) => (a * b) / length));
  return [...middle, ...line];
}

/** The likeliest of several fits. */
function likeliest(
  points: Points,
  components: number,
  starts: number,
  seed: number,
  floor: number,
) {
  const fits = Array.from({ length: starts }, (_, i) =>
    fitGaussianMixture(points, {
      components,
      start: { kind: 'k-means', seed: seed + i },
      covarianceFloor: floor ** 2,
      tolerance: 1e-5,
      maxIterations: 300,
    }),
  );
  return fits.reduce((a, b) => (b.objective > a.objective ? b : a));
}

/** Bayesian information criterion: the less the better. */
function criterion({ mixture, objective }: FittedMixture, count: number): number {
  const { components, dimension: d } = mixture;
  const free = components * (1 + d + (d * (d + 1)) / 2) - 1;
  return free * Math.log(count) - 2 * objective * count;
}

/** Rules of one category as a mixture of as many clouds as they are worth. */
function cloudsOf(
  rules: readonly (readonly number[])[],
  seed: number,
  floor: number,
): GaussianMixture {
  const points = pointsOf(rules.flat(), rules[0].length);
  const most = Math.max(1, Math.min(MOST_CLOUDS, Math.floor(rules.length / LEAST_POINTS_A_CLOUD)));
  const fits = Array.from({ length: most }, (_, i) =>
    likeliest(points, i + 1, CLOUD_STARTS, seed, floor),
  );
  const best = fits.reduce((a, b) =>
    criterion(b, rules.length) < criterion(a, rules.length) ? b : a,
  );
  return sortedByWeight(best.mixture);
}

/** The largest standard deviation of a coordinate. */
function spreadOf(rules: readonly (readonly number[])[]): number {
  const size = rules[0].length;
  const { covariance } = momentsOf(
    rules.map((rule) => Float64Array.from(rule)),
    size,
  );
  const variances = rules[0].map((_, i) => covariance[i * (size + 1)]);
  return Math.max(LEAST_SPREAD, Math.sqrt(Math.max(0, ...variances)));
}

/** The prior of one concept from its rules [n][d_r] and those of the mirrored matrices. */
function priorOf(
  rules: readonly (readonly number[])[],
  mirrored: readonly (readonly number[])[],
  count: number,
  seed: number,
): RuleMixture {
  const floor = LEAST_SHARE * spreadOf(rules);
  const features = rules.map((rule, n) => common(rule, mirrored[n]));
  const points = pointsOf(features.flat(), features[0].length);
  const { mixture } = likeliest(points, count, STARTS, seed, floor);
  const found = categories(mixture, points);
  const members = Array.from({ length: count }, (_, category) =>
    rules.filter((_, n) => found[n] === category),
  )
    .filter((own) => own.length > 0)
    .sort((a, b) => b.length - a.length);
  const clouds = members.map((own) => mixtureData(cloudsOf(own, seed, floor)));
  const share = (category: number): number => members[category].length / rules.length;
  return {
    weights: clouds.flatMap(({ weights }, c) => weights.map((weight) => weight * share(c))),
    means: clouds.flatMap(({ means }) => means),
    covariances: clouds.flatMap(({ covariances }) => covariances),
    categories: clouds.flatMap(({ weights }, c) => weights.map(() => c)),
  };
}

/**
 * Mixtures for all concepts, with as many categories as training had components.
 * @param rules parsed rules [n][M][d_r]
 * @param mirrored those of the same matrices mirrored
 */
export function refittedPrior(
  rules: Rules,
  mirrored: Rules,
  trained: readonly MixtureData[],
): RuleMixture[] {
  return mixturesOf(trained).map(({ components }, m) =>
    priorOf(
      rules.map((ofProblem) => ofProblem[m]),
      mirrored.map((ofProblem) => ofProblem[m]),
      components,
      SEED + m * STARTS,
    ),
  );
}
