/** Ctrl-C in the middle of a command that runs in the process of a test. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { buildProgram } from '../../src/cli/program.js';

/** Milliseconds after which a command that has opened its output is at work on its contents. */
const AT_WORK = 20;

/** Runs a command that writes `out` into a folder of its own; once something is there, presses Ctrl-C. */
export async function interruptAtWork(args: readonly string[], out: string): Promise<void> {
  const folder = path.dirname(out);
  const interrupt = new AbortController();
  const waiting = setInterval(() => {
    if (!existsSync(folder) || readdirSync(folder).length === 0) return;
    clearInterval(waiting);
    setTimeout(() => interrupt.abort(), AT_WORK);
  });
  try {
    await buildProgram(interrupt.signal).parseAsync(['node', 'crab', ...args, '--out', out]);
  } finally {
    clearInterval(waiting);
  }
}
