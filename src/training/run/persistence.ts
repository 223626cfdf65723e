/**
 * Gets what a run has to keep onto the disk without ever losing it: jobs wait in memory, run in the
 * order they were asked for, and a failed one (a full disk, a vanished folder) stays first in line
 * and is tried again later while training goes on. A newer job of the same name takes the place of
 * one that still waits, so that memory stays bounded however long the disk refuses.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultSentence, systemCauseOf } from '../../base/node.js';
import { TrainingError } from '../errors.js';
import type { NoteEvent } from '../observer.js';
import type { RunFiles } from './files.js';

interface Job {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** What is behind an error, however deep, in words, or its own. */
function reasonOf(error: unknown): string {
  const fault = systemCauseOf(error);
  if (fault === null) return error instanceof Error ? error.message : String(error);
  if (fault.code === 'ENOENT') return 'the folder has vanished';
  // The sentence names the run's folder already.
  return fault.ofDisk ? fault.reason : faultSentence(fault, 'a file');
}

export class Persistence {
  #jobs: Job[] = [];
  #running: Promise<void> | null = null;
  /** Why writing does not work at the moment; null while it does. */
  #failure: unknown = null;
  #nextTry = 0;

  /**
   * @param folder the run's folder, made again should it vanish while its parent is there
   * @param restore called before every job, which may find that the folder's content is gone
   * @param note receives a sentence when writing starts to fail and when it works again
   */
  constructor(
    readonly folder: string,
    readonly files: RunFiles,
    readonly note: (event: NoteEvent) => void,
    readonly retrySeconds: number,
    readonly restore: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** Whether something is not on disk yet. */
  get pending(): boolean {
    return this.#jobs.length > 0;
  }

  /** Asks for a job; one of the same name that still waits is forgotten. */
  request(name: string, run: () => Promise<void>): void {
    const running = this.#running ? this.#jobs.slice(0, 1) : [];
    const waiting = this.#running ? this.#jobs.slice(1) : this.#jobs;
    this.#jobs = [...running, ...waiting.filter((job) => job.name !== name), { name, run }];
  }

  /** Starts on what waits, unless it is at it or a failure is too recent. Never throws. */
  flush(): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#jobs.length === 0 || performance.now() < this.#nextTry) return Promise.resolve();
    this.#running = this.#work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #work(): Promise<void> {
    while (this.#jobs.length > 0) {
      const [job] = this.#jobs;
      try {
        await this.#ensureFolder();
        await this.restore();
        await job.run();
      } catch (error) {
        this.#failed(job, error);
        return;
      }
      this.#jobs = this.#jobs.slice(1);
      this.#succeeded();
    }
  }

  async #ensureFolder(): Promise<void> {
    if ((await this.files.size(this.folder)) !== null) return;
    const parent = path.dirname(this.folder);
    if ((await this.files.size(parent)) === null) {
      throw Object.assign(new Error(`${parent} does not exist`), { code: 'ENOENT' });
    }
    await this.files.makeFolder(this.folder);
  }

  #failed(job: Job, error: unknown): void {
    this.#nextTry = performance.now() + this.retrySeconds * 1000;
    const isFirst = this.#failure === null;
    this.#failure = error;
    if (!isFirst) return;
    this.note({
      level: 'warning',
      text: `${this.folder}: ${job.name} could not be written (${reasonOf(error)}); training goes on and writing is tried again`,
    });
  }

  #succeeded(): void {
    if (this.#failure === null) return;
    this.#failure = null;
    this.note({ level: 'info', text: `${this.folder}: writing works again` });
  }

  /** Tries to write what waits, however recent a failure. Never throws. */
  async tryNow(): Promise<void> {
    await this.#running;
    this.#nextTry = 0;
    await this.flush();
  }

  /**
   * Keeps trying until everything is on disk. Gives up only when `signal` aborts, after one more try; then
   * it throws, and says why it could not be written.
   */
  async finish(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const isLast = signal?.aborted === true;
      await this.tryNow();
      if (!this.pending) return;
      if (isLast) throw new TrainingError(reasonOf(this.#failure), { cause: this.#failure });
      const wait = Math.max(10, this.#nextTry - performance.now());
      // Being told to stop ends the wait, not the attempt.
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
  }
}
