/**
 * The header of a safetensors file: which tensors it holds, of what type and shape, and where.
 *
 * A file is an 8-byte little-endian length N, N bytes of JSON, then the tensors' bytes back to
 * back. Files come from anywhere, so nothing is believed before it is checked, and the checks are
 * those of the reference implementation (https://github.com/huggingface/safetensors): a cap on N,
 * no duplicate names, byte ranges that follow each other without hole or overlap up to the very
 * end of the file, and a range as long as its shape and type say. Only the types that `Tensor`
 * has are accepted. Hosts are assumed little-endian, as all that Node and libtorch share are.
 */

import { BYTES_PER_ELEMENT, DTYPES } from '../types.js';
import type { DType } from '../types.js';

/** What the header says of one tensor; `begin` and `end` count from the end of the header. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** A checked header: tensors in the order of their bytes. */
export interface SafetensorsHeader {
  readonly tensors: readonly StoredTensor[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** What was wrong, for callers that react to it. */
export type SafetensorsProblem =
  | 'too-short'
  | 'header-too-large'
  | 'header-truncated'
  | 'header-not-json'
  | 'header-schema'
  | 'duplicate-name'
  | 'unsupported-dtype'
  | 'invalid-offsets'
  | 'size-mismatch'
  | 'incomplete-data'
  | 'invalid-value'
  | 'no-such-tensor'
  | 'io'
  | 'closed';

/** A file, or a request, that is not right; the message is one sentence and names the tensor. */
export class SafetensorsError extends Error {
  override readonly name = 'SafetensorsError';

  constructor(
    readonly problem: SafetensorsProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Throws a SafetensorsError. */
export function fail(problem: SafetensorsProblem, message: string): never {
  throw new SafetensorsError(problem, message);
}

/** The reference implementation's cap, which keeps a hostile length from taking memory. */
export const maximumHeaderBytes = 100_000_000;

/** Bytes of the length that precedes the header. */
export const lengthBytes = 8;

/** The format's names of types are ours in capitals. */
const tagOf = (dtype: DType): string => dtype.toUpperCase();
const TAGS = new Map(DTYPES.map((dtype) => [tagOf(dtype), dtype]));

/**
 * Bytes of a tensor of this type and shape, or undefined where the shape is not a list of
 * non-negative integers whose product a number holds exactly.
 */
export function tensorBytes(dtype: DType, shape: readonly number[]): number | undefined {
  let bytes = BYTES_PER_ELEMENT[dtype];
  for (const size of shape) {
    if (!Number.isSafeInteger(size) || size < 0) return undefined;
    bytes *= size;
    if (!Number.isSafeInteger(bytes)) return undefined;
  }
  return bytes;
}

/** The header's length from a file's first 8 bytes, checked against the cap and the file. */
export function headerLength(first: Uint8Array, fileBytes: number): number {
  if (first.length < lengthBytes || fileBytes < lengthBytes) {
    fail(
      'too-short',
      `a safetensors file has at least ${lengthBytes} bytes, this one has ${Math.min(first.length, fileBytes)}`,
    );
  }
  const view = new DataView(first.buffer, first.byteOffset, lengthBytes);
  const length = view.getBigUint64(0, true);
  if (length > BigInt(maximumHeaderBytes)) {
    fail(
      'header-too-large',
      `the header claims ${length.toString()} bytes, more than the ${maximumHeaderBytes} allowed`,
    );
  }
  if (lengthBytes + Number(length) > fileBytes) {
    fail(
      'header-truncated',
      `the header claims ${length.toString()} bytes, but the file has ${fileBytes} in all`,
    );
  }
  return Number(length);
}

/** Parses and checks a header that is followed by `dataBytes` bytes of tensors. */
export function parseHeader(bytes: Uint8Array, dataBytes: number): SafetensorsHeader {
  const entries = parseObject(bytes);
  const tensors: StoredTensor[] = [];
  let metadata: Record<string, string> = {};
  for (const [name, entry] of entries) {
    if (name === '__metadata__') metadata = checkedMetadata(entry);
    else tensors.push(parseEntry(name, entry));
  }
  tensors.sort((a, b) => a.begin - b.begin || a.end - b.end);
  checkRanges(tensors, dataBytes);
  return { tensors, metadata };
}

function parseObject(bytes: Uint8Array): [string, unknown][] {
  let text: string;
  let parsed: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.startsWith('{')) throw new SyntaxError("it does not start with '{'");
    parsed = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SafetensorsError('header-not-json', `the header is not a JSON object: ${why}`, {
      cause,
    });
  }
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) {
    fail('duplicate-name', `the header names ${JSON.stringify(duplicate)} twice`);
  }
  return Object.entries(parsed as Record<string, unknown>);
}

/**
 * The first key that some object of valid JSON text has twice. `JSON.parse` keeps the last one
 * silently, which lets two readers see two different files.
 */
function duplicateKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []; // a set of keys for an object, undefined for a list
  let keyExpected = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '{') {
      open.push(new Set());
      keyExpected = true;
    } else if (char === '[') {
      open.push(undefined);
      keyExpected = false;
    } else if (char === '}' || char === ']') {
      open.pop();
      keyExpected = false;
    } else if (char === ',') {
      keyExpected = open[open.length - 1] !== undefined;
    } else if (char === '"') {
      const start = at;
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
      const keys = open[open.length - 1];
      if (!keyExpected || keys === undefined) continue;
      const key = JSON.parse(text.slice(start, at + 1)) as string;
      if (keys.has(key)) return key;
      keys.add(key);
      keyExpected = false;
    }
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failSchema(name: string, what: string): never {
  fail('header-schema', `tensor ${JSON.stringify(name)}: ${what}`);
}

/** Checks that metadata is an object of strings. */
function checkedMetadata(entry: unknown): Record<string, string> {
  if (!isRecord(entry)) fail('header-schema', '__metadata__ is not an object of strings');
  const metadata = Object.create(null) as Record<string, string>;
  for (const [key, value] of Object.entries(entry)) {
    if (typeof value !== 'string') {
      fail('header-schema', `__metadata__: the value of ${JSON.stringify(key)} is not a string`);
    }
    metadata[key] = value;
  }
  return metadata;
}

function isSizes(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0)
  );
}

function parseEntry(name: string, entry: unknown): StoredTensor {
  if (!isRecord(entry)) failSchema(name, 'its entry is not an object');
  const { dtype: tag, shape, data_offsets: offsets } = entry;
  if (typeof tag !== 'string') failSchema(name, 'dtype is not a string');
  const dtype = TAGS.get(tag);
  if (dtype === undefined) {
    fail(
      'unsupported-dtype',
      `tensor ${JSON.stringify(name)} has dtype ${JSON.stringify(tag)}; supported are ${[...TAGS.keys()].join(', ')}`,
    );
  }
  if (!isSizes(shape)) failSchema(name, 'shape is not a list of non-negative integers');
  if (!isSizes(offsets) || offsets.length !== 2) {
    failSchema(name, 'data_offsets is not a pair of non-negative integers');
  }
  return { name, dtype, shape, begin: offsets[0], end: offsets[1] };
}

function checkRanges(tensors: readonly StoredTensor[], dataBytes: number): void {
  let expected = 0;
  for (const { name, dtype, shape, begin, end } of tensors) {
    const label = `tensor ${JSON.stringify(name)}`;
    if (begin !== expected || end < begin) {
      fail(
        'invalid-offsets',
        `${label} lies at [${begin}, ${end}], but the tensors before it end at ${expected}`,
      );
    }
    const bytes = tensorBytes(dtype, shape);
    if (bytes !== end - begin) {
      fail(
        'size-mismatch',
        `${label} of type ${dtype} and shape [${shape.join(', ')}] needs ${bytes ?? 'too many'} bytes, its range has ${end - begin}`,
      );
    }
    expected = end;
  }
  if (expected !== dataBytes) {
    fail(
      'incomplete-data',
      `the tensors take ${expected} bytes, but ${dataBytes} follow the header`,
    );
  }
}

/** A tensor to be stored: `begin` and `end` are given by the order of writing. */
export type TensorDescription = Pick<StoredTensor, 'name' | 'dtype' | 'shape'>;

/**
 * The order of writing: wide elements first, then by name, as the reference implementation has
 * it, so that every tensor is aligned to its element and equal content gives equal files.
 */
export function writingOrder<T extends TensorDescription>(tensors: readonly T[]): T[] {
  return [...tensors].sort(
    (a, b) =>
      BYTES_PER_ELEMENT[b.dtype] - BYTES_PER_ELEMENT[a.dtype] ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
}

/** The length, the header and its padding of spaces to a multiple of 8, for tensors in order. */
export function encodeHeader(
  tensors: readonly TensorDescription[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const entries: string[] = [];
  if (Object.keys(metadata).length > 0) {
    entries.push(`"__metadata__":${JSON.stringify(checkedMetadata(metadata))}`);
  }
  const names = new Set(['__metadata__']);
  let begin = 0;
  for (const { name, dtype, shape } of tensors) {
    if (names.has(name)) {
      fail('duplicate-name', `the name ${JSON.stringify(name)} is taken`);
    }
    names.add(name);
    const bytes = tensorBytes(dtype, shape);
    if (bytes === undefined || !Number.isSafeInteger(begin + bytes)) {
      failSchema(name, `shape [${shape.join(', ')}] is not one of a tensor`);
    }
    const entry = {
      dtype: tagOf(dtype),
      shape,
      data_offsets: [begin, begin + bytes],
    };
    entries.push(`${JSON.stringify(name)}:${JSON.stringify(entry)}`);
    begin += bytes;
  }
  const json = new TextEncoder().encode(`{${entries.join(',')}}`);
  const padded = Math.ceil(json.length / 8) * 8;
  if (padded > maximumHeaderBytes) {
    fail(
      'header-too-large',
      `the header takes ${padded} bytes, more than the ${maximumHeaderBytes} allowed`,
    );
  }
  const bytes = new Uint8Array(lengthBytes + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(json, lengthBytes);
  return bytes;
}
