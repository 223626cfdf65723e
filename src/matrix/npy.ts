/**
 * The .npy format, versions 1 to 3: one array with a small text header. The header's grammar is
 * exactly what numpy writes (nothing is evaluated), and shape, type and length are checked against
 * each other before memory is taken. Little-endian, row-major arrays only; others are refused.
 */
import { concatenate, FormatError, productOf } from '../base/index.js';

/** Types of the data sets: numbers, booleans, and strings of fixed length (bytes or unicode). */
type NpyKind = 'u1' | 'b1' | 'i4' | 'i8' | 'f4' | 'f8' | 'S' | 'U';

export interface NpyHeader {
  /** As in the file, e.g. `|u1`, `<i8`, `|S13`, `<U138`. */
  readonly dtype: string;
  readonly kind: NpyKind;
  /** Bytes of one item. */
  readonly itemSize: number;
  /** Empty for a single value. */
  readonly shape: readonly number[];
  /** Product of the shape. */
  readonly count: number;
  /** Where the data begin. */
  readonly dataOffset: number;
}

export type NpyData =
  Uint8Array | Int32Array | BigInt64Array | Float32Array | Float64Array | readonly string[];

export interface NpyArray {
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Row by row; strings without their padding. */
  readonly data: NpyData;
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]; // "\x93NUMPY"
/** Any header of the data sets has 128 bytes; a record type's could be longer, but we read none. */
export const MAX_NPY_HEADER = 4096;
const MAX_DIMENSIONS = 32;
/** Strings take far more memory than their bytes; nothing reads more than this at once. */
const MAX_STRINGS = 1 << 20;
const ALIGNMENT = 64;
/** Room that numpy leaves in a header so that the first axis may grow in place. */
const GROWTH_DIGITS = 21;

// Python 2 may have written long integers with an L.
const HEADER =
  /^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': (\((?:\d{1,16}L?, ?)*(?:\d{1,16}L?)?\)), \} *\n$/;
const NUMERIC: ReadonlyMap<string, readonly [NpyKind, number]> = new Map([
  ['|u1', ['u1', 1]],
  ['|b1', ['b1', 1]],
  ['<i4', ['i4', 4]],
  ['<i8', ['i8', 8]],
  ['<f4', ['f4', 4]],
  ['<f8', ['f8', 8]],
]);

/** Reads the header at the beginning of `bytes`, which may stop anywhere after it. */
export function parseNpyHeader(bytes: Uint8Array): NpyHeader {
  if (bytes.length < 12 || MAGIC.some((byte, i) => bytes[i] !== byte)) {
    throw new FormatError('not a .npy array');
  }
  const version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] !== 0) {
    throw new FormatError(`.npy version ${version}.${bytes[7]} is unknown: expected 1.0 to 3.0`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = version === 1 ? 10 : 12;
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const dataOffset = start + length;
  if (dataOffset > MAX_NPY_HEADER) throw new FormatError(`a .npy header of ${length} bytes`);
  if (dataOffset > bytes.length) throw new FormatError('the .npy header is truncated');
  const text = String.fromCharCode(...bytes.subarray(start, dataOffset));
  const match = HEADER.exec(text);
  if (!match) throw new FormatError(`unreadable .npy header ${JSON.stringify(text.slice(0, 100))}`);
  if (match[2] === 'True') {
    throw new FormatError('the array is in Fortran order: save it in C order');
  }
  return { ...parseType(match[1]), ...parseShape(match[3]), dataOffset };
}

function parseType(dtype: string): Pick<NpyHeader, 'dtype' | 'kind' | 'itemSize'> {
  const numeric = NUMERIC.get(dtype);
  if (numeric) return { dtype, kind: numeric[0], itemSize: numeric[1] };
  const string = /^(\|S|<U)([1-9]\d{0,5})$/.exec(dtype);
  if (string) {
    const kind = string[1] === '|S' ? 'S' : 'U';
    return { dtype, kind, itemSize: Number(string[2]) * (kind === 'S' ? 1 : 4) };
  }
  if (dtype.startsWith('>')) throw new FormatError(`big-endian array type "${dtype}"`);
  throw new FormatError(
    `unsupported array type "${dtype}": expected one of ${[...NUMERIC.keys()].join(', ')}, |S<n>, <U<n>`,
  );
}

function parseShape(tuple: string): Pick<NpyHeader, 'shape' | 'count'> {
  const inside = tuple.slice(1, -1).trim();
  // One dimension is written "(3,)", and only that form ends in a comma.
  const shape =
    inside === '' ? [] : inside.replace(/,$/, '').replaceAll('L', '').split(',').map(Number);
  if (inside.endsWith(',') !== (shape.length === 1) || shape.length > MAX_DIMENSIONS) {
    throw new FormatError(`unreadable .npy shape ${tuple.slice(0, 100)}`);
  }
  const count = productOf(shape);
  if (shape.some((size) => !Number.isSafeInteger(size)) || !Number.isSafeInteger(count)) {
    throw new FormatError(`absurd array shape ${tuple}`);
  }
  return { shape, count };
}

/** Bytes of the data that follow the header. */
export function npyDataLength(header: NpyHeader): number {
  const bytes = header.count * header.itemSize;
  if (!Number.isSafeInteger(bytes))
    throw new FormatError(`absurd array shape (${header.shape.join(', ')})`);
  return bytes;
}

/** Reads an array from memory. */
export function decodeNpy(bytes: Uint8Array): NpyArray {
  const header = parseNpyHeader(bytes);
  const length = npyDataLength(header);
  if (header.dataOffset + length !== bytes.length) {
    throw new FormatError(
      `an array of shape (${header.shape.join(', ')}) and type ${header.dtype} needs ${length} bytes, not ${bytes.length - header.dataOffset}`,
    );
  }
  return {
    dtype: header.dtype,
    shape: header.shape,
    data: decodeItems(header, bytes.subarray(header.dataOffset)),
  };
}

/** Items of an array from their bytes; `bytes` may hold any whole number of items. */
export function decodeItems(
  header: Pick<NpyHeader, 'kind' | 'itemSize'>,
  bytes: Uint8Array,
): NpyData {
  const { kind, itemSize } = header;
  if (kind === 'S' || kind === 'U') return decodeStrings(kind, itemSize, bytes);
  if (kind === 'b1' && bytes.some((byte) => byte > 1)) throw new FormatError('a boolean above 1');
  if (kind === 'u1' || kind === 'b1') return plainBytes(bytes);
  const copy = new Uint8Array(bytes).buffer; // aligned for its type
  if (kind === 'i4') return new Int32Array(copy);
  if (kind === 'i8') return new BigInt64Array(copy);
  return kind === 'f4' ? new Float32Array(copy) : new Float64Array(copy);
}

/** The same bytes without what a subclass (Node's Buffer) changes about them. */
const plainBytes = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function decodeStrings(kind: 'S' | 'U', itemSize: number, bytes: Uint8Array): string[] {
  const step = kind === 'S' ? 1 : 4;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length / itemSize > MAX_STRINGS)
    throw new FormatError('too many strings to read at once');
  const strings: string[] = [];
  for (let start = 0; start < bytes.length; start += itemSize) {
    const codes: number[] = [];
    for (let at = start; at < start + itemSize; at += step) {
      codes.push(step === 1 ? bytes[at] : view.getUint32(at, true));
    }
    while (codes.at(-1) === 0) codes.pop();
    if (codes.some((code) => code > 0x10ffff)) throw new FormatError('a string is not unicode');
    strings.push(codes.map((code) => String.fromCodePoint(code)).join(''));
  }
  return strings;
}

/** The header of an array as numpy writes it: version 1, padded to a multiple of 64 bytes. */
export function encodeNpyHeader(dtype: string, shape: readonly number[]): Uint8Array {
  parseType(dtype);
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const dictionary = `{'descr': '${dtype}', 'fortran_order': False, 'shape': ${tuple}, }`;
  const growth = shape.length === 0 ? 0 : GROWTH_DIGITS - String(shape[0]).length;
  const needed = MAGIC.length + 4 + dictionary.length + growth + 1;
  const total = Math.ceil(needed / ALIGNMENT) * ALIGNMENT;
  const length = total - MAGIC.length - 4;
  const text = `${dictionary.padEnd(length - 1)}\n`;
  const bytes = new Uint8Array(total);
  bytes.set([...MAGIC, 1, 0, length & 255, length >> 8]);
  for (let i = 0; i < text.length; i++) bytes[MAGIC.length + 4 + i] = text.charCodeAt(i);
  return bytes;
}

/** A complete .npy file. */
export const encodeNpy = (array: NpyArray): Uint8Array => concatenate(encodeNpyParts(array));

/** The same in two parts, header and data; the data may be the array's own memory. */
export function encodeNpyParts(array: NpyArray): [header: Uint8Array, data: Uint8Array] {
  const { kind, itemSize } = parseType(array.dtype);
  const count = productOf(array.shape);
  if (array.data.length !== count) {
    throw new FormatError(
      `an array of shape (${array.shape.join(', ')}) holds ${count} items, not ${array.data.length}`,
    );
  }
  return [encodeNpyHeader(array.dtype, array.shape), encodeItems(kind, itemSize, array.data)];
}

function encodeItems(kind: NpyKind, itemSize: number, data: NpyData): Uint8Array {
  if (ArrayBuffer.isView(data)) {
    if (data.BYTES_PER_ELEMENT !== itemSize || kind === 'S' || kind === 'U') {
      throw new FormatError(`items of ${data.BYTES_PER_ELEMENT} bytes cannot be ${kind}`);
    }
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (kind !== 'S' && kind !== 'U') throw new FormatError(`strings cannot be stored as ${kind}`);
  const step = kind === 'S' ? 1 : 4;
  const width = itemSize / step;
  const codes = new (step === 1 ? Uint8Array : Uint32Array)(width * data.length);
  data.forEach((text, i) => {
    let count = 0;
    for (let at = 0; at < text.length; count++) {
      const code = text.codePointAt(at) ?? 0;
      if (count === width) throw new FormatError(`"${text}" is too long to store`);
      codes[i * width + count] = code;
      at += code > 0xffff ? 2 : 1;
    }
  });
  return new Uint8Array(codes.buffer);
}

/** An array of unicode strings, just wide enough for the longest, as numpy makes it. */
export function unicodeArray(texts: readonly string[]): NpyArray {
  return { dtype: `<U${longest(texts)}`, shape: [texts.length], data: texts };
}

/** An array of byte strings, just wide enough for the longest. */
export function byteStringArray(texts: readonly string[]): NpyArray {
  return { dtype: `|S${longest(texts)}`, shape: [texts.length], data: texts };
}

const longest = (texts: readonly string[]): number =>
  texts.reduce((most, text) => Math.max(most, Array.from(text).length), 1);
