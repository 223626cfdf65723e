/**
 * Problems first, first + 1, … of a source, made by worker threads ahead of time and taken in order.
 * Taking never blocks: it gives what is ready. Who must have a certain number waits for it.
 */
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../base/node.js';
import { WorkerError } from '../errors.js';
import type { ProblemPlan } from './problem-plan.js';
import type { ProblemSource, RecordLayout } from './record.js';
import { createRing, RingConsumer } from './ring.js';
import type { StreamWorkerData } from './stream-worker.js';

/** Receives the records of consecutive problems, valid only during the call. */
export type ProblemSink = (bytes: Uint8Array, firstIndex: number, count: number) => void;

export interface StreamOptions {
  readonly source: ProblemSource;
  readonly record: RecordLayout;
  /** Number of the first problem. */
  readonly first: number;
  /** Which problems of the source are made; all of them unless told. */
  readonly plan?: ProblemPlan;
  /** Threads; one less than the cores unless told. */
  readonly workers?: number;
  /** Problems that a thread makes at a time. */
  readonly chunkProblems: number;
}

export class ProblemStream {
  readonly #ring: RingConsumer;
  readonly #workers: Worker[];
  readonly #chunkProblems: number;
  readonly #problemBytes: number;
  #chunk = 0;
  /** Problems of the current chunk that were taken already. */
  #used = 0;
  #next: number;
  #failure: Error | null = null;
  #closing = false;
  #wake: () => void = () => {};

  constructor(options: StreamOptions) {
    const { source, record, first, plan, chunkProblems } = options;
    const workers = options.workers ?? Math.max(1, availableParallelism() - 1);
    this.#chunkProblems = chunkProblems;
    this.#next = first;
    this.#problemBytes = record.bytes;
    const ring = createRing(chunkProblems, record.bytes, 2 * workers + 2);
    this.#ring = new RingConsumer(ring);
    const data: StreamWorkerData = { ring, source, record, first, plan };
    this.#workers = Array.from({ length: workers }, () => this.#start(data));
  }

  #start(data: StreamWorkerData): Worker {
    const worker = startWorker(new URL('./stream-worker.js', import.meta.url), {
      workerData: data,
    });
    worker.on('message', () => this.#wake());
    worker.on('error', (error: Error) => this.#fail(error.message));
    worker.on('exit', (code) => {
      if (!this.#closing) this.#fail(`it ended with code ${code}`);
    });
    worker.unref();
    return worker;
  }

  #fail(why: string): void {
    this.#failure ??= new WorkerError(`a thread that makes problems failed: ${why}`);
    this.#wake();
  }

  /** Number of the problem that is taken next. */
  get next(): number {
    return this.#next;
  }

  /** Gives at most `most` problems that are ready to `sink`; returns how many. */
  take(most: number, sink: ProblemSink): number {
    if (this.#failure) throw this.#failure;
    let taken = 0;
    while (taken < most && this.#ring.isReady(this.#chunk)) {
      const count = Math.min(most - taken, this.#chunkProblems - this.#used);
      const start = this.#used * this.#problemBytes;
      const bytes = this.#ring.bytesOf(this.#chunk);
      sink(bytes.subarray(start, start + count * this.#problemBytes), this.#next, count);
      taken += count;
      this.#next += count;
      this.#used += count;
      if (this.#used === this.#chunkProblems) this.#advance();
    }
    return taken;
  }

  #advance(): void {
    this.#used = 0;
    this.#chunk++;
    this.#ring.release();
  }

  /** Gives exactly `count` problems to `sink`, waiting for the workers if need be. */
  async takeAll(count: number, sink: ProblemSink, signal?: AbortSignal): Promise<void> {
    let left = count - this.take(count, sink);
    while (left > 0) {
      signal?.throwIfAborted();
      await this.#untilReady();
      left -= this.take(left, sink);
    }
  }

  /** Resolves when the next chunk is ready or something failed; checks now and then besides. */
  async #untilReady(): Promise<void> {
    this.#ring.setWaiting(true);
    const keepAlive = setInterval(() => this.#wake(), 200);
    try {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#failure || this.#ring.isReady(this.#chunk)) resolve();
      });
    } finally {
      clearInterval(keepAlive);
      this.#ring.setWaiting(false);
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#ring.stop();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}
