/** The built page on a plain static web host, as anyone's would be: files, types, nothing else. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ROOT } from '../project.js';

export const PAGE = path.join(ROOT, 'dist', 'studio');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

const ISOLATED = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

export interface Host {
  readonly url: string;
  /** Paths asked for so far. */
  readonly requests: string[];
  close(): Promise<void>;
}

export interface HostOptions {
  /** Folder of the built page; that of this version unless given. */
  readonly page?: string;
  /** Folder that stands at `zoo/`; the page's own unless given. */
  readonly zoo?: string;
  /** Whether the host sends the headers for threads, as `crab studio` does. */
  readonly isolated?: boolean;
  /** Answers what is below `api/`; true where it did. */
  readonly api?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
}

export async function servePage(options: HostOptions = {}): Promise<Host> {
  const { page = PAGE, zoo, isolated = false, api } = options;
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://page').pathname);
    requests.push(name);
    if (name.startsWith('/api/') && api?.(request, response, name) === true) return;
    const inZoo = zoo !== undefined && name.startsWith('/zoo/');
    const relative = name.endsWith('/') ? `${name}index.html` : name;
    const file = inZoo ? path.join(zoo, relative.slice('/zoo'.length)) : path.join(page, relative);
    if (!existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
      return;
    }
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, ...(isolated ? ISOLATED : {}) });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
