/**
 * One process at a time works on a run: it holds a file in the run's folder that names it. What a killed
 * process leaves is taken over as soon as it can be told that it is gone: at once on the same host, after
 * a while without a sign of life on another. Only who trains asks for it; reading a run needs no lock.
 */
import { randomBytes } from 'node:crypto';
import { renameSync, rmdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { ArgumentError } from '../../matrix/index.js';
import { isAlive, readTextSync, thisProcess, type ProcessIdentity } from '../../matrix/node.js';
import { TrainingError } from '../errors.js';
import { isMissing, withPath, type RunFiles } from './files.js';
import { LOCK_FILE } from './folder.js';

/** Between two signs of life. */
const REFRESH_MS = 30_000;
/** Silence after which a holder that cannot be asked is taken for gone. */
const SILENCE_MS = 120_000;
/** Others may take and leave the lock meanwhile, but not for ever. */
const ATTEMPTS = 20;

/** Who a lock's text names; null where it is cut off or not ours. */
function parseHolder(text: string): ProcessIdentity | null {
  try {
    const { host, pid, started } = JSON.parse(text) as Partial<ProcessIdentity>;
    const named = typeof host === 'string' && Number.isSafeInteger(pid) && Number(pid) > 0;
    return named ? { host, pid: Number(pid), started: started ?? null } : null;
  } catch {
    return null;
  }
}

/**
 * Why a lock must be respected; null where its holder is gone. Where it may be gone, trying again later helps,
 * as launchers of jobs do: then it is no wrong use.
 */
function refusalOf(text: string, changed: number, file: string): Error | null {
  const holder = parseHolder(text);
  const who = holder === null ? 'another process' : `process ${holder.pid} on host ${holder.host}`;
  const run = path.dirname(file);
  if (holder !== null && holder.host === hostname()) {
    if (!isAlive(holder)) return null;
    return new ArgumentError(`${run} is being trained by ${who}: wait for its end`);
  }
  const silent = Date.now() - changed;
  if (silent > SILENCE_MS) return null;
  const ago = Math.max(0, Math.round(silent / 1000));
  return new TrainingError(
    `${run} was in use by ${who} ${ago} seconds ago: wait for its end, or delete ${file} if it is gone`,
  );
}

export class RunLock {
  #file: string | null = null;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #madeFolder = false;

  /** Makes the folder if need be, and takes its lock; refuses while another process holds it. */
  async take(folder: string, files: RunFiles): Promise<void> {
    const isNew = (await files.size(folder)) === null;
    await files.makeFolder(folder);
    const file = path.join(folder, LOCK_FILE);
    this.#text = `${JSON.stringify(thisProcess())}\n`;
    for (let attempt = 0; !this.#create(file); attempt++) {
      if (attempt === ATTEMPTS) throw new ArgumentError(`${file}: others keep taking this lock`);
      removeIfAbandoned(file);
    }
    this.#file = file;
    this.#madeFolder = isNew;
    this.#timer = setInterval(() => this.#refresh(file), REFRESH_MS).unref();
  }

  /** Whether the lock could be written: false where there is one already. */
  #create(file: string): boolean {
    try {
      writeFileSync(file, this.#text, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw withPath(error, file);
    }
  }

  /** Gives a sign of life. Should the folder have vanished and come back, the lock does as well. */
  #refresh(file: string): void {
    try {
      const now = new Date();
      utimesSync(file, now, now);
    } catch {
      try {
        this.#create(file);
      } catch {
        // The disk refuses, as it does to the run itself, which says so.
      }
    }
  }

  /** Gives the lock back, and removes a folder that was made for it and is still empty. */
  release(): void {
    clearInterval(this.#timer);
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    try {
      if (readTextSync(file) !== this.#text) return;
      rmSync(file);
      if (this.#madeFolder) rmdirSync(path.dirname(file));
    } catch {
      // The folder is gone or holds the run; a lock that stays is taken over by the next process.
    }
  }
}

/** Removes the lock of a process that is gone; throws where it may still be at work. */
function removeIfAbandoned(file: string): void {
  // Two processes may find it abandoned at once: what is moved aside must be what was judged.
  const aside = `${file}.${randomBytes(4).toString('hex')}.partial`;
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
