/**
 * Distances of candidates as the page tells them: a number for each concept, one for what drawing added, and
 * their sum, by which is chosen. All numbers of a choice are rounded alike, and those of a row add up as shown.
 */
import type { CandidateScore, ChoiceView } from '../engine/protocol.js';

/** Drawing moved a candidate if it added at least this share of the closest one's distance. */
const MOVED = 0.05;
const MOST_DECIMALS = 3;
/** More do not fit a cell on a phone. */
const MOST_DIGITS = 5;

export type DistanceName = 'calibrated' | 'l2';

type Scores = ChoiceView['candidates'];

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

/** The indices of the smallest. */
export const closestOf = (totals: readonly number[]): number[] => {
  const least = Math.min(...totals);
  return totals.flatMap((total, i) => (total === least ? [i] : []));
};

/** The distance a model chooses by: plain L2 if its bundle has no statistics to calibrate it. */
export const ownDistance = (candidates: Scores): DistanceName =>
  candidates.some(({ calibrated }) => calibrated !== null) ? 'calibrated' : 'l2';

/** Whether drawing the tied candidates changed the choice, or moved one by more than a trifle. */
export function drawingMoved({ index, candidates }: Pick<ChoiceView, 'index' | 'candidates'>) {
  if (index === null || candidates.every(({ painted }) => painted === null)) return false;
  const described = candidates.map(({ l2, calibrated }) => calibrated ?? l2);
  const least = Math.min(...described.map((each, i) => each + (candidates[i].painted ?? 0)));
  return (
    closestOf(described)[0] !== index ||
    candidates.some(({ painted }) => (painted ?? 0) >= MOVED * least)
  );
}

/** What the distances of a choice consist of. */
export interface DistanceRow {
  /** A share for each concept. */
  readonly shares: readonly number[];
  /** What drawing added; null if the candidate was not drawn, or drawing moved none. */
  readonly drawn: number | null;
  readonly total: number;
}

const sharesOf = (score: CandidateScore, distance: DistanceName): readonly number[] =>
  distance === 'l2' ? score.l2Shares : (score.calibratedShares ?? score.l2Shares);

/** What drawing added counts if it moved a candidate. Plain L2 is the paper's: nothing is drawn for it. */
export function distanceRows(
  choice: Pick<ChoiceView, 'index' | 'candidates'>,
  distance: DistanceName,
): DistanceRow[] {
  const isDrawn = distance === 'calibrated' && drawingMoved(choice);
  return choice.candidates.map((score) => {
    const shares = sharesOf(score, distance);
    const drawn = isDrawn ? score.painted : null;
    return { shares, drawn, total: sum(shares) + (drawn ?? 0) };
  });
}

/** Decimals with which the smallest distance has two digits, unless the largest would have too many. */
export function decimalsFor(totals: readonly number[]): number {
  const digits = (value: number): number => 1 + Math.floor(Math.log10(Math.max(value, 1e-9)));
  const wanted = 2 - digits(Math.min(...totals));
  const room = MOST_DIGITS - Math.max(1, digits(Math.max(...totals)));
  return Math.max(0, Math.min(wanted, room, MOST_DECIMALS));
}

/** Numbers rounded so that they add up to their rounded sum: those that lose most are rounded up. */
export function roundedParts(parts: readonly number[], decimals: number): number[] {
  const unit = 10 ** decimals;
  const rounded = parts.map((part) => Math.floor(part * unit));
  const lost = parts.map((part, i) => part * unit - rounded[i]);
  const missing = Math.round(sum(parts) * unit) - sum(rounded);
  const byLoss = [...parts.keys()].sort((a, b) => lost[b] - lost[a]);
  for (const i of byLoss.slice(0, missing)) rounded[i]++;
  return rounded.map((each) => each / unit);
}

/** A distance as it is told everywhere: "13,961", "0.026". */
export const distanceText = (value: number, decimals: number): string =>
  value
    .toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replace('-', '−');
