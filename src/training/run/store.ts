/**
 * The folder of a running training: what is written when, and the promise that nothing is lost while
 * the disk refuses. See persistence.ts for how failures are met.
 */
import path from 'node:path';
import type { MixtureData } from '../../models/index.js';
import { SafetensorsFile } from '../../torch/index.js';
import { CONFIG_FILE, type RunConfig } from '../config.js';
import { decodeState } from '../loop-state.js';
import type { TrainingObserver } from '../observer.js';
import type { RulesSnapshot } from '../rules-snapshot.js';
import {
  bestMetadata,
  checkpointMetadata,
  type CheckpointContent,
  type HostTensor,
} from './checkpoint.js';
import { EventLog } from './event-log.js';
import type { RunFiles } from './files.js';
import {
  bestName,
  checkpointName,
  checkpointSteps,
  pruneCheckpoints,
  removeLater,
  removeLeftovers,
  rulesName,
} from './folder.js';
import { METRICS_FILE, MetricsLog, type MetricsLine } from './metrics-log.js';
import { Persistence } from './persistence.js';
import { PendingTensors } from './tensor-writer.js';

export const encodeConfig = (config: RunConfig): Uint8Array =>
  Buffer.from(`${JSON.stringify(config, null, 2)}\n`);

export class RunStore {
  readonly folder: string;
  readonly #files: RunFiles;
  readonly #observer: TrainingObserver;
  readonly #persistence: Persistence;
  readonly #metrics: MetricsLog;
  readonly #events: EventLog;
  #config: RunConfig;
  /** For each checkpoint on disk, newest first, the step of the best weights it refers to. */
  #onDisk: { step: number; best: number | null }[];

  private constructor(
    folder: string,
    files: RunFiles,
    observer: TrainingObserver,
    config: RunConfig,
    logs: { metrics: MetricsLog; events: EventLog },
    onDisk: { step: number; best: number | null }[],
    retrySeconds: number,
  ) {
    this.folder = folder;
    this.#files = files;
    this.#observer = observer;
    this.#config = config;
    this.#metrics = logs.metrics;
    this.#events = logs.events;
    this.#onDisk = onDisk;
    const note: Persistence['note'] = (event) => observer.note?.(event);
    this.#persistence = new Persistence(folder, files, note, retrySeconds);
  }

  /** Makes the folder of a new run. */
  static async create(
    folder: string,
    files: RunFiles,
    observer: TrainingObserver,
    config: RunConfig,
    retrySeconds: number,
  ): Promise<RunStore> {
    await files.makeFolder(folder);
    await files.write(path.join(folder, CONFIG_FILE), encodeConfig(config));
    const metrics = MetricsLog.create(path.join(folder, METRICS_FILE), files);
    const events = new EventLog(folder, files, 0);
    return new RunStore(folder, files, observer, config, { metrics, events }, [], retrySeconds);
  }

  /** Opens the folder of a run that continues after `step` steps; what came later is removed. */
  static async resume(
    folder: string,
    files: RunFiles,
    observer: TrainingObserver,
    config: RunConfig,
    step: number,
    retrySeconds: number,
  ): Promise<RunStore> {
    await removeLeftovers(files, folder);
    await removeLater(files, folder, step);
    const metrics = await MetricsLog.resume(path.join(folder, METRICS_FILE), files, step);
    const events = new EventLog(folder, files, step);
    const onDisk = (await checkpointSteps(files, folder)).map((at) => ({
      step: at,
      best: bestReferredBy(path.join(folder, checkpointName(at))),
    }));
    return new RunStore(folder, files, observer, config, { metrics, events }, onDisk, retrySeconds);
  }

  /** Step of the newest checkpoint on disk. */
  get checkpointStep(): number | null {
    return this.#onDisk[0]?.step ?? null;
  }

  log(line: MetricsLine): void {
    this.#metrics.add(line);
    this.#events.add(line);
    this.#persistence.request('the metrics log', () => this.#metrics.flush());
    this.#persistence.request('the TensorBoard log', () => this.#events.flush());
  }

  saveConfig(config: RunConfig): void {
    this.#config = config;
    this.#persistence.request('the configuration', () => this.#writeConfig());
  }

  #writeConfig(): Promise<void> {
    return this.#files.write(path.join(this.folder, CONFIG_FILE), encodeConfig(this.#config));
  }

  saveRules(snapshot: RulesSnapshot): void {
    const name = rulesName(snapshot.step);
    const bytes = Buffer.from(`${JSON.stringify(snapshot)}\n`);
    this.#persistence.request(name, () => this.#files.write(path.join(this.folder, name), bytes));
  }

  saveBest(
    step: number,
    tensors: readonly HostTensor[],
    prior: readonly MixtureData[] | null,
  ): void {
    const pending = new PendingTensors(tensors);
    this.#persistence.request('the best weights', () =>
      this.#files.writeTensors(
        path.join(this.folder, bestName(step)),
        pending,
        bestMetadata(step, prior),
      ),
    );
  }

  saveCheckpoint(content: CheckpointContent, tensors: readonly HostTensor[]): void {
    const pending = new PendingTensors(tensors);
    const metadata = checkpointMetadata(content);
    const { step, best } = content.state;
    this.#persistence.request('the checkpoint', async () => {
      const start = performance.now();
      const file = path.join(this.folder, checkpointName(step));
      await this.#restoreConfig();
      await this.#files.writeTensors(file, pending, metadata);
      const others = this.#onDisk.filter((each) => each.step !== step);
      this.#onDisk = [{ step, best: best?.step ?? null }, ...others].slice(0, 2);
      const seconds = (performance.now() - start) / 1000;
      this.#observer.checkpoint?.({ step, path: file, seconds });
      await this.#prune();
    });
  }

  /** A folder that had vanished comes back without its configuration. */
  async #restoreConfig(): Promise<void> {
    const missing = (await this.#files.size(path.join(this.folder, CONFIG_FILE))) === null;
    if (missing) await this.#writeConfig();
  }

  async #prune(): Promise<void> {
    const referred = this.#onDisk.map(({ best }) => best).filter((best) => best !== null);
    await pruneCheckpoints(this.#files, this.folder, new Set(referred));
  }

  /** Lets writing go on in the background; never throws. */
  flush(): Promise<void> {
    return this.#persistence.flush();
  }

  /** Tries to write what waits, however recent a failure; never throws. */
  tryNow(): Promise<void> {
    return this.#persistence.tryNow();
  }

  /** Returns when everything is on disk; throws only if `signal` aborts while it cannot be. */
  finish(signal?: AbortSignal): Promise<void> {
    return this.#persistence.finish(signal);
  }
}

/** The best weights a checkpoint refers to; a damaged checkpoint refers to none. */
function bestReferredBy(file: string): number | null {
  try {
    const opened = SafetensorsFile.open(file);
    opened.close();
    return decodeState(opened.metadata.state ?? '', file).best?.step ?? null;
  } catch {
    return null;
  }
}
