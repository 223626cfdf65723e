/**
 * Which problems a step trains on and which of their panels are targets: pure functions of
 * (seed, step, position in the global batch). Nothing is stored between steps, so a resumed run
 * continues with the same batches, and a process that holds only a part of the batch computes just
 * that part.
 */
import { ArgumentError } from '../../matrix/index.js';
import { CounterRandom, STREAM } from './philox.js';

export const PANELS = 9;

/**
 * How target panels are chosen while training: min..max for each problem, each number and then each
 * set equally likely. `sharedByBatch`: the same set for the whole batch, as the released code does.
 */
export interface TargetPolicy {
  readonly sharedByBatch: boolean;
  readonly min: number;
  readonly max: number;
}

/** A contiguous part of the global batch: all of it in a run of one process. */
export interface BatchPart {
  readonly first: number;
  readonly count: number;
}

/**
 * Visits every one of `size` slots exactly once per epoch, in an order drawn anew for each epoch from
 * (seed, epoch). Batches run on across the end of an epoch, so none is short.
 */
export class EpochOrder {
  #epoch = -1;
  #order: Uint32Array = new Uint32Array(0);

  constructor(
    readonly seed: number,
    readonly size: number,
  ) {
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new ArgumentError(`a feed needs at least one problem, got ${size}`);
    }
  }

  /** Slot of the n-th sample of the whole run. */
  slotOf(sample: number): number {
    const epoch = Math.floor(sample / this.size);
    if (epoch !== this.#epoch) {
      this.#order = new CounterRandom(this.seed, STREAM.order, epoch).permutation(this.size);
      this.#epoch = epoch;
    }
    return this.#order[sample - epoch * this.size];
  }

  /** Writes the slots of a part of step `step`'s batch into `out` from `offset`. */
  fill(step: number, batchSize: number, part: BatchPart, out: BigInt64Array, offset: number): void {
    const start = step * batchSize + part.first;
    for (let n = 0; n < part.count; n++) out[offset + n] = BigInt(this.slotOf(start + n));
  }
}

function validate({ min, max }: TargetPolicy): void {
  const valid = Number.isInteger(min) && Number.isInteger(max) && 1 <= min && min <= max;
  if (!valid || max >= PANELS) {
    throw new ArgumentError(`targets: expected 1 <= min <= max <= 8, got ${min} and ${max}`);
  }
}

/**
 * Writes the target masks of a part of step `step`'s batch, 1 for a target and 0 for context, nine
 * bytes a problem, into `out` from `offset`.
 */
export function fillTargets(
  policy: TargetPolicy,
  seed: number,
  step: number,
  batchSize: number,
  part: BatchPart,
  out: Uint8Array,
  offset: number,
): void {
  validate(policy);
  out.fill(0, offset, offset + part.count * PANELS);
  for (let n = 0; n < part.count; n++) {
    const at = offset + n * PANELS;
    if (policy.sharedByBatch && n > 0) {
      out.copyWithin(at, offset, offset + PANELS);
      continue;
    }
    const position = policy.sharedByBatch ? step : step * batchSize + part.first + n;
    const random = new CounterRandom(seed, STREAM.targets, position);
    const count = policy.min + random.below(policy.max - policy.min + 1);
    markTargets(random, count, out, at);
  }
}

/** Marks `count` different panels of one problem: the first entries of a partial shuffle. */
function markTargets(random: CounterRandom, count: number, out: Uint8Array, offset: number): void {
  const panels = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  for (let taken = 0; taken < count; taken++) {
    const other = taken + random.below(PANELS - taken);
    out[offset + panels[other]] = 1;
    panels[other] = panels[taken];
  }
}
