/**
 * Serves the files of one folder and nothing outside it, not even through links. Files are sent as they
 * come from the disk, or compressed: as a copy that lies beside them, or one made when first asked for. A
 * file that has not changed since a browser's last visit is not sent again.
 */
import { constants } from 'node:fs';
import { realpath, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { FormatError } from '../matrix/index.js';
import { openRegularFile } from '../base/node.js';
import { CompressedBodies, isCompressible, type Encoding } from './compression.js';
import { mediaTypeOf } from './media-types.js';

const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** File names that carry a hash of their content never change what they hold. */
const HASHED = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

interface FoundFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly tag: string;
  readonly encoding: Encoding | null;
  /** Whether it is yet to be compressed; its size is that of the file. */
  readonly isPlain: boolean;
}

/** Errors that mean no more than that there is no such file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'EISDIR']);

/** A folder, a pipe or a device counts as absent too. */
const isAbsent = (error: unknown): boolean =>
  error instanceof FormatError ||
  (error instanceof Error && ABSENT.has((error as NodeJS.ErrnoException).code ?? ''));

/** Whether a request takes an encoding: named, and not with a weight of zero. */
function accepts(request: IncomingMessage, encoding: string): boolean {
  const header = request.headers['accept-encoding'];
  const list = (Array.isArray(header) ? header.join(',') : (header ?? '')).toLowerCase();
  return list.split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim());
    return name === encoding && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}

function isUnchanged(request: IncomingMessage, tag: string): boolean {
  const known = request.headers['if-none-match'];
  if (known === undefined) return false;
  return known.split(',').some((each) => ['*', tag].includes(each.trim().replace(/^W\//, '')));
}

/** The tag of a file in an encoding, which are other bytes. */
const tagFor = (plain: string, encoding: Encoding): string => plain.replace(/"$/, `-${encoding}"`);

export class StaticFolder {
  readonly #compressed = new CompressedBodies();

  constructor(
    readonly folder: string,
    /** Folders of it whose files are named by a hash. */
    readonly hashedFolders: readonly string[] = [],
  ) {}

  /** Sends a file; false if there is none of that name. */
  async serve(
    request: IncomingMessage,
    response: ServerResponse,
    segments: readonly string[],
  ): Promise<boolean> {
    if (segments.length === 0 || segments.some((name) => name === '' || name.startsWith('.'))) {
      return false;
    }
    const found = await this.#find(request, segments);
    if (found === null) return false;
    try {
      await this.#send(request, response, segments, found);
    } finally {
      await found.handle.close();
    }
    return true;
  }

  /** The compressed copy a browser takes, else the file itself, to be compressed if it pays. */
  async #find(request: IncomingMessage, segments: readonly string[]): Promise<FoundFile | null> {
    const wanted = ENCODINGS.filter(({ name }) => accepts(request, name));
    for (const { name, ending } of wanted) {
      const copy = [...segments.slice(0, -1), segments[segments.length - 1] + ending];
      const found = await this.#open(copy, name);
      if (found !== null) return found;
    }
    const plain = await this.#open(segments, null);
    const [first] = wanted;
    if (plain === null || wanted.length === 0) return plain;
    if (!isCompressible(segments[segments.length - 1], plain.size)) return plain;
    return { ...plain, encoding: first.name, tag: tagFor(plain.tag, first.name), isPlain: true };
  }

  async #open(segments: readonly string[], encoding: Encoding | null): Promise<FoundFile | null> {
    let handle: FileHandle | null = null;
    try {
      const root = await realpath(this.folder);
      const file = await realpath(path.join(root, ...segments));
      if (!file.startsWith(root + path.sep)) return null;
      handle = await openRegularFile(file, constants.O_NOFOLLOW);
      const status = await handle.stat();
      const changed = Math.round(status.mtimeMs).toString(36);
      const plain = `"${status.size.toString(36)}-${changed}"`;
      const tag = encoding === null ? plain : tagFor(plain, encoding);
      return { handle, size: status.size, tag, encoding, isPlain: false };
    } catch (error) {
      await handle?.close();
      if (isAbsent(error)) return null;
      throw error;
    }
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    segments: readonly string[],
    { handle, size, tag, encoding, isPlain }: FoundFile,
  ): Promise<void> {
    const name = segments[segments.length - 1];
    const isHashed = this.hashedFolders.includes(segments[0]) && HASHED.test(name);
    response.setHeader('etag', tag);
    response.setHeader('cache-control', isHashed ? FOREVER : ASK_AGAIN);
    response.setHeader('vary', 'accept-encoding');
    if (isUnchanged(request, tag)) {
      response.writeHead(304).end();
      return;
    }
    response.setHeader('content-type', mediaTypeOf(name));
    if (encoding !== null) response.setHeader('content-encoding', encoding);
    if (encoding !== null && isPlain) {
      const key = `${segments.join('/')} ${tag}`;
      const body = await this.#compressed.get(key, encoding, () => handle.readFile());
      response.setHeader('content-length', body.length);
      response.writeHead(200).end(request.method === 'HEAD' ? undefined : body);
      return;
    }
    response.setHeader('content-length', size);
    response.writeHead(200);
    if (request.method === 'HEAD' || size === 0) {
      response.end();
      return;
    }
    const bytes = handle.createReadStream({ start: 0, end: size - 1, autoClose: false });
    await pipeline(bytes, response);
  }
}
