/**
 * Where bytes come from: memory, a browser's Blob or File, or (in `node/`) a file on disk. Readers
 * ask for ranges, so that what they do not need is never loaded.
 */
import { FormatError } from './errors.js';

export interface ByteSource {
  /** What error messages call it: a file name, mostly. */
  readonly name: string;
  readonly size: number;
  /** Exactly `length` bytes from `offset`; both are checked by the caller through `readRange`. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** What there is of the browser's Blob that reading needs. */
export interface BlobLike {
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export const memorySource = (bytes: Uint8Array, name = 'data'): ByteSource => ({
  name,
  size: bytes.length,
  read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  close: () => Promise.resolve(),
});

export const blobSource = (blob: BlobLike, name = 'file'): ByteSource => ({
  name,
  size: blob.size,
  read: async (offset, length) =>
    new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer()),
  close: () => Promise.resolve(),
});

/** Reads a range that must lie inside the source. */
export async function readRange(
  source: ByteSource,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  if (offset < 0 || length < 0 || offset + length > source.size) {
    throw new FormatError(`${source.name} is truncated: it has only ${source.size} bytes`);
  }
  const bytes = await source.read(offset, length);
  if (bytes.length !== length) throw new FormatError(`${source.name} became shorter while read`);
  return bytes;
}

/** Runs a reader and puts the file's name before what it complains of. */
export async function naming<T>(name: string, reader: () => Promise<T> | T): Promise<T> {
  try {
    return await reader();
  } catch (error) {
    if (error instanceof FormatError && !error.message.startsWith(name)) {
      throw new FormatError(`${name}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
