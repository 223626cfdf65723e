/** The thread that reads one HDF5 file, within limits of time and memory. */
import { FormatError, messageOf } from '../../base/index.js';
import { LimitedThreads } from '../../base/node.js';
import type { CacheReply, CacheRequest, LibraryLimits } from './hdf5-protocol.js';

const MEMORY_LIMIT = 192 << 20;

const threads = new LimitedThreads(new URL('./hdf5-worker.js', import.meta.url), {
  workerData: { memoryLimit: MEMORY_LIMIT } satisfies LibraryLimits,
  resourceLimits: { maxOldGenerationSizeMb: 128 },
});

/** A thread that reads one file, one question at a time. */
export class CacheThread {
  readonly #thread = threads.take();
  #queue: Promise<unknown> = Promise.resolve();
  #ended: Promise<void> | undefined;

  constructor(
    readonly file: string,
    readonly timeLimit: number,
  ) {}

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
    await this.#thread.release(reply?.kind !== 'closed' || reply.spent);
  }

  #enqueue(request: CacheRequest): Promise<CacheReply> {
    const reply = this.#queue.then(() => this.#exchange(request));
    this.#queue = reply.catch(() => undefined);
    return reply;
  }

  async #exchange(request: CacheRequest): Promise<CacheReply> {
    const reply = await this.#thread
      .ask<CacheReply>(request, this.timeLimit)
      .catch((cause: unknown) => {
        throw new FormatError(`${this.file} cannot be read: ${messageOf(cause)}`, { cause });
      });
    if (reply.kind === 'refused') throw new FormatError(`${this.file}: ${reply.message}`);
    return reply;
  }
}
