/**
 * Carries out optimisation steps, from the slots of their problems to the changed weights. On a CPU one
 * after the other. On CUDA the host only hands work to the device's queue: a step is captured as a graph
 * after a few ordinary ones and replayed from then on, inputs and fresh problems travel through pinned
 * memory, and the host looks at a counter in pinned memory to stay a few steps ahead, no more. The loss is
 * read when a block of steps ends. All CUDA work happens on the side stream that captures need.
 */
import {
  valueAt,
  type Learner,
  type OptimizerConfig,
  type StepRandom,
} from '../../models/index.js';
import {
  autocast,
  cat,
  copyLater,
  CudaGraph,
  isIdle,
  keep,
  noGrad,
  operator,
  optim,
  pinned,
  scope,
  stack,
  TorchError,
  useSideStream,
  zeros,
  type Device,
  type nn,
  type Tensor,
} from '../../torch/index.js';
import type { Precision } from '../config.js';
import type { Feed } from '../feed/feed.js';
import { batchOf, type RecordLayout } from '../feed/record.js';
import type { TermValues } from '../loop.js';
import type { Reduction, Team } from '../parallel/team.js';
import type { StepInputs } from './inputs.js';

/** Steps that the host may be ahead of a CUDA device. */
export const STEPS_AHEAD = 3;
/** Steps between two readings of the loss on CUDA. */
const CUDA_BLOCK = 100;
/** Ordinary steps before a capture, in which libraries choose their algorithms. */
const WARM_UP = 3;

const indexCopyInPlace = operator('index_copy_');
const yieldToEvents = (): Promise<void> => new Promise(setImmediate);

interface StepParts {
  readonly optimizerConfig: OptimizerConfig;
  readonly model: nn.Module;
  readonly learner: Learner;
  readonly optimizer: optim.Optimizer;
  readonly random: StepRandom;
  readonly inputs: StepInputs;
  readonly feed: Feed;
  readonly record: RecordLayout;
  readonly device: Device;
  readonly precision: Precision;
  /** Who computes the other parts of the batch. */
  readonly team: Team;
  /** Whether batch normalisations use the statistics of the whole batch. */
  readonly syncBatchNorm: boolean;
  /** Captures steps as CUDA graphs. */
  readonly cudaGraph: boolean;
}

export class Stepper {
  /** Names of the loss and its terms, in the order in which `finish` gives them. */
  readonly terms: readonly string[];
  /** Most steps whose values are kept until they are read. */
  readonly blockSteps: number;
  readonly #parts: StepParts;
  /** Means over the whole batch, [blockSteps, terms]. */
  readonly #results: Tensor;
  readonly #dtype: 'f32' | 'f64';
  /** Made with the first step, on the stream that steps use. */
  #reduction: Reduction | null | undefined;
  readonly #queue: DeviceQueue | null;
  #captured: { readonly form: string; readonly graph: CudaGraph } | null = null;
  /** Ordinary steps of the present form so far. */
  #warm = { form: '', steps: 0 };
  #first = 0;
  #totalSteps = Infinity;

  constructor(parts: StepParts) {
    const { device, learner, team, precision } = parts;
    this.#parts = parts;
    this.terms = ['loss', ...learner.terms];
    this.blockSteps = device === 'cpu' ? 1 : CUDA_BLOCK;
    this.#dtype = precision === 'f64' ? 'f64' : 'f32';
    this.#queue = device === 'cpu' ? null : new DeviceQueue(device);
    const shape = [this.blockSteps, this.terms.length];
    this.#results = keep(zeros(shape, { device, dtype: this.#dtype }));
    if (parts.syncBatchNorm) team.synchronise(parts.model);
  }

  /** Gets ready for steps from `first` on, of a run of `totalSteps`. */
  begin(first: number, totalSteps: number | null): void {
    this.#first = first;
    this.#totalSteps = totalSteps ?? Infinity;
  }

  learningRateAt(step: number, totalSteps: number | null): number {
    return valueAt(this.#parts.optimizerConfig.learningRate, step, totalSteps ?? Infinity);
  }

  /** Does a step, or leaves it to the device. */
  async step(index: number): Promise<void> {
    const { feed, inputs, learner, optimizer } = this.#parts;
    await yieldToEvents();
    await this.#queue?.untilAhead(STEPS_AHEAD - 1);
    await feed.prepare(index);
    const { form, weights } = learner.begin(index, this.#totalSteps);
    inputs.load(index, index - this.#first, weights);
    optimizer.learningRate = this.learningRateAt(index, this.#totalSteps);
    this.#launch(form);
    learner.end?.(index);
    this.#queue?.mark();
    // On CUDA the host has time for this while the device works.
    if (this.#queue !== null) inputs.select(index + 1);
  }

  #launch(form: string): void {
    if (this.#captured?.form === form) {
      this.#captured.graph.replay();
      return;
    }
    if (this.#warm.form !== form) this.#warm = { form, steps: 0 };
    const { device, optimizer, cudaGraph } = this.#parts;
    if (this.#queue === null || !cudaGraph || this.#warm.steps < WARM_UP) {
      this.#compute();
      this.#warm.steps++;
      return;
    }
    this.#captured?.graph.dispose();
    this.#captured = null;
    optimizer.zeroGrad();
    const graph = CudaGraph.capture(() => this.#compute(), { device });
    this.#captured = { form, graph };
    graph.replay();
  }

  /** The step whose inputs are loaded, as tensor operations; nothing is read back to the host. */
  #compute(): void {
    const { optimizer, optimizerConfig, team, random, inputs } = this.#parts;
    const limit = optimizerConfig.gradientLimit ?? null;
    this.#reduction ??= team.reduction(optimizer.parameters);
    scope(() => {
      optimizer.zeroGrad();
      this.#reduction?.begin();
      random.begin(inputs.key);
      const { loss, terms } = this.#loss();
      loss.backward();
      if (limit !== null) optim.clipGradNorm(optimizer.parameters, limit);
      optimizer.step();
      noGrad(() => this.#keepResults(loss, terms));
    });
    this.#queue?.count();
  }

  #loss(): ReturnType<Learner['loss']> {
    const { feed, inputs, record, learner, device, precision } = this.#parts;
    const rows = feed.records.indexSelect(0, inputs.slots); // [n, bytes]
    const batch = batchOf(record, rows, this.#dtype);
    const evaluate = (): ReturnType<Learner['loss']> => learner.loss(batch, inputs.values);
    return precision === 'bf16' ? autocast(device, 'bf16', evaluate) : evaluate();
  }

  #keepResults(loss: Tensor, terms: readonly Tensor[]): void {
    const { inputs, team, syncBatchNorm } = this.#parts;
    const mean = team.average_(stack([loss, ...terms])).unsqueeze(0);
    indexCopyInPlace.call(this.#results, 0, inputs.row, mean); // [1, terms] into [rows, terms]
    if (!syncBatchNorm && team.size > 1) this.#averageStatistics();
  }

  /**
   * Running statistics of the ranks' own batches, averaged: they are linear in those of the batches, so
   * that this is the running average of the averages, and all ranks hold the same model.
   */
  #averageStatistics(): void {
    const { model, team } = this.#parts;
    const held = [...model.namedBuffers().values()].filter((one) => one.isFloatingPoint);
    const flat = team.average_(cat(held.map((one) => one.reshape([-1]))));
    let offset = 0;
    for (const one of held) {
      one.copy_(flat.narrow(0, offset, one.numel).reshape(one.shape));
      offset += one.numel;
    }
  }

  /** Waits for the block and gives the loss and terms of its `count` steps: [count, terms]. */
  async finish(count: number): Promise<TermValues> {
    await this.#queue?.untilAhead(0);
    this.#parts.learner.settle?.();
    return scope(() => this.#results.narrow(0, 0, count).data() as TermValues);
  }

  /** Whether all weights are finite: a sum is not if any summand is not. */
  isFinite(): boolean {
    const sums = (): Tensor[] => this.#parts.optimizer.parameters.map((weight) => weight.sum());
    return noGrad(() => scope(() => Number.isFinite(stack(sums()).sum().item())));
  }

  dispose(): void {
    this.#captured?.graph.dispose();
    this.#queue?.dispose();
    this.#results.dispose();
    this.#reduction?.dispose();
  }
}

/** How far a CUDA device is behind the host. */
class DeviceQueue {
  /** Steps done by the device, counted there, and its copy on the host. */
  readonly #done: Tensor;
  readonly #doneOnHost: Tensor;
  #launched = 0;

  constructor(readonly device: Device) {
    useSideStream(device);
    this.#done = keep(zeros([1], { dtype: 'i64', device }));
    this.#doneOnHost = pinned([1], 'i64');
  }

  /** Part of a step's work: counts it on the device. */
  count(): void {
    this.#done.add_(1);
  }

  /** After all else of a step: when the host sees the count, everything before it has happened. */
  mark(): void {
    copyLater(this.#doneOnHost, this.#done);
    this.#launched++;
  }

  /** Waits until at most `ahead` steps are unfinished. */
  async untilAhead(ahead: number): Promise<void> {
    while (this.#unfinished() > ahead) {
      // Throws if the device has failed: its counter would stand still for ever.
      if (isIdle(this.device) && this.#unfinished() > ahead) {
        throw new TorchError('train', 'the device ended its work before all steps were done');
      }
      await yieldToEvents();
    }
  }

  #unfinished(): number {
    return this.#launched - Number((this.#doneOnHost.data() as BigInt64Array)[0]);
  }

  dispose(): void {
    this.#done.dispose();
    this.#doneOnHost.dispose();
  }
}
