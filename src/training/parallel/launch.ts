/**
 * Starts the ranks of a run as processes of this machine and sees them through: the first rank's output is
 * the job's, a signal reaches all of them, and if one ends with a failure the others must follow within
 * a while or are ended. A job may be restarted; what it restarts from is the ranks' own affair. Should this
 * process be killed, the ranks notice by the closed channel and stop at their next step. Ranks tell when they
 * have met: if one is lost before, the others would wait for it in vain and are ended at once.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';

export interface LaunchOptions {
  readonly ranks: number;
  /** Program and arguments of a rank; `attempt` counts restarts from 0. */
  command(attempt: number): { readonly file: string; readonly args: readonly string[] };
  /** Seconds that the other ranks have to notice a failure before they are ended. */
  readonly graceSeconds: number;
  /** How often a job that failed is started again. */
  readonly restarts?: number;
  /** Receives a sentence about each failure. */
  note?(text: string): void;
  /** Told when the ranks of an attempt run; for tests that end one. */
  started?(processIds: readonly number[], attempt: number): void;
}

/** Set for ranks that this launcher starts, so that they know it even when it is gone already. */
export const LAUNCHED = 'CRAB_LAUNCHED';
/** What a rank tells its launcher when all ranks have met. */
export const HAVE_MET = 'have met';

/** How a job ended. */
interface JobEnd {
  /** 0, or the exit code of the rank that failed first. */
  readonly code: number;
  readonly interrupted: boolean;
}

interface RankEnd {
  readonly rank: number;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Bytes of a silent rank's last words that are kept. */
const LAST_WORDS = 4000;

/** Exit code of a rank that was asked for something impossible: asking again does not help. */
const WRONG_USE = 2;

/** Seconds that ranks have to end once a person has asked for it and one of them has. */
const INTERRUPTED_SECONDS = 30;
/** What ranks have to end by themselves if one was lost before all had met. */
const MEETING_MILLISECONDS = 2000;

/** A port that nothing listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** One rank's process; only the first rank speaks, of others the last words are kept. */
class RankProcess {
  readonly end: Promise<RankEnd>;
  readonly #child: ChildProcess;
  #words = '';
  #hasMet = false;

  constructor(
    readonly rank: number,
    file: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ) {
    const speaks = rank === 0;
    // A session of its own: Ctrl-C on the terminal must arrive once, from us.
    this.#child = spawn(file, args, {
      env,
      detached: true,
      stdio: ['ignore', speaks ? 'inherit' : 'ignore', speaks ? 'inherit' : 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#words = (this.#words + text).slice(-LAST_WORDS);
    });
    this.#child.on('message', (message) => {
      if (message === HAVE_MET) this.#hasMet = true;
    });
    this.end = new Promise((resolve) => {
      this.#child.once('error', () => resolve({ rank, code: 1, signal: null }));
      this.#child.once('exit', (code, signal) => resolve({ rank, code, signal }));
    });
  }

  get processId(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether it has met the other ranks. */
  get hasMet(): boolean {
    return this.#hasMet;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last line that a silent rank wrote. */
  get lastLine(): string {
    return this.#words.trim().split('\n').at(-1) ?? '';
  }

  kill(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }
}

function startRanks(options: LaunchOptions, attempt: number, port: number): RankProcess[] {
  const { file, args } = options.command(attempt);
  return Array.from({ length: options.ranks }, (_, rank) => {
    const env = {
      ...process.env,
      MASTER_ADDR: '127.0.0.1',
      MASTER_PORT: port.toString(),
      RANK: rank.toString(),
      LOCAL_RANK: rank.toString(),
      WORLD_SIZE: options.ranks.toString(),
      LOCAL_WORLD_SIZE: options.ranks.toString(),
      [LAUNCHED]: '1',
    };
    return new RankProcess(rank, file, args, env);
  });
}

const describe = ({ rank, code, signal }: RankEnd, lastLine: string): string => {
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  return `rank ${rank} ${how}${lastLine === '' ? '' : `: ${lastLine}`}`;
};

/**
 * Waits for all ranks; ends those that outlive the first failure for too long. Gives the failure that tells
 * most: wrong use, which is the same on all ranks; a rank that was killed, for which the others failed, though a
 * busy machine may tell of them first; or the first.
 */
async function seeThrough(
  ranks: readonly RankProcess[],
  graceSeconds: number,
  signal: AbortSignal,
): Promise<RankEnd | null> {
  const ends = ranks.map((each) => each.end);
  const failure = await firstFailure(ends);
  if (failure === null) return null;
  let areKilled = signal.aborted;
  const killAll = (): void => {
    areKilled = true;
    ranks.forEach((each) => each.kill('SIGKILL'));
  };
  // Wrong use is told to the others, who end by it; of another failure who has not met learns nothing.
  const areMeeting = failure.code !== WRONG_USE && !ranks.every((each) => each.hasMet);
  const seconds = signal.aborted ? Math.min(graceSeconds, INTERRUPTED_SECONDS) : graceSeconds;
  const timer = setTimeout(killAll, areMeeting ? MEETING_MILLISECONDS : seconds * 1000);
  const all = await Promise.all(ends);
  clearTimeout(timer);
  const struck = areKilled ? undefined : all.find((end) => end.signal !== null);
  return all.find(({ code }) => code === WRONG_USE) ?? struck ?? failure;
}

/** The first rank that did not end with 0; null if all did. */
function firstFailure(ends: readonly Promise<RankEnd>[]): Promise<RankEnd | null> {
  return new Promise((resolve) => {
    for (const each of ends) void each.then((end) => end.code !== 0 && resolve(end));
    void Promise.all(ends).then(() => resolve(null));
  });
}

/** Runs the ranks to their end, again if that is allowed and they failed. */
export async function launchRanks(options: LaunchOptions, signal: AbortSignal): Promise<JobEnd> {
  const { graceSeconds, restarts = 0 } = options;
  for (let attempt = 0; ; attempt++) {
    const ranks = startRanks(options, attempt, await freePort());
    options.started?.(
      ranks.map((each) => each.processId),
      attempt,
    );
    const stop = (): void => ranks.forEach((each) => each.kill('SIGINT'));
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    const failure = await seeThrough(ranks, graceSeconds, signal);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return { code: 130, interrupted: true };
    if (failure === null) return { code: 0, interrupted: false };
    const again = attempt < restarts && failure.code !== WRONG_USE;
    const words = describe(failure, ranks[failure.rank].lastLine);
    if (again) options.note?.(`${words}; starting all ranks again`);
    // The first rank has said itself why it failed, unless it could not.
    else if (failure.rank !== 0 || failure.signal !== null) options.note?.(words);
    if (!again) return { code: failure.code ?? 1, interrupted: false };
  }
}
