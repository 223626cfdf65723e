/** What a run is made with: versions, threads, and libtorch's switches for a device. */
import { availableParallelism } from 'node:os';
import { ArgumentError } from '../base/index.js';
import { packageVersion } from '../base/node.js';
import {
  cudaDeviceCount,
  setAllowTf32,
  setCudnnBenchmark,
  setDeterministic,
  setNumThreads,
  torchInfo,
} from '../torch/index.js';
import type { RunConfig } from './config.js';
import { TrainingError } from './errors.js';
import { isCuda } from './options.js';

export interface Environment {
  readonly software: Readonly<Record<string, string>>;
  /** Threads of one operation on the CPU, unless told. */
  readonly threads: number;
}

/** Fails with what to do if libtorch is missing. */
export function readEnvironment(): Environment {
  const found = torchInfo();
  if (found.info === null) throw new TrainingError(found.missing.message);
  const { info } = found;
  const software = {
    'crab-raven': packageVersion(),
    node: process.version,
    libtorch: info.version,
    blas: info.blas,
  };
  return { software, threads: availableParallelism() };
}

/** Refuses a GPU that is not there. */
export function requireDevice(device: string): void {
  if (!isCuda(device)) return;
  const wanted = device === 'cuda' ? 0 : Number(device.slice('cuda:'.length));
  const found = cudaDeviceCount();
  if (wanted < found) return;
  const there = found === 0 ? 'there is no GPU here that libtorch can use' : `GPUs here: ${found}`;
  throw new ArgumentError(`--device ${device}: ${there}; cpu works everywhere`);
}

/**
 * Sets libtorch up as a run needs it.
 * @param most threads at most: ranks on one machine share its cores
 */
export function prepareTorch(config: RunConfig, most = Infinity): void {
  requireDevice(config.device);
  setNumThreads(Math.min(config.threads, most));
  if (!isCuda(config.device)) return;
  if (config.deterministic) {
    // cuBLAS sums in a fixed order only with a workspace of its own, which it reads from here.
    process.env.CUBLAS_WORKSPACE_CONFIG ??= ':4096:8';
    setDeterministic(true);
  }
  setCudnnBenchmark(!config.deterministic);
  setAllowTf32(true);
}
