/** A small site to serve, and requests as no browser would send them. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { writeBundle } from '../../src/solver/node.js';
import { randomBundle } from '../solver/random-model.js';

export const INDEX = '<!doctype html><title>studio</title>';
export const SCRIPT = `export const answer = '${'42'.repeat(400)}';\n`;
export const SECRET = 'not for visitors';

export interface Site {
  readonly folder: string;
  readonly page: string;
  readonly zoo: string;
  readonly runs: string;
}

/** A page with compressed copies, links that lead in and out, and a zoo of one bundle. */
export async function makeSite(folder: string): Promise<Site> {
  const page = path.join(folder, 'page');
  const zoo = path.join(folder, 'zoo');
  const assets = path.join(page, 'assets');
  await mkdir(assets, { recursive: true });
  await mkdir(path.join(page, '.hidden'));
  const files: [string, string | Uint8Array][] = [
    ['index.html', INDEX],
    ['assets/app-Ab3dE6gH.js', SCRIPT],
    ['assets/app-Ab3dE6gH.js.br', brotliCompressSync(SCRIPT)],
    ['assets/app-Ab3dE6gH.js.gz', gzipSync(SCRIPT)],
    ['assets/runtime-12345678.wasm', new Uint8Array([0, 97, 115, 109])],
    ['assets/plain.css', 'body {}'],
    ['empty.txt', ''],
    ['name with %41.txt', 'odd'],
    ['.hidden/file.txt', SECRET],
    ['.env', SECRET],
  ];
  for (const [name, content] of files) await writeFile(path.join(page, name), content);
  await writeFile(path.join(folder, 'secret.txt'), SECRET);
  await symlink(path.join(folder, 'secret.txt'), path.join(page, 'out.txt'));
  await symlink(folder, path.join(page, 'above'));
  await symlink('index.html', path.join(page, 'inside.html'));
  await symlink('loop.txt', path.join(page, 'loop.txt'));
  const { manifest, files: parts } = randomBundle();
  await writeBundle(path.join(zoo, 'center'), manifest, parts);
  return { folder, page, zoo, runs: path.join(folder, 'runs') };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** One request whose path is sent exactly as given. */
export function ask(port: number, target: string, asked: Asked = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers, body } = asked;
    const sent = request({ port, host: '127.0.0.1', path: target, method, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        const status = answer.statusCode ?? 0;
        resolve({ status, headers: answer.headers, body: Buffer.concat(pieces) });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** A request with a JSON body. */
export function post(
  port: number,
  target: string,
  value: unknown,
  headers: OutgoingHttpHeaders = {},
): Promise<Reply> {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return ask(port, target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

/** Sends bytes as they are; everything that comes back until the connection is closed. */
export function raw(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (answer += text));
    // A refusal may be followed by a reset; what was said before it counts.
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
    socket.write(bytes);
  });
}

/** The status of a raw answer, or 0 where there is none. */
export const statusOf = (answer: string): number =>
  Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

export const json = <T>(reply: Reply): T => JSON.parse(reply.body.toString()) as T;
