/**
 * How long a run is. Steps are what counts; epochs and a time budget are turned into steps, epochs at
 * once, time after a warm-up measurement. The number of steps is then stored with the run, so that
 * schedules that depend on it are defined and a resumed run has the same length.
 */
import { ArgumentError } from '../matrix/index.js';

export type Budget =
  | { readonly kind: 'steps'; readonly steps: number }
  | { readonly kind: 'epochs'; readonly epochs: number }
  | { readonly kind: 'time'; readonly seconds: number };

const UNITS: Record<string, number> = { s: 1, m: 60, min: 60, h: 3600 };

/** "90s", "20m", "1.5h", "1h30m"; a plain number is minutes. Gives seconds. */
export function parseDuration(text: string): number {
  const compact = text.trim().toLowerCase();
  const withUnit = /^\d+(\.\d+)?$/.test(compact) ? `${compact}m` : compact;
  const parts = [...withUnit.matchAll(/(\d+(?:\.\d+)?)(min|s|m|h)/g)];
  const seconds = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * UNITS[unit], 0);
  if (parts.map(([part]) => part).join('') !== withUnit || !(seconds > 0)) {
    throw new ArgumentError(`time "${text}": expected a duration such as 90s, 20m or 1h30m`);
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

/** Steps after which a time budget measures; the first ones are slower (allocation, capture). */
export const WARM_UP_STEPS = 10;
const LEAST_MEASURED = 20;
/** Blocks measured: of short steps more are needed, or whatever else runs for an instant decides. */
const MEASURED_BLOCKS = 2;

/** Steps after which a time budget knows its number of steps, where a block has so many. */
export const stepsUntilFixed = (blockSteps: number): number =>
  WARM_UP_STEPS + Math.max(LEAST_MEASURED, MEASURED_BLOCKS * blockSteps);

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
