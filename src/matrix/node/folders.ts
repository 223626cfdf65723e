/**
 * Folders to write to. Node's own `mkdir` with `recursive` tries for ever where the system says that
 * there is no such folder although the one above it exists, as below /proc; neither Ctrl-C nor the end
 * of the program stops it. Here every folder is asked for once.
 */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

const found = (location: string) => stat(location).catch(() => null);

/** Makes a folder and those above it that are missing; one that is there is left as it is. */
export async function makeFolder(folder: string): Promise<void> {
  const full = path.resolve(folder);
  if ((await found(full))?.isDirectory()) return;
  const above = path.dirname(full);
  if (above !== full && (await found(above)) === null) await makeFolder(above);
  try {
    await mkdir(full);
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if ((await found(full))?.isDirectory()) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error(`${full}: no folder can be made here`, { cause: error });
  }
}

/** Makes the folder that a file is to be written in. */
export const makeFolderOf = (file: string): Promise<void> =>
  makeFolder(path.dirname(path.resolve(file)));
