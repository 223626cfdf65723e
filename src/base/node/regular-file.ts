/**
 * Opening what people name as an input: regular files only, also through links. Opening a pipe waits for
 * a writer, perhaps for ever; it cannot be interrupted, and it holds one of the few threads that Node has
 * for files. So nothing is opened in a way that can wait, and everything but a file is refused.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { FormatError } from '../errors.js';

/** Windows has no such flag, and no pipes among its files. */
const WITHOUT_WAITING = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0);

/** What stands at a path, in a word. */
function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a pipe';
  if (found.isSocket()) return 'a socket';
  return 'a device';
}

function requireRegular(file: string, found: Stats): void {
  if (found.isFile()) return;
  throw new FormatError(`${file} is not a file but ${kindOf(found)}: a regular file is needed`);
}

/** Linux refuses to open a socket and says ENXIO, which nobody understands. */
function explained(file: string, error: unknown): unknown {
  const isSocket = (error as NodeJS.ErrnoException).code === 'ENXIO';
  return isSocket
    ? new FormatError(`${file} is not a file but a socket: a regular file is needed`)
    : error;
}

/** Opens a regular file for reading; `flags` are further ones of `open`, such as O_NOFOLLOW. */
export async function openRegularFile(file: string, flags = 0): Promise<FileHandle> {
  const handle = await open(file, WITHOUT_WAITING | flags).catch((error: unknown) => {
    throw explained(file, error);
  });
  try {
    requireRegular(file, await handle.stat());
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Reads a regular file as a whole that must not be longer than `limit` bytes. */
export async function readSmallFile(file: string, limit: number): Promise<Buffer> {
  const handle = await openRegularFile(file);
  try {
    const { size } = await handle.stat();
    if (size > limit) {
      throw new FormatError(`${file} has ${size} bytes, more than the ${limit} allowed`);
    }
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The text of a regular file, at once. */
export function readTextSync(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, WITHOUT_WAITING);
  } catch (error) {
    throw explained(file, error);
  }
  try {
    requireRegular(file, fstatSync(descriptor));
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
