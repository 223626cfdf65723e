/**
 * How the first rank hands a run over to the others at its start: the configuration, and of a resumed run
 * the whole checkpoint. Nothing but the training data is read from disk by other ranks, so that machines
 * need not share one. Should the first rank fail before that, it says why.
 */
import { messageOf } from '../../base/index.js';
import { ArgumentError } from '../../matrix/index.js';
import { keep, scope, zeros, type Device, type DType, type Tensor } from '../../torch/index.js';
import { parseRunConfig } from '../config.js';
import { TrainingError } from '../errors.js';
import type { FeedState } from '../feed/feed.js';
import { readState, type LoopState } from '../loop-state.js';
import type { LoadedCheckpoint } from '../run/checkpoint.js';
import type { Opened } from '../train.js';
import type { Team } from './team.js';

/** A tensor that follows, in the order of the list. */
interface Announced {
  readonly part: 'model' | 'optimizer';
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: DType;
}

type Header =
  | { readonly failure: string; readonly isWrongUse: boolean }
  | {
      readonly folder: string;
      readonly config: string;
      readonly checkpoint: null | {
        readonly state: LoopState;
        readonly feed: FeedState;
        readonly extra: unknown;
        readonly tensors: readonly Announced[];
      };
    };

const encode = (header: Header): Uint8Array => new TextEncoder().encode(JSON.stringify(header));

/** The tensors of a checkpoint with their descriptions, in a fixed order. */
function tensorsOf(checkpoint: LoadedCheckpoint): [Announced, Tensor][] {
  const list = (part: Announced['part']): [Announced, Tensor][] =>
    [...checkpoint[part]].map(([name, tensor]) => [
      { part, name, shape: tensor.shape, dtype: tensor.dtype },
      tensor,
    ]);
  return [...list('model'), ...list('optimizer')];
}

/** Tells the other ranks what is to be trained. */
export function shareRun(team: Team, { folder, config, checkpoint }: Opened): void {
  if (team.size === 1) return;
  const tensors = checkpoint === null ? [] : tensorsOf(checkpoint);
  const header: Header = {
    folder,
    config: JSON.stringify(config),
    checkpoint: checkpoint && {
      state: checkpoint.state,
      feed: checkpoint.feed,
      extra: checkpoint.extra,
      tensors: tensors.map(([announced]) => announced),
    },
  };
  team.share(encode(header));
  for (const [, tensor] of tensors) scope(() => void team.share_(tensor.contiguous()));
}

/** Tells the other ranks that there is nothing to train, and why. */
export function shareFailure(
  team: Team,
  error: unknown,
  isWrongUse = error instanceof ArgumentError,
): void {
  if (team.size === 1) return;
  const failure = messageOf(error);
  try {
    team.share(encode({ failure, isWrongUse }));
  } catch {
    // The others are gone; the failure at hand is what matters.
  }
}

function receiveTensors(
  team: Team,
  device: Device,
  announced: readonly Announced[],
): Record<Announced['part'], Map<string, Tensor>> {
  const received = { model: new Map<string, Tensor>(), optimizer: new Map<string, Tensor>() };
  for (const { part, name, shape, dtype } of announced) {
    received[part].set(name, keep(team.share_(zeros(shape, { dtype, device }))));
  }
  return received;
}

/** Learns from the first rank what is to be trained. */
export function followRun(team: Team, cuda: string): Opened {
  const header = JSON.parse(new TextDecoder().decode(team.share(null))) as Header;
  if ('failure' in header) {
    const why = `the first rank stopped: ${header.failure}`;
    // Of one kind on all ranks: whoever started them looks at the first that ends.
    throw header.isWrongUse ? new ArgumentError(why) : new TrainingError(why);
  }
  const { folder, checkpoint } = header;
  const config = parseRunConfig(header.config, 'the configuration of the first rank');
  if (checkpoint === null) return { folder, config, checkpoint, stored: null };
  const device = (config.device === 'cuda' ? cuda : config.device) as Device;
  const tensors = receiveTensors(team, device, checkpoint.tensors);
  const { feed, extra } = checkpoint;
  const state = readState(checkpoint.state, 'the first rank');
  const dispose = (): void => {
    for (const map of Object.values(tensors)) for (const tensor of map.values()) tensor.dispose();
  };
  const loaded: LoadedCheckpoint = { state, feed, extra, ...tensors, dispose };
  return { folder, config, checkpoint: loaded, stored: null };
}
