/**
 * Reads zip files that nobody vouches for: the directory is checked as a whole (sizes, duplicates,
 * entries that overlap or lie outside) before any entry is touched, and entries are read in pieces
 * against their declared size and checksum. Stored and deflated entries, ZIP64 included.
 */
import { Inflate } from 'fflate';
import { FormatError } from '../base/index.js';
import { crc32 } from './zip-checksum.js';
import { readRange, type ByteSource } from '../base/index.js';

export interface ZipEntry {
  readonly name: string;
  readonly deflated: boolean;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  /** Where its data begin. */
  readonly dataOffset: number;
}

/** More entries or a longer directory than any data set file has. */
const MAX_ENTRIES = 1024;
const MAX_DIRECTORY = 1 << 20;
/** Deflate cannot shrink data further than this. */
const MAX_RATIO = 1032;
const STORED = 0;
const DEFLATED = 8;
const FLAG_ENCRYPTED = 1;
const MARK_32 = 0xffffffff;

interface DirectoryPlace {
  readonly offset: number;
  readonly size: number;
  readonly count: number;
}

interface CentralEntry extends Omit<ZipEntry, 'dataOffset'> {
  readonly offset: number;
}

/** Every entry of a zip file, by name, in the order of its directory. */
export async function readZipDirectory(source: ByteSource): Promise<Map<string, ZipEntry>> {
  const place = await findDirectory(source);
  const directory = await readRange(source, place.offset, place.size);
  const central = parseDirectory(directory, place.count, source.name);
  if (new Set(central.map(({ name }) => name)).size !== central.length) {
    throw new FormatError(`${source.name}: two entries have the same name`);
  }
  const dataOffsets = new Map<string, number>();
  let end = 0;
  for (const entry of [...central].sort((a, b) => a.offset - b.offset)) {
    if (entry.offset < end) throw new FormatError(`${source.name}: zip entries overlap`);
    const dataOffset = await dataStart(source, entry);
    end = dataOffset + entry.compressedSize;
    if (end > place.offset) {
      throw new FormatError(`${source.name}: entry "${entry.name}" reaches beyond the entries`);
    }
    dataOffsets.set(entry.name, dataOffset);
  }
  return new Map(
    central.map(({ offset, ...entry }) => [
      entry.name,
      { ...entry, dataOffset: dataOffsets.get(entry.name) ?? offset },
    ]),
  );
}

async function findDirectory(source: ByteSource): Promise<DirectoryPlace> {
  const tailLength = Math.min(source.size, 22 + 0xffff);
  const tail = await readRange(source, source.size - tailLength, tailLength);
  const view = viewOf(tail);
  for (let at = tail.length - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== 0x06054b50) continue;
    if (at + 22 + view.getUint16(at + 20, true) !== tail.length) continue;
    const place = await wideOrNarrow(source, view, at, source.size - tailLength + at);
    const { offset, size, count } = place;
    if (count > MAX_ENTRIES || size > MAX_DIRECTORY) {
      throw new FormatError(`${source.name}: a zip file of ${count} entries is not a data set`);
    }
    if (size < count * 46 || offset + size > source.size) break;
    return place;
  }
  throw new FormatError(`${source.name} is not a complete zip file`);
}

async function wideOrNarrow(
  source: ByteSource,
  view: DataView,
  at: number,
  position: number,
): Promise<DirectoryPlace> {
  const narrow = {
    count: view.getUint16(at + 10, true),
    size: view.getUint32(at + 12, true),
    offset: view.getUint32(at + 16, true),
  };
  if (at < 20 || view.getUint32(at - 20, true) !== 0x07064b50) return narrow;
  const recordAt = uint64(view, at - 20 + 8, source.name);
  if (recordAt + 56 > position) throw new FormatError(`${source.name}: bad ZIP64 locator`);
  const record = viewOf(await readRange(source, recordAt, 56));
  if (record.getUint32(0, true) !== 0x06064b50) {
    throw new FormatError(`${source.name}: bad ZIP64 record`);
  }
  return {
    count: uint64(record, 32, source.name),
    size: uint64(record, 40, source.name),
    offset: uint64(record, 48, source.name),
  };
}

function parseDirectory(bytes: Uint8Array, count: number, file: string): CentralEntry[] {
  const view = viewOf(bytes);
  const entries: CentralEntry[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50) {
      throw new FormatError(`${file}: damaged zip directory`);
    }
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const next = at + 46 + nameLength + extraLength + view.getUint16(at + 32, true);
    if (next > bytes.length) throw new FormatError(`${file}: damaged zip directory`);
    entries.push(parseCentral(bytes, view, at, file));
    at = next;
  }
  return entries;
}

function parseCentral(bytes: Uint8Array, view: DataView, at: number, file: string): CentralEntry {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const nameEnd = at + 46 + view.getUint16(at + 28, true);
  const extraEnd = nameEnd + view.getUint16(at + 30, true);
  const name = decodeName(bytes.subarray(at + 46, nameEnd), file);
  if (flags & FLAG_ENCRYPTED) throw new FormatError(`${file}: entry "${name}" is encrypted`);
  if (method !== STORED && method !== DEFLATED) {
    throw new FormatError(`${file}: entry "${name}" has unsupported compression ${method}`);
  }
  const narrow = {
    size: view.getUint32(at + 24, true),
    compressedSize: view.getUint32(at + 20, true),
    offset: view.getUint32(at + 42, true),
  };
  const sizes = widen(narrow, view, nameEnd, extraEnd, file);
  if (method === STORED && sizes.size !== sizes.compressedSize) {
    throw new FormatError(`${file}: entry "${name}" has two sizes`);
  }
  if (sizes.size > sizes.compressedSize * MAX_RATIO + 64) {
    throw new FormatError(`${file}: entry "${name}" claims an impossible compression`);
  }
  return { name, deflated: method === DEFLATED, crc: view.getUint32(at + 16, true), ...sizes };
}

type Sizes = Pick<CentralEntry, 'size' | 'compressedSize' | 'offset'>;

/** Replaces the 32-bit fields that say "see the extra field" by the 64-bit ones there. */
function widen(narrow: Sizes, view: DataView, from: number, to: number, file: string): Sizes {
  const wanted = (['size', 'compressedSize', 'offset'] as const).filter(
    (field) => narrow[field] === MARK_32,
  );
  if (wanted.length === 0) return narrow;
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue;
    const end = at + 4 + view.getUint16(at + 2, true);
    if (end > to || end - at - 4 < 8 * wanted.length) break;
    const wide = { ...narrow };
    wanted.forEach((field, i) => (wide[field] = uint64(view, at + 4 + 8 * i, file)));
    return wide;
  }
  throw new FormatError(`${file}: missing ZIP64 sizes`);
}

async function dataStart(source: ByteSource, entry: CentralEntry): Promise<number> {
  const header = viewOf(await readRange(source, entry.offset, 30));
  const method = entry.deflated ? DEFLATED : STORED;
  if (header.getUint32(0, true) !== 0x04034b50 || header.getUint16(8, true) !== method) {
    throw new FormatError(`${source.name}: the local header of "${entry.name}" is damaged`);
  }
  const nameLength = header.getUint16(26, true);
  const name = await readRange(source, entry.offset + 30, nameLength);
  if (decodeName(name, source.name) !== entry.name) {
    throw new FormatError(`${source.name}: entry "${entry.name}" has two names`);
  }
  return entry.offset + 30 + nameLength + header.getUint16(28, true);
}

/** Names of arrays are ASCII; anything else is refused rather than guessed at. */
function decodeName(bytes: Uint8Array, file: string): string {
  if (bytes.some((byte) => byte < 32 || byte > 126)) {
    throw new FormatError(`${file}: an entry's name is not plain ASCII`);
  }
  return String.fromCharCode(...bytes);
}

function uint64(view: DataView, at: number, file: string): number {
  const value = Number(view.getBigUint64(at, true));
  if (!Number.isSafeInteger(value)) throw new FormatError(`${file}: a zip size is absurd`);
  return value;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Small, because each piece may inflate a thousandfold. */
const INFLATE_PIECE = 8 << 10;
const COMPRESSED_READ = 256 << 10;
const STORED_READ = 1 << 20;

/**
 * The data of one entry, from its beginning, in pieces; the last one is given only after size and
 * checksum agreed.
 */
export async function* entryPieces(
  source: ByteSource,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array, void, undefined> {
  const damaged = (): FormatError =>
    new FormatError(`${source.name}: the data of "${entry.name}" are damaged`);
  let crc = 0;
  let size = 0;
  let held: Uint8Array | undefined;
  for await (const piece of entry.deflated
    ? inflated(source, entry)
    : ranges(source, entry, STORED_READ)) {
    size += piece.length;
    if (size > entry.size) throw damaged();
    crc = crc32(piece, crc);
    if (held) yield held;
    held = piece;
  }
  if (size !== entry.size || crc !== entry.crc) throw damaged();
  if (held) yield held;
}

async function* ranges(source: ByteSource, entry: ZipEntry, step: number) {
  for (let done = 0; done < entry.compressedSize; done += step) {
    const length = Math.min(step, entry.compressedSize - done);
    yield await readRange(source, entry.dataOffset + done, length);
  }
}

async function* inflated(source: ByteSource, entry: ZipEntry) {
  let out: Uint8Array[] = [];
  let failure: unknown;
  const inflate = new Inflate((data) => {
    if (data.length > 0) out.push(data);
  });
  const push = (bytes: Uint8Array, last: boolean): void => {
    try {
      inflate.push(bytes, last);
    } catch (error) {
      failure = error;
    }
  };
  for await (const block of ranges(source, entry, COMPRESSED_READ)) {
    for (let at = 0; at < block.length && failure === undefined; at += INFLATE_PIECE) {
      push(block.subarray(at, at + INFLATE_PIECE), false);
      yield* out;
      out = [];
    }
  }
  if (failure === undefined) push(new Uint8Array(0), true);
  yield* out;
  if (failure !== undefined) {
    throw new FormatError(`${source.name}: the compressed data of "${entry.name}" are damaged`, {
      cause: failure,
    });
  }
}
