/**
 * What stands at a path, and folders to write to. Node's own `mkdir` with `recursive` tries for ever
 * where the system says that there is no such folder although the one above it exists, as below /proc;
 * neither Ctrl-C nor the end of the program stops it. Here every folder is asked for once.
 */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

const found = (location: string) => stat(location).catch(() => null);

export const exists = async (location: string): Promise<boolean> =>
  (await found(location)) !== null;

export const isFile = async (location: string): Promise<boolean> =>
  (await found(location))?.isFile() ?? false;

export const isFolder = async (location: string): Promise<boolean> =>
  (await found(location))?.isDirectory() ?? false;

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
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${full}: no folder can be made here`, { cause: error });
  }
}

/** Makes the folder that a file is to be written in. */
export const makeFolderOf = (file: string): Promise<void> =>
  makeFolder(path.dirname(path.resolve(file)));
