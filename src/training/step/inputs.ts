/**
 * What one step reads besides the weights: which problems, what its learner draws, the key of its random
 * numbers, its loss weights, and where to leave its results. All of it is a function of the step's number,
 * written into tensors that never move, so that a captured CUDA graph sees it. On CUDA the values travel
 * through pinned memory in the device's queue, while the steps before are still running.
 */
import { stepKey, type BatchPart, type Learner, type StepTensors } from '../../models/index.js';
import { copyLater, keep, pinned, zeros, type Device, type Tensor } from '../../torch/index.js';
import type { FeedSlots } from '../feed/feed.js';
import { EpochOrder } from '../feed/order.js';

interface StepInputsOptions {
  readonly seed: number;
  /** Problems of the whole batch. */
  readonly batchSize: number;
  /** The part of it that this process computes. */
  readonly part: BatchPart;
  /** What the slots are those of. */
  readonly slots: FeedSlots;
  /** Slots to choose from. */
  readonly slotCount: number;
  readonly learner: Pick<Learner, 'draw' | 'sizes'>;
  readonly device: Device;
  /** Most steps that the host may be ahead of the device. */
  readonly stepsAhead: number;
}

/** One step's values on their way to the device. */
interface Staging {
  readonly integers: Tensor;
  readonly floats: Tensor;
}

export class StepInputs {
  /** Slots of the batch, i64 [N]. */
  readonly slots: Tensor;
  /** Key of the step's random numbers, i64 [1]. */
  readonly key: Tensor;
  /** Row of the results that the step writes, i64 [1]. */
  readonly row: Tensor;
  /** What the learner drew, and its loss weights. */
  readonly values: StepTensors;

  readonly #options: StepInputsOptions;
  readonly #order: EpochOrder;
  /** Slots, the learner's integers, key and row; the learner's floats and weights. */
  readonly #integers: Tensor;
  readonly #floats: Tensor;
  readonly #hostIntegers: BigInt64Array;
  readonly #hostFloats: Float32Array;
  readonly #staging: readonly Staging[];
  #next = 0;
  /** The step whose problems and draws the host arrays hold. */
  #selected = -1;

  constructor(options: StepInputsOptions) {
    const { part, learner, device, slotCount, stepsAhead } = options;
    const { sizes } = learner;
    this.#options = options;
    this.#order = new EpochOrder(options.seed, slotCount);
    const integers = part.count + sizes.integers + 2;
    // A tensor of no values cannot be pinned.
    const floats = Math.max(1, sizes.floats + sizes.weights);
    this.#integers = keep(zeros([integers], { dtype: 'i64', device }));
    this.#floats = keep(zeros([floats], { device }));
    const view = (of: Tensor, from: number, count: number): Tensor =>
      keep(of.narrow(0, from, count));
    this.slots = view(this.#integers, 0, part.count);
    this.key = view(this.#integers, integers - 2, 1);
    this.row = view(this.#integers, integers - 1, 1);
    this.values = {
      integers: view(this.#integers, part.count, sizes.integers),
      floats: view(this.#floats, 0, sizes.floats),
      weights: Array.from({ length: sizes.weights }, (_, n) =>
        keep(this.#floats.select(0, sizes.floats + n)),
      ),
    };
    this.#hostIntegers = new BigInt64Array(integers);
    this.#hostFloats = new Float32Array(floats);
    const buffers = device === 'cpu' ? 0 : stepsAhead + 2;
    this.#staging = Array.from({ length: buffers }, () => ({
      integers: pinned([integers], 'i64'),
      floats: pinned([floats], 'f32'),
    }));
  }

  /** Works out a step's problems and draws on the host; `load` does so itself if this was not called. */
  select(step: number): void {
    if (step === this.#selected) return;
    const { seed, part, learner } = this.#options;
    const { integers, floats } = learner.sizes;
    this.#fillSlots(step);
    learner.draw?.(
      step,
      this.#hostIntegers.subarray(part.count, part.count + integers),
      this.#hostFloats.subarray(0, floats),
    );
    this.#hostIntegers[this.#hostIntegers.length - 2] = stepKey(seed, step);
    this.#selected = step;
  }

  #fillSlots(step: number): void {
    const { batchSize, part, slots } = this.#options;
    const { count } = part;
    if (slots === 'batch') {
      for (let n = 0; n < count; n++) this.#hostIntegers[n] = BigInt(n);
    } else if (slots === 'own') {
      this.#order.fill(step, count, { first: 0, count }, this.#hostIntegers, 0);
    } else {
      this.#order.fill(step, batchSize, part, this.#hostIntegers, 0);
    }
  }

  /** Puts everything of a step where the computation reads it. */
  load(step: number, row: number, weights: readonly number[]): void {
    this.select(step);
    this.#hostIntegers[this.#hostIntegers.length - 1] = BigInt(row);
    this.#hostFloats.set(weights, this.#hostFloats.length - weights.length);
    if (this.#staging.length === 0) {
      this.#integers.copyFrom_(this.#hostIntegers);
      this.#floats.copyFrom_(this.#hostFloats);
      return;
    }
    const staging = this.#staging[this.#next++ % this.#staging.length];
    copyLater(this.#integers, staging.integers.copyFrom_(this.#hostIntegers));
    copyLater(this.#floats, staging.floats.copyFrom_(this.#hostFloats));
  }

  dispose(): void {
    const { integers, floats, weights } = this.values;
    const staged = this.#staging.flatMap((each) => [each.integers, each.floats]);
    const views = [this.slots, this.key, this.row, integers, floats, ...weights];
    for (const each of [...views, ...staged, this.#integers, this.#floats]) each.dispose();
  }
}
