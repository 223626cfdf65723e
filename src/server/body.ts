/** Reads the small JSON bodies of requests, never more of them than is allowed. */
import type { IncomingMessage } from 'node:http';
import { HttpFault } from './faults.js';
import { LIMITS } from './limits.js';

const tooLarge = (): HttpFault =>
  new HttpFault(413, `the body is larger than ${LIMITS.body} bytes`, { connection: 'close' });

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > LIMITS.body) throw tooLarge();
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LIMITS.body) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The JSON object a request brings. The type is required: no form of another site can send it. */
export async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;.*)?$/i.test(type)) {
    throw new HttpFault(415, 'the body must be of the type application/json');
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw new HttpFault(415, 'the body must not be compressed');
  }
  let value: unknown;
  try {
    const bytes = await readBytes(request);
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) {
      throw new HttpFault(400, 'the body is not JSON');
    }
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpFault(400, 'the body must be a JSON object');
  }
  return value as Record<string, unknown>;
}
