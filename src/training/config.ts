/**
 * `config.json` of a run: everything that decides its result, and what it was made with. A resumed
 * run takes all of it from here, so nothing depends on which flags are repeated.
 */
import { parseCrabConfig, type CrabConfig } from '../models/index.js';
import type { Budget } from './budget.js';
import { RunFormatError } from './errors.js';

export const RUN_FORMAT = 'crab-run';
export const RUN_VERSION = 2;

/** Where training problems come from. */
export type DataConfig =
  | {
      readonly kind: 'stream';
      /** Problems kept at a time. */
      readonly pool: number;
      /**
       * Problems replaced in every step, on average; 0 keeps the first pool for ever. Null: as many
       * as the threads make meanwhile, at most a batch (only where runs need not be repeatable).
       */
      readonly refresh: number | null;
    }
  | {
      readonly kind: 'set';
      /** A set file (.npz) or a RAVEN folder, whose train split is used; absolute. */
      readonly path: string;
      readonly problems: number;
      /** SHA-256 of the panels, so that a resumed run notices other data under the same name. */
      readonly sha256: string;
    };

/** f64 is for checks of the arithmetic, on a CPU. */
export type Precision = 'f32' | 'bf16' | 'f64';
/** What the best checkpoint is chosen by: SA on RAVEN candidates, or in-batch GSA without any. */
export type Criterion = 'selection-accuracy' | 'global-selection-accuracy';

export interface RunConfig {
  readonly format: typeof RUN_FORMAT;
  readonly version: typeof RUN_VERSION;
  readonly software: Readonly<Record<string, string>>;
  readonly model: CrabConfig;
  readonly seed: number;
  readonly data: DataConfig;
  readonly budget: Budget;
  /** Null while a time budget is not yet measured. */
  readonly totalSteps: number | null;
  /** Of a time budget: the step from which on schedules know the total. Runs stored without it: 30. */
  readonly totalKnownFrom?: number;
  readonly device: string;
  readonly precision: Precision;
  /** Whether the run repeats exactly: always on a CPU. */
  readonly deterministic: boolean;
  /**
   * Whether batch normalisations of several ranks use the statistics of the whole batch, as a run of one
   * process does. Runs stored without it do.
   */
  readonly syncBatchNorm?: boolean;
  /** Threads of one operation on the CPU; the order of sums depends on it. */
  readonly threads: number;
  readonly validation: {
    readonly every: number;
    readonly problems: number;
    readonly criterion: Criterion;
  };
  readonly checkpoints: {
    /** Seconds between two, and steps between two; whichever comes first. */
    readonly seconds: number;
    readonly steps: number | null;
  };
  readonly logEvery: number;
  readonly snapshots: {
    /** Validation problems whose parsed rules are stored. */
    readonly problems: number;
    /** When, as fractions of the run; the end is always stored. */
    readonly moments: readonly number[];
  };
}

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 1;
const isIndex: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isPositive: Check = (value) => Number.isFinite(value) && (value as number) > 0;
const isText: Check = (value) => typeof value === 'string' && value.length > 0;
const isFlag: Check = (value) => typeof value === 'boolean';
const isObject: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isOneOf =
  (...choices: readonly unknown[]): Check =>
  (value) =>
    choices.includes(value);
const isNullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const isMoments: Check = (value) =>
  Array.isArray(value) && value.every((moment) => isPositive(moment) && (moment as number) < 1);

/** Dotted paths of a configuration, each with the check its value must pass. */
const CHECKS: Readonly<Record<string, Check>> = {
  format: isOneOf(RUN_FORMAT),
  version: isOneOf(RUN_VERSION),
  software: isObject,
  model: isObject,
  seed: Number.isSafeInteger,
  data: isObject,
  'data.kind': isOneOf('stream', 'set'),
  budget: isObject,
  'budget.kind': isOneOf('steps', 'epochs', 'time'),
  totalSteps: isNullOr(isCount),
  totalKnownFrom: (value) => value === undefined || isCount(value),
  device: isText,
  precision: isOneOf('f32', 'bf16', 'f64'),
  deterministic: isFlag,
  threads: isCount,
  syncBatchNorm: (value) => value === undefined || isFlag(value),
  validation: isObject,
  'validation.every': isCount,
  'validation.problems': isCount,
  'validation.criterion': isOneOf('selection-accuracy', 'global-selection-accuracy'),
  checkpoints: isObject,
  'checkpoints.seconds': isPositive,
  'checkpoints.steps': isNullOr(isCount),
  logEvery: isCount,
  snapshots: isObject,
  'snapshots.problems': isIndex,
  'snapshots.moments': isMoments,
};
const DATA_CHECKS: Record<DataConfig['kind'], Readonly<Record<string, Check>>> = {
  stream: {
    'data.pool': isCount,
    'data.refresh': isNullOr((value) => value === 0 || isPositive(value)),
  },
  set: { 'data.path': isText, 'data.problems': isCount, 'data.sha256': isText },
};
const BUDGET_CHECKS: Record<Budget['kind'], Readonly<Record<string, Check>>> = {
  steps: { 'budget.steps': isCount },
  epochs: { 'budget.epochs': isPositive },
  time: { 'budget.seconds': isPositive },
};

function at(value: unknown, dotted: string): unknown {
  return dotted
    .split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);
}

function runChecks(value: unknown, checks: Readonly<Record<string, Check>>, file: string): void {
  for (const [dotted, check] of Object.entries(checks)) {
    const found = at(value, dotted);
    if (check(found)) continue;
    const shown = found === undefined ? 'nothing' : JSON.stringify(found).slice(0, 60);
    throw new RunFormatError(`${file}: ${dotted} is not right: ${shown}`);
  }
}

function requireVersion({ format, version }: Partial<RunConfig>, file: string): void {
  if (format !== RUN_FORMAT || !isCount(version) || version === RUN_VERSION) return;
  throw new RunFormatError(
    `${file}: the run has format ${version}, this version of crab reads format ${RUN_VERSION}: train it again, or use the version it was made with`,
  );
}

/** Reads a stored configuration; `file` is named in errors. */
export function parseRunConfig(text: string, file: string): RunConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RunFormatError(`${file}: not JSON`);
  }
  if (!isObject(value)) throw new RunFormatError(`${file}: not the configuration of a run`);
  requireVersion(value as Partial<RunConfig>, file);
  runChecks(value, CHECKS, file);
  const config = value as RunConfig;
  runChecks(value, DATA_CHECKS[config.data.kind], file);
  runChecks(value, BUDGET_CHECKS[config.budget.kind], file);
  try {
    return { ...config, model: parseCrabConfig(config.model) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RunFormatError(`${file}: ${why}`, { cause });
  }
}
