/** `crab studio`: serves the page where people see it think, and trains for it. */
import type { Command } from 'commander';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isLoopback, pageFolder, startStudio, type StudioServer } from '../server/index.js';
import { wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { requireFolder, requireInputFolder } from './paths.js';

interface Options {
  port?: number;
  host: string;
  open?: boolean;
  runs: string;
  zoo?: string;
  json?: boolean;
}

const DEFAULT_PORT = 4747;
/** Ports to try if none was asked for. */
const PORTS_TRIED = 20;

const HELP = `
The page is for this computer alone, and opens no connection to anywhere. With --host others can reach
it, and start trainings; browsers then give it one thread, since the connection is not encrypted. Ctrl-C
ends it; a training at work stores a checkpoint first.

Examples:
  crab studio --open
  crab studio --port 8000 --runs /data/runs
  ssh -L 4747:localhost:4747 machine crab studio       a page from another machine`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .option(
      '--port <n>',
      `port (default: ${DEFAULT_PORT}, or the next free one)`,
      wholeNumber(0, 65_535),
    )
    .option('--host <address>', 'address to listen at', '127.0.0.1')
    .option('--open', 'open the page in a browser')
    .option('--runs <folder>', 'folder of trainings', 'runs')
    .option('--zoo <folder>', 'folder of models (default: those of this package)')
    .option('--json', 'tell the address as JSON on standard output')
    .addHelpText('after', HELP)
    .action((options: Options) => runStudio(options, signal));
}

const isTaken = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'EADDRINUSE';

/** Why a server cannot listen, if an option is to blame. */
function refusalOf(error: unknown, { host }: Options, port: number): unknown {
  const elsewhere = `--host ${host}: not an address of this machine`;
  const refusals: Readonly<Record<string, string>> = {
    EADDRINUSE: `--port ${port}: something else listens there already`,
    EACCES: `--port ${port}: not allowed, use one of 1024 or more`,
    EADDRNOTAVAIL: elsewhere,
    ENOTFOUND: elsewhere,
    EAI_AGAIN: elsewhere,
  };
  const refusal = refusals[(error as NodeJS.ErrnoException | null)?.code ?? ''];
  return refusal === undefined ? error : new UsageError(refusal);
}

/** Starts at the port asked for, or at the first free one. */
async function start(options: Options): Promise<StudioServer> {
  const first = options.port ?? DEFAULT_PORT;
  const last = options.port === undefined ? first + PORTS_TRIED - 1 : first;
  for (let port = first; ; port++) {
    try {
      const runs = path.resolve(options.runs);
      return await startStudio({ port, host: options.host, runs, zoo: options.zoo });
    } catch (error) {
      if (!isTaken(error) || port >= last) throw refusalOf(error, options, port);
    }
  }
}

/** Opens an address in the user's browser, if there is one. */
function openInBrowser(url: string): void {
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""']
        : ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function announce({ url, port }: StudioServer, options: Options): void {
  tell(options, { url, port }, () => `CRAB studio: ${url} (Ctrl-C ends it)\n`);
  if (options.json || isLoopback(options.host)) return;
  process.stderr.write(
    'crab: everyone who can reach this machine can use it, and start trainings\n',
  );
}

async function runStudio(options: Options, signal: AbortSignal): Promise<void> {
  if (!existsSync(path.join(pageFolder(), 'index.html'))) {
    throw new UsageError('the page is not built: run `npm run build`');
  }
  await requireFolder('--runs', options.runs);
  if (options.zoo !== undefined) await requireInputFolder('--zoo', options.zoo);
  const studio = await start(options);
  announce(studio, options);
  if (options.open) openInBrowser(studio.url);
  await aborted(signal);
  if (studio.trainerPid !== null && !options.json) {
    process.stderr.write('storing a checkpoint of the training\n');
  }
  await studio.close();
}
