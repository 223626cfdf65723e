/** How a command ends. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. */
import { CommanderError } from 'commander';

/** Wrong use of a command: a bad argument, or two that do not go together. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The user pressed Ctrl-C or the process was told to stop. */
export class Interrupted extends Error {
  override name = 'Interrupted';
}

/** Errors of other layers that mean wrong use: they name the argument and what would be right. */
const USAGE_ERRORS = new Set(['UsageError', 'ArgumentError', 'ConfigurationError']);

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
