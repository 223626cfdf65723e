/** The choice among candidates from their residuals: distances, shares of concepts, probabilities. */
import { ArgumentError } from '../base/index.js';
import type { NamedPanel } from './networks.js';
import { toPanel, type Panel, type PanelInput } from './panels.js';
import type {
  Answer,
  CandidateInput,
  CandidateReport,
  Choice,
  ChooseOptions,
} from './questions.js';
import { squaredShares, type Metric } from './selection.js';
import { firstAlike } from './ties.js';

interface ChoiceContext {
  readonly concepts: number;
  readonly conceptSize: number;
  readonly sigmaZ: number;
  /** Null if the bundle has no statistics. */
  readonly metric: Metric | null;
  readonly distance: ChooseOptions['distance'];
}

const isPanelList = (candidate: CandidateInput): candidate is readonly PanelInput[] =>
  Array.isArray(candidate) && typeof candidate[0] !== 'number';

/** Candidates of a choice as panels: one for each missing position of each candidate. */
export function candidatePanels(
  answer: Answer,
  candidates: readonly CandidateInput[],
): NamedPanel[][] {
  if (candidates.length < 1) throw new ArgumentError('there are no candidates to choose from');
  return candidates.map((candidate, i) => {
    const panels = isPanelList(candidate) ? candidate : [candidate];
    const what = `candidate ${i + 1}`;
    if (panels.length !== answer.missing.length) {
      throw new ArgumentError(
        `${what} has ${panels.length} panels for ${answer.missing.length} missing ones`,
      );
    }
    return panels.map((input) => ({ input, what }));
  });
}

/** Encoded minus predicted, [D], of `count` candidates in rows, each with all its missing positions. */
export function residualsOf(
  rows: Float32Array,
  predicted: readonly Float32Array[],
  count: number,
): Float32Array[][] {
  return Array.from({ length: count }, (_, candidate) =>
    predicted.map((expected, t) => {
      const from = (candidate * predicted.length + t) * expected.length;
      const residual = rows.slice(from, from + expected.length);
      for (let i = 0; i < residual.length; i++) residual[i] -= expected[i];
      return residual;
    }),
  );
}

/** The pixels of a candidate. */
export const pictureOf = (panels: readonly NamedPanel[]): Panel[] =>
  panels.map(({ input, what }) => toPanel(input, what));

/** Groups of candidates with the same panels, by their indices. */
export function identicalCandidates(offer: readonly (readonly NamedPanel[])[]): number[][] {
  const alike = firstAlike(offer.map(pictureOf));
  const groups = alike.map((_, first) => [...alike.keys()].filter((i) => alike[i] === first));
  return groups.filter(({ length }) => length > 1);
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

/** Of as many values as there are: arguments of a call are not. */
const smallest = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Infinity);

/** The chosen candidate, from 0: of those equally near the first. */
export const nearest = (distances: readonly number[]): number =>
  distances.indexOf(smallest(distances));

/** Probabilities proportional to exp(-distance / scale). */
export function softmax(distances: readonly number[], scale: number): number[] {
  const least = smallest(distances);
  const weights = distances.map((distance) => Math.exp((least - distance) / scale));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

/** How far candidates are, before they are compared with each other. */
export interface Weighed extends Pick<Choice, 'distance'> {
  readonly candidates: readonly Omit<CandidateReport, 'probability'>[];
  /** exp(-distance / scale) is proportional to the probability of a candidate. */
  readonly scale: number;
}

/** Residuals (encoded minus predicted, [D]) of every candidate at every missing position. */
export function weighCandidates(
  residuals: readonly (readonly Float32Array[])[],
  { concepts, conceptSize, sigmaZ, metric, distance: wanted }: ChoiceContext,
): Weighed {
  const distance = wanted ?? (metric === null ? 'l2' : 'calibrated');
  if (distance === 'calibrated' && metric === null) {
    throw new ArgumentError('this bundle has no statistics for calibrated distances: use l2');
  }
  const candidates = residuals.map((ofCandidate) => {
    const l2Shares = addedShares(ofCandidate, (r) => squaredShares(r, concepts, conceptSize));
    const calibratedShares =
      metric === null ? null : addedShares(ofCandidate, (r) => metric.shares(r));
    return {
      l2: sum(l2Shares),
      l2Shares,
      calibrated: calibratedShares === null ? null : sum(calibratedShares),
      calibratedShares,
      painted: null,
    };
  });
  const isCalibrated = distance === 'calibrated' && metric !== null;
  const scale = isCalibrated ? 2 * metric.statistics.temperature : 2 * sigmaZ * sigmaZ;
  return { distance, candidates, scale };
}

/** Whole distances, by which is chosen. */
export const distancesOf = ({ distance, candidates }: Weighed): number[] =>
  candidates.map(({ l2, calibrated, painted }) =>
    distance === 'l2' ? l2 : (calibrated ?? Infinity) + (painted ?? 0),
  );

/** The nearest candidate, once painting has told those apart that are tied. */
export function chooseCandidate(
  weighed: Weighed,
  painted: ReadonlyMap<number, number>,
): Omit<Choice, 'identical'> {
  const { distance, scale } = weighed;
  const reports = weighed.candidates.map((report, i) => ({
    ...report,
    painted: painted.get(i) ?? null,
  }));
  const distances = distancesOf({ ...weighed, candidates: reports });
  const probabilities = softmax(distances, scale);
  const candidates = reports.map((report, i) => ({ ...report, probability: probabilities[i] }));
  const index = nearest(distances);
  return { index, confidence: probabilities[index], distance, candidates };
}
