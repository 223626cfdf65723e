/**
 * The rule prior of a bundle: fitted once more, to rules that the exported networks parse from problems
 * of their own. In training a mixture sees one small batch and one start, and is soon replaced; the one
 * that is kept has thousands of rules and is the likeliest of several starts. No annotation is used.
 */
import {
  fitGaussianMixture,
  mixtureData,
  mixturesOf,
  pointsOf,
  sortedByWeight,
  type GaussianMixture,
  type MixtureData,
} from '../models/index.js';
import type { Rules } from './subject.js';

/** Rules of one concept never lie closer together than training, which samples them, could tell apart. */
const LEAST_DEVIATION = 0.02;
const STARTS = 12;
const SEED = 7_600_000_009;

/** The likeliest mixture of several starts, of which one is the mixture that training left. */
function likeliest(points: Float64Array, trained: GaussianMixture, seed: number): GaussianMixture {
  const { components, dimension } = trained;
  const all = pointsOf(points, dimension);
  const starts = Array.from(
    { length: STARTS },
    (_, i) => ({ kind: 'k-means', seed: seed + i }) as const,
  );
  const fitted = [{ kind: 'mixture', mixture: trained } as const, ...starts].map((start) =>
    fitGaussianMixture(all, {
      components,
      start,
      covarianceFloor: LEAST_DEVIATION ** 2,
      tolerance: 1e-5,
      maxIterations: 300,
    }),
  );
  const best = fitted.reduce((a, b) => (b.objective > a.objective ? b : a));
  return sortedByWeight(best.mixture);
}

/** Mixtures for all concepts from parsed rules [n][M][d_r], as many components as in training. */
export function refittedPrior(rules: Rules, trained: readonly MixtureData[]): MixtureData[] {
  return mixturesOf(trained).map((mixture, m) => {
    const points = Float64Array.from(rules.flatMap((ofProblem) => ofProblem[m]));
    return mixtureData(likeliest(points, mixture, SEED + m * STARTS));
  });
}
