/**
 * The few file operations a run needs, as an interface so that a failing disk can be put in their
 * place. Every write is complete and synced or did not happen: whole files go to a temporary name
 * first, tails are written at a known offset so that trying again repairs a half-written one.
 */
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, readSmallFile } from '../../matrix/node.js';
import type { PendingTensors } from './tensor-writer.js';

export interface RunFiles {
  makeFolder(folder: string): Promise<void>;
  /** Names in a folder, sorted; empty when the folder does not exist. */
  list(folder: string): Promise<string[]>;
  read(file: string): Promise<Uint8Array>;
  /** Size in bytes, or null when the file does not exist. */
  size(file: string): Promise<number | null>;
  remove(file: string): Promise<void>;
  /** Replaces a whole file atomically. */
  write(file: string, bytes: Uint8Array): Promise<void>;
  /** Cuts a file at `offset` (creating it if need be) and continues it with `bytes`. */
  writeTail(file: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** Writes a checkpoint atomically. */
  writeTensors(
    file: string,
    tensors: PendingTensors,
    metadata: Readonly<Record<string, string>>,
  ): Promise<void>;
}

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The system names no path where writing to an open file fails, as it does on a full disk. */
export function withPath(error: unknown, file: string): unknown {
  const isSystemError = error instanceof Error && 'code' in error && !('path' in error);
  return isSystemError ? Object.assign(error, { path: file }) : error;
}

/** The temporary name of a file being written; left-overs of a crash are removed on resume. */
const TEMPORARY_SUFFIX = '.partial';

/** Whether a name is that of a file being written, by us or as a safetensors file. */
export const isTemporary = (name: string): boolean =>
  name.endsWith(TEMPORARY_SUFFIX) || (name.startsWith('.') && name.endsWith('.tmp'));

/** No file of a run that is read as a whole is larger: checkpoints are read tensor by tensor. */
const LARGEST_FILE = 1 << 30;

/** Makes a rename or a new name durable; some systems cannot sync a folder, which is no failure. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'EPERM' && code !== 'EISDIR') throw error;
  } finally {
    await handle.close();
  }
}

async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = file + TEMPORARY_SUFFIX;
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw withPath(error, file);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
  await syncFolder(path.dirname(file));
}

async function openForTail(file: string) {
  try {
    return await open(file, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
    return open(file, 'w+');
  }
}

/** Writes every byte: one call may write fewer than asked for. */
async function writeAll(
  handle: Awaited<ReturnType<typeof open>>,
  bytes: Uint8Array,
  offset: number,
): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const result = await handle.write(bytes, written, bytes.length - written, offset + written);
    written += result.bytesWritten;
  }
}

/** The real file system. */
export const diskFiles: RunFiles = {
  makeFolder,
  list: async (folder) => {
    try {
      return (await readdir(folder)).sort();
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  },
  read: (file) => readSmallFile(file, LARGEST_FILE),
  size: async (file) => {
    try {
      return (await stat(file)).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },
  remove: (file) => rm(file, { force: true }),
  write: writeWhole,
  writeTensors: (file, tensors, metadata) => tensors.write(file, metadata),
  writeTail: async (file, offset, bytes) => {
    const handle = await openForTail(file);
    try {
      await handle.truncate(offset);
      await writeAll(handle, bytes, offset);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  },
};
