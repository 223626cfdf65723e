/** Files on disk as byte sources, and files that appear under their name only when complete. */
import { constants, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { link, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ByteSource } from '../byte-source.js';
import { ArgumentError, CrabError } from '../errors.js';
import { makeFolderOf, notMade } from './folders.js';
import { isTaken, outputPlace, STANDARD_OUTPUT, type OutputPlace } from './output-place.js';
import { openRegularFile } from './regular-file.js';
import { aboutFile } from './system-errors.js';
import { removeAbandonedFiles, temporaryName } from './temporary-files.js';

const COPY_BYTES = 1 << 20;

/** Opens a file for reading by ranges. */
export async function fileSource(file: string): Promise<ByteSource> {
  const handle = await openRegularFile(file);
  try {
    const { size } = await handle.stat();
    return {
      name: file,
      size,
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

/**
 * A file being written under a temporary name beside its own. `commit` syncs it and gives it its
 * name; until then, and after `abandon`, nothing stands under that name. For a device or a pipe the
 * temporary file is copied into it instead.
 *
 * A file that is named by its path replaces what stands there. One that is named by the place a user gave,
 * looked at before the work began, does so only if nothing else came there meanwhile.
 */
export class PendingFile {
  /** Where the bytes are until the commit. */
  readonly temporary: string;
  readonly handle: FileHandle;
  readonly #place: OutputPlace;
  readonly #guarded: boolean;
  #open = true;

  private constructor(place: OutputPlace, guarded: boolean, temporary: string, handle: FileHandle) {
    this.#place = place;
    this.#guarded = guarded;
    this.temporary = temporary;
    this.handle = handle;
  }

  static async create(target: string | OutputPlace): Promise<PendingFile> {
    const guarded = typeof target !== 'string';
    const place = guarded ? target : outputPlace(target);
    const file = place.direct ? path.join(tmpdir(), path.basename(place.path)) : place.path;
    const [writer] = await removeAbandonedFiles(path.dirname(file), path.basename(file));
    if (guarded && !place.direct && writer !== undefined) {
      throw new ArgumentError(
        `${place.path} is being written by process ${writer}: wait for its end, or name another file`,
      );
    }
    const temporary = temporaryName(file);
    const handle = await open(temporary, 'wx+').catch((error: unknown) => {
      throw notMade('file', place.path, error);
    });
    return new PendingFile(place, guarded, temporary, handle);
  }

  /** A whole file: `work` writes it, and if that fails nothing is left. */
  static async fill(
    target: string | OutputPlace,
    work: (file: PendingFile) => Promise<void>,
  ): Promise<void> {
    const file = await PendingFile.create(target);
    try {
      await work(file);
      await file.commit();
    } catch (error) {
      await file.abandon();
      throw error;
    }
  }

  /** Writes all of `bytes` at a place. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    let done = 0;
    try {
      while (done < bytes.length) {
        const left = bytes.length - done;
        const { bytesWritten } = await this.handle.write(bytes, done, left, position + done);
        done += bytesWritten;
      }
    } catch (error) {
      throw aboutFile(error, this.#place.path);
    }
  }

  async commit(): Promise<void> {
    const { path: target, direct } = this.#place;
    if (direct) {
      await this.#copyTo(target);
      await this.abandon();
      return;
    }
    await this.handle.sync().catch((error: unknown) => {
      throw aboutFile(error, target);
    });
    this.#open = false;
    await this.handle.close();
    if (this.#guarded) await moveUnlessTaken(this.temporary, this.#place);
    else await rename(this.temporary, target);
    await syncFolder(path.dirname(target));
  }

  /** Sends the bytes to a device or a pipe, one after the other, as those take them. */
  async #copyTo(target: string): Promise<void> {
    const out = await openSink(target);
    try {
      const buffer = new Uint8Array(COPY_BYTES);
      for (let position = 0; ;) {
        const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, position);
        if (bytesRead === 0) return;
        await out.write(buffer.subarray(0, bytesRead));
        position += bytesRead;
      }
    } catch (error) {
      // Whoever reads a pipe may stop when they have enough: `crab … | head`.
      if (codeOf(error) !== 'EPIPE') throw error;
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

/** Takes bytes one after the other. */
interface Sink {
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

async function openSink(target: string): Promise<Sink> {
  if (target !== STANDARD_OUTPUT) {
    const file = await open(target, constants.O_WRONLY);
    return { write: (bytes) => file.writeFile(bytes), close: () => file.close() };
  }
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => Promise.resolve(),
  };
}

/** The place of an output was free when a work began, and another process has used it since. */
export class OutputTakenError extends CrabError {
  override name = 'OutputTakenError';

  constructor({ path: file }: OutputPlace) {
    const time = statSync(file, { throwIfNoEntry: false })?.mtime.toLocaleTimeString('en-GB');
    super(
      `${file} was written by another process${time === undefined ? '' : ` at ${time}`}, before this one had finished: it stays as it is, and this result is not saved`,
    );
  }
}

/** What file systems without hard links answer to `link`. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL'];

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Gives a finished file its name if nobody else has used the place since it was looked at. */
async function moveUnlessTaken(temporary: string, place: OutputPlace): Promise<void> {
  if (isTaken(place)) throw new OutputTakenError(place);
  if (place.before !== null) {
    await rename(temporary, place.path);
    return;
  }
  try {
    // Unlike a rename, neither a link nor an exclusive file replaces what came there a moment ago.
    await link(temporary, place.path).catch(async (error: unknown) => {
      if (!WITHOUT_LINKS.includes(codeOf(error))) throw error;
      await (await open(place.path, 'wx')).close();
      await rename(temporary, place.path);
    });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new OutputTakenError(place);
  }
  await rm(temporary, { force: true });
}

/** Makes new names in a folder last through a power cut, if the system allows it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
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
  file: string | OutputPlace,
  data: Uint8Array | string,
  { sync = true } = {},
): Promise<void> {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (!sync && typeof file === 'string') {
    const place = outputPlace(file);
    if (!place.direct) return writeAtOnce(place.path, bytes);
  }
  await PendingFile.fill(file, (pending) => pending.write(bytes, 0));
}

/** Writes an output that a user named, unless another process has used its place since it was looked at. */
export async function writeOutput(place: OutputPlace, data: Uint8Array | string): Promise<void> {
  await makeFolderOf(place.path);
  await writeFileAtomically(place, data);
}

function writeAtOnce(file: string, bytes: Uint8Array): void {
  const temporary = temporaryName(file);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw aboutFile(error, file);
  }
}
