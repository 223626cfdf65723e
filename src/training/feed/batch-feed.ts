/**
 * A stream of problems for one rank: threads make exactly the problems of this rank's part of each batch,
 * ahead of time, in the order of the batch. The ranks together train on what one process with a pool
 * would, and no problem is made twice for one step. Nothing is kept between steps.
 */
import type { Device, Tensor } from '../../torch/index.js';
import type { Feed, FeedState } from './feed.js';
import { producedBefore, type ProblemPlan } from './problem-plan.js';
import { ProblemStream, type ProblemSink } from './problem-stream.js';
import type { ProblemSource, RecordLayout } from './record.js';
import { emptyPool, uploaderFor, type Uploader } from './upload.js';

export interface BatchFeedOptions {
  readonly source: ProblemSource;
  readonly record: RecordLayout;
  readonly plan: Extract<ProblemPlan, { kind: 'batch' }>;
  /** The first step that will be asked for. */
  readonly step: number;
  readonly device: Device;
  readonly workers?: number;
}

const CHUNK = 32;
/** Steps that the host may be ahead of the device, and one to spare. */
const STEPS_AHEAD = 4;

export class BatchFeed implements Feed {
  readonly size: number;
  readonly slots = 'batch';
  readonly records: Tensor;
  readonly #plan: BatchFeedOptions['plan'];
  readonly #stream: ProblemStream;
  readonly #uploader: Uploader;
  #milliseconds = 0;
  #produced: number;

  constructor({ source, record, plan, step, device, workers }: BatchFeedOptions) {
    const { count } = plan.part;
    this.#plan = plan;
    this.size = plan.pool;
    this.#produced = producedBefore(Math.max(0, step - 1), plan.pool, plan.refresh);
    this.records = emptyPool(count, record.bytes, device);
    const chunkProblems = Math.min(CHUNK, count);
    const copies = STEPS_AHEAD * (Math.ceil(count / chunkProblems) + 2);
    this.#uploader = uploaderFor(this.records, chunkProblems, copies);
    this.#stream = new ProblemStream({
      source,
      record,
      plan,
      first: step * count,
      workers,
      chunkProblems,
    });
  }

  readonly #sink: ProblemSink = (bytes, first, count) => {
    this.#uploader.upload(bytes, first % this.#plan.part.count, count);
  };

  async prepare(step: number): Promise<void> {
    const { pool, refresh, part } = this.#plan;
    const start = performance.now();
    await this.#stream.takeAll((step + 1) * part.count - this.#stream.next, this.#sink);
    this.#produced = producedBefore(step, pool, refresh);
    this.#milliseconds += performance.now() - start;
  }

  get problems(): number {
    return this.#produced;
  }

  takeMilliseconds(): number {
    const spent = this.#milliseconds;
    this.#milliseconds = 0;
    return spent;
  }

  state(): FeedState {
    return { kind: 'stream', produced: this.#produced };
  }

  async close(): Promise<void> {
    await this.#stream.close();
    this.#uploader.close();
    this.records.dispose();
  }
}
