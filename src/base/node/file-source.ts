/** Files on disk as byte sources, and files that appear under their name only when complete. */
import { randomBytes } from 'node:crypto';
import { constants, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FormatError } from '../errors.js';
import type { ByteSource } from '../byte-source.js';
import { outputPlace, type OutputPlace } from './output-place.js';

const COPY_BYTES = 1 << 20;

/** Opens a file for reading by ranges. */
export async function fileSource(file: string): Promise<ByteSource> {
  // Opening a pipe would wait for a writer, for ever and deaf to Ctrl-C.
  if (!(await stat(file)).isFile()) throw new FormatError(`${file} is not a file`);
  const handle = await open(file, 'r');
  try {
    const info = await handle.stat();
    if (!info.isFile()) throw new FormatError(`${file} is not a file`);
    return {
      name: file,
      size: info.size,
      read: (offset, length) => readFully(handle, offset, length),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readFully(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

/** Reads a whole file that must not be longer than `limit` bytes. */
export async function readSmallFile(file: string, limit: number): Promise<Uint8Array> {
  const { size } = await stat(file);
  if (size > limit) {
    throw new FormatError(`${file} has ${size} bytes, more than the ${limit} allowed`);
  }
  return readFile(file);
}

/**
 * A file being written under a temporary name beside its own. `commit` syncs it and gives it its
 * name; until then, and after `abandon`, nothing stands under that name. For a device or a pipe the
 * temporary file is copied into it instead.
 */
export class PendingFile {
  /** Where the bytes are until the commit. */
  readonly temporary: string;
  readonly handle: FileHandle;
  readonly #place: OutputPlace;
  #open = true;

  private constructor(place: OutputPlace, temporary: string, handle: FileHandle) {
    this.#place = place;
    this.temporary = temporary;
    this.handle = handle;
  }

  static async create(target: string): Promise<PendingFile> {
    const place = outputPlace(target);
    const temporary = temporaryName(
      place.direct ? path.join(tmpdir(), path.basename(place.path)) : place.path,
    );
    return new PendingFile(place, temporary, await open(temporary, 'wx+'));
  }

  /** Writes all of `bytes` at a place. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    while (done < bytes.length) {
      const left = bytes.length - done;
      const { bytesWritten } = await this.handle.write(bytes, done, left, position + done);
      done += bytesWritten;
    }
  }

  async commit(): Promise<void> {
    const { path: target, direct } = this.#place;
    if (direct) {
      await this.#copyTo(target);
      await this.abandon();
      return;
    }
    await this.handle.sync();
    this.#open = false;
    await this.handle.close();
    await rename(this.temporary, target);
    await syncDirectory(path.dirname(target));
  }

  /** Sends the bytes to a device or a pipe, one after the other, as those take them. */
  async #copyTo(target: string): Promise<void> {
    const out = await open(target, constants.O_WRONLY);
    try {
      const buffer = new Uint8Array(COPY_BYTES);
      for (let position = 0; ;) {
        const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) return;
        await out.writeFile(buffer.subarray(0, bytesRead));
        position += bytesRead;
      }
    } finally {
      await out.close();
    }
  }

  async abandon(): Promise<void> {
    if (this.#open) {
      this.#open = false;
      await this.handle.close();
    }
    await rm(this.temporary, { force: true });
  }
}

/** Makes a rename last through a power cut, where the system allows it. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a small file at once: complete under its name, or not there. Without `sync` that holds
 * against a crash of the program but not of the machine, and the file is written in one go: for
 * thousands of small files the ways to the thread pool would cost more than the writing.
 */
export async function writeFileAtomically(
  file: string,
  data: Uint8Array | string,
  { sync = true } = {},
): Promise<void> {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (!sync) {
    const place = outputPlace(file);
    if (!place.direct) return writeAtOnce(place.path, bytes);
  }
  const pending = await PendingFile.create(file);
  try {
    await pending.write(bytes, 0);
    await pending.commit();
  } catch (error) {
    await pending.abandon();
    throw error;
  }
}

function writeAtOnce(file: string, bytes: Uint8Array): void {
  const temporary = temporaryName(file);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** A name beside the file's own that no other writer takes. */
function temporaryName(file: string): string {
  const suffix = `${process.pid}-${randomBytes(4).toString('hex')}`;
  return path.join(path.dirname(file), `.${path.basename(file)}.${suffix}.part`);
}
