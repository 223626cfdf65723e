/**
 * An endless stream of problems as a feed. A pool of them is kept as bytes on the device; threads
 * replace the oldest with fresh ones: problem i of the stream always lies in slot i mod pool, so the
 * pool's content is known from one number, how many problems were produced.
 *
 * If runs must repeat exactly, that number follows from the step: `refresh` problems a step, and
 * the step waits should the threads lag behind. Otherwise a step takes what is ready, at most
 * `mostPerStep`, and never waits.
 */
import type { Device } from '../../torch/index.js';
import type { FeedSlots } from './feed.js';
import { producedBefore } from './problem-plan.js';
import type { ProblemSink } from './problem-stream.js';
import type { ProblemSource, RecordLayout } from './record.js';
import { CHUNK_PROBLEMS, ThreadedFeed } from './threaded-feed.js';

export interface StreamFeedOptions {
  readonly source: ProblemSource;
  readonly record: RecordLayout;
  readonly pool: number;
  /** Problems replaced in every step; null: whatever is ready. */
  readonly refresh: number | null;
  /** Most problems taken in a step when `refresh` is null. */
  readonly mostPerStep: number;
  readonly device: Device;
  readonly workers?: number;
  readonly chunkProblems?: number;
  /** Problems produced before, of a run that is resumed. */
  readonly produced?: number;
  /**
   * One of several ranks, each with its share of the pool and of the stream; `pool` and `produced` are
   * those of all together.
   */
  readonly shard?: { readonly rank: number; readonly ranks: number };
}

export class StreamFeed extends ThreadedFeed {
  readonly size: number;
  readonly slots: FeedSlots;
  readonly #pool: number;
  readonly #ranks: number;
  readonly #options: StreamFeedOptions;

  private constructor(options: StreamFeedOptions) {
    const { shard, produced = options.pool, chunkProblems = CHUNK_PROBLEMS } = options;
    const ranks = shard?.ranks ?? 1;
    const pool = Math.ceil(options.pool / ranks);
    const first = Math.max(0, Math.ceil(produced / ranks) - pool);
    const plan = shard && ({ kind: 'stride', ...shard } as const);
    super({ ...options, room: pool, first, plan, chunkProblems });
    this.#options = options;
    this.size = options.pool;
    this.slots = shard ? 'own' : 'shared';
    this.#ranks = ranks;
    this.#pool = pool;
  }

  /** Starts the threads and fills the pool. */
  static async start(options: StreamFeedOptions, signal?: AbortSignal): Promise<StreamFeed> {
    const feed = new StreamFeed(options);
    try {
      await feed.stream.takeAll(feed.#pool, feed.#sink, signal);
      if (options.refresh === 0) await feed.stream.close();
      return feed;
    } catch (error) {
      await feed.close();
      throw error;
    }
  }

  /** A chunk that passes the end of the pool goes on at its beginning. */
  readonly #sink: ProblemSink = (bytes, first, count) => {
    const slot = first % this.#pool;
    const here = Math.min(count, this.#pool - slot);
    const split = here * this.#options.record.bytes;
    this.uploader.upload(bytes.subarray(0, split), slot, here);
    if (here < count) this.#sink(bytes.subarray(split), first + here, count - here);
  };

  protected async fill(step: number): Promise<void> {
    const { refresh, pool, mostPerStep } = this.#options;
    if (refresh === 0) return;
    if (refresh === null) {
      this.stream.take(mostPerStep, this.#sink);
      return;
    }
    const due = producedBefore(step, pool, refresh) - this.stream.next;
    if (due > 0) await this.stream.takeAll(due, this.#sink);
  }

  get problems(): number {
    return this.stream.next * this.#ranks;
  }
}
