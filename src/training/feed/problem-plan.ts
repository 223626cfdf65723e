/**
 * Which problems of a stream a process makes, as a function from its n-th problem to an index of the
 * stream. A process on its own makes all of them in order. A rank of several makes what it trains on and
 * nothing else: either exactly what its part of each batch shows (so that the ranks together see what one
 * process would see), or every size-th problem for a pool of its own.
 */
import type { BatchPart } from '../../models/index.js';
import { EpochOrder } from './order.js';

export type ProblemPlan =
  | {
      readonly kind: 'batch';
      /** Of the order in which slots are visited. */
      readonly seed: number;
      /** Slots of the pool that one process would hold. */
      readonly pool: number;
      /** Problems that it would replace in every step. */
      readonly refresh: number;
      readonly batchSize: number;
      readonly part: BatchPart;
    }
  | { readonly kind: 'stride'; readonly rank: number; readonly ranks: number };

/** Problems that a pool has seen before step `step`. */
export const producedBefore = (step: number, pool: number, refresh: number): number =>
  pool + Math.floor(step * refresh);

/** The problem in a slot once `produced` problems were put into their slots, i in slot i mod pool. */
const problemInSlot = (slot: number, produced: number, pool: number): number =>
  slot + pool * Math.floor((produced - 1 - slot) / pool);

/** Index in the stream of the n-th problem that a process makes. */
export function problemIndexer(plan: ProblemPlan | undefined): (position: number) => number {
  if (plan === undefined) return (position) => position;
  if (plan.kind === 'stride') return (position) => position * plan.ranks + plan.rank;
  const { pool, refresh, batchSize, part } = plan;
  const order = new EpochOrder(plan.seed, pool);
  return (position) => {
    const step = Math.floor(position / part.count);
    const place = part.first + (position - step * part.count);
    const slot = order.slotOf(step * batchSize + place);
    return problemInSlot(slot, producedBefore(step, pool, refresh), pool);
  };
}
