/**
 * A training in memory: model, learner, optimiser, feed, validator and the folder of the run. Everything is
 * made from the run's configuration and continued from a checkpoint; the loop drives it.
 */
import { counted, derivedSeed, STREAM } from '../base/index.js';
import { StepRandom, systemNamed, type Learner, type SystemModel } from '../models/index.js';
import { Generator, keep, scope, type Device, type optim, type Tensor } from '../torch/index.js';
import type { RunConfig } from './config.js';
import { RunFormatError } from './errors.js';
import { BatchFeed } from './feed/batch-feed.js';
import type { Feed } from './feed/feed.js';
import { recordLayout, type ProblemSource, type RecordLayout } from './feed/record.js';
import { readStored, requireSameData, StoredFeed, type StoredRecords } from './feed/stored-feed.js';
import { StreamFeed } from './feed/stream-feed.js';
import type { LoopState } from './loop-state.js';
import type { Judgement, Training } from './loop.js';
import type { FeedReport, TrainingObserver } from './observer.js';
import { isCuda, type RuntimeOptions } from './options.js';
import { requireSameModel } from './parallel/fingerprint.js';
import { SOLO, type Team } from './parallel/team.js';
import { snapshotRules } from './rules-snapshot.js';
import {
  hostTensors,
  MODEL_PREFIX,
  OPTIMIZER_PREFIX,
  type LoadedCheckpoint,
} from './run/checkpoint.js';
import type { MetricsLine } from './run/logs.js';
import type { RunStore } from './run/store.js';
import { StepInputs } from './step/inputs.js';
import { makeOptimizer } from './step/optimizer.js';
import { Stepper, STEPS_AHEAD } from './step/stepper.js';
import { makeValidationProblems, validationSource } from './validation/problems.js';
import { Validator } from './validation/validator.js';

/** Where a run's training problems come from; stored ones are not generated, but have the same kind. */
export const sourceOf = ({ system, model, seed, data }: RunConfig): ProblemSource => ({
  configuration: model.configuration,
  noisy: model.noisy,
  seed: derivedSeed(seed, STREAM.problems),
  mixed: systemNamed(system).needs(model).mixed,
  ...(data.kind === 'stream' && data.rules !== undefined && { rules: data.rules }),
});

/** What a problem of a run's system is as bytes. */
const recordOf = ({ system, model }: RunConfig): RecordLayout =>
  recordLayout(systemNamed(system).needs(model));

function makeModel(config: RunConfig, device: Device, random?: StepRandom): SystemModel {
  // Weights are drawn on the CPU, so that they are the same whatever the device.
  const generator = new Generator('cpu', derivedSeed(config.seed, STREAM.initialisation));
  const model = systemNamed(config.system).create(config.model, { generator, random });
  if (config.precision === 'f64') model.to({ dtype: 'f64' });
  return device === 'cpu' ? model : model.place(device);
}

const optimizerOf = ({ device, model: { optimizer } }: RunConfig, model: SystemModel) =>
  makeOptimizer(optimizer, model.parameters(), isCuda(device));

/** Refuses a checkpoint of another model or optimiser than the run's. */
export function requireFitting(
  config: RunConfig,
  checkpoint: LoadedCheckpoint,
  file: string,
): void {
  const cpu = { ...config, device: 'cpu' };
  const model = makeModel(cpu, 'cpu');
  const optimizer = optimizerOf(cpu, model);
  try {
    model.loadStateDict(checkpoint.model);
    optimizer.loadStateTensors(checkpoint.optimizer);
  } catch (cause) {
    throw new RunFormatError(`${file}: it is of another model`, { cause });
  } finally {
    optimizer.dispose();
    model.dispose();
  }
}

/**
 * Fresh problems of a step, as a share of the batch, if the threads could make more: copying them takes
 * the host's time, and a problem seen eight times teaches as much.
 */
const FRESH_SHARE = 1 / 8;
const LEAST_FRESH = 32;

/** @param stored problems read already, when the run is new */
async function makeFeed(
  config: RunConfig,
  runtime: RuntimeOptions,
  checkpoint: LoadedCheckpoint | null,
  stored: StoredRecords | null,
  team: Team,
  signal?: AbortSignal,
): Promise<Feed> {
  const { data, model, seed } = config;
  const record = recordOf(config);
  const device = config.device as Device;
  const { batchSize } = model.optimizer;
  const { workers } = runtime;
  if (data.kind === 'set') {
    const { configuration, noisy } = model;
    const read = stored ?? (await readStored(data.path, record, configuration, noisy));
    requireSameData(read.data, data);
    return new StoredFeed(read, device);
  }
  const source = sourceOf(config);
  const { pool, refresh } = data;
  const part = team.partOf(batchSize);
  if (team.size > 1 && refresh !== null) {
    const plan = { kind: 'batch', seed, pool, refresh, batchSize, part } as const;
    const step = checkpoint?.state.step ?? 0;
    return new BatchFeed({ source, record, plan, step, device, workers });
  }
  return StreamFeed.start(
    {
      source,
      record,
      pool,
      refresh,
      mostPerStep: Math.max(LEAST_FRESH, Math.round(part.count * FRESH_SHARE)),
      device,
      workers,
      produced: checkpoint?.feed.kind === 'stream' ? checkpoint.feed.produced : undefined,
      shard: team.size > 1 ? { rank: team.rank, ranks: team.size } : undefined,
    },
    signal,
  );
}

/** Copies of all of a model's state, which stay as they are while it is trained further. */
const cloneState = (model: SystemModel): Map<string, Tensor> =>
  scope(() => new Map([...model.stateDict()].map(([name, value]) => [name, keep(value.clone())])));

interface BestWeights {
  readonly step: number;
  readonly tensors: Map<string, Tensor>;
  /** The learner's state at that step. */
  readonly extra: unknown;
}

/** The parts a session is put together from. */
interface SessionParts {
  readonly config: RunConfig;
  readonly model: SystemModel;
  readonly learner: Learner;
  readonly optimizer: optim.Optimizer;
  readonly random: StepRandom;
  readonly feed: Feed;
  readonly validator: Validator;
  readonly team: Team;
}

interface SessionOptions extends RuntimeOptions {
  /** The run's configuration, with the device of this process. */
  readonly config: RunConfig;
  /** The same as its folder has it, for all processes. */
  readonly storedConfig: RunConfig;
  readonly checkpoint: LoadedCheckpoint | null;
  readonly stored: StoredRecords | null;
  readonly observer: TrainingObserver;
  readonly now: () => number;
  readonly startedAt: number;
}

export class TrainingSession implements Training {
  readonly config: RunConfig;
  readonly model: SystemModel;
  readonly stepper: Stepper;
  readonly observer: TrainingObserver;
  readonly startedAt: number;
  /** The folder of the run; only the first rank has it. */
  store: RunStore | null = null;
  readonly #parts: SessionParts;
  readonly #inputs: StepInputs;
  readonly #storedConfig: RunConfig;
  readonly #now: () => number;
  /** The best weights that are not on disk yet. */
  #best: BestWeights | null = null;

  private constructor(parts: SessionParts, options: SessionOptions) {
    const { config, learner, feed, team } = parts;
    const device = config.device as Device;
    const { batchSize } = config.model.optimizer;
    this.#parts = parts;
    this.config = config;
    this.model = parts.model;
    this.observer = options.observer;
    this.startedAt = options.startedAt;
    this.#storedConfig = options.storedConfig;
    this.#now = options.now;
    this.#inputs = new StepInputs({
      seed: config.seed,
      batchSize,
      part: team.partOf(batchSize),
      slots: feed.slots,
      slotCount: feed.records.shape[0],
      learner,
      device,
      stepsAhead: STEPS_AHEAD,
    });
    this.stepper = new Stepper({
      ...parts,
      optimizerConfig: config.model.optimizer,
      inputs: this.#inputs,
      record: recordOf(config),
      device,
      precision: config.precision,
      syncBatchNorm: config.syncBatchNorm ?? true,
      cudaGraph: options.cudaGraph ?? true,
    });
  }

  static async open(options: SessionOptions, signal?: AbortSignal): Promise<TrainingSession> {
    const { config, checkpoint, team = SOLO } = options;
    const device = config.device as Device;
    const system = systemNamed(config.system);
    const part = team.partOf(config.model.optimizer.batchSize);
    const random = new StepRandom(part, device);
    const model = makeModel(config, device, random);
    const optimizer = optimizerOf(config, model);
    if (checkpoint) {
      model.loadStateDict(checkpoint.model);
      optimizer.loadStateTensors(checkpoint.optimizer);
    }
    const feed = await makeFeed(config, options, checkpoint, options.stored, team, signal);
    const learner = system.learner(model, {
      config: config.model,
      seed: config.seed,
      device,
      dtype: config.precision === 'f64' ? 'f64' : 'f32',
      part,
      datasetSize: feed.size,
      stepsAhead: isCuda(device) ? STEPS_AHEAD : 0,
      random,
      gather: (own, dim) => team.gather(own, dim),
      ranks: team.size,
    });
    if (checkpoint) learner.load?.(checkpoint.extra);
    const problems = await makeValidationProblems(
      validationSource(sourceOf(config)),
      config.validation.problems,
      system.needs(config.model).imageSize,
    );
    const validator = new Validator(problems, system.positions, device);
    const parts = { config, model, learner, optimizer, random, feed, validator, team };
    return new TrainingSession(parts, options);
  }

  get agreement(): Team | undefined {
    const { team } = this.#parts;
    return team.size > 1 ? team : undefined;
  }

  get epochSize(): number {
    return this.#parts.feed.size;
  }

  now(): number {
    return this.#now();
  }

  feedReport(samples: number, steps: number, seconds: number): FeedReport {
    const { feed } = this.#parts;
    const spent = feed.takeMilliseconds();
    return {
      uses: samples / feed.problems,
      milliseconds: spent / Math.max(1, steps),
      share: seconds > 0 ? spent / 1000 / seconds : 0,
    };
  }

  validate(): Promise<Judgement> {
    const { model, team, validator } = this.#parts;
    requireSameModel(model, team);
    return validator.judge(model, team);
  }

  async snapshotRules(step: number): Promise<void> {
    const { config, model, learner } = this.#parts;
    if (this.store === null || model.rulesOf === undefined) return;
    const source = validationSource(sourceOf(config));
    const { problems } = config.snapshots;
    this.store.saveRules(await snapshotRules(step, model, learner, source, problems));
  }

  keepBest(step: number): void {
    if (this.store === null) return;
    this.#dropBest();
    const { model, learner } = this.#parts;
    this.#best = { step, tensors: cloneState(model), extra: learner.state?.() ?? null };
  }

  #dropBest(): void {
    for (const tensor of this.#best?.tensors.values() ?? []) tensor.dispose();
    this.#best = null;
  }

  log(line: MetricsLine): void {
    this.store?.log(line);
  }

  /** Best weights first: a checkpoint must never refer to ones that are not there. */
  checkpoint(state: LoopState): void {
    const { store } = this;
    if (store === null) return;
    const { model, learner, optimizer, feed } = this.#parts;
    if (this.#best !== null) {
      const { step, tensors, extra } = this.#best;
      store.saveBest(step, hostTensors(MODEL_PREFIX, tensors), extra);
      this.#dropBest();
    }
    const tensors = scope(() => [
      ...hostTensors(MODEL_PREFIX, model.stateDict()),
      ...hostTensors(OPTIMIZER_PREFIX, optimizer.stateTensors()),
    ]);
    const extra = learner.state?.() ?? null;
    store.saveCheckpoint({ state, feed: feed.state(), extra }, tensors);
  }

  fixTotal(totalSteps: number, totalKnownFrom: number): void {
    this.store?.saveConfig({ ...this.#storedConfig, totalSteps, totalKnownFrom });
    this.observer.note?.({ level: 'info', text: `the time allows ${counted(totalSteps, 'step')}` });
  }

  /** A GPU must not wait for the disk; on a CPU writing could only compete with the next step. */
  flush(): Promise<void> {
    const flushed = this.store?.flush() ?? Promise.resolve();
    return isCuda(this.config.device) ? Promise.resolve() : flushed;
  }

  get checkpointOnDisk(): number | null {
    return this.store?.checkpointStep ?? null;
  }

  async close(): Promise<void> {
    const { model, learner, optimizer, random, feed, validator } = this.#parts;
    await feed.close();
    this.#dropBest();
    for (const part of [this.stepper, this.#inputs, validator, optimizer, learner, random, model]) {
      part.dispose();
    }
  }
}
