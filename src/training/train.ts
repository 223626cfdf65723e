/**
 * Trains a model: starts a new run or continues one, until its end or until it is told to stop. All
 * that is to be seen of it goes to the observer.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { messageOf } from '../base/index.js';
import { ArgumentError, layoutName } from '../matrix/index.js';
import { systemNamed } from '../models/index.js';
import { ProcessGroupError, type Device } from '../torch/index.js';
import { stepsOfEpochs } from './budget.js';
import { parseRunConfig, type RunConfig } from './config.js';
import { prepareTorch, readEnvironment } from './environment.js';
import { LostRankError, RunFormatError } from './errors.js';
import { recordLayout, requireFittingRules } from './feed/record.js';
import { readStored, type StoredRecords } from './feed/stored-feed.js';
import { initialState, type Best, type LoopState } from './loop-state.js';
import { TrainingLoop } from './loop.js';
import type { TrainingObserver } from './observer.js';
import {
  DEFAULT_GIVE_UP_SECONDS,
  DEFAULT_SYSTEM,
  isFollow,
  isResume,
  runConfigOf,
  type NewRunOptions,
  type RuntimeOptions,
  type TrainOptions,
} from './options.js';
import { followRun, shareFailure, shareRun } from './parallel/handover.js';
import { SOLO, type Team } from './parallel/team.js';
import { loadCheckpoint, type LoadedCheckpoint } from './run/checkpoint.js';
import { CHECKPOINTS, configFileOf, isTaken, readText } from './run/folder.js';
import { RunLock } from './run/lock.js';
import { RunStore } from './run/store.js';
import { requireFitting, sourceOf, TrainingSession } from './session.js';

export interface TrainOutcome {
  /** Folder of the run, absolute. */
  readonly run: string;
  /** Steps done. */
  readonly step: number;
  readonly totalSteps: number | null;
  /** False when it was told to stop before its end. */
  readonly finished: boolean;
  readonly best: Best | null;
}

/** A run as it is begun or found. */
export interface Opened {
  readonly folder: string;
  readonly config: RunConfig;
  readonly checkpoint: LoadedCheckpoint | null;
  readonly stored: StoredRecords | null;
}

/** The number of steps if the budget says it; null if time must tell. */
function totalStepsOf(config: RunConfig): number | null {
  const { budget, data, model } = config;
  const problems = data.kind === 'set' ? data.problems : data.pool;
  switch (budget.kind) {
    case 'steps':
      return budget.steps;
    case 'epochs':
      return stepsOfEpochs(budget.epochs, problems, model.optimizer.batchSize);
    case 'time':
      return null;
  }
}

async function requireFree(out: string): Promise<void> {
  if (!(await isTaken(path.resolve(out)))) return;
  throw new ArgumentError(`${out} exists already; continue it with --resume or name another`);
}

async function beginRun(
  options: NewRunOptions,
  lock: RunLock,
  observer: TrainingObserver,
): Promise<Opened> {
  const folder = path.resolve(options.out);
  await requireFree(options.out);
  await lock.take(folder);
  // Another process may have had it in between.
  await requireFree(options.out);
  const { configuration, noisy } = options.model;
  const needs = systemNamed(options.system ?? DEFAULT_SYSTEM).needs(options.model);
  if (needs.mixed && options.data !== undefined) {
    throw new ArgumentError(
      `${options.data} holds one configuration: a joint training generates its problems, so name no data`,
    );
  }
  const record = recordLayout(needs);
  const stored =
    options.data === undefined
      ? null
      : await readStored(path.resolve(options.data), record, configuration, noisy);
  const config = runConfigOf(options, readEnvironment(), stored?.data ?? null);
  requireFittingRules(sourceOf(config));
  if (stored !== null && stored.differences !== '') {
    const text = `--data ${stored.data.path}${stored.differences}: the model is for ${layoutName(options.model)}, and learns from them all`;
    observer.note?.({ level: 'warning', text });
  }
  const complete = { ...config, totalSteps: totalStepsOf(config) };
  return { folder, config: complete, checkpoint: null, stored };
}

/** A checkpoint of this run's model. */
function loadFitting(file: string, config: RunConfig): LoadedCheckpoint {
  const checkpoint = loadCheckpoint(file, config.device as Device);
  try {
    requireFitting(config, checkpoint, file);
    return checkpoint;
  } catch (error) {
    checkpoint.dispose();
    throw error;
  }
}

/** The newest checkpoint that can be read; a damaged one is passed over, and said. */
async function newestCheckpoint(
  folder: string,
  config: RunConfig,
  observer: TrainingObserver,
): Promise<LoadedCheckpoint | null> {
  const steps = await CHECKPOINTS.steps(folder);
  for (const step of steps) {
    try {
      return loadFitting(path.join(folder, CHECKPOINTS.name(step)), config);
    } catch (error) {
      const why = messageOf(error);
      observer.note?.({
        level: 'warning',
        text: `a checkpoint is damaged and passed over: ${why}`,
      });
    }
  }
  if (steps.length > 0)
    throw new RunFormatError(
      `${folder}: no checkpoint can be read: train it again, into another folder`,
    );
  return null;
}

async function resumeRun(
  run: string,
  lock: RunLock,
  observer: TrainingObserver,
  device: string | undefined,
): Promise<Opened> {
  const file = await configFileOf(run);
  const folder = path.dirname(file);
  await lock.take(folder);
  const config = parseRunConfig(await readText(file), file);
  readEnvironment();
  const local = { ...config, device: localDevice(config.device, device) };
  prepareTorch(local);
  const checkpoint = await newestCheckpoint(folder, local, observer);
  return { folder, config, checkpoint, stored: null };
}

/** The device of this process: a run on `cuda` uses one on each rank. */
const localDevice = (device: string, own: string | undefined): string =>
  device === 'cuda' ? (own ?? device) : device;

/** Starts or finds the run; other ranks than the first learn of it from that one. */
async function openOrFollow(
  options: TrainOptions,
  lock: RunLock,
  observer: TrainingObserver,
): Promise<Opened> {
  const { team = SOLO } = options;
  if (isFollow(options)) return followRun(team, localDevice('cuda', options.localDevice));
  try {
    const opened = isResume(options)
      ? await resumeRun(options.resume, lock, observer, options.localDevice)
      : await beginRun(options, lock, observer);
    team.partOf(opened.config.model.optimizer.batchSize);
    shareRun(team, opened);
    return opened;
  } catch (error) {
    shareFailure(team, error);
    throw error;
  }
}

/** The first rank alone writes. */
async function openStore(
  { folder, config, checkpoint }: Opened,
  runtime: RuntimeOptions,
  observer: TrainingObserver,
): Promise<RunStore | null> {
  if (!(runtime.team ?? SOLO).leads) return null;
  return RunStore.open(folder, config, checkpoint?.state.step ?? 0, observer, runtime);
}

/** Runs the loop and sees to it that what it leaves is on disk, however it ends. */
async function runLoop(
  session: TrainingSession,
  team: Team,
  state: LoopState,
  giveUpSeconds = DEFAULT_GIVE_UP_SECONDS,
  signal?: AbortSignal,
): Promise<boolean> {
  const { store } = session;
  try {
    const finished = await new TrainingLoop(session, state).run(signal);
    // Others leave when the run is safe: a launcher may end all ranks once the first of them has ended.
    await store?.finish(giveUpSeconds, signal);
    await leaveTogether(team);
    return finished;
  } catch (error) {
    await store?.tryNow();
    throw lostRank(error, team, state, store?.folder ?? null);
  }
}

/** A rank that is done must not break what another is about to finish. */
async function leaveTogether(team: Team): Promise<void> {
  try {
    await team.barrier();
  } catch {
    // The work is done on this rank; whether another one is gone no longer matters.
  }
}

/** The failure of a collective as what it means for the run; any other error as it is. */
function lostRank(error: unknown, team: Team, state: LoopState, run: string | null): unknown {
  if (!(error instanceof ProcessGroupError)) return error;
  const reason = error.message.replace(/^\w+: /, '');
  return new LostRankError(team.rank, team.size, state.step, reason, run, { cause: error });
}

/** Threads that a rank may use: those on one machine share its cores. */
const shareOfCores = (ranksHere: number): number =>
  Math.max(1, Math.floor(availableParallelism() / ranksHere));

/**
 * Starts or continues a training. When `signal` aborts, the step at hand is finished, a checkpoint is
 * written, and the promise resolves with `finished: false`. Several ranks call this at the same time, each
 * with its team: the first with the settings, the others with `follow`.
 */
export async function train(
  options: TrainOptions,
  observer: TrainingObserver = {},
  signal?: AbortSignal,
): Promise<TrainOutcome> {
  const lock = new RunLock();
  try {
    return await trainLocked(options, lock, observer, signal);
  } finally {
    lock.release();
  }
}

/** The same; the lock, which is taken as soon as the folder is known, keeps other processes off. */
async function trainLocked(
  options: TrainOptions,
  lock: RunLock,
  observer: TrainingObserver,
  signal?: AbortSignal,
): Promise<TrainOutcome> {
  const { team = SOLO, now = () => performance.now() / 1000 } = options;
  const startedAt = now();
  const opened = await openOrFollow(options, lock, observer);
  const { checkpoint, folder, stored } = opened;
  const device = localDevice(opened.config.device, options.localDevice);
  const config = { ...opened.config, device };
  const cores = team.size > 1 ? shareOfCores(options.ranksHere ?? 1) : Infinity;
  prepareTorch(config, cores);
  const workers = options.workers ?? (cores === Infinity ? undefined : Math.max(1, cores - 1));
  const session = await TrainingSession.open(
    {
      ...options,
      workers,
      config,
      storedConfig: opened.config,
      checkpoint,
      stored,
      observer,
      now,
      startedAt,
    },
    signal,
  );
  try {
    checkpoint?.dispose();
    const state = checkpoint?.state ?? initialState(config.totalSteps);
    state.totalSteps ??= config.totalSteps;
    session.store = await openStore(opened, options, observer);
    observer.start?.({
      run: folder,
      device: config.device,
      step: state.step,
      totalSteps: state.totalSteps,
      batchSize: config.model.optimizer.batchSize,
      parameters: session.model.parameterCount(),
      ranks: team.size,
    });
    const { giveUpSeconds } = options;
    const finished = await runLoop(session, team, state, giveUpSeconds, signal);
    options.ended?.(session.model);
    const { step, totalSteps, best } = state;
    return { run: folder, step, totalSteps, finished, best };
  } finally {
    await session.close();
  }
}
