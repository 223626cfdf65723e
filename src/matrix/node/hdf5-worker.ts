/**
 * The thread in which an HDF5 file is opened. The HDF5 library was not made for hostile files, so it
 * runs here alone: it may open that one file for reading and nothing else, print nothing, and take
 * limited memory; whoever started the thread ends it when it takes too long.
 */
import fs from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Dataset, File as Hdf5File } from 'h5wasm/node';
import { FormatError } from '../errors.js';
import {
  MAX_CACHE_BATCH,
  type CacheReply,
  type CacheRequest,
  type CacheTask,
} from './hdf5-protocol.js';

const PAGE = 65536;
const MAX_CHUNK_BYTES = 64 << 20;
const IMAGES = 8;
const PIXELS = 64 * 64;
const INTEGER = 0;
const FLOAT = 1;

const task = workerData as CacheTask;

/** The part of WebAssembly's interface, unknown to Node's types, through which memory grows. */
interface WithWebAssembly {
  readonly WebAssembly: {
    readonly Memory: {
      readonly prototype: {
        grow: (this: { readonly buffer: ArrayBuffer }, pages: number) => number;
      };
    };
  };
}

function confine(): void {
  const openSync = fs.openSync.bind(fs);
  fs.openSync = (file, flags, mode) => {
    // The library asks for the file by number of flags; writing or creating is refused by "r".
    if (file !== task.file) throw new FormatError('the file refers to other files');
    void flags;
    return openSync(file, 'r', mode);
  };
  const writeSync = fs.writeSync.bind(fs) as (...parameters: unknown[]) => number;
  fs.writeSync = ((fd: number, data: Uint8Array | string, ...rest: unknown[]) =>
    fd <= 2 ? data.length : writeSync(fd, data, ...rest)) as typeof fs.writeSync;
  const { prototype } = (globalThis as unknown as WithWebAssembly).WebAssembly.Memory;
  const grow = prototype.grow;
  prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * PAGE > task.memoryLimit) {
      throw new RangeError('memory limit');
    }
    return grow.call(this, pages);
  };
}

interface Cache {
  readonly panel: Dataset;
  readonly selection: Dataset;
  readonly answer: Dataset;
  readonly label: Dataset;
  readonly count: number;
  readonly concepts: number;
}

async function open(): Promise<Cache> {
  const { default: h5wasm, Dataset } = await import('h5wasm/node');
  const library = await h5wasm.ready;
  library.activate_throwing_error_handler();
  const file: Hdf5File = new h5wasm.File(task.file, 'r');
  const dataset = (name: string): Dataset => {
    const isDataset = library.get_type(file.file_id, name) === library.H5G_DATASET;
    const found = isDataset ? file.get(name) : null;
    if (!(found instanceof Dataset)) throw new FormatError(`there is no dataset "${name}"`);
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
  if (concepts > 16) throw new FormatError(`labels of ${concepts} concepts`);
  return { ...cache, count, concepts };
}

function checkStorage(dataset: Dataset, name: string): void {
  const { type, size, vlen, chunks, virtual_sources: virtual, littleEndian } = dataset.metadata;
  const numbers =
    (type === INTEGER && [1, 4, 8].includes(size)) || (type === FLOAT && [4, 8].includes(size));
  if (!numbers || vlen || !littleEndian)
    throw new FormatError(`"${name}" does not hold plain numbers`);
  if (virtual?.length) throw new FormatError(`"${name}" refers to other files`);
  const chunkBytes = (chunks ?? []).reduce((product, side) => product * side, size);
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

function reply(message: CacheReply): void {
  parentPort?.postMessage(message);
}

function refuse(error: unknown): void {
  const message = error instanceof FormatError ? error.message : 'the HDF5 library cannot read it';
  reply({ kind: 'refused', message });
}

function serve(cache: Cache, { first, count }: CacheRequest): void {
  if (count > MAX_CACHE_BATCH) throw new RangeError(`${count} problems at once`);
  reply({
    kind: 'rows',
    panel: pictures(cache.panel, 'panel', first, count),
    selection: pictures(cache.selection, 'selection', first, count),
    answer: answers(cache, first, count),
    label: Array.from(rows(cache.label, 'label', first, count, cache.concepts)),
  });
}

confine();
try {
  const cache = await open();
  parentPort?.on('message', (request: CacheRequest) => {
    try {
      serve(cache, request);
    } catch (error) {
      refuse(error);
    }
  });
  reply({ kind: 'opened', count: cache.count, concepts: cache.concepts });
} catch (error) {
  refuse(error);
}
