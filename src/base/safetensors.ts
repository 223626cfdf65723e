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

import { isRecord } from './check.js';
import { CrabError, messageOf } from './errors.js';

/** Types a tensor in a safetensors file may have here, by our names. */
export type StoredDType = 'f32' | 'f64' | 'f16' | 'bf16' | 'i64' | 'i32' | 'u8' | 'bool';

/** What the header says of one tensor; `begin` and `end` count from the end of the header. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: StoredDType;
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
export class SafetensorsError extends CrabError {
  override readonly name = 'SafetensorsError';

  constructor(
    readonly problem: SafetensorsProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The reference implementation's cap, which keeps a hostile length from taking memory. */
export const maximumHeaderBytes = 100_000_000;

/** Bytes of the length that precedes the header. */
export const lengthBytes = 8;

interface DTypeFact {
  readonly tag: string;
  readonly bytes: number;
}

const dtypeFacts: Readonly<Record<StoredDType, DTypeFact>> = {
  f64: { tag: 'F64', bytes: 8 },
  i64: { tag: 'I64', bytes: 8 },
  f32: { tag: 'F32', bytes: 4 },
  i32: { tag: 'I32', bytes: 4 },
  f16: { tag: 'F16', bytes: 2 },
  bf16: { tag: 'BF16', bytes: 2 },
  u8: { tag: 'U8', bytes: 1 },
  bool: { tag: 'BOOL', bytes: 1 },
};

const dtypeOfTag: ReadonlyMap<string, StoredDType> = new Map(
  (Object.keys(dtypeFacts) as StoredDType[]).map((dtype) => [dtypeFacts[dtype].tag, dtype]),
);

/** Bytes of one element. */
export function elementBytes(dtype: StoredDType): number {
  return dtypeFacts[dtype].bytes;
}

/**
 * Bytes of a tensor of this type and shape, or undefined if the shape is not a list of
 * non-negative integers whose product a number holds exactly.
 */
export function tensorBytes(dtype: StoredDType, shape: readonly number[]): number | undefined {
  let bytes = elementBytes(dtype);
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
    throw new SafetensorsError(
      'too-short',
      `a safetensors file has at least ${lengthBytes} bytes, this one has ${Math.min(first.length, fileBytes)}`,
    );
  }
  const view = new DataView(first.buffer, first.byteOffset, lengthBytes);
  const length = view.getBigUint64(0, true);
  if (length > BigInt(maximumHeaderBytes)) {
    throw new SafetensorsError(
      'header-too-large',
      `the header claims ${length.toString()} bytes, more than the ${maximumHeaderBytes} allowed`,
    );
  }
  if (lengthBytes + Number(length) > fileBytes) {
    throw new SafetensorsError(
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
    if (name === '__metadata__') metadata = parseMetadata(entry);
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
    const why = messageOf(cause);
    throw new SafetensorsError('header-not-json', `the header is not a JSON object: ${why}`, {
      cause,
    });
  }
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) {
    throw new SafetensorsError(
      'duplicate-name',
      `the header names ${JSON.stringify(duplicate)} twice`,
    );
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

function schemaError(name: string, what: string): SafetensorsError {
  return new SafetensorsError('header-schema', `tensor ${JSON.stringify(name)}: ${what}`);
}

function parseMetadata(entry: unknown): Record<string, string> {
  if (!isRecord(entry)) {
    throw new SafetensorsError('header-schema', '__metadata__ is not an object of strings');
  }
  const metadata = Object.create(null) as Record<string, string>;
  for (const [key, value] of Object.entries(entry)) {
    if (typeof value !== 'string') {
      throw new SafetensorsError(
        'header-schema',
        `__metadata__: the value of ${JSON.stringify(key)} is not a string`,
      );
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
  if (!isRecord(entry)) throw schemaError(name, 'its entry is not an object');
  const { dtype: tag, shape, data_offsets: offsets } = entry;
  if (typeof tag !== 'string') throw schemaError(name, 'dtype is not a string');
  const dtype = dtypeOfTag.get(tag);
  if (dtype === undefined) {
    throw new SafetensorsError(
      'unsupported-dtype',
      `tensor ${JSON.stringify(name)} has dtype ${JSON.stringify(tag)}; supported are ${[...dtypeOfTag.keys()].join(', ')}`,
    );
  }
  if (!isSizes(shape)) throw schemaError(name, 'shape is not a list of non-negative integers');
  if (!isSizes(offsets) || offsets.length !== 2) {
    throw schemaError(name, 'data_offsets is not a pair of non-negative integers');
  }
  return { name, dtype, shape, begin: offsets[0], end: offsets[1] };
}

function checkRanges(tensors: readonly StoredTensor[], dataBytes: number): void {
  let expected = 0;
  for (const { name, dtype, shape, begin, end } of tensors) {
    const label = `tensor ${JSON.stringify(name)}`;
    if (begin !== expected || end < begin) {
      throw new SafetensorsError(
        'invalid-offsets',
        `${label} lies at [${begin}, ${end}], but the tensors before it end at ${expected}`,
      );
    }
    const bytes = tensorBytes(dtype, shape);
    if (bytes !== end - begin) {
      throw new SafetensorsError(
        'size-mismatch',
        `${label} of type ${dtype} and shape [${shape.join(', ')}] needs ${bytes ?? 'too many'} bytes, its range has ${end - begin}`,
      );
    }
    expected = end;
  }
  if (expected !== dataBytes) {
    throw new SafetensorsError(
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
      elementBytes(b.dtype) - elementBytes(a.dtype) ||
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
    for (const [key, value] of Object.entries(metadata)) {
      if (typeof value !== 'string') {
        throw new SafetensorsError(
          'header-schema',
          `__metadata__: the value of ${JSON.stringify(key)} is not a string`,
        );
      }
    }
    entries.push(`"__metadata__":${JSON.stringify(metadata)}`);
  }
  const names = new Set(['__metadata__']);
  let begin = 0;
  for (const { name, dtype, shape } of tensors) {
    if (names.has(name)) {
      throw new SafetensorsError('duplicate-name', `the name ${JSON.stringify(name)} is taken`);
    }
    names.add(name);
    const bytes = tensorBytes(dtype, shape);
    if (bytes === undefined || !Number.isSafeInteger(begin + bytes)) {
      throw schemaError(name, `shape [${shape.join(', ')}] is not one of a tensor`);
    }
    const entry = {
      dtype: dtypeFacts[dtype].tag,
      shape,
      data_offsets: [begin, begin + bytes],
    };
    entries.push(`${JSON.stringify(name)}:${JSON.stringify(entry)}`);
    begin += bytes;
  }
  const json = new TextEncoder().encode(`{${entries.join(',')}}`);
  const padded = Math.ceil(json.length / 8) * 8;
  if (padded > maximumHeaderBytes) {
    throw new SafetensorsError(
      'header-too-large',
      `the header takes ${padded} bytes, more than the ${maximumHeaderBytes} allowed`,
    );
  }
  const bytes = new Uint8Array(lengthBytes + padded).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(json, lengthBytes);
  return bytes;
}
