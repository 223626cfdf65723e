import { connect, type Socket } from 'node:net';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS, startStudio, type StudioServer } from '../../src/server/index.js';
import type { TrainStatus } from '../../src/protocol/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { ask, json, makeSite, post, raw, statusOf, type Site } from './site.js';
import { errorOf, START } from './runs.js';

const folder = scratchFolder();
/** A machine without libtorch, as the processes of the server see it. */
const NO_ADDON = path.join(folder, 'no-addon.node');
const QUICK = { headers: 300, request: 600, idle: 300, stuck: 600, interval: 50 };
let site: Site;
let studio: StudioServer;

beforeAll(async () => {
  process.env.CRAB_TORCH_ADDON = NO_ADDON;
  site = await makeSite(folder);
  studio = await startStudio({ ...site, patience: QUICK });
});
afterAll(async () => {
  delete process.env.CRAB_TORCH_ADDON;
  await studio.close();
});

describe('bodies', () => {
  const target = '/api/training/start';

  test.each([
    ['', 400, /not JSON/],
    ['{"a": ', 400, /not JSON/],
    ['\u0000', 400, /not JSON/],
    ['[1]', 400, /JSON object/],
    ['null', 400, /JSON object/],
    ['"text"', 400, /JSON object/],
    ['{"__proto__": {"polluted": 1}}', 503, /cannot train/],
    ['['.repeat(10_000), 400, /not JSON/],
  ])('%.20s', async (body, status, error) => {
    const reply = await post(studio.port, target, body);
    expect(reply.status).toBe(status);
    expect(errorOf(reply)).toMatch(error);
  });

  test('bytes that are no text are refused', async () => {
    const reply = await ask(studio.port, target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
    });
    expect(reply.status).toBe(400);
  });

  test('one too large is refused, announced or not, and the answer arrives', async () => {
    for (const size of [LIMITS.body + 1, 1 << 20, 8 << 20]) {
      const body = JSON.stringify({ text: 'x'.repeat(size) });
      expect((await post(studio.port, target, body)).status).toBe(413);
      const chunked = { 'transfer-encoding': 'chunked' };
      expect((await post(studio.port, target, body, chunked)).status).toBe(413);
    }
    const whole = JSON.stringify({ text: 'x'.repeat(LIMITS.body - 11) });
    expect((await post(studio.port, target, whole)).status).toBe(503);
  });

  test('another type, or a compressed body, is refused', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', ''];
    for (const type of types) {
      expect((await post(studio.port, target, START, { 'content-type': type })).status).toBe(415);
    }
    const encoded = { 'content-encoding': 'gzip' };
    expect((await post(studio.port, target, START, encoded)).status).toBe(415);
  });

  test('a wrong method names the right one', async () => {
    const reply = await ask(studio.port, target);
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
    const status = await post(studio.port, '/api/training', START);
    expect([status.status, status.headers.allow]).toEqual([405, 'GET, HEAD']);
    const events = await post(studio.port, '/api/training/events', START);
    expect([events.status, events.headers.allow]).toEqual([405, 'GET']);
    expect((await ask(studio.port, '/api')).status).toBe(404);
    expect((await ask(studio.port, '/api/training/')).status).toBe(404);
  });
});

describe('a machine without libtorch', () => {
  test('says so, and how to get it', async () => {
    const status = json<TrainStatus>(await ask(studio.port, '/api/training'));
    expect(status).toMatchObject({ available: false, devices: [], runs: [], shown: null });
    expect(status.reason).toMatch(/libtorch is not available/);
    expect(status.command).toBe('npm run setup:torch');
    const reply = await post(studio.port, '/api/training/start', START);
    expect(reply.status).toBe(503);
    expect(errorOf(reply)).toMatch(/npm run setup:torch/);
  });

  test.each([
    ['does not load', 'broken.node', 'this is no addon', /does not load/],
    ['crashes its process', 'crash.cjs', 'process.abort();', /ended the process with SIGABRT/],
  ])('an addon that %s is told as a reason', async (_, name, content, reason) => {
    const addon = path.join(folder, name);
    await writeFile(addon, content);
    process.env.CRAB_TORCH_ADDON = addon;
    const other = await startStudio(site);
    try {
      const status = json<TrainStatus>(await ask(other.port, '/api/training'));
      expect(status.available).toBe(false);
      expect(status.reason).toMatch(reason);
      expect(status.command).toBe('npm run setup:torch');
    } finally {
      process.env.CRAB_TORCH_ADDON = NO_ADDON;
      await other.close();
    }
  });

  test('damaged runs are passed over', async () => {
    const damaged: [string, string][] = [
      ['half', '{"format": "crab-run"'],
      ['other', '{"format": "something"}'],
      ['list', '[]'],
    ];
    for (const [name, config] of damaged) {
      await mkdir(path.join(site.runs, name), { recursive: true });
      await writeFile(path.join(site.runs, name, 'config.json'), config);
    }
    await writeFile(path.join(site.runs, 'a-file'), '');
    expect(json<TrainStatus>(await ask(studio.port, '/api/training')).runs).toEqual([]);
    for (const name of ['half', 'other', 'a-file', 'nothing']) {
      for (const action of ['stop', 'export']) {
        expect((await post(studio.port, `/api/training/${action}`, { name })).status).toBe(404);
      }
    }
  });

  test.each(['../secret', '..', '.', '', 'a/b', 'a\\b', 'a\0b', 'x'.repeat(101), 7, null, ['a']])(
    'a run is not called %j',
    async (name) => {
      for (const action of ['stop', 'resume', 'export']) {
        const reply = await post(studio.port, `/api/training/${action}`, { name });
        expect(reply.status).toBe(400);
        expect(errorOf(reply)).toMatch(/name: expected/);
      }
    },
  );
});

describe('what is not HTTP', () => {
  test.each([
    ['noise', '\x16\x03\x01\x02\x00\x01\x00\x01', 400],
    ['no protocol', 'GET /\r\n\r\n', 400],
    ['another protocol', 'GET / HTTP/9.9\r\nhost: localhost\r\n\r\n', 400],
    ['a bad header', 'GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n', 400],
    [
      'two lengths',
      'POST /api/training/stop HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
      400,
    ],
    [
      'length and chunks',
      'POST /api/training/stop HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'a bad chunk',
      'POST /api/training/stop HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    [
      'large headers',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(LIMITS.headerBytes)}\r\n\r\n`,
      431,
    ],
    [
      'a long address',
      `GET /${'x'.repeat(LIMITS.headerBytes)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      431,
    ],
  ])('%s: refused', async (_, bytes, status) => {
    expect(statusOf(await raw(studio.port, bytes))).toBe(status);
  });

  test('a proxy or a socket is not to be had here', async () => {
    const tunnel = 'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n';
    expect(await raw(studio.port, tunnel)).toBe('');
    const upgrade =
      'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
    expect(statusOf(await raw(studio.port, upgrade))).toBe(200);
  });
});

describe('slow visitors', () => {
  /** Everything said until the server closes the connection. */
  const untilClosed = (begin: (socket: Socket) => void): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(studio.port, '127.0.0.1', () => begin(socket));
      let answer = '';
      socket.on('data', (data: Buffer) => (answer += data.toString('latin1')));
      socket.on('error', () => {});
      socket.on('close', () => resolve(answer));
    });

  test('headers that come drop by drop', async () => {
    let drops: NodeJS.Timeout | undefined;
    const answer = await untilClosed((socket) => {
      socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n');
      drops = setInterval(() => socket.write('x: y\r\n'), 40);
    });
    clearInterval(drops);
    expect(statusOf(answer)).toBe(408);
  });

  test('a body that comes drop by drop', async () => {
    let drops: NodeJS.Timeout | undefined;
    const answer = await untilClosed((socket) => {
      socket.write(
        'POST /api/training/stop HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n',
      );
      drops = setInterval(() => socket.write(' '), 40);
    });
    clearInterval(drops);
    expect(statusOf(answer)).toBe(408);
  });

  test('silence', async () => {
    expect([0, 408]).toContain(statusOf(await untilClosed(() => {})));
    const once = await untilClosed((socket) => {
      socket.write('GET /empty.txt HTTP/1.1\r\nhost: localhost\r\n\r\n');
    });
    expect(statusOf(once)).toBe(200);
  });

  test('the server is there for others all the while', async () => {
    const slow = Array.from({ length: 50 }, () =>
      untilClosed((socket) => socket.write('GET / HTTP/1.1\r\n')),
    );
    expect((await ask(studio.port, '/')).status).toBe(200);
    expect((await Promise.all(slow)).every((answer) => statusOf(answer) === 408)).toBe(true);
  });
});

describe('starting', () => {
  test('a port that is taken is an error, and a closed server frees its own', async () => {
    const first = await startStudio(site);
    await expect(startStudio({ ...site, port: first.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await first.close();
    const again = await startStudio({ ...site, port: first.port });
    expect((await ask(again.port, '/')).status).toBe(200);
    await again.close();
  });

  test('listeners end when it closes', async () => {
    const other = await startStudio(site);
    const { status, headers, body } = await fetch(`${other.url}api/training/events`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    let heard = '';
    let closed: Promise<void> | undefined;
    // Closing, once the first event has come, must end the stream.
    for await (const piece of body ?? []) {
      heard += Buffer.from(piece).toString();
      if (heard.includes('event: ')) closed ??= other.close();
    }
    await closed;
    expect(heard).toMatch(/^retry: \d+\n\nevent: status\ndata: \{"available":false/);
  });
});
