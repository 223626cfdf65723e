/**
 * The folder of a running training: what is written when, and the promise that nothing is lost while
 * the disk refuses. See persistence.ts for how failures are met.
 */
import path from 'node:path';
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
  rulesSteps,
} from './folder.js';
import { METRICS_FILE, MetricsLog, type MetricsLine } from './metrics-log.js';
import { Persistence } from './persistence.js';
import { PendingTensors } from './tensor-writer.js';

export const encodeConfig = (config: RunConfig): Uint8Array =>
  Buffer.from(`${JSON.stringify(config, null, 2)}\n`);

/** Best weights as they are written. */
interface KeptBest {
  readonly step: number;
  readonly tensors: PendingTensors;
  readonly metadata: Readonly<Record<string, string>>;
}

/** What is in memory as well as on disk, and can be written again should the folder vanish. */
interface Kept {
  readonly metrics: MetricsLog;
  readonly events: EventLog;
  /** Rule snapshots by the names of their files. */
  readonly rules: Map<string, Uint8Array>;
  best: KeptBest | null;
}

export class RunStore {
  readonly folder: string;
  readonly #files: RunFiles;
  readonly #observer: TrainingObserver;
  readonly #persistence: Persistence;
  readonly #kept: Kept;
  #config: RunConfig;
  /** True from when the folder is found to have vanished until all that is known is in it again. */
  #restoring = false;
  /** For each checkpoint on disk, newest first, the step of the best weights it refers to. */
  #onDisk: { step: number; best: number | null }[];

  private constructor(
    folder: string,
    files: RunFiles,
    observer: TrainingObserver,
    config: RunConfig,
    kept: Kept,
    onDisk: { step: number; best: number | null }[],
    retrySeconds: number,
  ) {
    this.folder = folder;
    this.#files = files;
    this.#observer = observer;
    this.#config = config;
    this.#kept = kept;
    this.#onDisk = onDisk;
    const note: Persistence['note'] = (event) => observer.note?.(event);
    this.#persistence = new Persistence(folder, files, note, retrySeconds, () => this.#restore());
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
    const kept: Kept = { metrics, events, rules: new Map(), best: null };
    return new RunStore(folder, files, observer, config, kept, [], retrySeconds);
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
    const rules = await readRules(files, folder);
    const best = readBest(folder, onDisk.at(0)?.best ?? null);
    const kept: Kept = { metrics, events, rules, best };
    return new RunStore(folder, files, observer, config, kept, onDisk, retrySeconds);
  }

  /** Step of the newest checkpoint on disk. */
  get checkpointStep(): number | null {
    return this.#onDisk[0]?.step ?? null;
  }

  log(line: MetricsLine): void {
    const { metrics, events } = this.#kept;
    metrics.add(line);
    events.add(line);
    this.#persistence.request('the metrics log', () => metrics.flush());
    this.#persistence.request('the TensorBoard log', () => events.flush());
  }

  changeConfig(changes: Partial<RunConfig>): void {
    this.#config = { ...this.#config, ...changes };
    this.#persistence.request('the configuration', () => this.#writeConfig());
  }

  #writeConfig(): Promise<void> {
    return this.#files.write(path.join(this.folder, CONFIG_FILE), encodeConfig(this.#config));
  }

  saveRules(snapshot: RulesSnapshot): void {
    const name = rulesName(snapshot.step);
    const bytes = Buffer.from(`${JSON.stringify(snapshot)}\n`);
    this.#kept.rules.set(name, bytes);
    this.#persistence.request(name, () => this.#files.write(path.join(this.folder, name), bytes));
  }

  saveBest(step: number, tensors: readonly HostTensor[], extra: unknown): void {
    const best = {
      step,
      tensors: new PendingTensors(tensors),
      metadata: bestMetadata(step, extra),
    };
    this.#kept.best = best;
    this.#persistence.request('the best weights', () => this.#writeBest(best));
  }

  #writeBest({ step, tensors, metadata }: KeptBest): Promise<void> {
    return this.#files.writeTensors(path.join(this.folder, bestName(step)), tensors, metadata);
  }

  saveCheckpoint(content: CheckpointContent, tensors: readonly HostTensor[]): void {
    const pending = new PendingTensors(tensors);
    const metadata = checkpointMetadata(content);
    const { step, best } = content.state;
    this.#persistence.request('the checkpoint', async () => {
      const start = performance.now();
      const file = path.join(this.folder, checkpointName(step));
      await this.#files.writeTensors(file, pending, metadata);
      const others = this.#onDisk.filter((each) => each.step !== step);
      this.#onDisk = [{ step, best: best?.step ?? null }, ...others].slice(0, 2);
      const seconds = (performance.now() - start) / 1000;
      this.#observer.checkpoint?.({ step, path: file, seconds });
      await this.#prune();
    });
  }

  /** Writes all that is known again where a folder without its configuration tells that it vanished. */
  async #restore(): Promise<void> {
    const missing = (await this.#files.size(path.join(this.folder, CONFIG_FILE))) === null;
    if (missing && !this.#restoring) this.#vanished();
    if (!this.#restoring) return;
    const { metrics, events, rules, best } = this.#kept;
    await this.#writeConfig();
    await metrics.flush();
    await events.flush();
    for (const [name, bytes] of rules) {
      await this.#files.write(path.join(this.folder, name), bytes);
    }
    if (best !== null) await this.#writeBest(best);
    this.#restoring = false;
  }

  #vanished(): void {
    this.#restoring = true;
    this.#onDisk = [];
    this.#observer.note?.({
      level: 'warning',
      text: `${this.folder}: the folder had vanished and is made again; earlier checkpoints and TensorBoard files of earlier processes are lost`,
    });
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

async function readRules(files: RunFiles, folder: string): Promise<Map<string, Uint8Array>> {
  const rules = new Map<string, Uint8Array>();
  for (const name of (await rulesSteps(files, folder)).map(rulesName)) {
    rules.set(name, await files.read(path.join(folder, name)));
  }
  return rules;
}

/** The best weights an earlier process left; null where there are none that can be read. */
function readBest(folder: string, step: number | null): KeptBest | null {
  if (step === null) return null;
  try {
    const file = SafetensorsFile.open(path.join(folder, bestName(step)));
    try {
      const tensors = file.names.map((name): HostTensor => {
        const { dtype, shape } = file.describe(name);
        return { name, dtype, shape, bytes: file.readBytes(name) };
      });
      return { step, tensors: new PendingTensors(tensors), metadata: file.metadata };
    } finally {
      file.close();
    }
  } catch {
    return null;
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
