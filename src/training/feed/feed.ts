/** What a step draws from: problems as bytes on the device, and what keeping them there costs. */
import type { Tensor } from '../../torch/index.js';

/** What a checkpoint stores of a feed; enough to make the same pool again. */
export type FeedState =
  | { readonly kind: 'set' }
  /** The pool holds problems produced - pool .. produced - 1 of the stream. */
  | { readonly kind: 'stream'; readonly produced: number };

export interface Feed {
  /** Number of slots a step may choose from. */
  readonly size: number;
  /** u8 [size, 9, 64, 64] on the device. */
  readonly panels: Tensor;
  /** Brings the pool to where it must be, or can be, before step `step`. */
  prepare(step: number): Promise<void>;
  /** Different problems seen so far. */
  readonly problems: number;
  /** Milliseconds spent in `prepare` since the last call. */
  takeMilliseconds(): number;
  state(): FeedState;
  close(): Promise<void>;
}
