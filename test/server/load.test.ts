/**
 * Two hundred visitors at once, most of them rude, for three seconds (thirty with CRAB_TEST_LONG): every
 * request gets the answer that is right for it, and the server holds no more afterwards than before.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compiledProgram } from '../compiled-program.js';
import { Random } from '../../src/matrix/index.js';
import { LIMITS } from '../../src/server/index.js';
import { scratchFolder } from '../scratch-folder.js';
import type { Held } from './server-child.js';
import { ask, INDEX, makeSite, post, raw, SCRIPT, statusOf, type Site } from './site.js';

const SECONDS = process.env.CRAB_TEST_LONG === undefined ? 3 : 30;
const VISITORS = 200;
const MEGABYTE = 1 << 20;

const folder = scratchFolder();
let site: Site;
let server: ChildProcess;
let port: number;

const answerOf = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const ended = (code: number | null, signal: string | null): void =>
      reject(new Error(`the server ended: ${code ?? signal}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });

async function held(): Promise<Held> {
  const answer = answerOf<Held>(server);
  server.send('held');
  return answer;
}

beforeAll(async () => {
  site = await makeSite(folder);
  const file = compiledProgram('server/server-child');
  const addon = path.join(folder, 'no-addon.node');
  // Connections at rest are closed soon, so that what is held at rest shows soon.
  server = fork(file, [JSON.stringify({ ...site, patience: { idle: 500 } })], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, CRAB_TORCH_ADDON: addon },
  });
  port = (await answerOf<{ port: number }>(server)).port;
});
afterAll(() => {
  server.kill('SIGKILL');
});

const HOST = 'host: localhost\r\n';
const CLOSE = 'connection: close\r\n';
const STOP = '/api/training/stop';

/** A page that listens for a moment and leaves without a word. */
function listenBriefly(): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/api/training/events' }, (answer) => {
      answer.once('data', () => sent.destroy());
      answer.once('error', () => {});
      resolve(answer.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Asks for something large and leaves in the middle of the answer or of the question. */
function leaveEarly(text: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text, () => socket.destroy()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(0));
  });
}

interface Visit {
  readonly name: string;
  /** Statuses that are right. */
  readonly right: readonly number[];
  /** Does it; the status. A wrong body is status -1. */
  readonly go: () => Promise<number>;
}

async function bodyIs(target: string, expected: string | Uint8Array): Promise<number> {
  const { status, body } = await ask(port, target, { headers: { connection: 'keep-alive' } });
  return status === 200 && !body.equals(Buffer.from(expected)) ? -1 : status;
}

function visits(encoder: Uint8Array, tag: string): Visit[] {
  const large = 'x'.repeat(4 * LIMITS.body);
  const chunked = { 'transfer-encoding': 'chunked' };
  const known = { headers: { 'if-none-match': tag } };
  const status = (reply: Promise<{ status: number }>): Promise<number> =>
    reply.then((each) => each.status);
  return [
    { name: 'page', right: [200], go: () => bodyIs('/', INDEX) },
    { name: 'script', right: [200], go: () => bodyIs('/assets/app-Ab3dE6gH.js', SCRIPT) },
    { name: 'model', right: [200], go: () => bodyIs('/zoo/center/encoder.onnx', encoder) },
    { name: 'unchanged', right: [304], go: () => status(ask(port, '/', known)) },
    { name: 'list', right: [200], go: () => status(ask(port, '/zoo/index.json')) },
    { name: 'status', right: [200], go: () => status(ask(port, '/api/training')) },
    { name: 'events', right: [200, 503], go: listenBriefly },
    { name: 'absent', right: [404], go: () => status(ask(port, '/nothing/here')) },
    { name: 'outside', right: [400], go: () => status(ask(port, '/%2e%2e/secret.txt')) },
    { name: 'method', right: [405], go: () => status(ask(port, '/', { method: 'DELETE' })) },
    { name: 'no JSON', right: [400], go: () => status(post(port, STOP, '{"name":')) },
    { name: 'no run', right: [404], go: () => status(post(port, STOP, { name: 'x' })) },
    { name: 'large', right: [413], go: () => status(post(port, STOP, large)) },
    { name: 'large chunks', right: [413], go: () => status(post(port, STOP, large, chunked)) },
    {
      name: 'other origin',
      right: [403],
      go: () => status(post(port, STOP, { name: 'x' }, { origin: 'https://evil.example' })),
    },
    {
      name: 'other host',
      right: [421],
      go: () => status(ask(port, '/', { headers: { host: 'evil.example' } })),
    },
    {
      name: 'noise',
      right: [400],
      go: async () => statusOf(await raw(port, '\0\x01\x02\r\n\r\n')),
    },
    {
      name: 'large headers',
      right: [431],
      go: async () =>
        statusOf(await raw(port, `GET / HTTP/1.1\r\n${HOST}x: ${'x'.repeat(LIMITS.headerBytes)}`)),
    },
    {
      name: 'two at once',
      right: [200],
      go: async () => {
        const one = `GET /empty.txt HTTP/1.1\r\n${HOST}`;
        const answer = await raw(port, `${one}\r\n${one}${CLOSE}\r\n`);
        return answer.match(/HTTP\/1\.1 200 OK/g)?.length === 2 ? 200 : -1;
      },
    },
    {
      name: 'gone in the answer',
      right: [0],
      go: () => leaveEarly(`GET /zoo/center/encoder.onnx HTTP/1.1\r\n${HOST}\r\n`),
    },
    {
      name: 'gone in the question',
      right: [0],
      go: () =>
        leaveEarly(
          `POST ${STOP} HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
        ),
    },
  ];
}

/** Visits at random until it is time to go; what went wrong, and how many visits of each name. */
async function visitor(
  number: number,
  kinds: readonly Visit[],
  end: number,
  counts: Map<string, number>,
): Promise<string[]> {
  const random = new Random(17, number);
  const wrong: string[] = [];
  while (performance.now() < end) {
    const { name, right, go } = kinds[random.next() % kinds.length];
    const status = await go().catch((error: Error) => error.message);
    if (!right.includes(status as number)) wrong.push(`${name}: ${status}`);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return wrong;
}

async function storm(seconds: number): Promise<{ wrong: string[]; counts: Map<string, number> }> {
  const encoder = readFileSync(path.join(site.zoo, 'center/encoder.onnx'));
  const { headers } = await ask(port, '/');
  const kinds = visits(encoder, headers.etag ?? '');
  const counts = new Map<string, number>();
  const end = performance.now() + 1000 * seconds;
  const all = await Promise.all(
    Array.from({ length: VISITORS }, (_, n) => visitor(n, kinds, end, counts)),
  );
  return { wrong: all.flat(), counts };
}

/** What is held once every connection of before has ended. */
async function heldAtRest(resources: number): Promise<Held> {
  for (let tries = 0; ; tries++) {
    const now = await held();
    if (now.resources <= resources || tries >= 600) return now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('200 visitors', async () => {
  await ask(port, '/api/training');
  const { resources } = await held();
  // Caches fill and code is compiled in a first, shorter storm; growth is what comes after it.
  const first = await storm(1);
  const before = await heldAtRest(resources);
  const second = await storm(SECONDS);
  const after = await heldAtRest(resources);

  expect([...first.wrong, ...second.wrong]).toEqual([]);
  expect(second.counts.size).toBe(visits(new Uint8Array(), '').length);
  expect(after.resources).toBeLessThanOrEqual(resources);
  expect(after.heap - before.heap).toBeLessThan(4 * MEGABYTE);
  expect(after.external - before.external).toBeLessThan(8 * MEGABYTE);
  expect((await ask(port, '/')).body.toString()).toBe(INDEX);
  const total = [...second.counts.values()].reduce((sum, count) => sum + count, 0);
  expect(total).toBeGreaterThanOrEqual(VISITORS);
});
