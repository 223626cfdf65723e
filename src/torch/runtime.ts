/** The library as a whole: what it is, its threads and switches, and the CUDA devices. */
import { guarded } from './dispatch.js';
import { TorchError, TorchUnavailableError } from './errors.js';
import { native, tryNative } from './native.js';
import type { CudaMemory } from './native.js';
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
export function torchInfo(): { info: TorchInfo } | { info: null; missing: TorchUnavailableError } {
  const addon = tryNative();
  if (addon instanceof TorchUnavailableError) return { info: null, missing: addon };
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
  return { info };
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

/** Whether cuDNN's kernels are used, as they are at the start, or libtorch's own. */
export function setCudnnEnabled(flag: boolean): void {
  guarded('setCudnnEnabled', (addon) => addon.setCudnnEnabled(flag));
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

/**
 * Whether the device has done all that this thread gave it. Never waits; an error of the device, which
 * would otherwise show at some later operation, is thrown here.
 */
export function isIdle(device?: Device): boolean {
  return guarded('isIdle', (addon) => addon.cudaIsIdle(device));
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
