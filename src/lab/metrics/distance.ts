/**
 * Concepts in coordinates in which a distance is plain Euclidean: as they are for L2, and y = L^-1 x
 * with C = L L' for the calibrated distance of a bundle. Each panel is brought there once, then
 * compared with any number of others. Gives the distances `Solver.choose` gives.
 */
import type {
  ConceptMeans,
  ResidualStatistics,
  SelectionStatistics,
  StatisticsKey,
} from '../../solver/index.js';
import { bandOf, blockWhitener } from '../whitening.js';

/** All concepts of a panel in one row [D], D = M d_z. */
export function flat(means: ConceptMeans): Float64Array {
  const size = means[0].length;
  const row = new Float64Array(means.length * size);
  means.forEach((values, m) => row.set(values, m * size));
  return row;
}

/** Where distances are measured. */
export interface ConceptSpace {
  /** A panel's encoded concepts [D]. */
  encoded(row: Float64Array): Float64Array;
  /** Predicted concepts [D], moved by the mean residual. */
  predicted(row: Float64Array): Float64Array;
}

export function squaredDistance(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = a[i] - b[i];
    sum += difference * difference;
  }
  return sum;
}

/** Plain L2, as in the paper. */
export const PLAIN_SPACE: ConceptSpace = { encoded: (row) => row, predicted: (row) => row };

/** Covariance blocks [band, band] along the diagonal, as a form stores them. */
function blocksOf({ form, covariance }: ResidualStatistics, size: number, band: number) {
  return Array.from({ length: size / band }, (_, b) => {
    switch (form) {
      case 'identity':
        return Float64Array.of(covariance[0]);
      case 'diagonal':
        return Float64Array.of(covariance[b]);
      case 'blocks':
        return Float64Array.from(covariance.subarray(b * band * band, (b + 1) * band * band));
      case 'full': {
        const block = new Float64Array(size * size);
        for (let i = 0, at = 0; i < size; i++) {
          for (let j = 0; j <= i; j++, at++) {
            block[i * size + j] = covariance[at];
            block[j * size + i] = covariance[at];
          }
        }
        return block;
      }
    }
  });
}

/** The space of a bundle's statistics. */
export function calibratedSpace(statistics: ResidualStatistics, conceptSize: number): ConceptSpace {
  const { mean } = statistics;
  const size = mean.length;
  const band = bandOf(statistics.form, size, conceptSize);
  const whiten = blockWhitener(blocksOf(statistics, size, band), band);
  return {
    encoded: whiten,
    predicted: (row) => whiten(row.map((value, i) => value + mean[i])),
  };
}

/** The statistics that fit a number of missing panels at any positions; null where there are none. */
export function statisticsFor(
  statistics: SelectionStatistics | null,
  targets: number,
): ResidualStatistics | null {
  const keys: StatisticsKey[] = Array.from(
    { length: targets },
    (_, i): StatisticsKey => `targets${targets - i}`,
  );
  const found = [...keys, 'last' as const].find((key) => statistics?.has(key));
  return found === undefined ? null : (statistics?.get(found) ?? null);
}

/** The model's own space: calibrated where it has statistics for this, else plain. */
export const ownSpace = (
  statistics: ResidualStatistics | null,
  conceptSize: number,
): ConceptSpace => (statistics === null ? PLAIN_SPACE : calibratedSpace(statistics, conceptSize));
