/**
 * Node processes beside the server, one for each piece of work that could crash, take all memory or
 * keep a processor busy: what happens to them never happens to the server. Runs from the sources too.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Most of what a process says on standard error that is remembered, in characters. */
const REMEMBERED = 4000;

export interface Worker {
  readonly process: ChildProcess;
  /** The last line it said on standard error; empty if it said nothing. */
  readonly lastLine: () => string;
}

/** Starts a module of this layer, named relative to it without its ending. */
export function startWorker(name: string, args: readonly string[] = []): Worker {
  const built = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  const source = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const fromSource = !existsSync(built) && existsSync(source);
  const child = fork(fromSource ? source : built, args, {
    execArgv: fromSource ? ['--import', 'tsx'] : [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-REMEMBERED);
  });
  return { process: child, lastLine: () => said.trim().split('\n').at(-1) ?? '' };
}

/** Sends a message; if the process is gone already, nothing happens. */
export function tell(child: ChildProcess, message: object): void {
  if (!child.connected) return;
  child.send(message, () => {});
}

/** Kills a process that was asked to end and has not done so in time. */
export function endAfter(child: ChildProcess, milliseconds: number): NodeJS.Timeout {
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  child.once('exit', () => clearTimeout(timer));
  return timer;
}
