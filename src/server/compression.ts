/**
 * Compressed bodies of files, made once and kept in memory: the runtime of 5 MB goes out as 3.7. What is
 * compressed already (fonts, pictures) or hardly shrinks (weights of networks) goes out as it is.
 */
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

const COMPRESSIBLE = new Set([
  ...['.html', '.js', '.mjs', '.css', '.json', '.map', '.webmanifest', '.txt', '.svg', '.wasm'],
]);
/** Smaller files save no more than the headers cost; larger ones take too much memory. */
const LEAST_BYTES = 1024;
const MOST_BYTES = 64 << 20;
/** Bytes kept in all. */
const MOST_KEPT = 96 << 20;
/** Quick, and nearly as small as the best. */
const BROTLI_QUALITY = 5;

const squeeze: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

export const isCompressible = (name: string, size: number): boolean =>
  COMPRESSIBLE.has(path.extname(name).toLowerCase()) && size >= LEAST_BYTES && size <= MOST_BYTES;

/** Bodies by a key that changes with the file. */
export class CompressedBodies {
  readonly #bodies = new Map<string, Promise<Buffer>>();
  #kept = 0;

  /** The body under a key; `read` gives the file if it was not compressed before. */
  get(key: string, encoding: Encoding, read: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#bodies.get(key);
    if (known !== undefined) return known;
    const made = read().then(squeeze[encoding]);
    this.#bodies.set(key, made);
    made.then(
      ({ length }) => this.#count(length),
      () => this.#bodies.delete(key),
    );
    return made;
  }

  /** Forgets everything if there is too much: what is needed will soon be compressed again. */
  #count(length: number): void {
    this.#kept += length;
    if (this.#kept <= MOST_KEPT) return;
    this.#bodies.clear();
    this.#kept = 0;
  }
}
