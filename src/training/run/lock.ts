/**
 * One process at a time works on a run: it holds a file in the run's folder that names it. What a killed
 * process leaves is taken over as soon as it is known to be gone: at once on the same host, after a
 * while without a sign of life on another. Only a training asks for it; reading a run needs no lock.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { ArgumentError } from '../../matrix/index.js';
import { makeFolder } from '../../base/node.js';
import { TrainingError } from '../errors.js';
import { isMissing, LOCK_FILE, sizeOf, withPath } from './folder.js';

/** Between two signs of life. */
const REFRESH_MS = 30_000;
/** Silence after which a holder that cannot be asked is taken for gone. */
const SILENCE_MS = 120_000;
/** Others may take and leave the lock meanwhile, but not for ever. */
const ATTEMPTS = 20;

/** When a process started, as Linux tells it; null if it does not, or if there is no such process. */
function startOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything; the third field comes after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // A killed process whose parent has not asked for its end yet.
    return fields[0] === 'Z' ? 'zombie' : fields[19];
  } catch {
    return null;
  }
}

/** What a lock says of its holder: pids are used again, so the start of the process is named too. */
export const lockText = (
  pid = process.pid,
  host = hostname(),
  started = startOf(pid) ?? 'unknown',
): string => `process ${pid} on host ${host}, started ${started}\n`;
const LOCK_TEXT = /^(process (\d+) on host (\S+)), started (\S+)\n$/;

/** Whether a process of this host still runs. */
function isAlive(pid: number, started: string): boolean {
  const found = startOf(pid);
  if (found !== null && started !== 'unknown') return found === started;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Why a lock must be respected; null if its holder is gone. If it may be gone, trying again later helps,
 * as launchers of jobs do: then it is no wrong use.
 */
function refusalOf(text: string, changed: number, file: string): Error | null {
  const [, who = 'another process', pid, host, started] = LOCK_TEXT.exec(text) ?? [];
  const run = path.dirname(file);
  if (host === hostname()) {
    if (!isAlive(Number(pid), started)) return null;
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
    const text = readFileSync(file, 'utf8');
    const refusal = refusalOf(text, statSync(file).mtimeMs, file);
    if (refusal !== null) throw refusal;
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') === text) rmSync(aside);
    else renameSync(aside, file);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

export class RunLock {
  #file: string | null = null;
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #madeFolder = false;

  /** Makes the folder if need be, and takes its lock; refuses while another process holds it. */
  async take(folder: string): Promise<void> {
    const isNew = (await sizeOf(folder)) === null;
    await makeFolder(folder);
    const file = path.join(folder, LOCK_FILE);
    this.#text = lockText();
    for (let attempt = 0; !this.#create(file); attempt++) {
      if (attempt === ATTEMPTS) throw new ArgumentError(`${file}: others keep taking this lock`);
      removeIfAbandoned(file);
    }
    this.#file = file;
    this.#madeFolder = isNew;
    this.#timer = setInterval(() => this.#refresh(file), REFRESH_MS).unref();
  }

  /** Whether the lock could be written: false if there is one already. */
  #create(file: string): boolean {
    try {
      writeFileSync(file, this.#text, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw withPath(error, file);
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

  /** Gives the lock back, and removes a folder that was made for it and is still empty. */
  release(): void {
    clearInterval(this.#timer);
    const file = this.#file;
    if (file === null) return;
    this.#file = null;
    try {
      if (readFileSync(file, 'utf8') !== this.#text) return;
      rmSync(file);
      if (this.#madeFolder) rmdirSync(path.dirname(file));
    } catch {
      // The folder is gone or holds the run; a lock that stays is taken over by the next process.
    }
  }
}
