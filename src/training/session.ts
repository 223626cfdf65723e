/**
 * A training in memory: model, optimiser, rule prior, feed, validator, and how they are put together
 * for the loop. Everything is made from the run's configuration, and continued from a checkpoint.
 */
import { CrabModel, mixturesOf, RulePrior } from '../models/index.js';
import type { GaussianMixture, MixtureData } from '../models/index.js';
import { Generator, keep, optim, scope, type Device, type Tensor } from '../torch/index.js';
import type { RunConfig } from './config.js';
import { RunFormatError } from './errors.js';
import type { Feed } from './feed/feed.js';
import type { ProblemSource } from './feed/problem-maker.js';
import {
  readStoredPanels,
  requireSameData,
  StoredFeed,
  type StoredPanels,
} from './feed/stored-feed.js';
import { StreamFeed } from './feed/stream-feed.js';
import type { Judgement } from './loop.js';
import { isCuda, type RuntimeOptions } from './options.js';
import { BatchFeed } from './parallel/batch-feed.js';
import { SOLO, type Team } from './parallel/team.js';
import { derivedSeed, STREAM } from './random/philox.js';
import { snapshotRules, type RulesSnapshot } from './rules-snapshot.js';
import {
  hostTensors,
  MODEL_PREFIX,
  OPTIMIZER_PREFIX,
  type HostTensor,
  type LoadedCheckpoint,
} from './run/checkpoint.js';
import { StepInputs } from './step/inputs.js';
import { PriorRefit } from './step/prior-refit.js';
import { blockStepsOf, CudaStepper, HostStepper, STEPS_AHEAD } from './step/stepper.js';
import { makeValidationProblems, validationSource } from './validation/problems.js';
import { Validator } from './validation/validator.js';

/** Where a run's training problems come from; stored ones are not generated, but have the same kind. */
const sourceOf = ({ model, seed }: RunConfig): ProblemSource => ({
  configuration: model.configuration,
  noisy: model.noisy,
  seed: derivedSeed(seed, STREAM.problems),
});

function makeModel(config: RunConfig, device: Device): CrabModel {
  // Weights are drawn on the CPU, so that they are the same whatever the device.
  const generator = new Generator('cpu', derivedSeed(config.seed, STREAM.initialisation));
  const model = new CrabModel(config.model.network, { generator });
  if (config.precision === 'f64') model.to({ dtype: 'f64' });
  if (!isCuda(device)) return model;
  model.to({ device });
  model.encoder.to({ memoryFormat: 'channelsLast' });
  model.decoder.to({ memoryFormat: 'channelsLast' });
  return model;
}

function makeOptimizer(config: RunConfig, model: CrabModel): optim.Optimizer {
  const options = { learningRate: 0, capturable: isCuda(config.device) };
  const parameters = model.parameters();
  switch (config.model.optimizer.algorithm) {
    case 'rmsprop':
      return new optim.RMSprop(parameters, options);
    case 'adam':
      return new optim.Adam(parameters, options);
    case 'adamw':
      return new optim.AdamW(parameters, options);
    case 'sgd':
      return new optim.SGD(parameters, { ...options, momentum: 0.9 });
  }
}

/** The rule prior in what a checkpoint keeps beside the weights; null before the first fit. */
const priorIn = (extra: unknown): GaussianMixture[] | null =>
  extra === null ? null : mixturesOf(extra as MixtureData[]);

/** Refuses a checkpoint of another model or optimiser than the run's. */
export function requireFitting(
  config: RunConfig,
  checkpoint: LoadedCheckpoint,
  file: string,
): void {
  const cpu = { ...config, device: 'cpu' };
  const model = makeModel(cpu, 'cpu');
  const optimizer = makeOptimizer(cpu, model);
  try {
    model.loadStateDict(checkpoint.model);
    optimizer.loadStateTensors(checkpoint.optimizer);
    priorIn(checkpoint.extra);
  } catch (cause) {
    throw new RunFormatError(`${file}: it is of another model`, { cause });
  } finally {
    optimizer.dispose();
    model.dispose();
  }
}

/**
 * Fresh problems of a step, as a share of the batch, where the threads could make more: copying them
 * takes the host's time, and a problem seen eight times teaches as much.
 */
const FRESH_SHARE = 1 / 8;
const LEAST_FRESH = 32;

/** @param stored panels read already, when the run is new */
async function makeFeed(
  config: RunConfig,
  runtime: RuntimeOptions,
  checkpoint: LoadedCheckpoint | null,
  stored: StoredPanels | null,
  team: Team,
  signal?: AbortSignal,
): Promise<Feed> {
  const { data, model, seed } = config;
  const device = config.device as Device;
  const { batchSize } = model.optimizer;
  const { workers } = runtime;
  if (data.kind === 'set') {
    const { configuration, noisy } = model;
    const panels = stored ?? (await readStoredPanels(data.path, configuration, noisy));
    requireSameData(panels.data, data);
    return new StoredFeed(panels, device);
  }
  const source = sourceOf(config);
  const { pool, refresh } = data;
  const part = team.partOf(batchSize);
  if (team.size > 1 && refresh !== null) {
    const plan = { kind: 'batch', seed, pool, refresh, batchSize, part } as const;
    return new BatchFeed({ source, plan, step: checkpoint?.state.step ?? 0, device, workers });
  }
  return StreamFeed.start(
    {
      source,
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
const cloneState = (model: CrabModel): Map<string, Tensor> =>
  scope(() => new Map([...model.stateDict()].map(([name, value]) => [name, keep(value.clone())])));

interface BestWeights {
  readonly step: number;
  readonly tensors: Map<string, Tensor>;
  readonly extra: unknown;
}

export class TrainingSession {
  readonly stepper: HostStepper | CudaStepper;
  /** The best weights that are not on disk yet. */
  #best: BestWeights | null = null;

  private constructor(
    readonly config: RunConfig,
    readonly model: CrabModel,
    readonly optimizer: optim.Optimizer,
    readonly prior: RulePrior,
    readonly feed: Feed,
    readonly validator: Validator,
    readonly team: Team,
    cudaGraph: boolean,
  ) {
    const { model: settings, seed } = config;
    const device = config.device as Device;
    const inputs = new StepInputs({
      seed,
      batchSize: settings.optimizer.batchSize,
      part: team.partOf(settings.optimizer.batchSize),
      slots: feed.slots,
      slotCount: feed.panels.shape[0],
      targets: settings.targets,
      device,
      stepsAhead: STEPS_AHEAD,
    });
    const parts = {
      config: settings,
      model,
      optimizer,
      prior,
      inputs,
      pool: feed.panels,
      datasetSize: feed.size,
      device,
      precision: config.precision,
      team,
      syncBatchNorm: config.syncBatchNorm ?? true,
      rows: blockStepsOf(device),
    };
    const refit = new PriorRefit(prior, seed, isCuda(device) ? STEPS_AHEAD - 1 : 0);
    this.stepper = isCuda(device)
      ? new CudaStepper(parts, feed, refit, cudaGraph)
      : new HostStepper(parts, feed, refit);
  }

  static async open(
    config: RunConfig,
    runtime: RuntimeOptions,
    checkpoint: LoadedCheckpoint | null,
    stored: StoredPanels | null,
    signal?: AbortSignal,
  ): Promise<TrainingSession> {
    const device = config.device as Device;
    const model = makeModel(config, device);
    const optimizer = makeOptimizer(config, model);
    const { concepts, ruleSize } = config.model.network;
    const prior = new RulePrior(concepts, ruleSize, config.model.rulePrior, device);
    if (checkpoint) {
      model.loadStateDict(checkpoint.model);
      optimizer.loadStateTensors(checkpoint.optimizer);
      const fitted = priorIn(checkpoint.extra);
      if (fitted !== null) prior.load(fitted);
    }
    const team = runtime.team ?? SOLO;
    const feed = await makeFeed(config, runtime, checkpoint, stored, team, signal);
    const problems = await makeValidationProblems(
      validationSource(sourceOf(config)),
      config.validation.problems,
    );
    const validator = new Validator(problems, device);
    const cudaGraph = runtime.cudaGraph ?? true;
    return new TrainingSession(config, model, optimizer, prior, feed, validator, team, cudaGraph);
  }

  validate(): Promise<Judgement> {
    return this.validator.judge(this.model, this.team);
  }

  snapshotRules(step: number): Promise<RulesSnapshot> {
    const { config, model, prior } = this;
    const source = validationSource(sourceOf(config));
    const device = config.device as Device;
    return snapshotRules(step, model, prior, source, config.snapshots.problems, device);
  }

  /** What a checkpoint keeps beside the weights: the rule prior, null before the first fit. */
  extra(): unknown {
    return this.prior.isFitted ? this.prior.toJSON() : null;
  }

  keepBest(step: number): void {
    this.#dropBest();
    this.#best = { step, tensors: cloneState(this.model), extra: this.extra() };
  }

  /** Hands over the best weights, once, on the host. */
  takeBest(): { step: number; tensors: HostTensor[]; extra: unknown } | null {
    if (this.#best === null) return null;
    const { step, tensors, extra } = this.#best;
    const host = hostTensors(MODEL_PREFIX, tensors);
    this.#dropBest();
    return { step, tensors: host, extra };
  }

  #dropBest(): void {
    for (const tensor of this.#best?.tensors.values() ?? []) tensor.dispose();
    this.#best = null;
  }

  /** All tensors of a full checkpoint, on the host. */
  checkpointTensors(): HostTensor[] {
    return scope(() => [
      ...hostTensors(MODEL_PREFIX, this.model.stateDict()),
      ...hostTensors(OPTIMIZER_PREFIX, this.optimizer.stateTensors()),
    ]);
  }

  async close(): Promise<void> {
    await this.feed.close();
    this.#dropBest();
    this.stepper.dispose();
    this.validator.dispose();
    this.optimizer.dispose();
    this.prior.dispose();
    this.model.dispose();
  }
}
