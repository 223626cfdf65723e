/**
 * Several processes that compute together, on libtorch's own c10d: they meet at a TCPStore, then speak
 * through Gloo (CPU) or NCCL (CUDA). Every rank must call the same collectives in the same order. Joining
 * and `barrier` leave the event loop free; other collectives are a step's own work and return when done on
 * a CPU, when queued on CUDA. A rank that dies, hangs or is cut off shows as a ProcessGroupError on the
 * others, at once or after the group's time-out. Tensors of one collective must have one shape and type on
 * all ranks: Gloo ends the process where they do not.
 */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { guarded, translate, wrap } from './dispatch.js';
import type { Rendezvous } from './distributed-environment.js';
import { SETUP_TORCH } from './setup-command.js';
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
/** What such a request may take however little time is left: it is not the one that others are late for. */
const REQUEST_SECONDS = 5;
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
  throw new ProcessGroupError('join', `${why}, then run \`${SETUP_TORCH}\``);
}

interface Patience {
  /** By the clock of `performance`. */
  readonly deadline?: number;
  /** What to say when it has passed. */
  readonly late?: () => string;
  readonly signal?: AbortSignal;
}

/** The longest time a timer can be set to. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * What the addon promises, its rejections as our errors. What takes too long is given up: the request goes
 * on by itself, and nothing waits for it.
 */
async function settled<T>(
  op: string,
  start: (addon: Native) => Promise<T>,
  { deadline = Infinity, late = () => 'no answer in time', signal }: Patience = {},
): Promise<T> {
  signal?.throwIfAborted();
  const done = new AbortController();
  const ends = AbortSignal.any([done.signal, ...(signal ? [signal] : [])]);
  // The addon's threads do not keep the process alive; this timer does.
  const left = Math.min(LONGEST_TIMER, Math.max(0, deadline - performance.now()));
  const overdue = sleep(left, undefined, { signal: ends }).then(() => {
    throw new ProcessGroupError(op, late());
  });
  try {
    return await Promise.race([start(native()), overdue]);
  } catch (error) {
    signal?.throwIfAborted();
    throw translate(op, error);
  } finally {
    done.abort();
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

/** Whether a name means a machine. */
const resolves = (host: string): Promise<boolean> =>
  lookup(host).then(
    () => true,
    () => false,
  );

/** The store at which ranks meet, and how long there is to do so. */
class MeetingPlace {
  /** By the clock of `performance`. */
  #deadline: number;

  constructor(
    readonly store: StoreHandle,
    readonly rendezvous: Rendezvous,
    deadline: number,
    readonly signal?: AbortSignal,
  ) {
    this.#deadline = deadline;
  }

  /** Adds to a counter that begins at 0, and gives what it is then. */
  add(key: string, amount: number): Promise<number> {
    const { host, port } = this.rendezvous;
    const now = performance.now();
    const left = Math.min(STORE_SECONDS, Math.max(REQUEST_SECONDS, (this.#deadline - now) / 1000));
    const deadline = now + left * 1000;
    const late = (): string => `${host}:${port} does not answer as rank 0 would`;
    const { signal } = this;
    return settled('join', (addon) => addon.storeAdd(this.store, key, amount), {
      deadline,
      late,
      signal,
    });
  }

  /** Waits until `check` is true. */
  until(check: () => Promise<boolean>, late: () => string): Promise<void> {
    return until(check, this.#deadline, late, this.signal);
  }

  /** How many ranks say yes; resolves when all have been asked. */
  async counted(key: string, own: boolean): Promise<number> {
    const { size } = this.rendezvous;
    await this.add(key, own ? 1 : 0);
    await this.add(`${key}/asked`, 1);
    await this.until(
      async () => (await this.add(`${key}/asked`, 0)) >= size,
      () => 'a rank was lost while the ranks met',
    );
    return this.add(key, 0);
  }

  /** Waits for all ranks. Those that do not fit together are told so. */
  async meet(seconds: number): Promise<void> {
    const { rank, size } = this.rendezvous;
    if (rank === 0) await this.add('size', size);
    if ((await this.add(`rank/${rank}`, 1)) > 1) {
      throw new ProcessGroupError(
        'join',
        `a rank ${rank} was here before: two processes have the same RANK, or one of a job was started again without the others`,
      );
    }
    let joined = await this.add('joined', 1);
    const isComplete = async (): Promise<boolean> => {
      const wanted = await this.add('size', 0);
      if (wanted !== 0 && wanted !== size) {
        throw new ProcessGroupError(
          'join',
          `this is rank ${rank} of ${size}, but rank 0 waits for ${wanted} ranks: WORLD_SIZE must be the same everywhere`,
        );
      }
      joined = await this.add('joined', 0);
      return joined >= size;
    };
    await this.until(
      isComplete,
      () => `only ${joined} of ${size} ranks joined within ${seconds} s`,
    );
    // However late the last one came, what follows has its own time.
    this.#deadline = performance.now() + STORE_SECONDS * 1000;
  }
}

/**
 * The address others reach this process's Gloo at: the one towards rank 0. To rank 0's machine that may be
 * localhost, which means nothing to ranks elsewhere.
 */
async function addressOf(place: MeetingPlace): Promise<string | null> {
  const { host, port, size, localSize } = place.rendezvous;
  if (localSize === size) return LOOPBACK;
  const address = await localAddressTowards(host, port);
  const isRemote = address === null || !isLoopback(address);
  const remote = await place.counted('remote', isRemote);
  return isRemote || remote === 0 ? address : externalAddress();
}

/** Meets the others at the store; `backend` is what rank 0 wants, as a number from 1. */
async function meetOthers(
  rendezvous: Rendezvous,
  backend: number,
  seconds: number,
  signal?: AbortSignal,
): Promise<MeetingPlace> {
  const { rank, size, host, port, agentStore, attempt } = rendezvous;
  const deadline = performance.now() + seconds * 1000;
  const serves = rank === 0 && !agentStore;
  const late = serves
    ? () => `${host}: no machine has this name (MASTER_ADDR)`
    : () => `rank ${rank} of ${size}: rank 0 did not answer at ${host}:${port} within ${seconds} s`;
  await until(() => (serves ? resolves(host) : answers(host, port)), deadline, late, signal);
  const store = await settled(
    'join',
    (addon) => addon.storeConnect(host, port, serves, STORE_SECONDS * 1000, `crab/${attempt}`),
    {
      deadline: Math.max(deadline, performance.now() + REQUEST_SECONDS * 1000),
      late: () => `the store at ${host}:${port} did not open within ${seconds} s`,
      signal,
    },
  );
  const place = new MeetingPlace(store, rendezvous, deadline, signal);
  if (rank === 0) await place.add('backend', backend);
  await place.meet(seconds);
  return place;
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
    const { signal } = options;
    const place = await meetOthers(rendezvous, number, seconds, signal);
    const backend = BACKENDS[(await place.add('backend', 0)) - 1];
    requireBackend(backend);
    const wanted = options.networkInterface ?? process.env.GLOO_SOCKET_IFNAME ?? null;
    const address = wanted === null && backend === 'gloo' ? await addressOf(place) : null;
    const timeout = (options.timeoutSeconds ?? DEFAULT_SECONDS) * 1000;
    const { rank, size } = rendezvous;
    const handle = await settled(
      'join',
      (addon) => addon.groupCreate(backend, place.store, rank, size, timeout, wanted, address),
      {
        deadline: performance.now() + timeout,
        late: () => 'a rank was lost while the ranks met',
        signal,
      },
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
    const { weight, bias, runningMean, runningVar, momentum, eps } = state;
    const input = tensorHandle('batchNorm', x);
    const [w, b, mean, variance] = [weight, bias, runningMean, runningVar].map((tensor) =>
      tensor === null ? null : tensorHandle('batchNorm', tensor),
    );
    return wrap(
      guarded('batchNorm', (addon) =>
        addon.syncBatchNorm(this.#handle, input, w, b, mean, variance, momentum, eps, slope),
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
 * ready travel in buckets, in the order in which the first pass made them; one as large as a sixteenth of a
 * bucket travels by itself. A small `grad` is a view into its bucket, which the next pass overwrites.
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
    guarded('GradientReducer.dispose', (addon) => addon.reducerClose(this.#handle));
  }
}
