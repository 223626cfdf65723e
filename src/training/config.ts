/**
 * `config.json` of a run: everything that decides its result, and what it was made with. A resumed
 * run takes all of it from here, so nothing depends on which flags are repeated.
 */
import {
  boolean,
  byKind,
  dictionary,
  isRecord,
  integer,
  list,
  nullable,
  number,
  objectWith,
  oneOf,
  optional,
  parseJson,
  read,
  text,
  withDefault,
  type Read,
  type Reader,
} from '../base/index.js';
import { SYSTEM_NAMES, systemNamed, type SystemConfig } from '../models/index.js';
import type { Budget } from './budget.js';
import { RunFormatError } from './errors.js';

export const RUN_FORMAT = 'crab-run' as const;
export const RUN_VERSION = 2 as const;

const count = integer({ min: 1 });
const positive = number({ above: 0 });
const name: Reader<string> = (given) => text()(given) || given.expected('a text that is not empty');

/** Where training problems come from. */
const data = byKind({
  stream: {
    /** Problems kept at a time. */
    pool: count,
    /**
     * Problems replaced in every step, on average; 0 keeps the first pool for ever. Null: as many
     * as the threads make meanwhile, at most a batch (only if runs need not be repeatable).
     */
    refresh: nullable(number({ min: 0 })),
    /** Rules that are fixed or held back, as `crab generate --rules` has them; checked when the run starts. */
    rules: optional((given) => given.value),
  },
  set: {
    /** A set file (.npz) or a RAVEN folder, whose train split is used; absolute. */
    path: text(10_000),
    problems: count,
    /** SHA-256 of the panels, so that a resumed run notices other data under the same name. */
    sha256: name,
  },
});
export type DataConfig = Read<typeof data>;

const budget: Reader<Budget> = byKind({
  steps: { steps: count },
  epochs: { epochs: positive },
  time: { seconds: positive },
});

/** f64 is for checks of the arithmetic, on a CPU. */
const precision = oneOf(['f32', 'bf16', 'f64']);
export type Precision = Read<typeof precision>;
const criterion = oneOf(['selection-accuracy', 'global-selection-accuracy']);

const fields = objectWith({
  format: oneOf([RUN_FORMAT]),
  version: oneOf([RUN_VERSION]),
  software: dictionary(text()),
  system: oneOf(SYSTEM_NAMES),
  seed: integer(),
  data,
  budget,
  /** Null while a time budget is not yet measured. */
  totalSteps: nullable(count),
  /** Of a time budget: the step from which on schedules know the total. Runs stored without it: 30. */
  totalKnownFrom: optional(count),
  device: name,
  precision,
  /** Whether the run repeats exactly: always on a CPU. */
  deterministic: boolean,
  /**
   * Whether batch normalisations of several ranks use the statistics of the whole batch, as a run of one
   * process does. Runs stored without it do.
   */
  syncBatchNorm: optional(boolean),
  /** Threads of one operation on the CPU; the order of sums depends on it. */
  threads: count,
  validation: objectWith({
    every: count,
    problems: count,
    criterion,
    /** Ends the run after so many validations in a row without a higher score. */
    patience: optional(count),
  }),
  checkpoints: objectWith({
    /** Seconds between two, and steps between two; whichever comes first. */
    seconds: positive,
    steps: nullable(count),
  }),
  logEvery: count,
  snapshots: objectWith({
    /** Validation problems whose parsed rules are stored. */
    problems: integer({ min: 0 }),
    /** When, as fractions of the run; the end is always stored. */
    moments: list(number({ above: 0, below: 1 })),
    /** And after so many steps; runs of earlier programs name none. */
    steps: withDefault(list(integer({ min: 0 })), []),
  }),
});

export interface RunConfig extends Read<typeof fields> {
  /** Settings of the system. */
  readonly model: SystemConfig;
}

const runConfig: Reader<RunConfig> = (given) => {
  const config = fields(given);
  return { ...config, model: systemNamed(config.system).reader(given.member('model')) };
};

/** Refuses a run of another format by its number; whatever else is wrong is told by the checks. */
function requireVersion(value: unknown, file: string): void {
  if (!isRecord(value) || value.format !== RUN_FORMAT) return;
  const { version } = value;
  if (typeof version !== 'number' || version === RUN_VERSION) return;
  throw new RunFormatError(
    `${file}: the run has format ${version}, this version of crab reads format ${RUN_VERSION}: train it again, or use the version it was made with`,
  );
}

/** Reads a stored configuration; `file` is named in errors. */
export function parseRunConfig(text: string, file: string): RunConfig {
  const value = parseJson(text, RunFormatError, file);
  requireVersion(value, file);
  return read(runConfig, value, RunFormatError, file);
}
