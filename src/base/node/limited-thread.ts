/**
 * Threads for files that nobody vouches for: every answer must come within a time, and a thread that fails
 * or hangs is ended. Starting a thread and its library is slow, so one that served well waits a while for the
 * next file.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { startWorker } from './worker.js';

/** How long a thread without work waits for more, in milliseconds. */
const IDLE_TIME = 10_000;

/** Why a thread gave no answer, in a few words. */
export class ThreadError extends Error {
  override name = 'ThreadError';
}

/** Threads of one module, which is given as for `startWorker`. */
export class LimitedThreads {
  #waiting: { readonly worker: Worker; readonly stop: () => void } | undefined;

  constructor(
    readonly module: URL,
    readonly options: WorkerOptions = {},
  ) {}

  /** The thread that waits, or a new one. */
  take(): LimitedThread {
    this.#waiting?.stop();
    const worker = this.#waiting?.worker ?? startWorker(this.module, this.options);
    this.#waiting = undefined;
    // Neither a thread that nobody gives back nor one that waits keeps the process alive.
    worker.unref();
    return new LimitedThread(worker, () => this.#keep(worker));
  }

  async #keep(worker: Worker): Promise<void> {
    if (this.#waiting) {
      await worker.terminate();
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      worker.off('error', forget).off('exit', forget);
    };
    const forget = (): void => {
      stop();
      this.#waiting = undefined;
    };
    const timer = setTimeout(() => {
      forget();
      void worker.terminate();
    }, IDLE_TIME).unref();
    worker.on('error', forget).on('exit', forget);
    this.#waiting = { worker, stop };
  }
}

/** A thread that answers one question at a time. */
class LimitedThread {
  readonly #worker: Worker;
  readonly #keep: () => Promise<void>;
  #failed = false;

  constructor(worker: Worker, keep: () => Promise<void>) {
    this.#worker = worker;
    this.#keep = keep;
  }

  /** The answer to a question; a ThreadError if there is none within `limit` milliseconds. */
  ask<Reply>(question: unknown, limit: number): Promise<Reply> {
    if (this.#failed) return Promise.reject(new ThreadError('its thread failed'));
    return new Promise((resolve, reject) => {
      const worker = this.#worker;
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        worker.off('message', onReply).off('error', onError).off('exit', onExit);
        settle();
      };
      const fail = (why: string, cause?: unknown): void => {
        this.#failed = true;
        finish(() => reject(new ThreadError(why, { cause })));
      };
      const onReply = (reply: Reply): void => finish(() => resolve(reply));
      const onError = (error: unknown): void => fail('its thread failed', error);
      const onExit = (): void => fail('its thread ended');
      const timer = setTimeout(() => {
        void worker.terminate();
        fail(`it took longer than ${limit} ms`);
      }, limit);
      worker.on('message', onReply).on('error', onError).on('exit', onExit);
      worker.postMessage(question);
    });
  }

  /** Ends the work: the thread waits for the next file, unless it failed or is spent. */
  async release(isSpent = false): Promise<void> {
    if (this.#failed || isSpent) await this.#worker.terminate();
    else await this.#keep();
  }
}
