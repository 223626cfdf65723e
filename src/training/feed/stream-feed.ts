/**
 * An endless stream of problems as a feed. A pool of them is kept as bytes on the device; threads
 * replace the oldest with fresh ones: problem i of the stream always lies in slot i mod pool, so the
 * pool's content is known from one number, how many problems were produced.
 *
 * Where runs must repeat exactly, that number follows from the step: `refresh` problems a step, and
 * the step waits should the threads lag behind. Otherwise a step takes what is ready, at most
 * `mostPerStep`, and never waits.
 */
import { MATRIX_PIXELS } from '../../matrix/index.js';
import type { Device, Tensor } from '../../torch/index.js';
import type { ProblemPlan } from '../parallel/problem-plan.js';
import type { Feed, FeedSlots, FeedState } from './feed.js';
import type { ProblemSource } from './problem-maker.js';
import { ProblemStream, type ProblemSink } from './problem-stream.js';
import { emptyPool, uploaderFor, type Uploader } from './upload.js';

export interface StreamFeedOptions {
  readonly source: ProblemSource;
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

/** Problems made and copied at a time. */
const CHUNK = 32;
/** Steps that the host may be ahead of the device, and one to spare. */
const STEPS_AHEAD = 4;

export class StreamFeed implements Feed {
  readonly size: number;
  readonly slots: FeedSlots;
  readonly panels: Tensor;
  readonly #pool: number;
  readonly #ranks: number;
  readonly #options: StreamFeedOptions;
  readonly #stream: ProblemStream;
  readonly #uploader: Uploader;
  #milliseconds = 0;

  private constructor(options: StreamFeedOptions) {
    this.#options = options;
    this.size = options.pool;
    this.slots = options.shard ? 'own' : 'shared';
    this.#ranks = options.shard?.ranks ?? 1;
    this.#pool = Math.ceil(options.pool / this.#ranks);
    this.panels = emptyPool(this.#pool, options.device);
    const chunkProblems = options.chunkProblems ?? CHUNK;
    const copies = STEPS_AHEAD * (Math.ceil(options.mostPerStep / chunkProblems) + 2);
    this.#uploader = uploaderFor(this.panels, chunkProblems, copies);
    const produced = Math.ceil((options.produced ?? options.pool) / this.#ranks);
    const first = Math.max(0, produced - this.#pool);
    const plan: ProblemPlan | undefined = options.shard && { kind: 'stride', ...options.shard };
    this.#stream = new ProblemStream({ ...options, first, plan, chunkProblems });
  }

  /** Starts the threads and fills the pool. */
  static async start(options: StreamFeedOptions, signal?: AbortSignal): Promise<StreamFeed> {
    const feed = new StreamFeed(options);
    try {
      await feed.#stream.takeAll(feed.#pool, feed.#sink, signal);
      if (options.refresh === 0) await feed.#stream.close();
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
    this.#uploader.upload(bytes.subarray(0, here * MATRIX_PIXELS), slot, here);
    if (here < count) this.#sink(bytes.subarray(here * MATRIX_PIXELS), first + here, count - here);
  };

  async prepare(step: number): Promise<void> {
    const { refresh, pool, mostPerStep } = this.#options;
    if (refresh === 0) return;
    const start = performance.now();
    if (refresh === null) {
      this.#stream.take(mostPerStep, this.#sink);
    } else {
      const due = pool + Math.floor(step * refresh) - this.#stream.next;
      if (due > 0) await this.#stream.takeAll(due, this.#sink);
    }
    this.#milliseconds += performance.now() - start;
  }

  get problems(): number {
    return this.#stream.next * this.#ranks;
  }

  takeMilliseconds(): number {
    const spent = this.#milliseconds;
    this.#milliseconds = 0;
    return spent;
  }

  state(): FeedState {
    return { kind: 'stream', produced: this.problems };
  }

  async close(): Promise<void> {
    await this.#stream.close();
    this.#uploader.close();
    this.panels.dispose();
  }
}
