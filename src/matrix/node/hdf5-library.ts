/**
 * The HDF5 library (h5wasm) in a thread of its own, confined: it may open one file for reading and
 * nothing else, print nothing, and take limited memory. It was not made for hostile files, so its
 * whole state (memory and globals of the WebAssembly instance) is noted once it has started and put
 * back before each file: nothing of one file is left when the next is opened.
 */
import fs from 'node:fs';
import type * as Hdf5Wasm from 'h5wasm/node';
import { FormatError } from '../../base/index.js';

const PAGE = 65536;
/** A library that took more memory for a file than this is not used for another. */
const MOST_REUSED_BYTES = 64 << 20;

interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow: (pages: number) => number;
}

interface WasmGlobal {
  value: unknown;
}

/** The part of WebAssembly's interface, unknown to Node's types, that is needed here. */
interface WasmInterface {
  readonly Memory: { new (): WasmMemory; readonly prototype: WasmMemory };
  readonly Global: new () => WasmGlobal;
  instantiate: (...parameters: unknown[]) => Promise<{ readonly instance: WasmInstance }>;
}

interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

const wasm = (globalThis as unknown as { readonly WebAssembly: WasmInterface }).WebAssembly;

/** The state of an instance, to be put back. */
class Snapshot {
  readonly #memory: WasmMemory;
  readonly #bytes: Uint8Array;
  readonly #globals: readonly (readonly [WasmGlobal, unknown])[];

  constructor({ exports }: WasmInstance) {
    const values = Object.values(exports);
    const memories = values.filter((value) => value instanceof wasm.Memory);
    if (memories.length !== 1) throw new Error('the HDF5 library does not show its memory');
    this.#memory = memories[0];
    this.#bytes = new Uint8Array(this.#memory.buffer).slice();
    this.#globals = values
      .filter((value) => value instanceof wasm.Global)
      .filter(isMutable)
      .map((global) => [global, global.value] as const);
  }

  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  restore(): void {
    const now = new Uint8Array(this.#memory.buffer);
    now.set(this.#bytes);
    now.fill(0, this.#bytes.length);
    for (const [global, value] of this.#globals) global.value = value;
  }
}

/** Only writing tells whether a global may change; the same value is written. */
function isMutable(global: WasmGlobal): boolean {
  try {
    const { value } = global;
    global.value = value;
    return true;
  } catch {
    return false;
  }
}

/** The started library. */
export class Hdf5Library {
  readonly #h5wasm: typeof Hdf5Wasm;
  readonly #snapshot: Snapshot;
  readonly #confinement: Confinement;
  /** As long as nothing was opened since the state was put back. */
  #fresh = true;

  private constructor(h5wasm: typeof Hdf5Wasm, snapshot: Snapshot, confinement: Confinement) {
    this.#h5wasm = h5wasm;
    this.#snapshot = snapshot;
    this.#confinement = confinement;
  }

  static async start(memoryLimit: number): Promise<Hdf5Library> {
    const confinement = new Confinement();
    limitMemory(memoryLimit);
    const instances: WasmInstance[] = [];
    const instantiate = wasm.instantiate;
    wasm.instantiate = async (...parameters) => {
      const made = await instantiate(...parameters);
      instances.push(made.instance);
      return made;
    };
    const h5wasm = await import('h5wasm/node');
    const library = await h5wasm.ready;
    wasm.instantiate = instantiate;
    library.activate_throwing_error_handler();
    if (instances.length !== 1) throw new Error('the HDF5 library is not one WebAssembly instance');
    return new Hdf5Library(h5wasm, new Snapshot(instances[0]), confinement);
  }

  /** Opens a file with the state of a library that has just started. */
  open(file: string): Hdf5Wasm.File {
    this.reset();
    this.#fresh = false;
    this.#confinement.allow(file);
    return new this.#h5wasm.File(file, 'r');
  }

  /** A dataset of an open file. */
  dataset(file: Hdf5Wasm.File, name: string): Hdf5Wasm.Dataset {
    const library = this.#h5wasm.Module;
    const isDataset = library.get_type(file.file_id, name) === library.H5G_DATASET;
    const found = isDataset ? file.get(name) : null;
    if (found instanceof this.#h5wasm.Dataset) return found;
    throw new FormatError(`there is no dataset "${name}"`);
  }

  /** Forgets the file that was open, whatever state it left. */
  reset(): void {
    if (this.#fresh) return;
    this.#confinement.closeAll();
    this.#snapshot.restore();
    this.#fresh = true;
  }

  /** Whether the library took so much memory that a new one should take its place. */
  get isLarge(): boolean {
    return this.#snapshot.memoryBytes > MOST_REUSED_BYTES;
  }
}

function limitMemory(limit: number): void {
  const { prototype } = wasm.Memory;
  const grow = prototype.grow;
  prototype.grow = function (this: WasmMemory, pages) {
    if (this.buffer.byteLength + pages * PAGE > limit) throw new RangeError('memory limit');
    return grow.call(this, pages);
  };
}

/** The library looks for plug-ins where others may have installed some. */
const isPlugInFolder = (file: unknown): boolean =>
  typeof file === 'string' && file.endsWith('/plugin');

/** The thread's file system: one file, for reading; nothing is printed. */
class Confinement {
  readonly #open = new Set<number>();
  #allowed: string | undefined;
  #askedForOthers = false;

  constructor() {
    const openSync = fs.openSync.bind(fs);
    fs.openSync = (file, flags, mode) => {
      if (file !== this.#allowed) throw this.#refusal(file, flags);
      // Whatever the library asks for, the file is opened for reading.
      const descriptor = openSync(file, 'r', mode);
      this.#open.add(descriptor);
      return descriptor;
    };
    const closeSync = fs.closeSync.bind(fs);
    fs.closeSync = (descriptor) => {
      this.#open.delete(descriptor);
      closeSync(descriptor);
    };
    const swallow = (): boolean => true;
    process.stdout.write = swallow;
    process.stderr.write = swallow;
    const writeSync = fs.writeSync.bind(fs) as (...parameters: unknown[]) => number;
    fs.writeSync = ((descriptor: number, data: Uint8Array | string, ...rest: unknown[]) =>
      descriptor <= 2 ? data.length : writeSync(descriptor, data, ...rest)) as typeof fs.writeSync;
  }

  allow(file: string): void {
    this.#allowed = file;
    this.#askedForOthers = false;
  }

  /** Other files do not exist; and the library makes one of its own only to word an error. */
  #refusal(file: unknown, flags: fs.OpenMode | undefined): Error {
    if (typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0) {
      const others = this.#askedForOthers;
      return new FormatError(
        others ? 'it refers to other files' : 'the HDF5 library finds an error in it',
      );
    }
    if (!isPlugInFolder(file)) this.#askedForOthers = true;
    return Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
  }

  closeAll(): void {
    for (const descriptor of [...this.#open]) fs.closeSync(descriptor);
    this.#allowed = undefined;
  }
}
