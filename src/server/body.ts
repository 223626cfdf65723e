/** Reads the small JSON bodies of requests, never more of them than is allowed. */
import type { IncomingMessage } from 'node:http';
import { isRecord, parseJson } from '../base/index.js';
import { BadRequest, HttpFault } from './faults.js';
import { LIMITS } from './limits.js';

const tooLarge = (): HttpFault =>
  new HttpFault(413, `the body is larger than ${LIMITS.body} bytes`);

/** All bytes of a body. If it is too large, the rest is thrown away, so that the answer still arrives. */
function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const refuse = (): void => {
      request.removeAllListeners('data').resume();
      reject(tooLarge());
    };
    if (Number(request.headers['content-length'] ?? 0) > LIMITS.body) {
      refuse();
      return;
    }
    request.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > LIMITS.body) refuse();
      else pieces.push(piece);
    });
    request.once('end', () => resolve(Buffer.concat(pieces)));
    request.once('close', () => reject(new HttpFault(400, 'the request broke off')));
  });
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
  const value = parseJson(await readBytes(request), BadRequest, 'the body');
  if (!isRecord(value)) throw new BadRequest('the body must be a JSON object');
  return value;
}
