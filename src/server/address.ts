/** The path of a request in parts. Nothing passes that a file system could understand in another way. */
import { HttpFault } from './faults.js';
import { LIMITS } from './limits.js';

/** Control characters, separators, and what Windows reads as drives, streams or wildcards. */
const FORBIDDEN = /[\u0000-\u001f\u007f/\\:*?"<>|]/;

function decodeSegment(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    throw new HttpFault(400, 'the address is not encoded rightly');
  }
  if (FORBIDDEN.test(decoded) || decoded === '..' || decoded === '.') {
    throw new HttpFault(400, 'the address holds something no file of this server has in its name');
  }
  return decoded;
}

/** Segments of the path; the query is left out, `/` has none, a folder ends with an empty one. */
export function segmentsOf(address: string): string[] {
  if (address.length > LIMITS.address) throw new HttpFault(414, 'the address is too long');
  // Also refuses the forms for proxies: "http://host/path" and "*".
  if (!address.startsWith('/')) throw new HttpFault(400, 'the address must begin with /');
  const [path] = address.split(/[?#]/, 1);
  return path === '/' ? [] : path.slice(1).split('/').map(decodeSegment);
}
