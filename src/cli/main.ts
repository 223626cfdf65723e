#!/usr/bin/env node
/** The `crab` command: builds the program, runs it, and turns every failure into one sentence and an exit code. */
import { CommanderError } from 'commander';
import { exitCodeOf } from './errors.js';
import { buildProgram } from './program.js';

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interrupt.abort());
}

let hasFailed = false;

/** Says why the command failed; only the first reason counts. */
async function fail(error: unknown): Promise<void> {
  if (hasFailed) return;
  hasFailed = true;
  process.exitCode = interrupt.signal.aborted ? 130 : exitCodeOf(error);
  // Commander has already printed its own errors and --help.
  if (error instanceof CommanderError) return;
  const { sentenceAfterStop, sentenceOf } = await import('./sentences.js');
  const sentence = interrupt.signal.aborted ? sentenceAfterStop : sentenceOf;
  process.stderr.write(`crab: ${await sentence(error)}\n`);
  if (process.argv.includes('--debug') && error instanceof Error) {
    process.stderr.write(`${error.stack}\n`);
  }
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Ignore EPIPE: `crab … | head` must not crash.
    if (error.code !== 'EPIPE') void fail(error);
  });
}

try {
  await buildProgram(interrupt.signal).parseAsync();
} catch (error) {
  await fail(error);
}
