/** Small safetensors files of f32 tensors, in memory: the statistics of a bundle. */
import {
  encodeHeader,
  headerLength,
  lengthBytes,
  parseHeader,
  SafetensorsError,
} from '../base/index.js';
import { BundleError } from './errors.js';

export interface StoredArray {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

interface Safetensors {
  readonly tensors: ReadonlyMap<string, StoredArray>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Of a file whose tensors are few; far below what the format allows. */
const LARGEST_HEADER = 1 << 20;

/** Reads the bytes of a file; `file` is named in errors. */
export function parseSafetensors(bytes: Uint8Array, file: string): Safetensors {
  try {
    const length = headerLength(bytes, bytes.length);
    if (length > LARGEST_HEADER) throw new BundleError(`${file}: its header has ${length} bytes`);
    const start = lengthBytes + length;
    const header = parseHeader(bytes.subarray(lengthBytes, start), bytes.length - start);
    const tensors = header.tensors.map(({ name, dtype, shape, begin, end }) => {
      if (dtype !== 'f32') throw new BundleError(`${file}: ${name} is of ${dtype}, not f32`);
      const data = new Float32Array((end - begin) / 4);
      new Uint8Array(data.buffer).set(bytes.subarray(start + begin, start + end));
      return [name, { shape, data }] as const;
    });
    return { tensors: new Map(tensors), metadata: header.metadata };
  } catch (cause) {
    if (!(cause instanceof SafetensorsError)) throw cause;
    throw new BundleError(`${file}: ${cause.message}`, { cause });
  }
}

/** The bytes of a file with these tensors, in the order given. */
export function formatSafetensors({ tensors, metadata }: Safetensors): Uint8Array {
  const described = Array.from(tensors, ([name, { shape, data }]) => ({ name, shape, data }));
  const header = encodeHeader(
    described.map(({ name, shape }) => ({ name, shape, dtype: 'f32' })),
    metadata,
  );
  const size = described.reduce((sum, { data }) => sum + data.byteLength, header.length);
  const bytes = new Uint8Array(size);
  bytes.set(header);
  let at = header.length;
  for (const { data } of described) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return bytes;
}
