/**
 * What stands at a path, and folders to write to. Node's own `mkdir` with `recursive` tries for ever
 * if the system says that there is no such folder although the one above it exists, as below /proc;
 * neither Ctrl-C nor the end of the program stops it. Here every folder is asked for once.
 */
import { mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError } from '../errors.js';
import { danglingLink } from './output-place.js';
import { ifMissing, isMissing } from './system-errors.js';

const found = (location: string) => stat(location).catch(() => null);

export const exists = async (location: string): Promise<boolean> =>
  (await found(location)) !== null;

export const isFile = async (location: string): Promise<boolean> =>
  (await found(location))?.isFile() ?? false;

export const isFolder = async (location: string): Promise<boolean> =>
  (await found(location))?.isDirectory() ?? false;

/** Names of what is in a folder; none if there is no such folder. */
export const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(ifMissing([]));

function refuseDangling(location: string): void {
  const leadsTo = danglingLink(location);
  if (leadsTo === null) return;
  throw new ArgumentError(`${location} is a link to ${leadsTo}, which does not exist`);
}

/** Below /proc and the like the system says "no such file" of what it does not let be made. */
export const notMade = (what: 'file' | 'folder', location: string, error: unknown): unknown =>
  isMissing(error)
    ? new Error(`${location}: no ${what} can be made here`, { cause: error })
    : error;

/** Makes a folder and those above it that are missing; one that is there is left as it is. */
export async function makeFolder(folder: string): Promise<void> {
  const full = path.resolve(folder);
  if (await isFolder(full)) return;
  const above = path.dirname(full);
  if (above !== full && !(await exists(above))) await makeFolder(above);
  try {
    await mkdir(full);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (await isFolder(full)) return;
    refuseDangling(full);
    throw notMade('folder', full, error);
  }
}

/** Makes a folder that must not be there yet; false if it is, be it since a moment ago. */
export async function makeNewFolder(folder: string): Promise<boolean> {
  if (await exists(folder)) return false;
  await makeFolderOf(folder);
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw notMade('folder', folder, error);
    refuseDangling(folder);
    return false;
  }
}

/** Makes the folder that a file is to be written in. */
export const makeFolderOf = (file: string): Promise<void> =>
  makeFolder(path.dirname(path.resolve(file)));
