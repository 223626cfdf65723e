/**
 * Which problems a step trains on: a pure function of (seed, step, position in the whole batch). Nothing is
 * stored between steps, so a resumed run continues with the same batches, and a process that holds only a
 * part of the batch computes just that part.
 */
import { CounterRandom, STREAM } from '../../base/index.js';
import { ArgumentError } from '../../matrix/index.js';
import type { BatchPart } from '../../models/index.js';

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
