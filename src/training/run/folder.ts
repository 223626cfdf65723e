/**
 * The files of a run: their names, how they are written, and which of them stay. Full checkpoints are
 * `checkpoint-<step>.safetensors`; the newest two are kept. The weights of the best validation are
 * `checkpoint-best-<step>.safetensors`; each checkpoint refers to the newest of them that is not newer
 * than itself. Every write is complete and synced, or it did not happen.
 */
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import {
  aboutFile,
  ifMissing,
  makeFolder,
  namesIn,
  readSmallFile,
  writeFileAtomically,
} from '../../base/node.js';
import { writeTensors, type TensorFile } from './checkpoint.js';

export const CONFIG_FILE = 'config.json';
export const METRICS_FILE = 'metrics.jsonl';
/** Held by the process that trains; see lock.ts. */
export const LOCK_FILE = 'training.lock';
const KEPT_CHECKPOINTS = 2;

/** How a run writes. An interface, so that tests can put a failing disk in its place. */
export interface RunFiles {
  /** Replaces a whole file atomically. */
  write(file: string, bytes: Uint8Array): Promise<void>;
  /** Cuts a file at `offset` (creating it if need be) and continues it with `bytes`. */
  writeTail(file: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** Writes a checkpoint atomically. */
  writeTensors(request: TensorFile): Promise<void>;
}

/** No file of a run that is read as a whole is larger. */
const LARGEST_FILE = 2 ** 31;

/** A file of a run; anything but a regular file is refused. */
export const readRunFile = (file: string): Promise<Uint8Array> => readSmallFile(file, LARGEST_FILE);

export const readText = async (file: string): Promise<string> =>
  Buffer.from(await readRunFile(file)).toString('utf8');

/** The real file system. */
export const diskFiles: RunFiles = {
  write: (file, bytes) =>
    writeFileAtomically(file, bytes).catch((error: unknown) => {
      throw aboutFile(error, file);
    }),
  writeTail: async (file, offset, bytes) => {
    const handle = await open(file, 'a');
    try {
      await handle.truncate(offset);
      await handle.appendFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  },
  writeTensors,
};

/** The path of a run's configuration; refuses a folder without one. */
export async function configFileOf(run: string): Promise<string> {
  const file = path.join(path.resolve(run), CONFIG_FILE);
  if ((await sizeOf(file)) !== null) return file;
  throw new ArgumentError(`${run} is not a run: it has no ${CONFIG_FILE}`);
}

/** Size in bytes, or null if there is no such file or folder. */
export const sizeOf = async (file: string): Promise<number | null> =>
  (await stat(file).catch(ifMissing(null)))?.size ?? null;

/** Files of one kind, each named after a number of steps. */
class StepFiles {
  /** @param digits of a step in a name, so that names sort */
  constructor(
    readonly before: string,
    readonly after: string,
    readonly digits: number,
  ) {}

  name(step: number): string {
    return this.before + step.toString().padStart(this.digits, '0') + this.after;
  }

  /** Steps of the files in a folder, newest first. */
  async steps(folder: string): Promise<number[]> {
    const pattern = new RegExp(`^${this.before}(\\d+)${this.after}$`);
    const steps = (await namesIn(folder)).flatMap((name) => pattern.exec(name)?.[1] ?? []);
    return steps.map(Number).sort((a, b) => b - a);
  }

  async remove(folder: string, isUnwanted: (step: number) => boolean): Promise<void> {
    for (const step of (await this.steps(folder)).filter(isUnwanted)) {
      await rm(path.join(folder, this.name(step)), { force: true });
    }
  }
}

export const CHECKPOINTS = new StepFiles('checkpoint-', '.safetensors', 8);
export const BEST = new StepFiles('checkpoint-best-', '.safetensors', 8);
export const RULES = new StepFiles('rules-', '.json', 0);

/** Whether a name is that of a file that was still being written. */
const isTemporary = (name: string): boolean => /^\..*\.(part|tmp)$/.test(name);

/** Whether a folder holds something of a run, or anything else that is not ours to write over. */
export async function isTaken(folder: string): Promise<boolean> {
  // A process killed at its very start leaves a folder that is no run yet.
  return (await namesIn(folder)).some((name) => !isTemporary(name) && !name.startsWith(LOCK_FILE));
}

/**
 * Removes what a killed process left half-written, and everything of steps after `step`, which will be
 * written again. Only for the process that holds the lock: then no other is writing.
 */
export async function removeStale(folder: string, step: number): Promise<void> {
  for (const name of (await namesIn(folder)).filter(isTemporary)) {
    await rm(path.join(folder, name), { force: true });
  }
  for (const kind of [CHECKPOINTS, BEST, RULES]) await kind.remove(folder, (at) => at > step);
}

/** Removes checkpoints beyond the newest two, and best weights that neither of these refers to. */
export async function pruneCheckpoints(folder: string): Promise<void> {
  const kept = (await CHECKPOINTS.steps(folder)).slice(0, KEPT_CHECKPOINTS);
  const best = await BEST.steps(folder);
  const referred = kept.map((step) => best.find((at) => at <= step));
  await CHECKPOINTS.remove(folder, (step) => !kept.includes(step));
  await BEST.remove(folder, (step) => !referred.includes(step));
}

/** Makes a vanished folder again, but not below a folder that is gone too: the disk may be away. */
export async function remakeFolder(folder: string): Promise<void> {
  if ((await sizeOf(folder)) !== null) return;
  await stat(path.dirname(folder));
  await makeFolder(folder);
}
