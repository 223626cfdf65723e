/**
 * Where a process stands among the processes of one job, as launchers tell it through the environment:
 * torchrun and Kubernetes' PyTorchJob set MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE (torchrun also
 * LOCAL_RANK and LOCAL_WORLD_SIZE), Slurm's srun variables of its own. Reading only; nothing is connected.
 */
import { ProcessGroupError } from './errors.js';

export interface Rendezvous {
  /** This process's number, from 0. */
  readonly rank: number;
  /** Processes in all. */
  readonly size: number;
  /** This process's number on its machine: which GPU is its own. */
  readonly localRank: number;
  /** Processes on this machine; null where the launcher does not say. */
  readonly localSize: number | null;
  /** Where rank 0 listens. */
  readonly host: string;
  readonly port: number;
  /** Whether the launcher itself keeps the store at that address, as torchrun's agent does. */
  readonly agentStore: boolean;
  /** Tells restarts apart where a store outlives them. */
  readonly attempt: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORT = 29500;

function wholeNumber(env: Environment, name: string): number | null {
  const text = env[name];
  if (text === undefined || text === '') return null;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new ProcessGroupError('environment', `${name}=${text}: expected a whole number from 0`);
}

function requireNumber(env: Environment, name: string): number {
  const value = wholeNumber(env, name);
  if (value !== null) return value;
  throw new ProcessGroupError('environment', `${name} is not set, as a rank of several needs it`);
}

/**
 * The first machine of Slurm's compressed list: `gpu[03-05,9],login1` begins with `gpu03`, `r[1-2]n[4,6]-ib`
 * with `r1n4-ib`.
 */
export function firstHost(list: string): string {
  const [entry] = /^(?:[^,[\]]|\[[^[\],-][^[\]]*\])+(?=,|$)/.exec(list) ?? [];
  if (entry === undefined) {
    throw new ProcessGroupError(
      'environment',
      `SLURM_STEP_NODELIST=${list}: not a list of machines`,
    );
  }
  return entry.replace(/\[([^,\]-]+)[^\]]*\]/g, '$1');
}

function checked(rendezvous: Rendezvous): Rendezvous {
  const { rank, size, port } = rendezvous;
  if (size < 1) throw new ProcessGroupError('environment', 'WORLD_SIZE=0: expected at least 1');
  if (rank >= size) {
    throw new ProcessGroupError(
      'environment',
      `rank ${rank} of ${size}: expected 0 to ${size - 1}`,
    );
  }
  if (port < 1 || port > 65535) {
    throw new ProcessGroupError('environment', `port ${port}: expected 1 to 65535`);
  }
  return rendezvous;
}

/** torchrun, PyTorchJob, or variables set by hand. */
function ofTorch(env: Environment): Rendezvous {
  const host = env.MASTER_ADDR;
  if (host === undefined || host === '') {
    throw new ProcessGroupError('environment', 'MASTER_ADDR is not set beside WORLD_SIZE');
  }
  return {
    rank: requireNumber(env, 'RANK'),
    size: requireNumber(env, 'WORLD_SIZE'),
    localRank: wholeNumber(env, 'LOCAL_RANK') ?? 0,
    localSize: wholeNumber(env, 'LOCAL_WORLD_SIZE'),
    host,
    port: wholeNumber(env, 'MASTER_PORT') ?? DEFAULT_PORT,
    agentStore: env.TORCHELASTIC_USE_AGENT_STORE === 'True',
    attempt: env.TORCHELASTIC_RESTART_COUNT ?? '0',
  };
}

/** srun: rank 0 is on the first machine of the step; the port follows from the job's number. */
function ofSlurm(env: Environment): Rendezvous {
  const job = wholeNumber(env, 'SLURM_JOB_ID') ?? 0;
  const nodes = env.SLURM_STEP_NODELIST ?? env.SLURM_JOB_NODELIST ?? 'localhost';
  return {
    rank: requireNumber(env, 'SLURM_PROCID'),
    size: requireNumber(env, 'SLURM_STEP_NUM_TASKS'),
    localRank: wholeNumber(env, 'SLURM_LOCALID') ?? 0,
    localSize: null,
    host: env.MASTER_ADDR || firstHost(nodes),
    port: wholeNumber(env, 'MASTER_PORT') ?? 20_000 + (job % 20_000),
    agentStore: false,
    attempt: env.SLURM_RESTART_COUNT ?? '0',
  };
}

/** What the environment says, or null where this is a process on its own. */
export function rendezvousOf(env: Environment = process.env): Rendezvous | null {
  if (env.WORLD_SIZE) return checked(ofTorch(env));
  // Each of several processes would take itself for the only one, and all write one run.
  if (env.RANK && env.MASTER_ADDR) {
    throw new ProcessGroupError('environment', 'WORLD_SIZE is not set beside RANK and MASTER_ADDR');
  }
  // Set by srun alone: a batch script has the other variables too, and is no rank.
  const tasks = wholeNumber(env, 'SLURM_STEP_NUM_TASKS') ?? 1;
  return env.SLURM_PROCID && tasks > 1 ? checked(ofSlurm(env)) : null;
}
