/**
 * The .npz format: a zip of .npy arrays. Arrays can be read whole or some rows at a time: stored
 * ones by position, deflated ones by inflating forward, so that a large file needs little memory.
 * Writing (whole, in memory) stores as `numpy.savez` does, or deflates as `numpy.savez_compressed`.
 */
import {
  decodeItems,
  encodeNpyParts,
  MAX_NPY_HEADER,
  npyDataLength,
  parseNpyHeader,
  type NpyArray,
  type NpyHeader,
} from './npy.js';
import { deflateRaw } from './deflate.js';
import { crc32 } from './zip-checksum.js';
import { entryPieces, readZipDirectory, type ZipEntry } from './zip-read.js';
import {
  concatenate,
  FormatError,
  memorySource,
  readRange,
  type ByteSource,
} from '../base/index.js';
import { centralDirectory, localHeader, type WrittenEntry } from './zip-write.js';

/** Most bytes of one array that is read whole, unless the caller says otherwise. */
const DEFAULT_LIMIT = 64 << 20;

/** Arrays of fewer bytes are stored in any case: starting to deflate would take longer than it saves. */
const LEAST_TO_DEFLATE = 1024;
/** A quarter of the time of the usual level, for drawings a fifth larger. */
const FAST_LEVEL = 3;

/** An open .npz file; close its source when done. */
export class NpzFile {
  readonly source: ByteSource;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  private constructor(source: ByteSource, entries: ReadonlyMap<string, ZipEntry>) {
    this.source = source;
    this.#entries = entries;
  }

  static async open(source: ByteSource): Promise<NpzFile> {
    return new NpzFile(source, await readZipDirectory(source));
  }

  /** Names of the arrays, without `.npy`, in the order of the file. */
  get names(): string[] {
    return [...this.#entries.keys()]
      .filter((name) => name.endsWith('.npy'))
      .map((name) => name.slice(0, -4));
  }

  has(name: string): boolean {
    return this.#entries.has(`${name}.npy`);
  }

  /** Opens one array: its header is read and compared with its size. */
  async array(name: string): Promise<NpzArray> {
    const entry = this.#entries.get(`${name}.npy`);
    if (!entry) throw new FormatError(`${this.source.name}: there is no array "${name}"`);
    return NpzArray.open(this.source, entry);
  }

  /** One array whole. */
  async read(name: string, limit = DEFAULT_LIMIT): Promise<NpyArray> {
    return (await this.array(name)).readAll(limit);
  }
}

/** One array of an open file. A row is one index of the first axis. */
export class NpzArray {
  readonly header: NpyHeader;
  readonly name: string;
  readonly #source: ByteSource;
  readonly #entry: ZipEntry;
  #forward: ForwardReader | undefined;
  /** How far a stored array was read in order, and the checksum so far: see `#follow`. */
  readonly #followed: { position: number; crc: number };

  private constructor(
    source: ByteSource,
    entry: ZipEntry,
    header: NpyHeader,
    headerBytes: Uint8Array,
  ) {
    this.#source = source;
    this.#entry = entry;
    this.header = header;
    this.#followed = { position: header.dataOffset, crc: crc32(headerBytes) };
    this.name = entry.name.slice(0, -4);
  }

  static async open(source: ByteSource, entry: ZipEntry): Promise<NpzArray> {
    const where = `${source.name}, array "${entry.name.slice(0, -4)}"`;
    const length = Math.min(entry.size, MAX_NPY_HEADER);
    const start = entry.deflated
      ? await new ForwardReader(source, entry).read(0, length)
      : await readRange(source, entry.dataOffset, length);
    try {
      const header = parseNpyHeader(start);
      const expected = header.dataOffset + npyDataLength(header);
      if (expected !== entry.size) {
        throw new FormatError(
          `its shape (${header.shape.join(', ')}) needs ${expected} bytes, but it has ${entry.size}`,
        );
      }
      return new NpzArray(source, entry, header, start.subarray(0, header.dataOffset));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      throw new FormatError(`${where}: ${error.message}`, { cause: error });
    }
  }

  /** Whether rows can be read in any order at no cost. */
  get randomAccess(): boolean {
    return !this.#entry.deflated;
  }

  get rows(): number {
    return this.header.shape[0] ?? 1;
  }

  get rowBytes(): number {
    return this.rows === 0 ? 0 : npyDataLength(this.header) / this.rows;
  }

  /** The whole array, its checksum verified. */
  async readAll(limit = DEFAULT_LIMIT): Promise<NpyArray> {
    const length = npyDataLength(this.header);
    if (length > limit) {
      throw new FormatError(
        `${this.#source.name}: array "${this.name}" has ${length} bytes, more than the ${limit} allowed`,
      );
    }
    const all = new Uint8Array(this.#entry.size);
    let at = 0;
    for await (const piece of entryPieces(this.#source, this.#entry)) {
      all.set(piece, at);
      at += piece.length;
    }
    const { dtype, shape, dataOffset } = this.header;
    return { dtype, shape, data: decodeItems(this.header, all.subarray(dataOffset)) };
  }

  /**
   * The bytes of some rows. Deflated arrays are inflated forward from the last place read; going
   * back starts again from the beginning. Whoever reads all rows in order has the checksum verified
   * with the last one; single rows of a stored array come without.
   */
  async readRowBytes(first: number, count: number): Promise<Uint8Array> {
    if (first < 0 || count < 0 || first + count > this.rows) {
      throw new RangeError(
        `rows ${first}..${first + count} of "${this.name}", which has ${this.rows}`,
      );
    }
    const from = this.header.dataOffset + first * this.rowBytes;
    const length = count * this.rowBytes;
    if (!this.#entry.deflated) {
      const bytes = await readRange(this.#source, this.#entry.dataOffset + from, length);
      this.#follow(from, bytes);
      return bytes;
    }
    if (!this.#forward || this.#forward.position > from) {
      this.#forward = new ForwardReader(this.#source, this.#entry);
    }
    return this.#forward.read(from, length);
  }

  #follow(from: number, bytes: Uint8Array): void {
    const followed = this.#followed;
    if (from !== followed.position) return;
    followed.crc = crc32(bytes, followed.crc);
    followed.position += bytes.length;
    if (followed.position === this.#entry.size && followed.crc !== this.#entry.crc) {
      throw new FormatError(`${this.#source.name}: the data of "${this.#entry.name}" are damaged`);
    }
  }

  /** Some rows as numbers or strings. */
  async readRows(first: number, count: number): Promise<NpyArray> {
    const bytes = await this.readRowBytes(first, count);
    return {
      dtype: this.header.dtype,
      shape: [count, ...this.header.shape.slice(1)],
      data: decodeItems(this.header, bytes),
    };
  }
}

/** Reads an entry forward, skipping what is not asked for. */
class ForwardReader {
  position = 0;
  readonly #pieces: AsyncGenerator<Uint8Array, void, undefined>;
  #rest: Uint8Array = new Uint8Array(0);
  readonly #name: string;

  constructor(source: ByteSource, entry: ZipEntry) {
    this.#pieces = entryPieces(source, entry);
    this.#name = `${source.name}: "${entry.name}"`;
  }

  async read(from: number, length: number): Promise<Uint8Array> {
    await this.#take(from - this.position, undefined);
    const bytes = new Uint8Array(length);
    await this.#take(length, bytes);
    return bytes;
  }

  async #take(length: number, into: Uint8Array | undefined): Promise<void> {
    let done = 0;
    while (done < length) {
      if (this.#rest.length === 0) {
        const next = await this.#pieces.next();
        if (next.done) throw new FormatError(`${this.#name} ends early`);
        this.#rest = next.value;
      }
      const part = this.#rest.subarray(0, length - done);
      into?.set(part, done);
      this.#rest = this.#rest.subarray(part.length);
      done += part.length;
      this.position += part.length;
    }
  }
}

/** All arrays of a small .npz in memory; `limit` bounds their bytes together. */
export async function readNpz(
  bytes: Uint8Array,
  name = 'data',
  limit = DEFAULT_LIMIT,
): Promise<Map<string, NpyArray>> {
  const file = await NpzFile.open(memorySource(bytes, name));
  const arrays = new Map<string, NpyArray>();
  let left = limit;
  for (const key of file.names) {
    const array = await file.array(key);
    arrays.set(key, await array.readAll(left));
    left -= npyDataLength(array.header);
  }
  return arrays;
}

let joining = new Uint8Array(0);

/** Parts one after the other, in memory that the next call uses again: new memory would cost more. */
function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (joining.length < length) joining = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joining.set(part, at);
    at += part.length;
  }
  return joining.subarray(0, length);
}

/** A .npz of the arrays, in their order, stored or deflated. */
export function writeNpz(
  arrays: Iterable<readonly [string, NpyArray]>,
  options: { readonly compress?: boolean } = {},
): Uint8Array {
  const parts: Uint8Array[] = [];
  const entries: WrittenEntry[] = [];
  let offset = 0;
  for (const [key, array] of arrays) {
    const npy = encodeNpyParts(array);
    const crc = crc32(npy[1], crc32(npy[0]));
    const size = npy[0].length + npy[1].length;
    const deflated = options.compress === true && size >= LEAST_TO_DEFLATE;
    const body = deflated ? [deflateRaw(joined(npy, size), { level: FAST_LEVEL })] : npy;
    const deflatedSize = deflated ? body[0].length : undefined;
    const entry = { name: `${key}.npy`, crc, size, deflatedSize, offset };
    const header = localHeader(entry);
    entries.push(entry);
    parts.push(header, ...body);
    offset += header.length + (deflatedSize ?? size);
  }
  return concatenate([...parts, centralDirectory(entries, offset)]);
}
