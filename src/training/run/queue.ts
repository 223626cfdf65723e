/**
 * Gets what a run has to keep onto the disk without ever losing it: jobs wait in memory, run in the
 * order they were asked for, and a failed one (a full disk, a vanished folder) stays first in line
 * and is tried again later while training goes on. A newer job of the same name replaces one that
 * still waits, so that memory stays bounded however long the disk refuses.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../base/index.js';
import { faultSentence, systemCauseOf } from '../../base/node.js';
import { TrainingError } from '../errors.js';
import type { NoteEvent } from '../observer.js';

interface Job {
  readonly name: string;
  readonly write: () => Promise<void>;
}

/** What is behind an error, however deep, in words, or its own. */
function reasonOf(error: unknown): string {
  const fault = systemCauseOf(error);
  if (fault === null) return messageOf(error);
  if (fault.code === 'ENOENT') return 'the folder has vanished';
  // The sentence names the run's folder already.
  return fault.ofDisk ? fault.reason : faultSentence(fault, 'a file');
}

export class WriteQueue {
  #jobs: Job[] = [];
  #running: Promise<void> | null = null;
  /** Why writing does not work at the moment; null while it does. */
  #failure: unknown = null;
  #nextTry = 0;

  /**
   * @param place named in the notes
   * @param note receives a sentence when writing starts to fail and when it works again
   * @param retrySeconds from a failure until writing is tried again
   * @param prepare called before every job, to see to the folder
   */
  constructor(
    readonly place: string,
    readonly note: (event: NoteEvent) => void,
    readonly retrySeconds: number,
    readonly prepare: () => Promise<void>,
  ) {}

  /** Whether something is not on disk yet. */
  get pending(): boolean {
    return this.#jobs.length > 0;
  }

  /** Asks for a job; one of the same name that still waits is forgotten. */
  add(name: string, write: () => Promise<void>): void {
    const begun = this.#running ? 1 : 0;
    const kept = this.#jobs.filter((job, n) => n < begun || job.name !== name);
    this.#jobs = [...kept, { name, write }];
  }

  /** Starts on what waits, unless it is at it or a failure is too recent. Never throws. */
  flush(): Promise<void> {
    if (this.#running) return this.#running;
    if (!this.pending || performance.now() < this.#nextTry) return Promise.resolve();
    this.#running = this.#work().finally(() => (this.#running = null));
    return this.#running;
  }

  async #work(): Promise<void> {
    while (this.pending) {
      const [job] = this.#jobs;
      try {
        await this.prepare();
        await job.write();
      } catch (error) {
        this.#failed(job, error);
        return;
      }
      this.#jobs = this.#jobs.slice(1);
      if (this.#failure === null) continue;
      this.#failure = null;
      this.note({ level: 'info', text: `${this.place}: writing works again` });
    }
  }

  #failed({ name }: Job, error: unknown): void {
    this.#nextTry = performance.now() + this.retrySeconds * 1000;
    const isFirst = this.#failure === null;
    this.#failure = error;
    const text = `${this.place}: ${name} could not be written (${reasonOf(error)}); training goes on and writing is tried again`;
    if (isFirst) this.note({ level: 'warning', text });
  }

  /** Tries to write what waits, however recent a failure. Never throws. */
  async tryNow(): Promise<void> {
    await this.#running;
    this.#nextTry = 0;
    await this.flush();
  }

  /**
   * Keeps trying until everything is on disk. Gives up after `seconds` or when `signal` aborts, each
   * time after one more try; then it throws, and says why it could not be written.
   */
  async finish(seconds: number, signal?: AbortSignal): Promise<void> {
    const deadline = performance.now() + seconds * 1000;
    for (;;) {
      const isLast = signal?.aborted === true || performance.now() >= deadline;
      await this.tryNow();
      if (!this.pending) return;
      if (isLast) throw new TrainingError(reasonOf(this.#failure), { cause: this.#failure });
      const wait = Math.max(10, Math.min(this.#nextTry, deadline) - performance.now());
      // Being told to stop ends the wait, not the attempt.
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
}
