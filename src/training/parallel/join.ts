/** How a process that a launcher started becomes a member of its team. */
import { ProcessGroup, type Device, type Rendezvous } from '../../torch/index.js';
import { isCuda } from '../options.js';
import { ProcessTeam } from './team.js';

interface JoinSettings {
  /** The run's device; the first rank decides for all, other ranks need not know. */
  readonly device?: string;
  /** Longest wait for another rank. */
  readonly timeoutSeconds?: number;
  /** Longest wait for all ranks to be there; as long unless told, but not below what starting takes. */
  readonly joinSeconds?: number;
  readonly signal?: AbortSignal;
}

/** What `train` needs to know of the team; to be spread into its options. */
export interface JoinedTeam {
  readonly team: ProcessTeam;
  readonly localDevice: string;
  readonly ranksHere: number;
  /** Leaves the team. */
  leave(): void;
}

const LEAST_JOIN_SECONDS = 30;

/** Waits for the other ranks. */
export async function joinTeam(
  rendezvous: Rendezvous,
  { device = 'cpu', timeoutSeconds, joinSeconds, signal }: JoinSettings = {},
): Promise<JoinedTeam> {
  const backend = isCuda(device) ? 'nccl' : 'gloo';
  const group = await ProcessGroup.join(rendezvous, {
    backend,
    timeoutSeconds,
    joinSeconds: joinSeconds ?? (timeoutSeconds && Math.max(LEAST_JOIN_SECONDS, timeoutSeconds)),
    signal,
  });
  const localDevice = `cuda:${rendezvous.localRank}` as const;
  const own: Device = group.backend === 'nccl' ? localDevice : 'cpu';
  return {
    team: new ProcessTeam(group, own),
    localDevice,
    ranksHere: rendezvous.localSize ?? 1,
    leave: () => group.dispose(),
  };
}
