/**
 * Small safetensors files of f32 tensors, in memory: the statistics of a bundle. Nothing in them is
 * believed: names are unique, the byte ranges follow each other without hole or overlap to the end of
 * the file, and each is as long as its shape says.
 */
import { BundleError } from './errors.js';

export interface StoredArray {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, StoredArray>;
  readonly metadata: Readonly<Record<string, string>>;
}

const LENGTH_BYTES = 8;
const LARGEST_HEADER = 1 << 20;

interface Entry {
  readonly name: string;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSizes = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);

function readHeader(bytes: Uint8Array): { header: Record<string, unknown>; start: number } {
  if (bytes.length < LENGTH_BYTES) throw new BundleError('the safetensors file is too short');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  const start = LENGTH_BYTES + length;
  if (length > LARGEST_HEADER || start > bytes.length) {
    throw new BundleError(`the safetensors header claims ${length} bytes`);
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      bytes.subarray(LENGTH_BYTES, start),
    );
    const header: unknown = JSON.parse(text);
    if (isRecord(header)) return { header, start };
  } catch (cause) {
    throw new BundleError('the safetensors header is not JSON', { cause });
  }
  throw new BundleError('the safetensors header is not an object');
}

function readEntry(name: string, value: unknown): Entry {
  const { dtype, shape, data_offsets: offsets } = isRecord(value) ? value : {};
  if (dtype !== 'F32' || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    throw new BundleError(`the safetensors entry ${JSON.stringify(name)} is not one of f32`);
  }
  const [begin, end] = offsets;
  const needed = shape.reduce((product, size) => product * size, 4);
  if (end - begin !== needed) {
    throw new BundleError(`${name} of [${shape.join(', ')}] has ${end - begin} bytes`);
  }
  return { name, shape, begin, end };
}

function readMetadata(value: unknown): Record<string, string> {
  if (value === undefined) return {};
  if (!isRecord(value) || Object.values(value).some((text) => typeof text !== 'string')) {
    throw new BundleError('the safetensors metadata are not texts');
  }
  return value as Record<string, string>;
}

export function parseSafetensors(bytes: Uint8Array): Safetensors {
  const { header, start } = readHeader(bytes);
  const entries = Object.entries(header)
    .filter(([name]) => name !== '__metadata__')
    .map(([name, value]) => readEntry(name, value))
    .sort((a, b) => a.begin - b.begin || a.end - b.end);
  let expected = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== expected) throw new BundleError(`${name} begins at ${begin}, not ${expected}`);
    expected = end;
  }
  if (start + expected !== bytes.length) {
    throw new BundleError('the safetensors file is longer or shorter than its tensors');
  }
  const tensors = entries.map(({ name, shape, begin, end }): [string, StoredArray] => {
    const data = new Float32Array((end - begin) / 4);
    new Uint8Array(data.buffer).set(bytes.subarray(start + begin, start + end));
    return [name, { shape, data }];
  });
  return { tensors: new Map(tensors), metadata: readMetadata(header['__metadata__']) };
}

/** The bytes of a file with these tensors, in the order given. */
export function formatSafetensors({ tensors, metadata }: Safetensors): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let end = 0;
  for (const [name, { shape, data }] of tensors) {
    const begin = end;
    end += data.byteLength;
    header[name] = { dtype: 'F32', shape, data_offsets: [begin, end] };
  }
  const text = JSON.stringify(header);
  const length = Math.ceil(new TextEncoder().encode(text).length / 8) * 8;
  const json = new TextEncoder().encode(text.padEnd(text.length + length, ' ')).subarray(0, length);
  const bytes = new Uint8Array(LENGTH_BYTES + length + end);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, LENGTH_BYTES);
  let at = LENGTH_BYTES + length;
  for (const { data } of tensors.values()) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
