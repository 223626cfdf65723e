/** How a request is refused: a status and one sentence for people. */
import type { IncomingMessage } from 'node:http';
import { firstLineOf } from '../base/index.js';
import { faultSentence, systemCauseOf } from '../base/node.js';
import { UnsavedError } from '../training/index.js';

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

/** A request that asks for something that cannot be. */
export class BadRequest extends HttpFault {
  constructor(message: string) {
    super(400, message);
  }
}

/** Refuses a request by another method than these. */
export function requireMethod({ method = '' }: IncomingMessage, ...allowed: string[]): void {
  if (allowed.includes(method)) return;
  throw new HttpFault(405, `${method} is not possible here`, { allow: allowed.join(', ') });
}

/** One sentence of what went wrong. */
export function sentenceOf(error: unknown): string {
  // The error says itself what was lost, and why.
  const system = error instanceof UnsavedError ? null : systemCauseOf(error);
  if (system !== null) return faultSentence(system, 'the disk');
  return firstLineOf(error) || 'it failed without a message';
}
