/**
 * Carries out steps for the loop. On a CPU one after the other, waiting for each. On CUDA the host
 * only hands work to the device's queue: a step is captured as a graph after a few ordinary ones and
 * replayed from then on, inputs and fresh problems travel through pinned memory, and the host looks
 * at a counter in pinned memory to stay a few steps ahead, no more. Values of the loss are read when a
 * block ends. All of it, ordinary steps too, happens on the side stream that captures need: the step is
 * captured anew when the rule prior begins to take part.
 */
import { lossWeightsAt, valueAt, type CrabConfig } from '../../models/index.js';
import {
  copyLater,
  CudaGraph,
  isIdle,
  keep,
  noGrad,
  pinned,
  scope,
  stack,
  TorchError,
  useSideStream,
  zeros,
  type Tensor,
} from '../../torch/index.js';
import type { Feed } from '../feed/feed.js';
import type { Stepper, TermValues } from '../loop.js';
import { StepComputation, TERMS, type StepParts } from './compute.js';
import type { PriorRefit, RuleValues } from './prior-refit.js';

/** Steps that the host may be ahead of a CUDA device. */
export const STEPS_AHEAD = 3;
/** Steps between two readings of the loss on CUDA. */
const CUDA_BLOCK = 100;
/** Ordinary steps before a capture, in which libraries choose their algorithms. */
const WARM_UP = 3;

export const blockStepsOf = (device: string): number => (device === 'cpu' ? 1 : CUDA_BLOCK);

const yieldToEvents = (): Promise<void> => new Promise(setImmediate);

/** Whether all weights are finite: a sum is not where any summand is not. */
function allFinite(parameters: readonly Tensor[]): boolean {
  return noGrad(() =>
    scope(() =>
      Number.isFinite(
        stack(parameters.map((weight) => weight.sum()))
          .sum()
          .item(),
      ),
    ),
  );
}

/** What both kinds of steppers share: schedules, inputs, the rule prior. */
abstract class BaseStepper implements Stepper {
  readonly terms = TERMS;
  readonly blockSteps: number;
  protected readonly computation: StepComputation;
  protected first = 0;
  #totalSteps = Infinity;

  constructor(
    protected readonly parts: StepParts,
    protected readonly feed: Feed,
    protected readonly refit: PriorRefit,
  ) {
    this.blockSteps = parts.rows;
    this.computation = new StepComputation(parts);
  }

  protected get config(): CrabConfig {
    return this.parts.config;
  }

  begin(first: number, _count: number, totalSteps: number | null): void {
    this.first = first;
    this.#totalSteps = totalSteps ?? Infinity;
  }

  learningRateAt(step: number, totalSteps: number | null): number {
    return valueAt(this.config.optimizer.learningRate, step, totalSteps ?? Infinity);
  }

  /** Puts a step's inputs in place; returns the weight of the rule prior. */
  protected load(step: number): number {
    const { inputs, optimizer } = this.parts;
    const { rule, target, prior } = lossWeightsAt(this.config.objective, step, this.#totalSteps);
    inputs.load(step, step - this.first, [rule, target, prior]);
    optimizer.learningRate = this.learningRateAt(step, this.#totalSteps);
    return prior;
  }

  abstract step(index: number): Promise<void>;
  abstract finish(count: number): Promise<TermValues>;

  protected readTerms(count: number): TermValues {
    return scope(() => this.computation.terms.narrow(0, 0, count).data() as TermValues);
  }

  isFinite(): boolean {
    return allFinite(this.parts.optimizer.parameters);
  }

  dispose(): void {
    this.computation.dispose();
  }
}

export class HostStepper extends BaseStepper {
  async step(index: number): Promise<void> {
    await yieldToEvents();
    await this.feed.prepare(index);
    const priorWeight = this.load(index);
    this.computation.run(this.refit.isActive(priorWeight));
    if (this.refit.isDue(index, priorWeight)) {
      this.refit.request(index, () => this.computation.rules.data() as RuleValues);
    }
  }

  finish(count: number): Promise<TermValues> {
    return Promise.resolve(this.readTerms(count));
  }
}

/** A captured step and which form of the objective it has. */
interface Captured {
  readonly withPrior: boolean;
  readonly graph: CudaGraph;
}

export class CudaStepper extends BaseStepper {
  readonly #useGraph: boolean;
  /** Steps done by the device, counted there, and its copy on the host. */
  readonly #done: Tensor;
  readonly #doneOnHost: Tensor;
  readonly #rulesOnHost: Tensor;
  #launched = 0;
  #captured: Captured | null = null;
  /** Ordinary steps of the present form so far. */
  #warm = { withPrior: false, steps: 0 };

  constructor(parts: StepParts, feed: Feed, refit: PriorRefit, useGraph: boolean) {
    useSideStream(parts.device);
    super(parts, feed, refit);
    this.#useGraph = useGraph;
    this.#done = keep(zeros([1], { dtype: 'i64', device: parts.device }));
    this.#doneOnHost = pinned([1], 'i64');
    this.#rulesOnHost = pinned(this.computation.rules.shape, 'f32');
  }

  async step(index: number): Promise<void> {
    await this.#settle(STEPS_AHEAD - 1);
    this.refit.beforeStep(index);
    await this.feed.prepare(index);
    const priorWeight = this.load(index);
    this.#launch(this.refit.isActive(priorWeight));
    if (this.refit.isDue(index, priorWeight)) {
      copyLater(this.#rulesOnHost, this.computation.rules);
      this.refit.request(index, () => this.#rulesOnHost.data() as Float32Array);
    }
    // After all else of the step: when the host sees the count, everything before it has happened.
    copyLater(this.#doneOnHost, this.#done);
    this.#launched++;
    this.parts.inputs.select(index + 1);
  }

  #launch(withPrior: boolean): void {
    if (this.#captured?.withPrior === withPrior) {
      this.#captured.graph.replay();
      return;
    }
    if (this.#warm.withPrior !== withPrior) this.#warm = { withPrior, steps: 0 };
    if (!this.#useGraph || this.#warm.steps < WARM_UP) {
      this.#compute(withPrior);
      this.#warm.steps++;
      return;
    }
    this.#captured?.graph.dispose();
    this.#captured = null;
    this.parts.optimizer.zeroGrad();
    const { device } = this.parts;
    const graph = CudaGraph.capture(() => this.#compute(withPrior), { device });
    this.#captured = { withPrior, graph };
    graph.replay();
  }

  #compute(withPrior: boolean): void {
    this.computation.run(withPrior);
    this.#done.add_(1);
  }

  /** Waits until at most `ahead` steps are unfinished. */
  async #settle(ahead: number): Promise<void> {
    await yieldToEvents();
    while (this.#unfinished() > ahead) {
      // Throws where the device has failed: its counter would stand still for ever.
      if (isIdle(this.parts.device) && this.#unfinished() > ahead) {
        throw new TorchError('train', 'the device ended its work before all steps were done');
      }
      await yieldToEvents();
    }
  }

  #unfinished(): number {
    return this.#launched - this.#completed();
  }

  #completed(): number {
    return Number((this.#doneOnHost.data() as BigInt64Array)[0]);
  }

  async finish(count: number): Promise<TermValues> {
    await this.#settle(0);
    this.refit.complete();
    return this.readTerms(count);
  }

  override dispose(): void {
    this.#captured?.graph.dispose();
    for (const held of [this.#done, this.#doneOnHost, this.#rulesOnHost]) held.dispose();
    super.dispose();
  }
}
