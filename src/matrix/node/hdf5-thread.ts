/**
 * The thread that reads one HDF5 file, within limits of time and memory. Starting the HDF5 library is
 * the slow part of opening a file, so a thread that served a file well waits a while for the next one;
 * one that failed, hung or took much memory is ended.
 */
import type { Worker } from 'node:worker_threads';
import { FormatError } from '../../base/index.js';
import type { CacheReply, CacheRequest, LibraryLimits } from './hdf5-protocol.js';
import { startWorker } from '../../base/node.js';

const MEMORY_LIMIT = 192 << 20;
/** How long a thread without a file waits for one, in milliseconds. */
const IDLE_TIME = 10_000;

function startThread(): Worker {
  const workerData: LibraryLimits = { memoryLimit: MEMORY_LIMIT };
  const worker = startWorker(new URL('./hdf5-worker.js', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: 128 },
  });
  // Neither a file that nobody closes nor a waiting thread keeps the process alive.
  worker.unref();
  return worker;
}

/** The thread that waits for a file, if there is one. */
let waiting: { readonly worker: Worker; readonly stop: () => void } | undefined;

function takeThread(): Worker {
  if (!waiting) return startThread();
  const { worker, stop } = waiting;
  stop();
  return worker;
}

/** Keeps a thread for the next file, or ends it if another waits already. */
async function giveBack(worker: Worker): Promise<void> {
  if (waiting) {
    await worker.terminate();
    return;
  }
  const stop = (): void => {
    clearTimeout(timer);
    worker.off('error', stop).off('exit', stop);
    waiting = undefined;
  };
  const timer = setTimeout(() => {
    stop();
    void worker.terminate();
  }, IDLE_TIME).unref();
  worker.on('error', stop).on('exit', stop);
  waiting = { worker, stop };
}

/** A thread that reads one file, one question at a time. */
export class CacheThread {
  readonly file: string;
  readonly #worker = takeThread();
  readonly #timeLimit: number;
  #queue: Promise<unknown> = Promise.resolve();
  #failed = false;
  #ended: Promise<void> | undefined;

  constructor(file: string, timeLimit: number) {
    this.file = file;
    this.#timeLimit = timeLimit;
  }

  /** The reply to a request; a refusal is an error. */
  ask(request: CacheRequest): Promise<CacheReply> {
    if (this.#ended) return Promise.reject(new FormatError(`${this.file}: it is closed`));
    return this.#enqueue(request);
  }

  /** Ends the reading; may be called again. */
  end(): Promise<void> {
    this.#ended ??= this.#close();
    return this.#ended;
  }

  async #close(): Promise<void> {
    const reply = await this.#enqueue({ kind: 'close' }).catch(() => undefined);
    if (reply?.kind === 'closed' && !reply.spent) await giveBack(this.#worker);
    else await this.#worker.terminate();
  }

  #enqueue(request: CacheRequest): Promise<CacheReply> {
    const reply = this.#queue.then(() => this.#exchange(request));
    this.#queue = reply.catch(() => undefined);
    return reply;
  }

  #exchange(request: CacheRequest): Promise<CacheReply> {
    if (this.#failed) {
      return Promise.reject(new FormatError(`${this.file}: the HDF5 library failed on it`));
    }
    return new Promise((resolve, reject) => {
      const worker = this.#worker;
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        settle();
      };
      const refuse = (why: string, cause?: unknown): void =>
        finish(() => reject(new FormatError(`${this.file}: ${why}`, { cause })));
      const fail = (why: string, cause?: unknown): void => {
        this.#failed = true;
        refuse(why, cause);
      };
      const onMessage = (reply: CacheReply): void => {
        if (reply.kind === 'refused') refuse(reply.message);
        else finish(() => resolve(reply));
      };
      const onError = (error: unknown): void => fail('the HDF5 library failed on it', error);
      const onExit = (): void => fail('the HDF5 library ended');
      const timer = setTimeout(() => {
        void worker.terminate();
        fail(`reading it took longer than ${this.#timeLimit} ms`);
      }, this.#timeLimit);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(request);
    });
  }
}
