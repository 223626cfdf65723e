/**
 * How a command ends. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. A failure is one
 * sentence on standard error; the stack appears only with --debug.
 */
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
const USAGE_ERRORS = new Set(['UsageError', 'ArgumentError']);

/** Sentences for what the operating system refuses. */
const SYSTEM_ERRORS: Record<string, (path: string) => string> = {
  ENOSPC: (path) => `${path}: no space left on the device`,
  EDQUOT: (path) => `${path}: the disk quota is used up`,
  EACCES: (path) => `${path}: permission denied`,
  EPERM: (path) => `${path}: operation not permitted`,
  EROFS: (path) => `${path}: the file system is read-only`,
  ENOENT: (path) => `${path}: no such file or folder`,
  ENOTDIR: (path) => `${path}: a part of this path is not a folder`,
  EISDIR: (path) => `${path}: this is a folder, a file was expected`,
  EEXIST: (path) => `${path}: exists already`,
  ENAMETOOLONG: (path) => `${path}: the name is too long`,
  EMFILE: () => 'too many open files: raise the limit (ulimit -n) or use fewer workers',
};

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
}

/** The name a person knows, of a file that is written under a temporary one first. */
const nameOf = (path: string): string =>
  path.replace(/(^|[\\/])\.([^\\/]+?)\.\d+(?:-[0-9a-f]{8})?\.part$/, '$1$2');

/** The sentence a person sees. */
export function sentenceOf(error: unknown): string {
  if (isSystemError(error)) {
    const sentence = SYSTEM_ERRORS[error.code ?? ''];
    if (sentence) return sentence(nameOf(error.path ?? 'the output'));
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] || 'failed without a message';
}

/** Errors that say what was lost, which is told even to who wanted the end. */
const LOSSES = new Set(['UnsavedError']);

/** The sentence after Ctrl-C: how the work was left matters only where something was lost. */
export const sentenceAfterStop = (error: unknown): string =>
  error instanceof Error && LOSSES.has(error.name) ? sentenceOf(error) : 'stopped before the end';

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
