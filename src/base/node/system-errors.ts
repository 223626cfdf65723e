/** What an operating system refuses, in words: one table for commands, the server and trainings. */

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of this path is not a folder',
  EISDIR: 'this is a folder, a file was expected',
  EEXIST: 'exists already',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files: raise the limit (ulimit -n)',
};

/** Whether an error says that there is no such file or folder. */
export const isMissing = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ENOENT';

/** For `catch`: gives `instead` if there is no such file or folder, and throws any other error again. */
export const ifMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (isMissing(error)) return instead;
    throw error;
  };

const OF_DISKS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

export interface SystemFault {
  readonly code: string;
  /** In words. */
  readonly reason: string;
  /** The file or folder it is about, if the system says so. */
  readonly path?: string;
  /** Whether the whole disk says so, whatever file it was asked for. */
  readonly ofDisk: boolean;
}

/** What the system says by this very error; null if it is not one of the system's, or one without words. */
export function systemFaultOf(error: unknown): SystemFault | null {
  if (!(error instanceof Error)) return null;
  const { code, path } = error as NodeJS.ErrnoException;
  if (code === undefined || !Object.hasOwn(REASONS, code)) return null;
  return { code, reason: REASONS[code], path, ofDisk: OF_DISKS.has(code) };
}

/** An error with the file it is about: of a write that fails, on a full disk, the system names none. */
export function aboutFile(error: unknown, file: string): unknown {
  if (systemFaultOf(error) !== null) (error as NodeJS.ErrnoException).path ??= file;
  return error;
}

/**
 * What the system says by an error, or deep in its causes if that tells more than the error itself: with a
 * path, or of the whole disk.
 */
export function systemCauseOf(error: unknown): SystemFault | null {
  const own = systemFaultOf(error);
  if (own !== null || !(error instanceof Error)) return own;
  for (let at = error.cause; at instanceof Error; at = at.cause) {
    const fault = systemFaultOf(at);
    if (fault !== null && (fault.path !== undefined || fault.ofDisk)) return fault;
  }
  return null;
}

/** One sentence; `place` stands in if the system names no path. */
export const faultSentence = ({ code, reason, path }: SystemFault, place: string): string =>
  code === 'EMFILE' ? reason : `${path ?? place}: ${reason}`;
