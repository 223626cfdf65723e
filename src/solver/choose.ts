/** The choice among candidates from their residuals: distances, shares of concepts, probabilities. */
import { ArgumentError } from '../matrix/index.js';
import type { CandidateReport, Choice, ChooseOptions } from './questions.js';
import { squaredShares, type Metric } from './selection.js';

export interface ChoiceContext {
  readonly concepts: number;
  readonly conceptSize: number;
  readonly sigmaZ: number;
  /** Null where the bundle has no statistics. */
  readonly metric: Metric | null;
  readonly distance: ChooseOptions['distance'];
}

const sum = (values: Iterable<number>): number => {
  let total = 0;
  for (const value of values) total += value;
  return total;
};

/** Shares of all targets of a candidate, added up. */
function addedShares(
  residuals: readonly Float32Array[],
  sharesOf: (residual: Float32Array) => Float64Array,
): number[] {
  const each = residuals.map(sharesOf);
  return Array.from(each[0], (_, m) => sum(each.map((shares) => shares[m])));
}

/** Probabilities proportional to exp(-distance / scale). */
export function softmax(distances: readonly number[], scale: number): number[] {
  const least = Math.min(...distances);
  const weights = distances.map((distance) => Math.exp((least - distance) / scale));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

/** Residuals (encoded minus predicted, [D]) of every candidate at every missing position. */
export function chooseCandidate(
  residuals: readonly (readonly Float32Array[])[],
  { concepts, conceptSize, sigmaZ, metric, distance: wanted }: ChoiceContext,
): Choice {
  const distance = wanted ?? (metric === null ? 'l2' : 'calibrated');
  if (distance === 'calibrated' && metric === null) {
    throw new ArgumentError('this bundle has no statistics for calibrated distances: use l2');
  }
  const reports = residuals.map((ofCandidate) => {
    const l2Shares = addedShares(ofCandidate, (r) => squaredShares(r, concepts, conceptSize));
    const calibratedShares =
      metric === null ? null : addedShares(ofCandidate, (r) => metric.shares(r));
    return {
      l2: sum(l2Shares),
      l2Shares,
      calibrated: calibratedShares === null ? null : sum(calibratedShares),
      calibratedShares,
    };
  });
  const isCalibrated = distance === 'calibrated' && metric !== null;
  const distances = reports.map((report) =>
    isCalibrated ? (report.calibrated ?? Infinity) : report.l2,
  );
  const scale = isCalibrated ? 2 * metric.statistics.temperature : 2 * sigmaZ * sigmaZ;
  const probabilities = softmax(distances, scale);
  const candidates = reports.map((report, i): CandidateReport => ({
    ...report,
    probability: probabilities[i],
  }));
  const index = distances.indexOf(Math.min(...distances));
  return { index, confidence: probabilities[index], distance, candidates };
}
