/**
 * One process at a time works on a run: it holds a file in the run's folder that names it. What a killed
 * process leaves is taken over as soon as it is known to be gone: at once on the same host, after a
 * while without a sign of life on another. Only a training asks for it; reading a run needs no lock.
 */
import { randomBytes } from 'node:crypto';
import { renameSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import {
  aboutFile,
  isAlive,
  isMissing,
  makeFolder,
  readTextSync,
  thisProcess,
} from '../../base/node.js';
import { TrainingError } from '../errors.js';
import { LOCK_FILE, sizeOf } from './folder.js';

/** Between two signs of life. */
const REFRESH_MS = 30_000;
/** Silence after which a holder that cannot be asked is taken for gone. */
const SILENCE_MS = 120_000;
/** Others may take and leave the lock meanwhile, but not for ever. */
const ATTEMPTS = 20;

/** What a lock says of its holder: pids are used again, so the start of the process is named too. */
export const lockText = ({ pid, host, started } = thisProcess()): string =>
  `process ${pid} on host ${host}, started ${started ?? 'unknown'}\n`;
const LOCK_TEXT = /^(process (\d+) on host (\S+)), started (\S+)\n$/;

/**
 * Why a lock must be respected; null if its holder is gone. If it may be gone, trying again later helps,
 * as launchers of jobs do: then it is no wrong use.
 */
function refusalOf(text: string, changed: number, file: string): Error | null {
  const [, who = 'another process', pid, host, started] = LOCK_TEXT.exec(text) ?? [];
  const run = path.dirname(file);
  if (host === hostname()) {
    const holder = { pid: Number(pid), started: started === 'unknown' ? null : started };
    if (!isAlive(holder)) return null;
    return new ArgumentError(`${run} is being trained by ${who}: wait for its end`);
  }
  const silent = Math.max(0, Date.now() - changed);
  if (silent > SILENCE_MS) return null;
  const ago = `${Math.round(silent / 1000)} seconds ago`;
  return new TrainingError(
    `${run} was in use by ${who} ${ago}: wait for its end, or delete ${file} if it is gone`,
  );
}

/** Removes the lock of a process that is gone; throws if it may still be at work. */
function removeIfAbandoned(file: string): void {
  // Two processes may find it abandoned at once: what is moved aside must be what was judged.
  const aside = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    const text = readTextSync(file);
    const refusal = refusalOf(text, statSync(file).mtimeMs, file);
    if (refusal !== null) throw refusal;
    renameSync(file, aside);
    if (readTextSync(aside) === text) rmSync(aside);
    else renameSync(aside, file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** A folder and those above it, as far as they are not there: deepest first. */
async function missingFolders(folder: string): Promise<string[]> {
  const full = path.resolve(folder);
  if ((await sizeOf(full)) !== null) return [];
  return [full, ...(await missingFolders(path.dirname(full)))];
}

export class RunLock {
  #file: string | null = null;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  /** The folder and those above it that were made for it, deepest first. */
  #made: readonly string[] = [];

  /** Makes the folder if need be, and takes its lock; refuses while another process holds it. */
  async take(folder: string): Promise<void> {
    const missing = await missingFolders(folder);
    await makeFolder(folder);
    const file = path.join(folder, LOCK_FILE);
    this.#text = lockText();
    for (let attempt = 0; !this.#create(file); attempt++) {
      if (attempt === ATTEMPTS) throw new ArgumentError(`${file}: others keep taking this lock`);
      removeIfAbandoned(file);
    }
    this.#file = file;
    this.#made = missing;
    this.#timer = setInterval(() => this.#refresh(file), REFRESH_MS).unref();
  }

  /** Whether the lock could be written: false if there is one already. */
  #create(file: string): boolean {
    try {
      writeFileSync(file, this.#text, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw aboutFile(error, file);
    }
  }

  /** Gives a sign of life. If the folder has vanished and come back, the lock does as well. */
  #refresh(file: string): void {
    try {
      if (!this.#create(file)) utimesSync(file, new Date(), new Date());
    } catch {
      // The disk refuses, as it does to the run itself, which says so.
    }
  }

  /** Gives the lock back, and removes folders that were made for it and are still empty. */
  release(): void {
    clearInterval(this.#timer);
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    try {
      if (readTextSync(file) !== this.#text) return;
      rmSync(file);
      for (const folder of this.#made) rmdirSync(folder);
    } catch {
      // A folder is gone or holds something; a lock that stays is taken over by the next process.
    }
  }
}
