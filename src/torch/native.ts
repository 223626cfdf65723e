/**
 * The addon (native/), loaded at first use: importing this folder never fails. Everything below this
 * line of the project speaks of handles; above it, of Tensor. Errors of the addon carry a `code`, which
 * dispatch.ts turns into the classes of errors.ts.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { messageOf } from '../base/index.js';
import { TorchUnavailableError } from './errors.js';

declare const kind: unique symbol;

/** An N-API External; opaque to JavaScript. */
interface Handle<Kind extends string> {
  readonly [kind]: Kind;
}
export type TensorHandle = Handle<'tensor'>;
export type GeneratorHandle = Handle<'generator'>;
export type GraphHandle = Handle<'graph'>;
export type StoreHandle = Handle<'store'>;
export type GroupHandle = Handle<'group'>;
export type ReducerHandle = Handle<'reducer'>;

/** Arrays whose memory can be copied from and to a tensor. */
export type NumberArray =
  Float32Array | Float64Array | Int32Array | Uint8Array | Uint16Array | BigInt64Array;

export interface CudaMemory {
  /** Bytes held by tensors. */
  allocated: number;
  peakAllocated: number;
  /** Bytes taken from the device, including what is kept for reuse. */
  reserved: number;
  peakReserved: number;
}

export interface Native {
  // handles.cc
  dispose(tensor: TensorHandle): void;
  setData(tensor: TensorHandle, source: TensorHandle): void;
  liveHandles(): { tensors: number; bytes: number };
  setCollector(collect: Collector): void;
  // tensor.cc
  shape(tensor: TensorHandle): number[];
  strides(tensor: TensorHandle): number[];
  dtype(tensor: TensorHandle): string;
  device(tensor: TensorHandle): string;
  isContiguous(tensor: TensorHandle, memoryFormat?: string): boolean;
  sameMemory(a: TensorHandle, b: TensorHandle): boolean;
  // data.cc
  fromBytes(
    data: NumberArray,
    shape: readonly number[],
    dtype: string,
    device: string,
  ): TensorHandle;
  copyFromBytes(tensor: TensorHandle, data: NumberArray): void;
  copyToBytes(tensor: TensorHandle, data: NumberArray): void;
  // operators.cc
  findOperator(name: string, overload: string): number;
  schema(operator: number): string;
  call(operator: number, ...args: readonly unknown[]): unknown;
  // autograd.cc
  requiresGrad(tensor: TensorHandle): boolean;
  setRequiresGrad(tensor: TensorHandle, flag: boolean): void;
  isLeaf(tensor: TensorHandle): boolean;
  retainGrad(tensor: TensorHandle): void;
  gradient(tensor: TensorHandle): TensorHandle | null;
  setGradient(tensor: TensorHandle, gradient: TensorHandle | null): void;
  backward(
    outputs: TensorHandle[],
    gradients: (TensorHandle | null)[] | null,
    retainGraph: boolean | null,
    createGraph: boolean,
    inputs: TensorHandle[],
  ): void;
  grad(
    outputs: TensorHandle[],
    inputs: TensorHandle[],
    gradOutputs: (TensorHandle | null)[] | null,
    retainGraph: boolean | null,
    createGraph: boolean,
    allowUnused: boolean,
  ): (TensorHandle | null)[];
  setGradEnabled(flag: boolean): boolean;
  isGradEnabled(): boolean;
  // modes.cc
  enterAutocast(
    device: string,
    enabled: boolean,
    dtype: string,
  ): { enabled: boolean; dtype: string };
  leaveAutocast(device: string, enabled: boolean, dtype: string): void;
  setDeterministic(flag: boolean): void;
  setCudnnBenchmark(flag: boolean): void;
  setAllowTf32(flag: boolean): void;
  setCudnnEnabled(flag: boolean): void;
  // random.cc
  createGenerator(device: string, seed: number | bigint): GeneratorHandle;
  generatorSetSeed(generator: GeneratorHandle, seed: number | bigint): void;
  generatorState(generator: GeneratorHandle): TensorHandle;
  generatorSetState(generator: GeneratorHandle, state: TensorHandle): void;
  generatorDevice(generator: GeneratorHandle): string;
  manualSeed(seed: number | bigint): void;
  // runtime.cc
  setNumThreads(threads: number): void;
  getNumThreads(): number;
  getNumInteropThreads(): number;
  runtimeInfo(): { version: string; blas: string; blasLibraries: string[]; mkldnn: boolean };
  // cuda.cc
  readonly hasCuda: boolean;
  cudaDeviceCount(): number;
  cudaDeviceInfo(device?: string): { name: string; memory: number; capability: string };
  cudaSynchronize(device?: string): void;
  cudaMemory(device?: string): CudaMemory;
  cudaResetPeak(device?: string): void;
  cudaEmptyCache(): void;
  // cuda_streams.cc
  enterSideStream(device?: string): boolean;
  leaveSideStream(device?: string): void;
  cudaIsIdle(device?: string): boolean;
  graphCreate(device?: string): GraphHandle;
  graphBegin(graph: GraphHandle, generators: GeneratorHandle[]): void;
  graphEnd(graph: GraphHandle): void;
  graphReplay(graph: GraphHandle): void;
  graphReset(graph: GraphHandle): void;
  // process_group.cc; all but the first only where there is a backend
  distributedBackends(): string[];
  storeConnect(
    host: string,
    port: number,
    isServer: boolean,
    timeoutMilliseconds: number,
    prefix: string,
  ): Promise<StoreHandle>;
  storeAdd(store: StoreHandle, key: string, amount: number): Promise<number>;
  groupCreate(
    backend: string,
    store: StoreHandle,
    rank: number,
    size: number,
    timeoutMilliseconds: number,
    networkInterface: string | null,
    address: string | null,
  ): Promise<GroupHandle>;
  groupAllReduce(group: GroupHandle, tensor: TensorHandle, op: string): void;
  groupBroadcast(group: GroupHandle, tensor: TensorHandle, root: number): void;
  groupAllGather(group: GroupHandle, tensor: TensorHandle): TensorHandle[];
  groupBarrier(group: GroupHandle): Promise<void>;
  groupClose(group: GroupHandle): void;
  // process_group_autograd.cc, process_group_reducer.cc
  groupGather(group: GroupHandle, tensor: TensorHandle, dim: number): TensorHandle;
  syncBatchNorm(
    group: GroupHandle,
    x: TensorHandle,
    weight: TensorHandle | null,
    bias: TensorHandle | null,
    runningMean: TensorHandle | null,
    runningVariance: TensorHandle | null,
    momentum: number,
    eps: number,
    slope: number,
  ): TensorHandle;
  reducerCreate(group: GroupHandle, parameters: TensorHandle[], bucketBytes: number): ReducerHandle;
  reducerBegin(reducer: ReducerHandle): void;
  reducerBuckets(reducer: ReducerHandle): number;
  reducerClose(reducer: ReducerHandle): void;
}

/** The same distance from src/torch and dist/torch. CRAB_TORCH_ADDON names another file. */
const DEFAULT_ADDON = fileURLToPath(new URL('../../build/torch/crab_torch.node', import.meta.url));

type Collector = (options?: { type: 'minor' }) => void;

let knownCollector: Collector | null = null;

/** V8's gc(), which a program does not normally see. */
function collector(): Collector {
  if (knownCollector === null) {
    setFlagsFromString('--expose-gc');
    knownCollector = runInNewContext('gc') as Collector;
  }
  return knownCollector;
}

/** Frees every tensor that the program can no longer reach, now. */
export function collectGarbage(): void {
  collector()();
}

let loaded: Native | TorchUnavailableError | null = null;

function load(): Native | TorchUnavailableError {
  const path = process.env.CRAB_TORCH_ADDON ?? DEFAULT_ADDON;
  if (!existsSync(path)) return new TorchUnavailableError('its addon is not built');
  try {
    const addon = createRequire(import.meta.url)(path) as Native;
    addon.setNumThreads(1);
    addon.setCollector(collector());
    return addon;
  } catch (error) {
    const reason = messageOf(error);
    return new TorchUnavailableError(`its addon does not load: ${reason}`, { cause: error });
  }
}

/** The addon; throws TorchUnavailableError where there is none. */
export function native(): Native {
  loaded ??= load();
  if (loaded instanceof TorchUnavailableError) throw loaded;
  return loaded;
}

/** The addon, or why there is none. */
export function tryNative(): Native | TorchUnavailableError {
  loaded ??= load();
  return loaded;
}
