/**
 * A stream of problems for one rank: threads make exactly the problems of this rank's part of each batch,
 * ahead of time, in the order of the batch. The ranks together train on what one process with a pool
 * would, and no problem is made twice for one step. Nothing is kept between steps.
 */
import type { Device } from '../../torch/index.js';
import { producedBefore, type ProblemPlan } from './problem-plan.js';
import type { ProblemSink } from './problem-stream.js';
import type { ProblemSource, RecordLayout } from './record.js';
import { CHUNK_PROBLEMS, ThreadedFeed } from './threaded-feed.js';

interface BatchFeedOptions {
  readonly source: ProblemSource;
  readonly record: RecordLayout;
  readonly plan: Extract<ProblemPlan, { kind: 'batch' }>;
  /** The first step that will be asked for. */
  readonly step: number;
  readonly device: Device;
  readonly workers?: number;
}

export class BatchFeed extends ThreadedFeed {
  readonly size: number;
  readonly slots = 'batch';
  readonly #plan: BatchFeedOptions['plan'];
  #produced: number;

  constructor({ step, ...options }: BatchFeedOptions) {
    const { plan } = options;
    const { count } = plan.part;
    super({
      ...options,
      room: count,
      mostPerStep: count,
      first: step * count,
      chunkProblems: Math.min(CHUNK_PROBLEMS, count),
    });
    this.#plan = plan;
    this.size = plan.pool;
    this.#produced = producedBefore(Math.max(0, step - 1), plan.pool, plan.refresh);
  }

  readonly #sink: ProblemSink = (bytes, first, count) => {
    this.uploader.upload(bytes, first % this.#plan.part.count, count);
  };

  protected async fill(step: number): Promise<void> {
    const { pool, refresh, part } = this.#plan;
    await this.stream.takeAll((step + 1) * part.count - this.stream.next, this.#sink);
    this.#produced = producedBefore(step, pool, refresh);
  }

  get problems(): number {
    return this.#produced;
  }
}
