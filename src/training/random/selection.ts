/**
 * Which problems a step trains on and which of their panels are targets: pure functions of
 * (seed, step, position in the global batch). Nothing is stored between steps, so a resumed run
 * continues with the same batches, and a process that holds only a part of the batch computes just
 * that part.
 */
import { MATRIX_PANELS } from '../../matrix/index.js';
import { ArgumentError } from '../../base/index.js';
import type { TargetsConfig } from '../../models/index.js';
import { CounterRandom, STREAM } from './philox.js';

/**
 * How target panels are chosen while training. A problem has `setsPerProblem` target sets, each of
 * min..max panels, every number equally likely; the first `smallestSets` have `min`. The sets of a problem begin at different panels of one
 * random order, so that single targets never repeat. `sharedByBatch`: the same for the whole batch,
 * as the released code does.
 */
export type TargetPolicy = TargetsConfig;

/** Target sets as arrays: S sets of N problems with room for T targets, row-major [S, N, T]. */
export interface TargetArrays {
  /** Positions 0..8; an unused place repeats a target. */
  readonly index: BigInt64Array;
  /** 1 for a target, 0 for an unused place. */
  readonly weight: Float32Array;
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

/** Draws the target sets of a part of step `step`'s batch into `out`, from `offset` on. */
export function fillTargets(
  policy: TargetPolicy,
  seed: number,
  step: number,
  batchSize: number,
  part: BatchPart,
  out: TargetArrays,
  offset: number,
): void {
  const { sharedByBatch, setsPerProblem, smallestSets, min, max } = policy;
  for (let n = 0; n < part.count; n++) {
    const position = sharedByBatch ? step : step * batchSize + part.first + n;
    const random = new CounterRandom(seed, STREAM.targets, position);
    const order = firstOfShuffle(random, Math.min(MATRIX_PANELS, setsPerProblem + max - 1));
    for (let s = 0; s < setsPerProblem; s++) {
      const isSmallest = s < smallestSets || min === max;
      const count = isSmallest ? min : min + random.below(max - min + 1);
      const at = offset + (s * part.count + n) * max;
      for (let place = 0; place < max; place++) {
        const panel = order[(s + Math.min(place, count - 1)) % order.length];
        out.index[at + place] = BigInt(panel);
        out.weight[at + place] = place < count ? 1 : 0;
      }
    }
  }
}

/** The first `length` panels of a random order: no more of it is drawn than is looked at. */
function firstOfShuffle(random: CounterRandom, length: number): number[] {
  const panels = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  for (let at = 0; at < length; at++) {
    const other = at + random.below(MATRIX_PANELS - at);
    const taken = panels[other];
    panels[other] = panels[at];
    panels[at] = taken;
  }
  return panels.slice(0, length);
}
