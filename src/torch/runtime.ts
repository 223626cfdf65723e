/** The library as a whole: what it is, its threads and switches, and the CUDA devices. */
import { guarded } from './dispatch.js';
import { TorchError, TorchUnavailableError } from './errors.js';
import { native, tryNative } from './native.js';
import type { CudaMemory, GraphHandle } from './native.js';
import type { Generator } from './random.js';
import type { Device } from './types.js';

export interface CudaDevice {
  name: string;
  /** Bytes. */
  memory: number;
  /** Compute capability, as `9.0`. */
  capability: string;
}

export interface TorchInfo {
  version: string;
  /** Whether libtorch was built with CUDA; devices may still be none. */
  cuda: boolean;
  devices: CudaDevice[];
  threads: number;
  interopThreads: number;
  /** The BLAS in use, in its own words, and the files it was loaded from. */
  blas: string;
  blasLibraries: string[];
  mkldnn: boolean;
}

/** What libtorch is here; or, where there is none, null with the reason. */
export function torchInfo(): { info: TorchInfo; reason: null } | { info: null; reason: string } {
  const addon = tryNative();
  if (addon instanceof TorchUnavailableError) return { info: null, reason: addon.message };
  const devices = Array.from({ length: addon.cudaDeviceCount() }, (_, i) =>
    addon.cudaDeviceInfo(`cuda:${i}`),
  );
  const info = {
    ...addon.runtimeInfo(),
    cuda: addon.hasCuda,
    devices,
    threads: addon.getNumThreads(),
    interopThreads: addon.getNumInteropThreads(),
  };
  return { info, reason: null };
}

export function torchVersion(): { major: number; minor: number } {
  const [major, minor] = native().runtimeInfo().version.split('.').map(Number);
  return { major, minor };
}

/** Whether libtorch is here. */
export function isTorchAvailable(): boolean {
  return !(tryNative() instanceof TorchUnavailableError);
}

// ---- threads and switches ----------------------------------------------------------------------------

/** Threads that one operation on the CPU may use; 1 at the start. */
export function setNumThreads(threads: number): void {
  guarded('setNumThreads', (addon) => addon.setNumThreads(threads));
}

export function getNumThreads(): number {
  return native().getNumThreads();
}

/** Threads for operations that libtorch runs side by side; only before the first such operation. */
export function setNumInteropThreads(threads: number): void {
  guarded('setNumInteropThreads', (addon) => addon.setNumInteropThreads(threads));
}

/** Use only algorithms that give the same result each time; an operation that has none is an error. */
export function setDeterministic(flag: boolean): void {
  guarded('setDeterministic', (addon) => addon.setDeterministic(flag));
}

/** Let cuDNN try its algorithms on first use of a shape and keep the fastest. */
export function setCudnnBenchmark(flag: boolean): void {
  guarded('setCudnnBenchmark', (addon) => addon.setCudnnBenchmark(flag));
}

/** Let CUDA round f32 products to TF32. */
export function setAllowTf32(flag: boolean): void {
  guarded('setAllowTf32', (addon) => addon.setAllowTf32(flag));
}

export type AutocastDtype = 'bf16' | 'f16';

/** Runs `fn` with operations that gain by it in a narrower type, on that kind of device. */
export function autocast<T>(device: Device, dtype: AutocastDtype, fn: () => T, enabled = true): T {
  const kind = device.startsWith('cuda') ? 'cuda' : device;
  const before = guarded('autocast', (addon) => addon.enterAutocast(kind, enabled, dtype));
  try {
    const result = fn();
    if (result instanceof Promise) {
      throw new TorchError('autocast', 'the function returned a promise; it must be synchronous');
    }
    return result;
  } finally {
    native().leaveAutocast(kind, before.enabled, before.dtype);
  }
}

// ---- CUDA --------------------------------------------------------------------------------------------

export function cudaDeviceCount(): number {
  return isTorchAvailable() ? native().cudaDeviceCount() : 0;
}

export function cudaIsAvailable(): boolean {
  return cudaDeviceCount() > 0;
}

/** Waits until a device has done all it was given. */
export function synchronize(device?: Device): void {
  guarded('synchronize', (addon) => addon.cudaSynchronize(device));
}

export function cudaMemory(device?: Device): CudaMemory {
  return guarded('cudaMemory', (addon) => addon.cudaMemory(device));
}

export function resetPeakMemory(device?: Device): void {
  guarded('resetPeakMemory', (addon) => addon.cudaResetPeak(device));
}

/** Gives memory kept for reuse back to the device. */
export function emptyCache(): void {
  guarded('emptyCache', (addon) => addon.cudaEmptyCache());
}

/**
 * A captured sequence of CUDA work that can be run again at almost no cost. The caller warms up first
 * (a few runs on other than the captured data are fine), and keeps the tensors that the captured work
 * reads and writes: a replay uses the same memory. What runs before returned must be freed by then: an
 * autograd graph that is still alive belongs to another stream, and a backward pass through the same
 * parameters cannot be captured.
 */
export class CudaGraph<T = unknown> {
  readonly #handle: GraphHandle;
  /** What the captured function returned. */
  readonly result: T;

  private constructor(handle: GraphHandle, result: T) {
    this.#handle = handle;
    this.result = result;
  }

  /** Captures `fn`. Every generator that it draws from must be named, so that replays draw anew. */
  static capture<T>(fn: () => T, generators: readonly Generator[] = []): CudaGraph<T> {
    const handle = guarded('CudaGraph.capture', (addon) => addon.graphCreate());
    const states = generators.map((generator) => generator.handleFor('CudaGraph.capture'));
    guarded('CudaGraph.capture', (addon) => addon.graphBegin(handle, states));
    let result: T;
    try {
      result = fn();
    } catch (error) {
      abandon(handle);
      throw error;
    }
    guarded('CudaGraph.capture', (addon) => addon.graphEnd(handle));
    return new CudaGraph(handle, result);
  }

  replay(): void {
    guarded('CudaGraph.replay', (addon) => addon.graphReplay(this.#handle));
  }

  /** Frees the graph and its memory. */
  dispose(): void {
    guarded('CudaGraph.dispose', (addon) => addon.graphReset(this.#handle));
  }
}

/** Ends a capture whose function failed; the failure itself is what matters. */
function abandon(handle: GraphHandle): void {
  try {
    native().graphEnd(handle);
  } catch {
    // A broken capture cannot be ended properly; libtorch has restored the stream by now.
  }
}
