/**
 * How a command ends. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. A failure is one
 * sentence on standard error; the stack appears only with --debug.
 */
import { CommanderError } from 'commander';
import { faultSentence, systemFaultOf } from '../base/node.js';
import { UnsavedError } from '../training/index.js';

/** Wrong use of a command: a bad argument, or two that do not go together. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The user pressed Ctrl-C or the process was told to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Errors of other layers that mean wrong use: they name the argument and what would be right. */
const USAGE_ERRORS = new Set(['UsageError', 'ArgumentError']);

/** The name a person knows, of a file that is written under a temporary one first. */
const nameOf = (path: string): string =>
  path.replace(/(^|[\\/])\.([^\\/]+?)\.\d+(?:-[0-9a-f]{8})?\.part$/, '$1$2');

/** The sentence a person sees. */
export function sentenceOf(error: unknown): string {
  const fault = systemFaultOf(error);
  if (fault !== null) {
    return faultSentence({ ...fault, path: fault.path && nameOf(fault.path) }, 'the output');
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] || 'failed without a message';
}

/** The sentence after Ctrl-C: how the work was left matters only where something was lost. */
export const sentenceAfterStop = (error: unknown): string =>
  error instanceof UnsavedError ? sentenceOf(error) : 'stopped before the end';

/** Exit code of a request that cannot be carried out: asking again does not help. */
export const WRONG_USE = 2;

/** The exit code an error leads to. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USE;
  if (error instanceof Interrupted) return 130;
  if (error instanceof Error && error.name === 'AbortError') return 130;
  if (error instanceof Error && USAGE_ERRORS.has(error.name)) return WRONG_USE;
  return 1;
}
