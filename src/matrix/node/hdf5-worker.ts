/**
 * The thread in which HDF5 files are opened, one after the other: it checks what the library finds
 * and hands over rows. Whoever started the thread ends it when it takes too long.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Dataset } from 'h5wasm/node';
import { FormatError, productOf } from '../../base/index.js';
import { Hdf5Library } from './hdf5-library.js';
import {
  MAX_CACHE_BATCH,
  type CacheReply,
  type CacheRequest,
  type LibraryLimits,
} from './hdf5-protocol.js';

const MAX_CHUNK_BYTES = 64 << 20;
const IMAGES = 8;
const PIXELS = 64 * 64;
const INTEGER = 0;
const FLOAT = 1;

interface Cache {
  readonly panel: Dataset;
  readonly selection: Dataset;
  readonly answer: Dataset;
  readonly label: Dataset;
  readonly count: number;
  readonly concepts: number;
}

function open(library: Hdf5Library, path: string): Cache {
  const file = library.open(path);
  const dataset = (name: string): Dataset => {
    const found = library.dataset(file, name);
    checkStorage(found, name);
    return found;
  };
  const cache = {
    panel: dataset('panel'),
    selection: dataset('selection'),
    answer: dataset('answer'),
    label: dataset('label'),
  };
  const count = shapeOf(cache.answer, 'answer', [])[0];
  for (const name of ['panel', 'selection'] as const) {
    sameCount(name, shapeOf(cache[name], name, [IMAGES, 1, 64, 64])[0], count);
  }
  const [labels, concepts] = shapeOf(cache.label, 'label', [undefined]);
  sameCount('label', labels, count);
  if (concepts > 16)
    throw new FormatError(`"label" has ${concepts} concepts, more than any configuration has`);
  return { ...cache, count, concepts };
}

function checkStorage(dataset: Dataset, name: string): void {
  const { type, size, vlen, chunks, virtual_sources: virtual, littleEndian } = dataset.metadata;
  const numbers =
    (type === INTEGER && [1, 4, 8].includes(size)) || (type === FLOAT && [4, 8].includes(size));
  if (!numbers || vlen || !littleEndian)
    throw new FormatError(`"${name}" does not hold plain numbers`);
  if (virtual?.length) throw new FormatError(`"${name}" refers to other files`);
  const chunkBytes = size * productOf(chunks ?? []);
  if (chunkBytes > MAX_CHUNK_BYTES)
    throw new FormatError(`"${name}" has chunks of ${chunkBytes} bytes`);
}

/** The shape, [N, ...rest], where an undefined size may be any. */
function shapeOf(dataset: Dataset, name: string, rest: readonly (number | undefined)[]): number[] {
  const shape = dataset.metadata.shape ?? [];
  const fits =
    shape.length === rest.length + 1 &&
    shape.every((size) => Number.isSafeInteger(size) && size >= 0) &&
    rest.every((size, i) => size === undefined || shape[i + 1] === size);
  if (!fits) {
    const wanted = ['N', ...rest.map((size) => size ?? 'any')].join(', ');
    throw new FormatError(`"${name}" has shape (${shape.join(', ')}) instead of (${wanted})`);
  }
  return shape;
}

function sameCount(name: string, found: number, count: number): void {
  if (found !== count) {
    throw new FormatError(`"${name}" has ${found} problems, "answer" has ${count}`);
  }
}

/** Rows of a dataset as numbers. */
function rows(
  dataset: Dataset,
  name: string,
  first: number,
  count: number,
  width: number,
): number[] | Float32Array | Float64Array | Uint8Array {
  const data: unknown = dataset.slice([[first, first + count]]);
  if (!ArrayBuffer.isView(data) || data instanceof DataView) {
    throw new FormatError(`"${name}" cannot be read`);
  }
  const values = data as Float32Array | Float64Array | Uint8Array | Int32Array | BigInt64Array;
  if (values.length !== count * width) throw new FormatError(`"${name}" cannot be read`);
  if (
    values instanceof Float32Array ||
    values instanceof Float64Array ||
    values instanceof Uint8Array
  ) {
    return values;
  }
  return Array.from(values as ArrayLike<number | bigint>, Number);
}

/** Grey values 0..255, rounded half up. */
function pictures(dataset: Dataset, name: string, first: number, count: number): Uint8Array {
  const values = rows(dataset, name, first, count, IMAGES * PIXELS);
  const pixels = new Uint8Array(values.length);
  for (let i = 0; i < pixels.length; i++) {
    const grey = Math.floor(values[i] + 0.5);
    if (!(grey >= 0 && grey <= 255))
      throw new FormatError(`"${name}" holds ${values[i]}, not a grey value`);
    pixels[i] = grey;
  }
  return pixels;
}

function answers(cache: Cache, first: number, count: number): number[] {
  const indices = Array.from(rows(cache.answer, 'answer', first, count, 1));
  if (indices.some((index) => !Number.isInteger(index) || index < 0 || index >= IMAGES)) {
    throw new FormatError('"answer" holds more than the indices 0 to 7');
  }
  return indices;
}

function readRows(cache: Cache | undefined, first: number, count: number): CacheReply {
  if (!cache) throw new FormatError('no file is open');
  if (count > MAX_CACHE_BATCH) throw new RangeError(`${count} problems at once`);
  return {
    kind: 'rows',
    panel: pictures(cache.panel, 'panel', first, count),
    selection: pictures(cache.selection, 'selection', first, count),
    answer: answers(cache, first, count),
    label: Array.from(rows(cache.label, 'label', first, count, cache.concepts)),
  };
}

const library = await Hdf5Library.start((workerData as LibraryLimits).memoryLimit);
let cache: Cache | undefined;

function serve(request: CacheRequest): CacheReply {
  switch (request.kind) {
    case 'open':
      cache = undefined;
      cache = open(library, request.file);
      return { kind: 'opened', count: cache.count, concepts: cache.concepts };
    case 'read':
      return readRows(cache, request.first, request.count);
    case 'close':
      cache = undefined;
      library.reset();
      return { kind: 'closed', spent: library.isLarge };
  }
}

function answerTo(request: CacheRequest): CacheReply {
  try {
    return serve(request);
  } catch (error) {
    const refusal =
      error instanceof FormatError ? error.message : 'the HDF5 library cannot read it';
    return { kind: 'refused', message: refusal };
  }
}

parentPort?.on('message', (request: CacheRequest) => {
  parentPort?.postMessage(answerTo(request));
});
