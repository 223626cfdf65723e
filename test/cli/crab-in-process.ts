/** Runs commands of `crab` in the process of a test. */
import { vi } from 'vitest';
import { exitCodeOf } from '../../src/cli/errors.js';
import { buildProgram } from '../../src/cli/program.js';

/** Runs a command and gives what it writes to standard output. */
export async function crabInProcess(...args: string[]): Promise<string> {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    const program = buildProgram(new AbortController().signal);
    for (const command of program.commands) command.configureOutput({ writeErr: () => {} });
    await program.parseAsync(['node', 'crab', ...args]);
  } finally {
    spy.mockRestore();
  }
  return written.join('');
}

/** What a command fails with, and its exit code. */
export async function failureOf(...args: string[]): Promise<{ message: string; code: number }> {
  try {
    await crabInProcess(...args);
  } catch (error) {
    return { message: (error as Error).message, code: exitCodeOf(error) };
  }
  throw new Error('it did not fail');
}
