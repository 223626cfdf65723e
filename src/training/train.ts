/**
 * Trains a model: starts a new run or continues one, until its end or until it is told to stop. All
 * that is to be seen of it goes to the observer.
 */
import path from 'node:path';
import { ArgumentError } from '../matrix/index.js';
import type { Device } from '../torch/index.js';
import { stepsOfEpochs } from './budget.js';
import { CONFIG_FILE, parseRunConfig, type RunConfig } from './config.js';
import { prepareTorch, readEnvironment } from './environment.js';
import { RunFormatError, TrainingError } from './errors.js';
import { readStoredPanels, type StoredPanels } from './feed/stored-feed.js';
import { initialState, type Best, type LoopState } from './loop-state.js';
import { TrainingLoop, type LoopParts } from './loop.js';
import type { TrainingObserver } from './observer.js';
import {
  absolute,
  DEFAULT_RETRY_SECONDS,
  isCuda,
  isResume,
  runConfigOf,
  type NewRunOptions,
  type RuntimeOptions,
  type TrainOptions,
} from './options.js';
import { loadCheckpoint, type LoadedCheckpoint } from './run/checkpoint.js';
import { diskFiles, isTemporary, type RunFiles } from './run/files.js';
import { checkpointName, checkpointSteps } from './run/folder.js';
import { RunStore } from './run/store.js';
import { TrainingSession } from './session.js';

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
interface Opened {
  readonly folder: string;
  readonly config: RunConfig;
  readonly checkpoint: LoadedCheckpoint | null;
  readonly stored: StoredPanels | null;
  readonly isNew: boolean;
}

/** The number of steps where the budget says it; null where time must tell. */
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

async function beginRun(options: NewRunOptions, files: RunFiles): Promise<Opened> {
  const folder = absolute(options.out);
  // A process killed at its very start may leave an empty folder, which is no run yet.
  const taken = (await files.list(folder)).some((name) => !isTemporary(name));
  if (taken) {
    throw new ArgumentError(
      `${options.out} exists already; continue it with --resume or name another`,
    );
  }
  const { configuration, noisy } = options.model;
  const stored =
    options.data === undefined
      ? null
      : await readStoredPanels(absolute(options.data), configuration, noisy);
  const config = runConfigOf(options, await readEnvironment(), stored?.data ?? null);
  const complete = { ...config, totalSteps: totalStepsOf(config) };
  return { folder, config: complete, checkpoint: null, stored, isNew: true };
}

/** The newest checkpoint that can be read; a damaged one is passed over, and said. */
async function newestCheckpoint(
  folder: string,
  files: RunFiles,
  device: Device,
  observer: TrainingObserver,
): Promise<LoadedCheckpoint | null> {
  const steps = await checkpointSteps(files, folder);
  for (const step of steps) {
    try {
      return loadCheckpoint(path.join(folder, checkpointName(step)), device);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      observer.note?.({
        level: 'warning',
        text: `a checkpoint is damaged and passed over: ${why}`,
      });
    }
  }
  if (steps.length > 0) throw new RunFormatError(`${folder}: no checkpoint can be read`);
  return null;
}

async function resumeRun(
  run: string,
  files: RunFiles,
  observer: TrainingObserver,
): Promise<Opened> {
  const folder = absolute(run);
  const file = path.join(folder, CONFIG_FILE);
  if ((await files.size(file)) === null) {
    throw new ArgumentError(`${run} is not a run: it has no ${CONFIG_FILE}`);
  }
  const config = parseRunConfig(Buffer.from(await files.read(file)).toString('utf8'), file);
  await readEnvironment();
  prepareTorch(config);
  const checkpoint = await newestCheckpoint(folder, files, config.device as Device, observer);
  return { folder, config, checkpoint, stored: null, isNew: false };
}

/** What the loop asks of the session and the store. */
function loopParts(
  session: TrainingSession,
  store: RunStore,
  observer: TrainingObserver,
): LoopParts {
  const { config, feed } = session;
  return {
    config,
    stepper: session.stepper,
    observer,
    epochSize: feed.size,
    feedReport: (samples, steps, seconds) => {
      const spent = feed.takeMilliseconds();
      return {
        uses: samples / feed.problems,
        milliseconds: spent / Math.max(1, steps),
        share: seconds > 0 ? spent / 1000 / seconds : 0,
      };
    },
    validate: () => session.validate(),
    keepBest: (step) => session.keepBest(step),
    snapshotRules: async (step) => store.saveRules(await session.snapshotRules(step)),
    log: (line) => store.log(line),
    checkpoint: (state) => saveCheckpoint(session, store, state),
    totalFixed: (totalSteps) => {
      store.saveConfig({ ...config, totalSteps });
      observer.note?.({ level: 'info', text: `the time allows ${totalSteps} steps` });
    },
    // A GPU must not wait for the disk; on a CPU writing could only compete with the next step.
    flush: () => {
      const flushed = store.flush();
      return isCuda(config.device) ? Promise.resolve() : flushed;
    },
    checkpointOnDisk: () => store.checkpointStep,
    now: () => performance.now() / 1000,
  };
}

/** Best weights first: a checkpoint must never refer to ones that are not there. */
function saveCheckpoint(session: TrainingSession, store: RunStore, state: LoopState): void {
  const best = session.takeBest();
  if (best) store.saveBest(best.step, best.tensors, best.prior);
  const content = { state, feed: session.feed.state(), prior: session.priorData() };
  store.saveCheckpoint(content, session.checkpointTensors());
}

async function saveEverything(store: RunStore, signal?: AbortSignal): Promise<void> {
  try {
    await store.finish(signal);
  } catch (cause) {
    throw new TrainingError(`${store.folder}: the last steps could not be saved`, { cause });
  }
}

async function openStore(
  opened: Opened,
  runtime: RuntimeOptions,
  observer: TrainingObserver,
): Promise<RunStore> {
  const { folder, config, checkpoint, isNew } = opened;
  const files = runtime.files ?? diskFiles;
  const retry = runtime.retrySeconds ?? DEFAULT_RETRY_SECONDS;
  return isNew
    ? RunStore.create(folder, files, observer, config, retry)
    : RunStore.resume(folder, files, observer, config, checkpoint?.state.step ?? 0, retry);
}

/** Runs the loop and sees to it that what it leaves is on disk, however it ends. */
async function runLoop(
  session: TrainingSession,
  store: RunStore,
  state: LoopState,
  observer: TrainingObserver,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    const finished = await new TrainingLoop(loopParts(session, store, observer), state).run(signal);
    await saveEverything(store, signal);
    return finished;
  } catch (error) {
    await store.flush();
    throw error;
  }
}

/**
 * Starts or continues a training. When `signal` aborts, the step at hand is finished, a checkpoint is
 * written, and the promise resolves with `finished: false`.
 */
export async function train(
  options: TrainOptions,
  observer: TrainingObserver = {},
  signal?: AbortSignal,
): Promise<TrainOutcome> {
  const files = options.files ?? diskFiles;
  const opened = isResume(options)
    ? await resumeRun(options.resume, files, observer)
    : await beginRun(options, files);
  const { config, checkpoint, folder } = opened;
  prepareTorch(config);
  const session = await TrainingSession.open(config, options, checkpoint, opened.stored, signal);
  try {
    checkpoint?.dispose();
    const state = checkpoint?.state ?? initialState(config.totalSteps);
    state.totalSteps ??= config.totalSteps;
    const store = await openStore(opened, options, observer);
    observer.start?.({
      run: folder,
      device: config.device,
      step: state.step,
      totalSteps: state.totalSteps,
      batchSize: config.model.optimizer.batchSize,
      parameters: session.model.parameterCount(),
    });
    const finished = await runLoop(session, store, state, observer, signal);
    return {
      run: folder,
      step: state.step,
      totalSteps: state.totalSteps,
      finished,
      best: state.best,
    };
  } finally {
    await session.close();
  }
}
