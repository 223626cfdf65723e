/** What a step draws from: problems as bytes on the device, and what keeping them there costs. */
import type { Tensor } from '../../torch/index.js';

/** What a checkpoint stores of a feed; enough to make the same pool again. */
export type FeedState =
  | { readonly kind: 'set' }
  /** The pool holds problems produced - pool .. produced - 1 of the stream. */
  | { readonly kind: 'stream'; readonly produced: number };

/**
 * Whose slots a step reads: of a pool that all ranks have alike, of a pool of this rank's own, or of its
 * part of the batch itself, in order.
 */
export type FeedSlots = 'shared' | 'own' | 'batch';

export interface Feed {
  /** Problems that all ranks together draw from: N_D of minibatch weighted sampling, one epoch. */
  readonly size: number;
  readonly slots: FeedSlots;
  /** Records on the device, u8 [slots, bytes]; see record.ts. */
  readonly records: Tensor;
  /** Brings the pool to where it must be, or can be, before step `step`. */
  prepare(step: number): Promise<void>;
  /** Different problems seen so far. */
  readonly problems: number;
  /** Milliseconds spent in `prepare` since the last call. */
  takeMilliseconds(): number;
  state(): FeedState;
  close(): Promise<void>;
}
