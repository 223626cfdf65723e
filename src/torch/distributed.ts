/**
 * Several processes that compute together, on libtorch's own c10d: they meet at a TCPStore, then speak
 * through Gloo (CPU) or NCCL (CUDA). Every rank must call the same collectives in the same order. Joining
 * and `barrier` leave the event loop free; other collectives are a step's own work and return when done on
 * a CPU, when queued on CUDA. A rank that dies, hangs or is cut off shows as a ProcessGroupError on the
 * others, at once or after the group's time-out.
 */
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { guarded, translate, wrap } from './dispatch.js';
import type { Rendezvous } from './distributed-environment.js';
import { ProcessGroupError, TorchUnavailableError } from './errors.js';
import { tensorHandle, tensorHandles } from './handle.js';
import { native, tryNative } from './native.js';
import type { GroupHandle, Native, ReducerHandle, StoreHandle } from './native.js';
import type { Tensor } from './tensor.js';

export type Backend = 'gloo' | 'nccl';
const BACKENDS: readonly Backend[] = ['gloo', 'nccl'];
export type ReduceOp = 'sum' | 'min' | 'max' | 'product';

export interface JoinOptions {
  /** `gloo` for tensors on the CPU, `nccl` for tensors on CUDA; rank 0 decides it for all. */
  readonly backend?: Backend;
  /** Longest wait for the others when joining, in seconds; 300 unless told. */
  readonly joinSeconds?: number;
  /** Longest wait for the others in a collective, in seconds; 300 unless told. */
  readonly timeoutSeconds?: number;
  /** Network interface that Gloo uses; GLOO_SOCKET_IFNAME unless told, else the one towards rank 0. */
  readonly networkInterface?: string;
  readonly signal?: AbortSignal;
}

const DEFAULT_SECONDS = 300;
/** Longest wait for the store's answer to one request. */
const STORE_SECONDS = 60;
const POLL_MILLISECONDS = 50;

/** What process groups there are here; none where the addon was built without. */
export function distributedBackends(): readonly Backend[] {
  const addon = tryNative();
  return addon instanceof TorchUnavailableError ? [] : (addon.distributedBackends() as Backend[]);
}

function requireBackend(backend: Backend): void {
  const there = native().distributedBackends();
  if (there.includes(backend)) return;
  const why =
    backend === 'gloo'
      ? "this libtorch comes without Gloo's headers: install Debian's libtorch-dev and libgloo-dev"
      : 'this libtorch has no NCCL, or nccl.h was not found: set NCCL_HOME';
  throw new ProcessGroupError('join', `${why}, then run \`npm run setup:torch\``);
}

/** Rejections of the addon's promises as our errors. */
async function settled<T>(op: string, start: (addon: Native) => Promise<T>): Promise<T> {
  try {
    return await start(native());
  } catch (error) {
    throw translate(op, error);
  }
}

/** Whether something listens there. */
function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (found: boolean) => () => {
      socket.destroy();
      resolve(found);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

/** Calls `check` again and again until it is true; throws when `signal` aborts or the time is over. */
async function until(
  check: () => boolean | Promise<boolean>,
  deadline: number,
  late: () => string,
  signal?: AbortSignal,
): Promise<void> {
  while (!(await check())) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) throw new ProcessGroupError('join', late());
    await sleep(POLL_MILLISECONDS, undefined, { signal });
  }
}

/** The address of this machine that packets to another one leave from. */
function localAddressTowards(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const end = (address: string | null): void => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => end(null));
    socket.connect(port, host, () => end(socket.address().address));
  });
}

const LOOPBACK = '127.0.0.1';
const isLoopback = (address: string): boolean => address.startsWith('127.');

/** The first address of this machine that others can reach; null where there is none. */
const externalAddress = (): string | null =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

/**
 * The address others reach this process's Gloo at: the one towards rank 0. To rank 0's machine that may be
 * localhost, which means nothing to ranks elsewhere.
 */
async function addressOf(
  { host, port, size, localSize }: Rendezvous,
  store: StoreHandle,
): Promise<string | null> {
  if (localSize === size) return LOOPBACK;
  const address = await localAddressTowards(host, port);
  const isRemote = address === null || !isLoopback(address);
  const remote = await counted(store, 'remote', isRemote, size);
  return isRemote || remote === 0 ? address : externalAddress();
}

/** How many ranks say yes; resolves when all have been asked. */
async function counted(
  store: StoreHandle,
  key: string,
  own: boolean,
  size: number,
): Promise<number> {
  const add = (name: string, amount: number): number =>
    guarded('join', (addon) => addon.storeAdd(store, name, amount));
  add(key, own ? 1 : 0);
  add(`${key}/asked`, 1);
  const deadline = performance.now() + STORE_SECONDS * 1000;
  const complete = (): boolean => add(`${key}/asked`, 0) >= size;
  await until(complete, deadline, () => 'a rank was lost while the ranks met');
  return add(key, 0);
}

/** Meets the others at the store; `backend` is what rank 0 wants, as a number from 1. */
async function connectStore(
  rendezvous: Rendezvous,
  backend: number,
  seconds: number,
  signal?: AbortSignal,
): Promise<StoreHandle> {
  const { rank, size, host, port, agentStore, attempt } = rendezvous;
  const deadline = performance.now() + seconds * 1000;
  const serves = rank === 0 && !agentStore;
  if (!serves) {
    const late = (): string =>
      `rank ${rank} of ${size}: rank 0 did not answer at ${host}:${port} within ${seconds} s`;
    await until(() => answers(host, port), deadline, late, signal);
  }
  const prefix = `crab/${attempt}`;
  const store = await settled('join', (addon) =>
    addon.storeConnect(host, port, serves, STORE_SECONDS * 1000, prefix),
  );
  if (rank === 0) guarded('join', (addon) => addon.storeAdd(store, 'backend', backend));
  let joined = guarded('join', (addon) => addon.storeAdd(store, 'joined', 1));
  const complete = (): boolean => {
    joined = guarded('join', (addon) => addon.storeAdd(store, 'joined', 0));
    return joined >= size;
  };
  const late = (): string => `only ${joined} of ${size} ranks joined within ${seconds} s`;
  await until(complete, deadline, late, signal);
  return store;
}

/** A rank's membership in a group of processes. */
export class ProcessGroup {
  readonly rank: number;
  readonly size: number;
  readonly backend: Backend;
  readonly #handle: GroupHandle;

  private constructor(handle: GroupHandle, rendezvous: Rendezvous, backend: Backend) {
    this.#handle = handle;
    this.rank = rendezvous.rank;
    this.size = rendezvous.size;
    this.backend = backend;
  }

  /** Meets the other ranks. Where it fails, the message says who was missing. */
  static async join(rendezvous: Rendezvous, options: JoinOptions): Promise<ProcessGroup> {
    const wish = options.backend ?? 'gloo';
    if (rendezvous.rank === 0) requireBackend(wish);
    const seconds = options.joinSeconds ?? DEFAULT_SECONDS;
    const number = BACKENDS.indexOf(wish) + 1;
    const store = await connectStore(rendezvous, number, seconds, options.signal);
    const chosen = guarded('join', (addon) => addon.storeAdd(store, 'backend', 0));
    const backend = BACKENDS[chosen - 1];
    requireBackend(backend);
    const wanted = options.networkInterface ?? process.env.GLOO_SOCKET_IFNAME ?? null;
    const address =
      wanted === null && backend === 'gloo' ? await addressOf(rendezvous, store) : null;
    const timeout = (options.timeoutSeconds ?? DEFAULT_SECONDS) * 1000;
    const { rank, size } = rendezvous;
    const handle = await settled('join', (addon) =>
      addon.groupCreate(backend, store, rank, size, timeout, wanted, address),
    );
    return new ProcessGroup(handle, rendezvous, backend);
  }

  /** Replaces a tensor by the sum (or other) of all ranks' tensors of its shape. */
  allReduce_(tensor: Tensor, op: ReduceOp = 'sum'): Tensor {
    const handle = tensorHandle('allReduce_', tensor);
    guarded('allReduce_', (addon) => addon.groupAllReduce(this.#handle, handle, op));
    return tensor;
  }

  /** Replaces a tensor by that of rank `root`. */
  broadcast_(tensor: Tensor, root = 0): Tensor {
    const handle = tensorHandle('broadcast_', tensor);
    guarded('broadcast_', (addon) => addon.groupBroadcast(this.#handle, handle, root));
    return tensor;
  }

  /** The tensors of all ranks, which must be alike, by rank; outside of the graph. */
  allGather(tensor: Tensor): Tensor[] {
    const handle = tensorHandle('allGather', tensor);
    return guarded('allGather', (addon) => addon.groupAllGather(this.#handle, handle)).map(wrap);
  }

  /**
   * The tensors of all ranks side by side along a dimension, with a gradient: what every rank finds for
   * this rank's part arrives here, summed.
   */
  gather(tensor: Tensor, dim = 0): Tensor {
    const handle = tensorHandle('gather', tensor);
    return wrap(guarded('gather', (addon) => addon.groupGather(this.#handle, handle, dim)));
  }

  /** Resolves when every rank has called it. */
  async barrier(): Promise<void> {
    await settled('barrier', (addon) => addon.groupBarrier(this.#handle));
  }

  /**
   * Batch normalisation in training with the statistics of all ranks' batches, some of which may be empty;
   * see nn.BatchNorm2d.
   * @param slope of a leaky ReLU behind it; 1 for none
   */
  batchNorm(x: Tensor, state: SyncedNorm, slope = 1): Tensor {
    const optional = (tensor: Tensor | null) =>
      tensor === null ? null : tensorHandle('batchNorm', tensor);
    const { weight, bias, runningMean, runningVar, momentum, eps } = state;
    return wrap(
      guarded('batchNorm', (addon) =>
        addon.syncBatchNorm(
          this.#handle,
          tensorHandle('batchNorm', x),
          optional(weight),
          optional(bias),
          optional(runningMean),
          optional(runningVar),
          momentum,
          eps,
          slope,
        ),
      ),
    );
  }

  /** See GradientReducer. */
  createReducer(parameters: readonly Tensor[], bucketBytes: number): ReducerHandle {
    const handles = tensorHandles('GradientReducer', parameters);
    return guarded('GradientReducer', (addon) =>
      addon.reducerCreate(this.#handle, handles, bucketBytes),
    );
  }

  /** Leaves the group; the others' next collective fails. */
  dispose(): void {
    guarded('dispose', (addon) => addon.groupClose(this.#handle));
  }
}

/** What a synchronised batch normalisation reads and updates. */
export interface SyncedNorm {
  readonly weight: Tensor | null;
  readonly bias: Tensor | null;
  readonly runningMean: Tensor | null;
  readonly runningVar: Tensor | null;
  readonly momentum: number;
  readonly eps: number;
}

const DEFAULT_BUCKET_BYTES = 16 * 2 ** 20;

/**
 * Averages the gradients of parameters over all ranks while the backward pass still runs: those that are
 * ready travel in buckets, in the order in which the first pass made them.
 *
 *     optimizer.zeroGrad();
 *     reducer.begin();
 *     loss.backward();      // afterwards every `grad` is the mean over the ranks
 *
 * Every parameter must take part in every pass, and gradients must be cleared before each.
 */
export class GradientReducer {
  readonly #handle: ReducerHandle;

  constructor(
    readonly group: ProcessGroup,
    parameters: readonly Tensor[],
    { bucketBytes = DEFAULT_BUCKET_BYTES }: { readonly bucketBytes?: number } = {},
  ) {
    this.#handle = group.createReducer(parameters, bucketBytes);
  }

  begin(): void {
    guarded('GradientReducer.begin', (addon) => addon.reducerBegin(this.#handle));
  }

  /** Buckets; 0 before the first pass. */
  get buckets(): number {
    return guarded('GradientReducer', (addon) => addon.reducerBuckets(this.#handle));
  }

  dispose(): void {
    native().reducerClose(this.#handle);
  }
}
