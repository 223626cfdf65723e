/**
 * The rule prior of a bundle: fitted once more, to rules that the exported networks parse from problems
 * of their own. In training a mixture sees one small batch and one start, and is soon replaced; the one
 * that is kept has thousands of rules and is the likeliest of several starts. No annotation is used.
 *
 * A kind of rule is several clouds on the plane of r: one more and one less, shifts to the left and to the
 * right, other values. So the mixture has a component for each cloud, and clouds are joined to categories
 * by how alike the panels are in the matrices they come from (panel-likeness.ts): which panels are alike is
 * what rules of one kind have in common. A rule is told apart later by its r alone. Matrices are read in both
 * directions: mirrored, a matrix obeys a rule of the same kind.
 */
import {
  categories,
  fitGaussianMixture,
  mixtureData,
  pointsOf,
  type GaussianMixture,
  type MixtureData,
} from '../models/index.js';
import type { RuleMixture } from '../solver/index.js';
import { momentsOf } from './statistics.js';
import type { Rules } from './subject.js';

/** Components never get narrower than this, in units of the spread of a concept's rules. */
const LEAST_DEVIATION = 0.01;
/** Below this spread the rules of a concept are all the same. */
const LEAST_SPREAD = 0.01;
/** Of one coordinate: less is rounding. */
const SMALLEST_SPREAD = 1e-3;
const STARTS = 4;
const CLOUDS = 48;
const LEAST_POINTS_A_CLOUD = 10;
const SEED = 7_600_000_009;
/** Shares close to 0 or 1 count up to here. */
const SURE = 0.02;

type Vectors = readonly (readonly number[])[];

/** The likeliest of several fits to rules in units of their spread. */
function likeliest(rules: Vectors, spread: readonly number[], components: number, seed: number) {
  const scaled = rules.flatMap((rule) => rule.map((value, i) => value / spread[i]));
  const points = pointsOf(scaled, spread.length);
  const fits = Array.from({ length: STARTS }, (_, i) =>
    fitGaussianMixture(points, {
      components,
      start: { kind: 'k-means', seed: seed + i },
      covarianceFloor: LEAST_DEVIATION ** 2,
      tolerance: 1e-6,
      maxIterations: 100,
    }),
  );
  const { mixture } = fits.reduce((a, b) => (b.objective > a.objective ? b : a));
  return { mixture, of: categories(mixture, points) };
}

/** A mixture of scaled rules as one of rules. */
function unscaled(mixture: GaussianMixture, spread: readonly number[]): MixtureData {
  const { weights, means, covariances } = mixtureData(mixture);
  return {
    weights,
    means: means.map((mean) => mean.map((value, i) => value * spread[i])),
    covariances: covariances.map((rows) =>
      rows.map((row, i) => row.map((value, j) => value * spread[i] * spread[j])),
    ),
  };
}

/** Standard deviation of each coordinate. */
function spreadOf(rules: Vectors): number[] {
  const size = rules[0].length;
  const { covariance } = momentsOf(
    rules.map((rule) => Float64Array.from(rule)),
    size,
  );
  return rules[0].map((_, i) =>
    Math.sqrt(Math.max(SMALLEST_SPREAD ** 2, covariance[i * (size + 1)])),
  );
}

/** What is joined: clouds, how many rules they have, and the mean of their likeness. */
interface Joined {
  readonly clouds: readonly number[];
  readonly weight: number;
  readonly at: readonly number[];
}

/** How much further rules are from the middle of their category if two become one (Ward). */
const costOf = (a: Joined, b: Joined): number =>
  ((a.weight * b.weight) / (a.weight + b.weight)) *
  a.at.reduce((sum, value, i) => sum + (value - b.at[i]) ** 2, 0);

function join(a: Joined, b: Joined): Joined {
  const weight = a.weight + b.weight;
  const at = a.at.map((value, i) => (value * a.weight + b.at[i] * b.weight) / weight);
  return { clouds: [...a.clouds, ...b.clouds], weight, at };
}

/** Joins the two that cost least, until there are `count`. */
function joinedTo(count: number, start: readonly Joined[]): readonly Joined[] {
  let left = start;
  while (left.length > count) {
    const pairs = left.flatMap((a, i) => left.slice(i + 1).map((b) => [a, b] as const));
    const [first, second] = pairs.reduce((best, pair) =>
      costOf(...pair) < costOf(...best) ? pair : best,
    );
    left = [...left.filter((each) => each !== first && each !== second), join(first, second)];
  }
  return left;
}

/** Six digits are more than the sample tells. */
const short = (value: number): number => Number(value.toPrecision(6));

const logOdds = (share: number): number => Math.log((share + SURE) / (1 + SURE - share));

/** Categories of clouds, by the likeness [n][5] of the matrices whose rules lie in them. */
function joinedClouds(
  of: Int32Array,
  clouds: number,
  likeness: Vectors,
  count: number,
): readonly Joined[] {
  const start = Array.from({ length: clouds }, (_, cloud): Joined => {
    const own = likeness.filter((_, n) => of[n] === cloud);
    const mean = (i: number): number => own.reduce((sum, each) => sum + each[i], 0) / own.length;
    const at = likeness[0].map((_, i) => logOdds(mean(i)));
    return { clouds: [cloud], weight: own.length / likeness.length, at };
  });
  const met = start.filter(({ weight }) => weight > 0);
  return [...joinedTo(count, met)].sort((a, b) => b.weight - a.weight);
}

/**
 * Rules [n][d] as clouds with categories. Clouds that no rule is nearest to are left out: they lie on others.
 * @param likeness [n][5], how alike the panels of their matrices are
 */
export function ruleKinds(
  rules: Vectors,
  likeness: Vectors,
  count: number,
  seed = SEED,
): RuleMixture {
  const spread = spreadOf(rules);
  const most = Math.max(...spread) < LEAST_SPREAD ? 1 : rules.length / LEAST_POINTS_A_CLOUD;
  const clouds = Math.max(1, Math.min(CLOUDS, Math.floor(most)));
  const { mixture, of } = likeliest(rules, spread, clouds, seed);
  const { means, covariances } = unscaled(mixture, spread);
  const weights = Array.from(
    { length: clouds },
    (_, cloud) => of.filter((each) => each === cloud).length / rules.length,
  );
  const kinds = joinedClouds(of, clouds, likeness, count).map(({ clouds: own }) =>
    [...own].sort((a, b) => weights[b] - weights[a]),
  );
  return {
    weights: kinds.flat().map((cloud) => short(weights[cloud])),
    means: kinds.flat().map((cloud) => means[cloud].map(short)),
    covariances: kinds.flat().map((cloud) => covariances[cloud].map((row) => row.map(short))),
    categories: kinds.flatMap((own, kind) => own.map(() => kind)),
  };
}

/** As in the paper: as many components as categories, each by itself, and nothing but r. */
export function plainMixture(rules: Vectors, count: number): RuleMixture {
  const spread = spreadOf(rules);
  return unscaled(likeliest(rules, spread, Math.min(count, rules.length), SEED).mixture, spread);
}

/**
 * Mixtures for all concepts.
 * @param rules parsed rules [n][M][d_r]
 * @param likeness of each concept, [M][n][5]
 * @param counts categories of each concept, [M]
 */
export const refittedPrior = (
  rules: Rules,
  likeness: readonly Vectors[],
  counts: readonly number[],
): RuleMixture[] =>
  counts.map((count, m) =>
    ruleKinds(
      rules.map((ofProblem) => ofProblem[m]),
      likeness[m],
      count,
      SEED + m * STARTS,
    ),
  );
