/** The library as a whole: what it is, its threads and switches, and the CUDA devices. */
import { guarded } from './dispatch.js';
import { TorchUnavailableError } from './errors.js';
import { synchronous } from './handle.js';
import { native, tryNative } from './native.js';
import type { Native } from './native.js';
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

/** A switch of the addon under its own name. */
function switching<Name extends SwitchName>(
  name: Name,
): (value: Parameters<Native[Name]>[0]) => void {
  return (value) => guarded(name, (addon) => (addon[name] as (value: unknown) => void)(value));
}
type SwitchName = Extract<
  keyof Native,
  `set${'Num' | 'Deterministic' | 'Cudnn' | 'AllowTf32'}${string}`
>;

/** Threads that one operation on the CPU may use; 1 at the start. */
export const setNumThreads = switching('setNumThreads');

export function getNumThreads(): number {
  return native().getNumThreads();
}

/** Use only algorithms that give the same result each time; an operation that has none is an error. */
export const setDeterministic = switching('setDeterministic');

/** Let cuDNN try its algorithms on first use of a shape and keep the fastest. */
export const setCudnnBenchmark = switching('setCudnnBenchmark');

/** Let CUDA round f32 products to TF32. */
export const setAllowTf32 = switching('setAllowTf32');

/** Whether cuDNN's kernels are used, as they are at the start, or libtorch's own. */
export const setCudnnEnabled = switching('setCudnnEnabled');

export type AutocastDtype = 'bf16' | 'f16';

/** Runs `fn` with operations that gain by it in a narrower type, on that kind of device. */
export function autocast<T>(device: Device, dtype: AutocastDtype, fn: () => T, enabled = true): T {
  const kind = device.startsWith('cuda') ? 'cuda' : device;
  const before = guarded('autocast', (addon) => addon.enterAutocast(kind, enabled, dtype));
  try {
    return synchronous('autocast', fn);
  } finally {
    native().leaveAutocast(kind, before.enabled, before.dtype);
  }
}

/** The narrower type that autocast uses on that kind of device now; null: there is no autocast. */
export function autocastDtype(device: Device): AutocastDtype | null {
  const kind = device.startsWith('cuda') ? 'cuda' : device;
  return guarded('autocast', (addon) => {
    const { enabled, dtype } = addon.enterAutocast(kind, false, 'bf16');
    addon.leaveAutocast(kind, enabled, dtype);
    return enabled ? (dtype as AutocastDtype) : null;
  });
}

// ---- CUDA --------------------------------------------------------------------------------------------

export function cudaDeviceCount(): number {
  return isTorchAvailable() ? native().cudaDeviceCount() : 0;
}

export function cudaIsAvailable(): boolean {
  return cudaDeviceCount() > 0;
}

type OfDevice = 'cudaSynchronize' | 'cudaIsIdle' | 'cudaMemory' | 'cudaResetPeak';

/** A function of the addon that takes a device, by default the current one; `label` names it in errors. */
function ofDevice<Name extends OfDevice>(name: Name, label: string) {
  return (device?: Device) =>
    guarded(label, (addon) => addon[name](device)) as ReturnType<Native[Name]>;
}

/** Waits until a device has done all it was given. */
export const synchronize = ofDevice('cudaSynchronize', 'synchronize');

/**
 * Whether the device has done all that this thread gave it. Never waits; an error of the device, which
 * would otherwise show at some later operation, is thrown here.
 */
export const isIdle = ofDevice('cudaIsIdle', 'isIdle');

export const cudaMemory = ofDevice('cudaMemory', 'cudaMemory');
export const resetPeakMemory = ofDevice('cudaResetPeak', 'resetPeakMemory');

/** Gives memory kept for reuse back to the device. */
export function emptyCache(): void {
  guarded('emptyCache', (addon) => addon.cudaEmptyCache());
}
