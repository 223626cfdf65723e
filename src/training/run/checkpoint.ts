/**
 * A checkpoint: all tensors of the model (BatchNorm's statistics included) under `model.`, those of the
 * optimiser under `optimizer.`, and as metadata the state of the loop, the feed's window and whatever
 * else the system asks to keep (`extra`, one JSON value). Random numbers are functions of seed and
 * step, so they need no state. Best weights are stored the same way, without optimiser, loop and feed.
 *
 * A checksum covers all of it: a damaged weight is a number like any other, and training would go on
 * from it. For 300 MB it takes a fifth of a second, in the writing thread.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { byKind, integer, parseJson, read, type Reader } from '../../base/index.js';
import { startWorker, systemCauseOf } from '../../base/node.js';
import { keep, loadSafetensors, SafetensorsFile, writeSafetensorsFile } from '../../torch/index.js';
import type { Device, Tensor, TensorSource } from '../../torch/index.js';
import { RunFormatError } from '../errors.js';
import type { FeedState } from '../feed/feed.js';
import { readState, type LoopState } from '../loop-state.js';

export const MODEL_PREFIX = 'model.';
export const OPTIMIZER_PREFIX = 'optimizer.';
const FORMAT = 'crab-checkpoint-2';
/** Up to this size a write is over before a thread would have started. */
const SMALL_BYTES = 64 << 20;

/** A tensor's bytes on the host, ready to be written. */
export interface HostTensor extends Omit<TensorSource, 'bytes'> {
  readonly bytes: Uint8Array;
}

/** The present values of named tensors, in memory that the writing thread can read too. */
export function hostTensors(
  prefix: string,
  tensors: Iterable<readonly [string, Tensor]>,
): HostTensor[] {
  return Array.from(tensors, ([name, tensor]) => {
    const { buffer, byteOffset, byteLength } = tensor.bits();
    const bytes = new Uint8Array(new SharedArrayBuffer(byteLength));
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength));
    return { name: prefix + name, dtype: tensor.dtype, shape: tensor.shape, bytes };
  });
}

type Metadata = Readonly<Record<string, string>>;

/** A file of tensors to be written. */
export interface TensorFile {
  readonly file: string;
  readonly tensors: readonly HostTensor[];
  readonly metadata: Metadata;
}

export interface CheckpointContent {
  readonly state: LoopState;
  readonly feed: FeedState;
  /** What the system keeps beside its weights: any JSON value. */
  readonly extra: unknown;
}

/** What best weights keep, or a whole checkpoint, as metadata. */
export function metadataOf(
  content: CheckpointContent | Pick<CheckpointContent, 'extra'>,
): Metadata {
  const entries = Object.entries({ ...content, extra: content.extra ?? null });
  const encoded = entries.map(([key, value]) => [key, JSON.stringify(value)]);
  return { format: FORMAT, ...(Object.fromEntries(encoded) as Metadata) };
}

/** Over metadata, names, kinds and bytes, in the order of the names. */
function checksumOf(tensors: readonly TensorSource[], metadata: Metadata): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(metadata, Object.keys(metadata).sort()));
  for (const tensor of [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const { name, dtype, shape, bytes } = tensor;
    hash.update(`${JSON.stringify([name, dtype, shape])}\n`).update(bytes());
  }
  return hash.digest('hex');
}

/** Writes tensors and metadata with their checksum, in this thread. */
export function writeChecked({ file, tensors, metadata }: TensorFile): void {
  const sources = tensors.map(({ bytes, ...rest }) => ({ ...rest, bytes: () => bytes }));
  const sha256 = checksumOf(sources, metadata);
  try {
    writeSafetensorsFile(file, sources, { ...metadata, sha256 });
  } catch (error) {
    // Of a thread's error its own properties come back, but not those of its cause.
    const code = systemCauseOf(error)?.code;
    throw code === undefined ? error : Object.assign(error as Error, { code, path: file });
  }
}

/** Writes a file of tensors: a small one at once, a large one in a thread while training goes on. */
export async function writeTensors(request: TensorFile): Promise<void> {
  const bytes = request.tensors.reduce((sum, tensor) => sum + tensor.bytes.length, 0);
  if (bytes <= SMALL_BYTES) return writeChecked(request);
  const module = new URL('./checkpoint-worker.js', import.meta.url);
  await once(startWorker(module, { workerData: request }), 'exit');
}

/** The metadata of a checkpoint; refuses a file of another version, or not as it was written. */
function intactMetadata(path: string): Metadata {
  const file = SafetensorsFile.open(path);
  try {
    const { sha256, ...metadata } = file.metadata;
    if (metadata.format !== FORMAT) {
      throw new RunFormatError(`${path}: not a checkpoint of this version of crab (${FORMAT})`);
    }
    const tensors = file.names.map((name) => ({
      ...file.describe(name),
      bytes: () => file.readBytes(name),
    }));
    if (checksumOf(tensors, metadata) === sha256) return metadata;
  } finally {
    file.close();
  }
  throw new RunFormatError(`${path}: its content is not what was written`);
}

/** What a checkpoint keeps under a name, as JSON. */
const stored = (metadata: Metadata, key: keyof CheckpointContent, file: string): unknown =>
  parseJson(metadata[key] ?? '', RunFormatError, `${file}: its ${key}`);

const feedState: Reader<FeedState> = byKind({ set: {}, stream: { produced: integer({ min: 0 }) } });

interface LoadedTensors {
  readonly model: Map<string, Tensor>;
  /** Empty in files of best weights. */
  readonly optimizer: Map<string, Tensor>;
  dispose(): void;
}
export type LoadedCheckpoint = LoadedTensors & CheckpointContent;

function loadTensors(file: string, device: Device): LoadedTensors {
  const { tensors } = loadSafetensors(file, device);
  const under = (prefix: string): Map<string, Tensor> => {
    const chosen = [...tensors].filter(([name]) => name.startsWith(prefix));
    return new Map(chosen.map(([name, tensor]) => [name.slice(prefix.length), keep(tensor)]));
  };
  const dispose = (): void => tensors.forEach((tensor) => tensor.dispose());
  return { model: under(MODEL_PREFIX), optimizer: under(OPTIMIZER_PREFIX), dispose };
}

/** What a system stored beside its weights, in a checkpoint or a file of best weights. */
export const readExtra = (file: string): unknown => stored(intactMetadata(file), 'extra', file);

/** The steps that a run is to have in all, by its checkpoint; null while a budget of time has not decided it. */
export const readTotalSteps = (file: string): number | null =>
  readState(stored(intactMetadata(file), 'state', file), file).totalSteps;

/** Reads the weights of a checkpoint or of a file of best weights. */
export const loadWeights = (file: string, device: Device): LoadedTensors & { extra: unknown } => ({
  extra: readExtra(file),
  ...loadTensors(file, device),
});

/** Reads a full checkpoint; nothing in it is trusted. */
export function loadCheckpoint(file: string, device: Device): LoadedCheckpoint {
  const metadata = intactMetadata(file);
  const of = (key: keyof CheckpointContent): unknown => stored(metadata, key, file);
  return {
    state: readState(of('state'), file),
    feed: read(feedState, of('feed'), RunFormatError, `${file}: its feed`),
    extra: of('extra'),
    ...loadTensors(file, device),
  };
}
