/** What the loop itself remembers between steps; stored with every checkpoint, exactly. */
import { RunFormatError } from './errors.js';

/** The best validation so far. */
export interface Best {
  /** Where the weights are from that are kept as the best. */
  readonly step: number;
  /** The highest score of all; that of `step` may be lower by no more than its error. */
  readonly score: number;
}

/** Sums of the loss terms since the last line of the metrics log. */
export interface IntervalSums {
  steps: number;
  terms: Record<string, number>;
}

export interface LoopState {
  /** Steps done. */
  step: number;
  /** Seconds of training so far, over all processes. */
  seconds: number;
  totalSteps: number | null;
  best: Best | null;
  interval: IntervalSums;
}

export const initialState = (totalSteps: number | null): LoopState => ({
  step: 0,
  seconds: 0,
  totalSteps,
  best: null,
  interval: { steps: 0, terms: {} },
});

/** JSON has no NaN or infinity; sums are finite by the time they are stored. */
export function encodeState(state: LoopState): string {
  return JSON.stringify(state);
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

function isState(value: unknown): value is LoopState {
  if (typeof value !== 'object' || value === null) return false;
  const { step, seconds, totalSteps, best, interval } = value as Partial<LoopState>;
  return (
    isCount(step) &&
    typeof seconds === 'number' &&
    (totalSteps === null || isCount(totalSteps)) &&
    (best === null || (best !== undefined && isCount(best.step) && Number.isFinite(best.score))) &&
    typeof interval === 'object' &&
    isCount(interval.steps) &&
    typeof interval.terms === 'object' &&
    Object.values(interval.terms).every((sum) => Number.isFinite(sum))
  );
}

export function decodeState(text: string, file: string): LoopState {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RunFormatError(`${file}: the state of the loop is not JSON`);
  }
  if (!isState(value)) throw new RunFormatError(`${file}: the state of the loop is damaged`);
  return value;
}
