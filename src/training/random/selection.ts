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
 * How target panels are chosen while training. `shared`: one position for the whole batch, as the
 * released code does; `single`: one for each problem; `several`: 1..most for each problem, each
 * number and then each set equally likely.
 */
export type TargetPolicy =
  | { readonly kind: 'shared' }
  | { readonly kind: 'single' }
  | { readonly kind: 'several'; readonly most: number };

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

function validate(policy: TargetPolicy): void {
  if (policy.kind !== 'several') return;
  if (!Number.isInteger(policy.most) || policy.most < 1 || policy.most > PANELS - 1) {
    throw new ArgumentError(`targets: "most" must be a whole number 1 to 8, got ${policy.most}`);
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
  if (policy.kind === 'shared') {
    const target = new CounterRandom(seed, STREAM.targets, step).below(PANELS);
    for (let n = 0; n < part.count; n++) out[offset + n * PANELS + target] = 1;
    return;
  }
  const most = policy.kind === 'single' ? 1 : policy.most;
  for (let n = 0; n < part.count; n++) {
    const random = new CounterRandom(seed, STREAM.targets, step * batchSize + part.first + n);
    const count = most === 1 ? 1 : 1 + random.below(most);
    markTargets(random, count, out, offset + n * PANELS);
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
