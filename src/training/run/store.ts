/**
 * The folder of a running training: what is written when, and the promise that nothing is lost while
 * the disk refuses. What is small, and the best weights, stays in memory as well, and is written again
 * if the folder was deleted meanwhile.
 */
import path from 'node:path';
import { makeFolder } from '../../base/node.js';
import { UnsavedError } from '../errors.js';
import type { TrainingObserver } from '../observer.js';
import { metadataOf, type CheckpointContent, type HostTensor } from './checkpoint.js';
import { BEST, CHECKPOINTS, CONFIG_FILE, readRunFile, RULES } from './folder.js';
import { diskFiles, pruneCheckpoints, remakeFolder, removeStale, sizeOf } from './folder.js';
import type { RunFiles } from './folder.js';
import { RunLogs, type MetricsLine } from './logs.js';
import { WriteQueue } from './queue.js';

/** Seconds after which a failed write is tried again. */
const RETRY_SECONDS = 15;

const BEST_JOB = 'the best weights';
const LOGS_JOB = 'the logs';

interface StoreOptions {
  readonly files?: RunFiles;
  readonly retrySeconds?: number;
}

export class RunStore {
  /** What can be written again, by the name of its job; the configuration first. */
  readonly #known = new Map<string, () => Promise<void>>();
  readonly #queue: WriteQueue;
  /** Whether the folder was found deleted and not all that is known is in it again. */
  #vanished = false;
  /** Of the newest checkpoint asked for, and of the newest on disk. */
  #step: number;
  #stepOnDisk: number | null = null;

  private constructor(
    readonly folder: string,
    readonly files: RunFiles,
    readonly observer: TrainingObserver,
    readonly logs: RunLogs,
    step: number,
    retrySeconds: number,
  ) {
    this.#step = step;
    const note: WriteQueue['note'] = (event) => observer.note?.(event);
    this.#queue = new WriteQueue(folder, note, retrySeconds, () => this.#prepare());
  }

  /**
   * Opens the folder of a new run, or of one that continues after `step` steps: what came later, and
   * what a killed process left half-written, is removed. The caller holds the run's lock.
   */
  static async open(
    folder: string,
    config: object,
    step: number,
    observer: TrainingObserver,
    { files = diskFiles, retrySeconds = RETRY_SECONDS }: StoreOptions = {},
  ): Promise<RunStore> {
    await makeFolder(folder);
    await removeStale(folder, step);
    const logs = await RunLogs.open(folder, files, step);
    const store = new RunStore(folder, files, observer, logs, step, retrySeconds);
    const writeConfig = store.#setConfig(config);
    if ((await sizeOf(store.#path(CONFIG_FILE))) === null) await writeConfig();
    store.#known.set(LOGS_JOB, () => logs.flush());
    for (const at of await RULES.steps(folder)) await store.#recall(RULES.name(at), RULES.name(at));
    const [best] = await BEST.steps(folder);
    if (best !== undefined) await store.#recall(BEST_JOB, BEST.name(best));
    store.#stepOnDisk = (await CHECKPOINTS.steps(folder)).at(0) ?? null;
    return store;
  }

  #path(name: string): string {
    return path.join(this.folder, name);
  }

  /** Step of the newest checkpoint on disk. */
  get checkpointStep(): number | null {
    return this.#stepOnDisk;
  }

  /** Remembers what an earlier process wrote. */
  async #recall(job: string, name: string): Promise<void> {
    const bytes = await readRunFile(this.#path(name));
    this.#known.set(job, () => this.files.write(this.#path(name), bytes));
  }

  #save(job: string, write: () => Promise<void>): void {
    this.#known.set(job, write);
    this.#queue.add(job, write);
  }

  #setConfig(config: object): () => Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify(config, null, 2)}\n`);
    const write = () => this.files.write(this.#path(CONFIG_FILE), bytes);
    this.#known.set(CONFIG_FILE, write);
    return write;
  }

  saveConfig(config: object): void {
    this.#queue.add(CONFIG_FILE, this.#setConfig(config));
  }

  log(line: MetricsLine): void {
    this.logs.add(line);
    this.#queue.add(LOGS_JOB, () => this.logs.flush());
  }

  saveRules(snapshot: { readonly step: number }): void {
    const name = RULES.name(snapshot.step);
    const bytes = Buffer.from(`${JSON.stringify(snapshot)}\n`);
    this.#save(name, () => this.files.write(this.#path(name), bytes));
  }

  /** To be called before the checkpoint that refers to these weights. */
  saveBest(step: number, tensors: readonly HostTensor[], extra: unknown): void {
    const request = { file: this.#path(BEST.name(step)), tensors, metadata: metadataOf({ extra }) };
    this.#save(BEST_JOB, () => this.files.writeTensors(request));
  }

  saveCheckpoint(content: CheckpointContent, tensors: readonly HostTensor[]): void {
    const { step } = content.state;
    this.#step = step;
    const file = this.#path(CHECKPOINTS.name(step));
    const request = { file, tensors, metadata: metadataOf(content) };
    this.#queue.add('the checkpoint', async () => {
      const start = performance.now();
      await this.files.writeTensors(request);
      this.#stepOnDisk = step;
      const seconds = (performance.now() - start) / 1000;
      this.observer.checkpoint?.({ step, path: file, seconds });
      await pruneCheckpoints(this.folder);
    });
  }

  /** If the folder was deleted while training (its configuration is missing), writes it again. */
  async #prepare(): Promise<void> {
    await remakeFolder(this.folder);
    if (!this.#vanished && (await sizeOf(this.#path(CONFIG_FILE))) !== null) return;
    if (!this.#vanished) this.#noteVanished();
    for (const write of this.#known.values()) await write();
    this.#vanished = false;
  }

  #noteVanished(): void {
    this.#vanished = true;
    this.#stepOnDisk = null;
    const text = `${this.folder}: the folder had vanished and is made again; earlier checkpoints and TensorBoard files of earlier processes are lost`;
    this.observer.note?.({ level: 'warning', text });
  }

  /** Lets writing go on in the background; never throws. */
  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Tries to write what waits, however recent a failure; never throws. */
  tryNow(): Promise<void> {
    return this.#queue.tryNow();
  }

  /** Returns when everything is on disk; after `seconds`, or once `signal` aborts, UnsavedError. */
  async finish(seconds: number, signal?: AbortSignal): Promise<void> {
    try {
      await this.#queue.finish(seconds, signal);
    } catch (cause) {
      throw new UnsavedError(this.folder, this.#step, this.#stepOnDisk, cause as Error);
    }
  }
}
