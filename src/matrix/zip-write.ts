/**
 * The records of a zip file, byte for byte as Python's zipfile writes them for `numpy.savez` and
 * `numpy.savez_compressed`: dated 1980, every local header with room for 64-bit sizes, and
 * ZIP64 records only if a size or offset needs them.
 */
import { concatenate } from '../base/index.js';

/** One entry: what both of its headers say. */
export interface WrittenEntry {
  readonly name: string;
  readonly crc: number;
  readonly size: number;
  /** Bytes in the file if it is deflated; it is stored if absent. */
  readonly deflatedSize?: number;
  /** Where its local header begins. */
  readonly offset: number;
}

const LIMIT_32 = 0xffffffff;
const MANY_ENTRIES = 0xffff;
const VERSION_PLAIN = 20;
const VERSION_ZIP64 = 45;
/** 1 January 1980, midnight, in MS-DOS time: numpy's choice, so that equal data make equal files. */
const DOS_TIME_AND_DATE = 0x00210000;
const UNIX = 3;
const OWNER_MAY_READ_AND_WRITE = 0o600 << 16;

const text = new TextEncoder();

/** Little-endian fields one after the other. */
class Fields {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.#view = new DataView(this.bytes.buffer);
  }
  u16(...values: number[]): this {
    for (const value of values) {
      this.#view.setUint16(this.#at, value, true);
      this.#at += 2;
    }
    return this;
  }
  u32(...values: number[]): this {
    for (const value of values) {
      this.#view.setUint32(this.#at, value, true);
      this.#at += 4;
    }
    return this;
  }
  u64(...values: number[]): this {
    for (const value of values) {
      this.#view.setBigUint64(this.#at, BigInt(value), true);
      this.#at += 8;
    }
    return this;
  }
  raw(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#at);
    this.#at += bytes.length;
    return this;
  }
}

const STORED = 0;
const DEFLATED = 8;
const methodOf = ({ deflatedSize }: Pick<WrittenEntry, 'deflatedSize'>): number =>
  deflatedSize === undefined ? STORED : DEFLATED;

const fits32 = (value: number): number => Math.min(value, LIMIT_32);

/** Length of the local header, which depends on the name alone. */
export const localHeaderLength = (name: string): number => 30 + text.encode(name).length + 20;

export function localHeader(entry: Omit<WrittenEntry, 'offset'>): Uint8Array {
  const name = text.encode(entry.name);
  const { size, deflatedSize = size } = entry;
  const version = size > LIMIT_32 ? VERSION_ZIP64 : VERSION_PLAIN;
  return new Fields(localHeaderLength(entry.name))
    .u32(0x04034b50)
    .u16(version, 0, methodOf(entry))
    .u32(DOS_TIME_AND_DATE, entry.crc, fits32(deflatedSize), fits32(size))
    .u16(name.length, 20)
    .raw(name)
    .u16(1, 16)
    .u64(size, deflatedSize).bytes;
}

/** The central directory and what follows it; `offset` is where it will stand in the file. */
export function centralDirectory(entries: readonly WrittenEntry[], offset: number): Uint8Array {
  const headers = entries.map(centralHeader);
  const size = headers.reduce((sum, header) => sum + header.length, 0);
  return concatenate([...headers, endRecords(entries.length, size, offset)]);
}

function centralHeader(entry: WrittenEntry): Uint8Array {
  const name = text.encode(entry.name);
  const { size, deflatedSize = size } = entry;
  const wide = [
    ...(size > LIMIT_32 ? [size] : []),
    ...(deflatedSize > LIMIT_32 ? [deflatedSize] : []),
    ...(entry.offset > LIMIT_32 ? [entry.offset] : []),
  ];
  const extra = wide.length === 0 ? 0 : 4 + 8 * wide.length;
  const version = extra > 0 ? VERSION_ZIP64 : VERSION_PLAIN;
  const fields = new Fields(46 + name.length + extra)
    .u32(0x02014b50)
    .u16((UNIX << 8) | version, version, 0, methodOf(entry))
    .u32(DOS_TIME_AND_DATE, entry.crc, fits32(deflatedSize), fits32(size))
    .u16(name.length, extra, 0, 0, 0)
    .u32(OWNER_MAY_READ_AND_WRITE, fits32(entry.offset))
    .raw(name);
  if (extra > 0) fields.u16(1, 8 * wide.length).u64(...wide);
  return fields.bytes;
}

function endRecords(count: number, size: number, offset: number): Uint8Array {
  const end = new Fields(22)
    .u32(0x06054b50)
    .u16(0, 0, Math.min(count, MANY_ENTRIES), Math.min(count, MANY_ENTRIES))
    .u32(fits32(size), fits32(offset))
    .u16(0).bytes;
  if (offset <= LIMIT_32 && size <= LIMIT_32 && count < MANY_ENTRIES) return end;
  const record = new Fields(56)
    .u32(0x06064b50)
    .u64(44)
    .u16(VERSION_ZIP64, VERSION_ZIP64)
    .u32(0, 0)
    .u64(count, count, size, offset).bytes;
  const locator = new Fields(20)
    .u32(0x07064b50, 0)
    .u64(offset + size)
    .u32(1).bytes;
  return concatenate([record, locator, end]);
}
