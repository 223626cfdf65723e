/**
 * Writes a .npz whose arrays grow by rows. How many rows there will be is known from the start, and with it
 * where every row stands: rows go straight to their place, from any thread, and need no memory.
 */
import { writeSync } from 'node:fs';
import { PendingFile, type OutputPlace } from '../../base/node.js';
import { encodeNpy, encodeNpyHeader, encodeNpyParts, unicodeArray, type NpyArray } from '../npy.js';
import type { Variant } from '../problem.js';
import type { Part } from '../raven-file.js';
import { partArrays, variantArray, type SetBatch } from '../set.js';
import { formatLabel } from '../set-label.js';
import { combineCrc32, crc32 } from '../zip-checksum.js';
import {
  centralDirectory,
  localHeader,
  localHeaderLength,
  type WrittenEntry,
} from '../zip-write.js';

/** One array in the file: its numpy header, and where header and data stand. */
export interface RowArray {
  readonly name: string;
  readonly header: Uint8Array;
  readonly rowBytes: number;
  readonly offset: number;
  readonly start: number;
  readonly end: number;
}

/** What an array of rows is: the shape of all of it, and the bytes of a row. */
export interface RowShape {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly rowBytes: number;
}

/** Where arrays stand, one after the other from the beginning of the file. */
export function placeRows(arrays: readonly RowShape[]): RowArray[] {
  let offset = 0;
  return arrays.map(({ name: key, dtype, shape, rowBytes }) => {
    const name = `${key}.npy`;
    const header = encodeNpyHeader(dtype, shape);
    const start = offset + localHeaderLength(name) + header.length;
    const place = { name, header, rowBytes, offset, start, end: start + shape[0] * rowBytes };
    offset = place.end;
    return place;
  });
}

/**
 * Writes rows to their place. Synchronous: the bytes go to the system's cache, which is faster than a round
 * through Node's threads.
 */
export function putRows(
  descriptor: number,
  { start, rowBytes }: RowArray,
  first: number,
  bytes: Uint8Array,
): void {
  for (let done = 0; done < bytes.length;) {
    const position = start + first * rowBytes + done;
    done += writeSync(descriptor, bytes, done, bytes.length - done, position);
  }
}

/** An array and the pieces of its file, header first. */
export type PiecedArray = readonly [name: string, pieces: Iterable<Uint8Array>];

/** Completes a file whose rows are written: headers, further arrays, and what is in it. */
export async function completeNpz(
  file: PendingFile,
  rows: readonly (readonly [array: RowArray, dataCrc: number])[],
  others: Iterable<PiecedArray>,
): Promise<void> {
  const entries: WrittenEntry[] = [];
  let at = 0;
  for (const [{ name, header, offset, start, end }, dataCrc] of rows) {
    const crc = combineCrc32(crc32(header), dataCrc, end - start);
    const entry = { name, crc, size: header.length + end - start, offset };
    await file.write(localHeader(entry), offset);
    await file.write(header, start - header.length);
    entries.push(entry);
    at = end;
  }
  for (const [key, pieces] of others) {
    const name = `${key}.npy`;
    const start = at + localHeaderLength(name);
    let [crc, size] = [0, 0];
    for (const piece of pieces) {
      await file.write(piece, start + size);
      crc = crc32(piece, crc);
      size += piece.length;
    }
    const entry = { name, crc, size, offset: at };
    await file.write(localHeader(entry), at);
    entries.push(entry);
    at = start + size;
  }
  await file.write(centralDirectory(entries, at), at);
}

/** Texts are encoded in groups, each as wide as the widest of all. */
const TEXTS_AT_ONCE = 4096;

/** Pieces of an array of texts. */
export function* textPieces(texts: readonly string[]): Generator<Uint8Array> {
  const { dtype } = unicodeArray([texts.reduce((a, b) => (a.length >= b.length ? a : b), '')]);
  yield encodeNpyHeader(dtype, [texts.length]);
  for (let first = 0; first < texts.length; first += TEXTS_AT_ONCE) {
    const data = texts.slice(first, first + TEXTS_AT_ONCE);
    yield encodeNpyParts({ dtype, shape: [data.length], data })[1];
  }
}

/** Arrays of a set that tell how its candidates were made and which part each problem belongs to. */
export const origin = (
  variant: Variant | undefined,
  parts: readonly (Part | undefined)[],
): PiecedArray[] =>
  [...(variant ? [['variant', variantArray(variant)] as const] : []), ...partArrays(parts)].map(
    ([name, array]) => [name, [encodeNpy(array)]],
  );

/** Writes arrays of `count` problems that come some at a time, and what tells of each. */
export class RowsWriter {
  readonly #file: PendingFile;
  readonly #count: number;
  readonly #labels: string[] = [];
  readonly #parts: (Part | undefined)[] = [];
  #variant: Variant | undefined;
  #arrays: RowArray[] = [];
  #crcs: number[] = [];

  private constructor(file: PendingFile, count: number) {
    this.#file = file;
    this.#count = count;
  }

  static async create(place: OutputPlace, count: number): Promise<RowsWriter> {
    return new RowsWriter(await PendingFile.create(place), count);
  }

  /** Adds rows of all arrays, the same ones in the same order each time, made of a batch. */
  add(arrays: readonly (readonly [string, NpyArray])[], { label, part, variant }: SetBatch): void {
    const parts = arrays.map(([, array]) => encodeNpyParts(array)[1]);
    if (this.#arrays.length === 0) {
      this.#arrays = placeRows(
        arrays.map(([name, { dtype, shape }], i) => ({
          name,
          dtype,
          shape: [this.#count, ...shape.slice(1)],
          rowBytes: parts[i].length / shape[0],
        })),
      );
      this.#crcs = parts.map(() => 0);
    }
    parts.forEach((bytes, i) => {
      putRows(this.#file.handle.fd, this.#arrays[i], this.#labels.length, bytes);
      this.#crcs[i] = combineCrc32(this.#crcs[i], crc32(bytes), bytes.length);
    });
    for (const each of label) this.#labels.push(formatLabel(each));
    label.forEach((_, i) => this.#parts.push(part?.[i]));
    this.#variant = variant;
  }

  /** Completes the file. */
  async finish(): Promise<void> {
    const rows = this.#arrays.map((array, i) => [array, this.#crcs[i]] as const);
    const told = origin(this.#variant, this.#parts);
    await completeNpz(this.#file, rows, [['label', textPieces(this.#labels)], ...told]);
    await this.#file.commit();
  }

  /** Leaves nothing behind. */
  abandon(): Promise<void> {
    return this.#file.abandon();
  }
}
