/**
 * The side of `crab train` that concerns several processes: starting them here (--nproc), and being one of
 * them, whoever started it.
 */
import type { Rendezvous } from '../torch/index.js';
import { HAVE_MET, joinTeam, LAUNCHED, launchRanks, refuseTeam } from '../training/index.js';
import type { JoinedTeam } from '../training/index.js';
import { exitCodeOf, Interrupted, WRONG_USE } from './errors.js';

export const DEFAULT_RANK_TIMEOUT = 300;
/** Seconds beyond the time-out that a rank may take to end by itself. */
const GRACE = 30;

export interface RankOptions {
  readonly nproc?: number;
  readonly restarts?: number;
  readonly rankTimeout?: number;
}

/** Flags that are the launcher's own affair. */
const LAUNCHER_FLAGS = ['--nproc', '--restarts'];

/** The arguments of a rank: those given, without the launcher's; a restart continues what is there. */
function rankArguments(given: readonly string[], attempt: number): string[] {
  const kept = given.filter((argument, n) => {
    const isValue = n > 0 && LAUNCHER_FLAGS.includes(given[n - 1]);
    return !isValue && !LAUNCHER_FLAGS.some((f) => argument === f || argument.startsWith(`${f}=`));
  });
  const continues = kept.some((argument) => /^--(resume|continue)(=|$)/.test(argument));
  return attempt > 0 && !continues ? [...kept, '--continue'] : kept;
}

/** Starts the ranks and waits for their end; the first rank reports. */
export async function launch(options: RankOptions, signal: AbortSignal): Promise<void> {
  const [script, ...given] = process.argv.slice(1);
  const end = await launchRanks(
    {
      ranks: options.nproc ?? 1,
      command: (attempt) => ({
        file: process.execPath,
        args: [...process.execArgv, script, ...rankArguments(given, attempt)],
      }),
      graceSeconds: (options.rankTimeout ?? DEFAULT_RANK_TIMEOUT) + GRACE,
      restarts: options.restarts,
      note: (text) => process.stderr.write(`crab: ${text}\n`),
    },
    signal,
  );
  if (end.interrupted) throw new Interrupted('stopped before the end');
  process.exitCode = end.code;
}

/** Aborts with `signal`, or when the launcher that started this process is gone, if one did. */
export function whileLaunched(signal: AbortSignal): AbortSignal {
  if (process.env[LAUNCHED] === undefined) return signal;
  const orphaned = new AbortController();
  process.once('disconnect', () => orphaned.abort());
  if (process.connected) process.channel?.unref();
  else orphaned.abort();
  return AbortSignal.any([signal, orphaned.signal]);
}

/** Joins the other ranks and passes on what the first one was asked for; if it failed, all learn why. */
export async function joinWith<T>(
  rendezvous: Rendezvous,
  request: () => Promise<T>,
  deviceOf: (request: T) => string | undefined,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<{ readonly request: T; readonly joined: JoinedTeam }> {
  let failure: unknown = null;
  const wanted = await request().catch((error: unknown) => {
    failure = error;
    return null;
  });
  const device = wanted === null ? undefined : deviceOf(wanted);
  const joined = await joinTeam(rendezvous, { device, timeoutSeconds, signal });
  if (process.connected) process.send?.(HAVE_MET);
  if (wanted !== null) return { request: wanted, joined };
  refuseTeam(joined.team, failure, exitCodeOf(failure) === WRONG_USE);
  throw failure;
}
