/**
 * Safetensors files on disk, as bytes: reading any tensor on its own, and writing atomically.
 *
 * Node has no memory mapping; what it is wanted for, reading one tensor without the others and
 * without a second copy, is had by positional reads straight into the buffer that the tensor then
 * owns. Writing streams one tensor at a time to a temporary name in the same folder, syncs it,
 * renames it over the target and syncs the folder: after a crash there is the old file or the new
 * one, never a mixture. Tensors of libtorch are made from these bytes in `./index.ts`.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  encodeHeader,
  headerLength,
  lengthBytes,
  messageOf,
  parseHeader,
  SafetensorsError,
  tensorBytes,
  writingOrder,
} from '../../base/index.js';
import type { SafetensorsHeader, StoredTensor, TensorDescription } from '../../base/index.js';

/** One read or write call moves at most this much (the system's limit is just under 2 GiB). */
const chunkBytes = 1 << 30;

/** Opening a pipe would wait for a writer, for ever and deaf to Ctrl-C; Windows has no such flag. */
const withoutWaiting = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0);

/** An open safetensors file. The header is checked on opening, tensors are read when asked for. */
export class SafetensorsFile {
  readonly #tensors: ReadonlyMap<string, StoredTensor>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly #dataStart: number;
  #descriptor: number | undefined;

  private constructor(
    readonly path: string,
    descriptor: number,
    header: SafetensorsHeader,
    dataStart: number,
  ) {
    this.#descriptor = descriptor;
    this.#tensors = new Map(header.tensors.map((tensor) => [tensor.name, tensor]));
    this.metadata = header.metadata;
    this.#dataStart = dataStart;
  }

  /** Opens a file and checks all of its header; close it with `close()`. */
  static open(path: string): SafetensorsFile {
    const descriptor = describing(path, () => openSync(path, withoutWaiting));
    try {
      return describing(path, () => {
        const status = fstatSync(descriptor);
        if (!status.isFile()) throw new SafetensorsError('io', 'it is not a file');
        const fileBytes = status.size;
        const first = readRange(descriptor, 0, Math.min(lengthBytes, fileBytes));
        const length = headerLength(first, fileBytes);
        const dataStart = lengthBytes + length;
        const header = parseHeader(
          readRange(descriptor, lengthBytes, length),
          fileBytes - dataStart,
        );
        return new SafetensorsFile(path, descriptor, header, dataStart);
      });
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  /** Names of the tensors, in the order of their bytes. */
  get names(): string[] {
    return [...this.#tensors.keys()];
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** Type, shape and place of one tensor. */
  describe(name: string): StoredTensor {
    const tensor = this.#tensors.get(name);
    if (tensor === undefined) {
      throw new SafetensorsError(
        'no-such-tensor',
        `${this.path}: there is no tensor ${JSON.stringify(name)}; it has ${summary(this.names)}`,
      );
    }
    return tensor;
  }

  /** The bytes of one tensor, read from disk now into a buffer of their own. */
  readBytes(name: string): Uint8Array<ArrayBuffer> {
    const { dtype, begin, end } = this.describe(name);
    const descriptor = this.#descriptor;
    if (descriptor === undefined) {
      throw new SafetensorsError('closed', `${this.path}: the file is closed`);
    }
    return describing(this.path, () => {
      const bytes = readRange(descriptor, this.#dataStart + begin, end - begin);
      if (dtype === 'bool' && bytes.some((byte) => byte > 1)) {
        throw new SafetensorsError(
          'invalid-value',
          `tensor ${JSON.stringify(name)} is bool, but holds a byte other than 0 and 1`,
        );
      }
      return bytes;
    });
  }

  /** Closes the file; tensors read before stay valid. */
  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function summary(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

/** Runs file access; what goes wrong is told as one SafetensorsError that starts with the path. */
function describing<T>(path: string, access: () => T): T {
  try {
    return access();
  } catch (error) {
    if (error instanceof SafetensorsError) {
      throw new SafetensorsError(error.problem, `${path}: ${error.message}`, { cause: error });
    }
    const why = messageOf(error);
    throw new SafetensorsError('io', `${path}: ${why}`, { cause: error });
  }
}

function readRange(descriptor: number, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let done = 0;
  while (done < length) {
    const wanted = Math.min(length - done, chunkBytes);
    const count = readSync(descriptor, bytes, done, wanted, position + done);
    if (count === 0) {
      throw new SafetensorsError(
        'incomplete-data',
        `the file ends at byte ${position + done}, expected ${length - done} more`,
      );
    }
    done += count;
  }
  return bytes;
}

/** A tensor to write: `bytes` is called once, when its turn comes. */
export interface TensorSource extends TensorDescription {
  readonly bytes: () => Uint8Array;
}

/** Writes a safetensors file atomically; one tensor's bytes are held at a time. */
export function writeSafetensorsFile(
  path: string,
  tensors: readonly TensorSource[],
  metadata: Readonly<Record<string, string>> = {},
): void {
  const ordered = writingOrder(tensors);
  const header = describing(path, () => encodeHeader(ordered, metadata));
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  describing(path, () => {
    try {
      writeAll(temporary, header, ordered);
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    syncFolder(folder);
  });
}

function writeAll(path: string, header: Uint8Array, tensors: readonly TensorSource[]): void {
  const descriptor = openSync(path, 'wx');
  try {
    writeBytes(descriptor, header);
    for (const { name, dtype, shape, bytes } of tensors) {
      const data = bytes();
      if (data.length !== tensorBytes(dtype, shape)) {
        throw new SafetensorsError(
          'size-mismatch',
          `tensor ${JSON.stringify(name)} of type ${dtype} and shape [${shape.join(', ')}] was given ${data.length} bytes`,
        );
      }
      writeBytes(descriptor, data);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeBytes(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(descriptor, bytes, done, Math.min(bytes.length - done, chunkBytes));
  }
}

/** Makes the rename durable; Windows cannot open a folder and needs no such call. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
