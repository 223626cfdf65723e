/** What the loop itself remembers between steps; stored with every checkpoint, exactly. */
import {
  dictionary,
  integer,
  nullable,
  number,
  objectWith,
  read,
  withDefault,
  type Reader,
} from '../base/index.js';
import { RunFormatError } from './errors.js';

/** The best validation so far. */
export interface Best {
  /** Where the weights are from that are kept as the best. */
  readonly step: number;
  /** The highest score of all; that of `step` may be lower by no more than its error. */
  readonly score: number;
  /** The step at which that score was first reached. */
  readonly risen: number;
}

/** Sums of the loss terms since the last line of the metrics log. */
interface IntervalSums {
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

const count = integer({ min: 0 });
const loopState: Reader<LoopState> = objectWith({
  step: count,
  seconds: number(),
  totalSteps: nullable(count),
  best: nullable(objectWith({ step: count, score: number(), risen: withDefault(count, 0) })),
  interval: objectWith({ steps: count, terms: dictionary(number()) }),
});

/** Checks the stored state of a loop. */
export const readState = (value: unknown, file: string): LoopState =>
  read(loopState, value, RunFormatError, `${file}: the state of the loop`);
