/**
 * Temporary names of files that are being written. A name tells which process writes the file, so that
 * what a killed process left can be removed when the same output is written again. A file is removed only
 * if its process can be asked after and is gone; those of other hosts and containers stay.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { isAlive, processPlace, thisProcess } from './process-identity.js';

/** Stands for an unknown start of a process. */
const UNKNOWN = '-';
const NAME = /^\.(.+)\.(\d+)_(\d+|-)_([0-9a-f]{8})_[0-9a-f]{8}\.part$/;

/** The part of a name that tells the process. */
function makeMark(): string {
  const { pid, started } = thisProcess();
  return `${pid}_${started ?? UNKNOWN}_${processPlace()}`;
}

/** It is the same for all files of a process, of which there may be thousands. */
let mark: string | undefined;

/** A name beside the file's own that no other writer takes. */
export function temporaryName(file: string): string {
  mark ??= makeMark();
  const suffix = `${mark}_${randomBytes(4).toString('hex')}`;
  return path.join(path.dirname(file), `.${path.basename(file)}.${suffix}.part`);
}

interface Writer {
  /** The name the file is to get. */
  readonly name: string;
  readonly pid: number;
  readonly started: string | null;
  readonly place: string;
}

function writerOf(temporary: string): Writer | null {
  const match = NAME.exec(temporary);
  if (match === null) return null;
  const [, name, pid, started, place] = match;
  return { name, pid: Number(pid), started: started === UNKNOWN ? null : started, place };
}

/** The name a person knows, of a file that may have a temporary one. */
export function nameToBe(file: string): string {
  const writer = writerOf(path.basename(file));
  return writer === null ? file : path.join(path.dirname(file), writer.name);
}

/**
 * Removes what killed processes left in a folder, of the file `name` alone if it is given. Gives the
 * processes that are writing there, other than this one, as far as they can be asked after.
 */
export async function removeAbandonedFiles(folder: string, name?: string): Promise<number[]> {
  const place = processPlace();
  const busy = new Set<number>();
  for (const entry of await readdir(folder).catch(() => [])) {
    const writer = writerOf(entry);
    if (writer === null || writer.place !== place) continue;
    if (name !== undefined && writer.name !== name) continue;
    if (!isAlive(writer)) await rm(path.join(folder, entry), { recursive: true, force: true });
    else if (writer.pid !== process.pid) busy.add(writer.pid);
  }
  return [...busy];
}
