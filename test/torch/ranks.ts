/** Starts the ranks of a group as processes of their own, for tests, and collects what they say. */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createServer } from 'node:net';

export interface RankOptions {
  /** Further variables of the environment, of all ranks or by rank. */
  readonly env?: Readonly<Record<string, string>> | ((rank: number) => Record<string, string>);
  /** Words before the command of a rank: `ip netns exec NAME`. */
  readonly before?: (rank: number) => readonly string[];
  readonly host?: string;
  /** Whether ranks are told that all of them are on one machine; true unless given. */
  readonly local?: boolean;
}

/** One rank. */
export interface Rank {
  readonly child: ChildProcess;
  /** JSON lines it has written so far. */
  readonly lines: Record<string, unknown>[];
  /** Its exit code, or the signal that ended it, and when (performance.now()). */
  readonly end: Promise<{ readonly code: number | string; readonly at: number }>;
  /** Resolves with the first line, old or new, that satisfies `wanted`. */
  line(wanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** Starts one process. */
export function startRank(command: readonly string[], env: NodeJS.ProcessEnv): Rank {
  const child = spawn(command[0], command.slice(1), { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (text) => {
    if (text.startsWith('{')) lines.push(JSON.parse(text) as Record<string, unknown>);
    for (const wake of waiting) wake();
  });
  const end = new Promise<{ code: number | string; at: number }>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code: signal ?? code ?? -1, at: performance.now() });
      for (const wake of waiting) wake();
    });
  });
  const line: Rank['line'] = (wanted) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = lines.find(wanted);
        const over = child.exitCode !== null || child.signalCode !== null;
        if (found === undefined && !over) return;
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`the rank ended first; it said ${JSON.stringify(lines.slice(-2))}`));
      };
      waiting.add(look);
      look();
    });
  return { child, lines, end, line };
}

/** Starts `size` ranks of a program; `argument` is its one argument. */
export async function startRanks(
  program: string,
  argument: object,
  size: number,
  options: RankOptions = {},
): Promise<Rank[]> {
  const port = await freePort();
  const { env = {}, before = () => [], host = '127.0.0.1', local = true } = options;
  return Array.from({ length: size }, (_, rank) => {
    const command = [process.execPath, program, JSON.stringify(argument)];
    return startRank([...before(rank), ...command], {
      ...process.env,
      MASTER_ADDR: host,
      MASTER_PORT: port.toString(),
      RANK: rank.toString(),
      WORLD_SIZE: size.toString(),
      ...(local ? { LOCAL_RANK: rank.toString(), LOCAL_WORLD_SIZE: size.toString() } : {}),
      ...(typeof env === 'function' ? env(rank) : env),
    });
  });
}

/** The same program without ranks. */
export const startAlone = (program: string, argument: object): Rank =>
  startRank([process.execPath, program, JSON.stringify(argument)], process.env);

/** Ends what is left of ranks, for the end of a test. */
export async function endRanks(ranks: readonly Rank[]): Promise<void> {
  for (const { child } of ranks) child.kill('SIGKILL');
  await Promise.all(ranks.map(({ end }) => end));
}
