/** What a training is asked to do, and the defaults that make a complete run configuration of it. */
import { ArgumentError } from '../matrix/index.js';
import {
  systemNamed,
  type Criterion,
  type SystemConfig,
  type SystemModel,
} from '../models/index.js';
import { requireBudget, type Budget } from './budget.js';
import {
  RUN_FORMAT,
  RUN_VERSION,
  type DataConfig,
  type Precision,
  type RunConfig,
} from './config.js';
import type { Environment } from './environment.js';
import type { Team } from './parallel/team.js';
import type { RunFiles } from './run/folder.js';

/** Settings of a new run; everything but the first four has a default. */
export interface NewRunOptions {
  /** Folder of the run; must not exist yet. */
  readonly out: string;
  /** Name of the system; `crab` unless told. */
  readonly system?: string;
  readonly model: SystemConfig;
  readonly budget: Budget;
  readonly seed: number;
  /** A set file or RAVEN folder; an endless stream of generated problems if absent. */
  readonly data?: string;
  /** Stream: problems kept at a time. */
  readonly pool?: number;
  /** Stream: problems replaced in every step; 0 keeps the first ones for ever. */
  readonly refresh?: number;
  /** Stream: parsed JSON of fixed rules or of a regime, as `parseConstraints` reads it. */
  readonly rules?: unknown;
  /** `cpu`, `cuda` or `cuda:n`. */
  readonly device?: string;
  /** bf16 autocast on CUDA unless told. */
  readonly precision?: Precision;
  /** Repeats exactly; always so on a CPU. */
  readonly deterministic?: boolean;
  /** Several ranks: batch normalisations use the statistics of the whole batch; on unless told. */
  readonly syncBatchNorm?: boolean;
  readonly threads?: number;
  readonly validation?: Partial<RunConfig['validation']>;
  readonly checkpoints?: Partial<RunConfig['checkpoints']>;
  readonly logEvery?: number;
  readonly snapshots?: Partial<RunConfig['snapshots']>;
}

/** Continues a run with the configuration stored in it. */
export interface ResumeOptions {
  readonly resume: string;
}

/** Helps the first rank of a team, which has the settings, with its run. */
export interface FollowOptions {
  readonly follow: true;
}

/** Things that never change a result. */
export interface RuntimeOptions {
  /** The ranks that train together; this process alone unless told. */
  readonly team?: Team;
  /** This process's device if the run's says only `cuda`. */
  readonly localDevice?: string;
  /** Ranks on this machine, which share its cores. */
  readonly ranksHere?: number;
  /** Threads that make problems. */
  readonly workers?: number;
  /** Captures a step as a CUDA graph; on unless told. */
  readonly cudaGraph?: boolean;
  /** Sees the model as this process holds it in the end, for tests. */
  ended?(model: SystemModel): void;
  /** The file system, for tests. */
  readonly files?: RunFiles;
  /** The clock in seconds, for tests. */
  readonly now?: () => number;
  /** Seconds after which a failed write is tried again. */
  readonly retrySeconds?: number;
  /** Seconds after the end of training for which writing is tried before it is given up. */
  readonly giveUpSeconds?: number;
}

export type TrainOptions = (NewRunOptions | ResumeOptions | FollowOptions) & RuntimeOptions;

export const isResume = (options: TrainOptions): options is ResumeOptions & RuntimeOptions =>
  'resume' in options;

export const isFollow = (options: TrainOptions): options is FollowOptions & RuntimeOptions =>
  'follow' in options;

export const DEFAULT_SYSTEM = 'crab';
export const DEFAULT_POOL = 20_000;
/** Steps between validations. */
export const DEFAULT_VALIDATE_EVERY = 500;
/** Ten minutes to make room on a full disk. */
export const DEFAULT_GIVE_UP_SECONDS = 600;
/** Snapshots crowd where painted panels and rules change most: early, however long the run is. */
const DEFAULT_MOMENTS = [0.1, 0.2, 0.4, 0.7];
const DEFAULT_SNAPSHOT_STEPS = [0, 30, 100, 300, 1000];

export const isCuda = (device: string): boolean => device.startsWith('cuda');

function requireCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new ArgumentError(`${name}: expected a whole number of at least ${least}, got ${value}`);
}

function requireDevice(device: string): string {
  if (/^(cpu|cuda(:\d+)?)$/.test(device)) return device;
  throw new ArgumentError(`device "${device}": expected cpu, cuda or cuda:n`);
}

/** @param fixed problems that the system trains on again and again; null: fresh ones */
function streamOf(options: NewRunOptions, exact: boolean, fixed: number | null): DataConfig {
  const pool = requireCount('pool', options.pool ?? fixed ?? DEFAULT_POOL, 1);
  const refresh = options.refresh ?? (fixed === null ? undefined : 0);
  if (refresh !== undefined && !(Number.isFinite(refresh) && refresh >= 0)) {
    throw new ArgumentError(`refresh: expected a number of problems from 0, got ${refresh}`);
  }
  if (refresh !== undefined && refresh > pool) {
    throw new ArgumentError(`refresh: expected at most the pool's ${pool}, got ${refresh}`);
  }
  const fallback = exact ? Math.min(options.model.optimizer.batchSize, pool) : null;
  const { rules } = options;
  return {
    kind: 'stream',
    pool,
    refresh: refresh ?? fallback,
    ...(rules !== undefined && { rules }),
  };
}

function validationOf(
  { every, problems, criterion, patience }: Partial<RunConfig['validation']>,
  usualProblems: number,
  usualCriterion: Criterion,
): RunConfig['validation'] {
  return {
    every: requireCount('validation.every', every ?? DEFAULT_VALIDATE_EVERY, 1),
    problems: requireCount('validation.problems', problems ?? usualProblems, 2),
    criterion: criterion ?? usualCriterion,
    ...(patience !== undefined && { patience: requireCount('validation.patience', patience, 1) }),
  };
}

/** A stored set as found when its file was read. */
export type StoredData = Extract<DataConfig, { kind: 'set' }>;

/** The complete configuration of a new run. */
export function runConfigOf(
  options: NewRunOptions,
  environment: Environment,
  stored: StoredData | null,
): RunConfig {
  const device = requireDevice(options.device ?? 'cpu');
  const cuda = isCuda(device);
  const system = systemNamed(options.system ?? DEFAULT_SYSTEM);
  const deterministic = options.deterministic === true || !cuda;
  if (!Number.isSafeInteger(options.seed)) {
    throw new ArgumentError(`seed: expected a whole number, got ${options.seed}`);
  }
  return {
    format: RUN_FORMAT,
    version: RUN_VERSION,
    software: environment.software,
    system: system.name,
    model: options.model,
    seed: options.seed,
    data: stored ?? streamOf(options, deterministic, system.needs(options.model).problems),
    budget: requireBudget(options.budget),
    totalSteps: null,
    device,
    precision: options.precision ?? (cuda ? 'bf16' : 'f32'),
    deterministic,
    syncBatchNorm: options.syncBatchNorm ?? true,
    threads: requireCount('threads', options.threads ?? environment.threads, 1),
    validation: validationOf(
      options.validation ?? {},
      cuda ? 1000 : 200,
      system.criterion(options.model),
    ),
    checkpoints: {
      seconds: options.checkpoints?.seconds ?? 120,
      steps: options.checkpoints?.steps ?? null,
    },
    logEvery: requireCount('logEvery', options.logEvery ?? (cuda ? 100 : 20), 1),
    snapshots: {
      problems: requireCount('snapshots.problems', options.snapshots?.problems ?? 400, 0),
      moments: options.snapshots?.moments ?? DEFAULT_MOMENTS,
      steps: options.snapshots?.steps ?? DEFAULT_SNAPSHOT_STEPS,
    },
  };
}
