/**
 * How long a run is. Steps are what counts; epochs and a time budget are turned into steps, epochs at
 * once, time after a warm-up measurement. The number of steps is then stored with the run, so that
 * schedules that depend on it are defined and a resumed run has the same length.
 */
import { ArgumentError } from '../base/index.js';

export type Budget =
  | { readonly kind: 'steps'; readonly steps: number }
  | { readonly kind: 'epochs'; readonly epochs: number }
  | { readonly kind: 'time'; readonly seconds: number };

const UNITS: Record<string, number> = { s: 1, m: 60, min: 60, h: 3600 };

/** What a duration looks like, for help texts and errors. */
export const DURATION = 'a duration such as 90s, 20m or 1h30m; a plain number is minutes';

/** "90s", "20m", "1.5h", "1h30m"; a plain number is minutes. Gives seconds. */
export function parseDuration(text: string): number {
  const compact = text.trim().toLowerCase();
  const withUnit = /^\d+(\.\d+)?$/.test(compact) ? `${compact}m` : compact;
  const parts = [...withUnit.matchAll(/(\d+(?:\.\d+)?)(min|s|m|h)/g)];
  const seconds = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit], 0);
  if (parts.map(([part]) => part).join('') !== withUnit || !(seconds > 0)) {
    throw new ArgumentError(`time "${text}": expected ${DURATION}`);
  }
  return seconds;
}

/** Refuses a budget that is none. */
export function requireBudget(budget: Budget): Budget {
  switch (budget.kind) {
    case 'steps':
      if (Number.isSafeInteger(budget.steps) && budget.steps > 0) return budget;
      throw new ArgumentError(`steps: expected a whole number from 1, got ${budget.steps}`);
    case 'epochs':
      requireAmount('epochs', budget.epochs);
      return budget;
    case 'time':
      requireAmount('seconds', budget.seconds);
      return budget;
  }
}

function requireAmount(name: string, amount: number): void {
  if (amount > 0 && Number.isFinite(amount)) return;
  throw new ArgumentError(`${name}: expected a number above 0, got ${amount}`);
}

/** Steps of a process that are not measured: they are slower (allocation, choice of algorithms, capture). */
const WARM_UP_STEPS = 10;
const LEAST_MEASURED = 20;
/** Blocks measured: of short steps more are needed, or whatever else runs for an instant decides. */
const MEASURED_BLOCKS = 2;
/** Share of a time budget that measuring may take, if the least number of steps allows it. */
const MEASURED_SHARE = 0.1;

/** When a process that begins at a step knows how fast it is. */
export class SpeedMeasurement {
  /** The first step that is measured. */
  readonly from: number;
  /** The steps after which it may end, and after which it does. */
  readonly least: number;
  readonly full: number;
  #steps = 0;
  #seconds = 0;

  constructor(first: number, blockSteps: number) {
    this.from = first + WARM_UP_STEPS;
    this.least = this.from + LEAST_MEASURED;
    this.full = this.from + Math.max(LEAST_MEASURED, MEASURED_BLOCKS * blockSteps);
  }

  /** Steps that were just done, the first of them `first`. */
  add(first: number, steps: number, seconds: number): void {
    if (first < this.from) return;
    this.#steps += steps;
    this.#seconds += seconds;
  }

  get secondsPerStep(): number {
    return this.#seconds / this.#steps;
  }

  /** Whether all of it would take too much of a budget of so many seconds. */
  isTooLong(budget: number): boolean {
    return this.secondsPerStep * (this.full - this.from) > MEASURED_SHARE * budget;
  }
}

/** Steps for a number of epochs: every problem is used that often, rounded up to whole steps. */
export function stepsOfEpochs(epochs: number, problems: number, batchSize: number): number {
  requireAmount('epochs', epochs);
  const steps = Math.ceil((epochs * problems) / batchSize);
  if (Number.isSafeInteger(steps)) return steps;
  throw new ArgumentError(`epochs: ${epochs} of ${problems} problems are too many steps`);
}

/**
 * Steps that fit a time budget.
 * @param elapsed seconds since the run started: making ready, warm-up and measurement included
 * @param secondsPerStep as measured after the warm-up, validation and checkpoints excluded
 * @param overhead fraction of the time that validation, checkpoints and logs take beside the steps
 */
export function stepsOfTime(
  seconds: number,
  elapsed: number,
  done: number,
  secondsPerStep: number,
  overhead: number,
): number {
  const left = Math.max(0, seconds - elapsed) * (1 - overhead);
  return Math.max(done, done + Math.floor(left / secondsPerStep));
}
