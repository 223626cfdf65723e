/** How a request is refused: a status and one sentence for people. */
import { faultSentence, systemCauseOf } from '../matrix/node.js';

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

/** Errors that say more than the system's: what was lost, with the reason. */
const IN_THEIR_OWN_WORDS = new Set(['UnsavedError']);

/** One sentence of what went wrong. */
export function sentenceOf(error: unknown): string {
  const speaks = error instanceof Error && IN_THEIR_OWN_WORDS.has(error.name);
  const system = speaks ? null : systemCauseOf(error);
  if (system !== null) return faultSentence(system, 'the disk');
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] || 'it failed without a message';
}
