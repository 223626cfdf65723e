/**
 * What a checkpoint holds: all tensors of the model (BatchNorm's statistics included) under `model.`,
 * those of the optimiser under `optimizer.`, and as metadata the state of the loop, the feed's window
 * and the rule prior in full precision. The random numbers of a step are functions of seed and step,
 * so the two are their whole state. Best weights are stored the same way without the optimiser.
 */
import { byKind, integer, parseJson, read, type Reader } from '../../base/index.js';
import {
  keep,
  loadSafetensors,
  type Device,
  type Tensor,
  type TensorSource,
} from '../../torch/index.js';
import { RunFormatError } from '../errors.js';
import type { FeedState } from '../feed/feed.js';
import { decodeState, encodeState, type LoopState } from '../loop-state.js';
import { requireIntact } from './checksum.js';

export const MODEL_PREFIX = 'model.';
export const OPTIMIZER_PREFIX = 'optimizer.';

/** A tensor's bytes on the host, ready to be written. */
export interface HostTensor {
  readonly name: string;
  readonly dtype: TensorSource['dtype'];
  readonly shape: readonly number[];
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The present values of named tensors, copied to the host. */
export function hostTensors(
  prefix: string,
  tensors: Iterable<readonly [string, Tensor]>,
): HostTensor[] {
  return Array.from(tensors, ([name, tensor]) => {
    const bits = tensor.bits();
    const bytes = new Uint8Array(bits.buffer as ArrayBuffer, bits.byteOffset, bits.byteLength);
    return { name: prefix + name, dtype: tensor.dtype, shape: tensor.shape, bytes };
  });
}

export interface CheckpointContent {
  readonly state: LoopState;
  readonly feed: FeedState;
  /** What the learner keeps beside weights and optimiser, as JSON. */
  readonly extra: unknown;
}

export const checkpointMetadata = (content: CheckpointContent): Record<string, string> => ({
  format: 'crab-checkpoint-1',
  state: encodeState(content.state),
  feed: JSON.stringify(content.feed),
  extra: JSON.stringify(content.extra),
});

/** Metadata of best weights. */
export const bestMetadata = (step: number, extra: unknown): Record<string, string> => ({
  format: 'crab-best-1',
  step: step.toString(),
  extra: JSON.stringify(extra),
});

export interface LoadedCheckpoint extends CheckpointContent {
  readonly model: Map<string, Tensor>;
  readonly optimizer: Map<string, Tensor>;
  dispose(): void;
}

const feedState: Reader<FeedState> = byKind({ set: {}, stream: { produced: integer() } });

function parseFeed(text: string, file: string): FeedState {
  const name = `${file}: the state of the feed`;
  return read(feedState, parseJson(text, RunFormatError, name), RunFormatError, name);
}

/** A system's extra state, as it was stored. */
export const parseExtra = (text: string | undefined, file: string): unknown =>
  parseJson(text ?? '', RunFormatError, `${file}: the system's state`);

/** Tensors whose names begin with a prefix, without it. */
function withPrefix(tensors: ReadonlyMap<string, Tensor>, prefix: string): Map<string, Tensor> {
  const chosen = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) {
    if (name.startsWith(prefix)) chosen.set(name.slice(prefix.length), keep(tensor));
  }
  return chosen;
}

/** Reads a full checkpoint; nothing in it is trusted. */
export function loadCheckpoint(file: string, device: Device): LoadedCheckpoint {
  requireIntact(file);
  const { tensors, metadata } = loadSafetensors(file, device);
  if (metadata.format !== 'crab-checkpoint-1') {
    throw new RunFormatError(`${file}: not a checkpoint of this version`);
  }
  return {
    state: decodeState(metadata.state ?? '', file),
    feed: parseFeed(metadata.feed ?? '', file),
    extra: parseExtra(metadata.extra, file),
    model: withPrefix(tensors, MODEL_PREFIX),
    optimizer: withPrefix(tensors, OPTIMIZER_PREFIX),
    dispose: () => {
      for (const tensor of tensors.values()) tensor.dispose();
    },
  };
}
