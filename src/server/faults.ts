/** How a request is refused: a status and one sentence for people. */

export class HttpFault extends Error {
  override name = 'HttpFault';

  constructor(
    readonly status: number,
    /** One sentence. */
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** What the operating system refuses, in words. */
const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of this path is not a folder',
  EMFILE: 'too many open files',
};

/** The innermost cause that the operating system names. */
function systemCause(error: unknown): NodeJS.ErrnoException | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (code !== undefined && code in SYSTEM_FAULTS) return at;
  }
  return null;
}

/** Errors that say more than the system's: what was lost, with the reason. */
const IN_THEIR_OWN_WORDS = new Set(['UnsavedError']);

/** One sentence of what went wrong. */
export function sentenceOf(error: unknown): string {
  const speaks = error instanceof Error && IN_THEIR_OWN_WORDS.has(error.name);
  const system = speaks ? null : systemCause(error);
  if (system !== null) {
    return `${system.path ?? 'the disk'}: ${SYSTEM_FAULTS[system.code ?? '']}`;
  }
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] || 'it failed without a message';
}
