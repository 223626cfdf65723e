/**
 * Who may talk to the server. A page of another origin must not reach it, even if its name was made
 * to point here (DNS rebinding): the Host must be a name this server goes by, and whatever a browser
 * says of a request's origin must be this very host. Programs other than browsers send neither.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { HttpFault } from './faults.js';

const LOOPBACK_V4 = /^127(\.\d{1,3}){3}$/;

/** A host's name or address without brackets and a trailing dot, in lower case. */
const plain = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

export function isLoopback(host: string): boolean {
  const name = plain(host);
  return name === 'localhost' || name === '::1' || LOOPBACK_V4.test(name);
}

/** The host of a Host header without its port, or null if it names none. */
function hostOf(header: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.exec(header);
  return match === null ? null : plain(match[1]);
}

/**
 * Whether a name is one this server goes by. Rebinding needs a name. So if the server was told to listen
 * beyond this machine, any address is right, but only one name: the one it was told.
 */
function isOwnHost(host: string, bound: string): boolean {
  if (isLoopback(host)) return true;
  if (isLoopback(bound)) return false;
  return isIP(host) !== 0 || host === plain(bound);
}

const refused = (message: string): HttpFault => new HttpFault(403, message);

function requireHost(request: IncomingMessage, bound: string): string {
  const count = request.rawHeaders.filter((text, i) => i % 2 === 0 && /^host$/i.test(text)).length;
  const header = request.headers.host;
  const host = header === undefined ? null : hostOf(header);
  if (count !== 1 || header === undefined || host === null) {
    throw new HttpFault(400, 'the request names no host, or not one alone');
  }
  if (!isOwnHost(host, bound)) {
    throw new HttpFault(421, `this server does not go by the name ${host}`);
  }
  return header;
}

/** Someone follows a link to the page. Harmless: whoever made the link learns nothing. */
const isVisit = (request: IncomingMessage): boolean =>
  request.headers['sec-fetch-mode'] === 'navigate' &&
  request.headers['sec-fetch-dest'] === 'document' &&
  (request.method === 'GET' || request.method === 'HEAD');

/** Refuses requests that were not made to this server under its own name, by its own page. */
export function requireOwnOrigin(request: IncomingMessage, bound: string): void {
  const host = requireHost(request, bound);
  const { origin } = request.headers;
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw refused('requests of other origins are refused');
  }
  const site = request.headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none' || isVisit(request)) return;
  throw refused('requests of other sites are refused');
}
