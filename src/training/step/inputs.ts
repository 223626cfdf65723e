/**
 * What one step reads besides the weights: which problems, which targets, its noise key, its loss
 * weights and where to leave its results. All of it is a function of the step's number, written into
 * tensors that never move, so that a captured CUDA graph sees it. On CUDA the values travel through
 * pinned memory in the device's queue, while the steps before are still running.
 */
import { copyLater, keep, pinned, zeros, type Device, type Tensor } from '../../torch/index.js';
import type { TargetsConfig } from '../../models/index.js';
import { noiseKey } from '../random/noise.js';
import type { FeedSlots } from '../feed/feed.js';
import { EpochOrder, fillTargets, type BatchPart } from '../random/selection.js';

export interface StepInputsOptions {
  readonly seed: number;
  /** Problems of the whole batch. */
  readonly batchSize: number;
  /** The part of it that this process computes. */
  readonly part: BatchPart;
  /** What the slots are those of. */
  readonly slots: FeedSlots;
  /** Slots to choose from. */
  readonly slotCount: number;
  readonly targets: TargetsConfig;
  readonly device: Device;
  /** Most steps that the host may be ahead of the device. */
  readonly stepsAhead: number;
}

/** beta_r, beta_t and beta_cls. */
export const LOSS_WEIGHTS = 3;

/** One step's values on their way to the device. */
interface Staging {
  readonly integers: Tensor;
  readonly floats: Tensor;
}

export class StepInputs {
  /** Slots of the batch, i64 [N]. */
  readonly slots: Tensor;
  /** i64 [S, N, T] */
  readonly targetIndex: Tensor;
  /** f32 [S, N, T] */
  readonly targetWeight: Tensor;
  /** i64 [1] */
  readonly noiseKey: Tensor;
  /** Row of the results that the step writes, i64 [1]. */
  readonly row: Tensor;
  /** beta_r, beta_t and beta_cls, f32 [1] each. */
  readonly weights: readonly [Tensor, Tensor, Tensor];

  readonly #options: StepInputsOptions;
  readonly #order: EpochOrder;
  readonly #integers: Tensor;
  readonly #floats: Tensor;
  readonly #hostIntegers: BigInt64Array;
  readonly #hostFloats: Float32Array;
  readonly #staging: readonly Staging[];
  #next = 0;
  /** The step whose selection the host arrays hold. */
  #selected = -1;

  constructor(options: StepInputsOptions) {
    const { part, targets, device } = options;
    const { count } = part;
    this.#options = options;
    this.#order = new EpochOrder(options.seed, options.slotCount);
    const shape = [targets.setsPerProblem, count, targets.max];
    const places = shape.reduce((product, size) => product * size, 1);
    const integers = count + places + 2;
    const floats = places + LOSS_WEIGHTS;
    this.#integers = keep(zeros([integers], { dtype: 'i64', device }));
    this.#floats = keep(zeros([floats], { device }));
    this.slots = keep(this.#integers.narrow(0, 0, count));
    this.targetIndex = keep(this.#integers.narrow(0, count, places).reshape(shape));
    this.noiseKey = keep(this.#integers.narrow(0, integers - 2, 1));
    this.row = keep(this.#integers.narrow(0, integers - 1, 1));
    this.targetWeight = keep(this.#floats.narrow(0, 0, places).reshape(shape));
    const weight = (n: number): Tensor => keep(this.#floats.narrow(0, places + n, 1));
    this.weights = [weight(0), weight(1), weight(2)];
    this.#hostIntegers = new BigInt64Array(integers);
    this.#hostFloats = new Float32Array(floats);
    const buffers = device === 'cpu' ? 0 : options.stepsAhead + 2;
    this.#staging = Array.from({ length: buffers }, () => ({
      integers: pinned([integers], 'i64'),
      floats: pinned([floats], 'f32'),
    }));
  }

  /** Works out problems and targets of a step on the host; `load` does so itself where this was not called. */
  select(step: number): void {
    if (step === this.#selected) return;
    const { batchSize, seed, targets, part } = this.#options;
    this.#fillSlots(step);
    const index = this.#hostIntegers.subarray(part.count);
    fillTargets(targets, seed, step, batchSize, part, { index, weight: this.#hostFloats }, 0);
    this.#hostIntegers[this.#hostIntegers.length - 2] = noiseKey(seed, step);
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
  load(step: number, row: number, weights: readonly [number, number, number]): void {
    this.select(step);
    this.#hostIntegers[this.#hostIntegers.length - 1] = BigInt(row);
    this.#hostFloats.set(weights, this.#hostFloats.length - LOSS_WEIGHTS);
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
    const views = [this.slots, this.targetIndex, this.targetWeight, this.noiseKey, this.row];
    const staged = this.#staging.flatMap(({ integers, floats }) => [integers, floats]);
    for (const each of [...views, ...this.weights, ...staged, this.#integers, this.#floats]) {
      each.dispose();
    }
  }
}
