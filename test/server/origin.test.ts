import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudio, type StudioServer } from '../../src/server/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { ask, makeSite, post, raw, statusOf } from './site.js';

const folder = scratchFolder();
let studio: StudioServer;
let everywhere: StudioServer;

beforeAll(async () => {
  const site = await makeSite(folder);
  studio = await startStudio(site);
  everywhere = await startStudio({ ...site, host: '0.0.0.0' });
});
afterAll(async () => {
  await studio.close();
  await everywhere.close();
});

/** The status of a GET with a host, `PORT` standing for the server's. */
async function visit(server: StudioServer, host: string, target = '/'): Promise<number> {
  const headers = { host: host.replace('PORT', String(server.port)) };
  return (await ask(server.port, target, { headers })).status;
}

describe('the name a server is called by', () => {
  test.each([
    ['localhost:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['localhost.:PORT', 200],
    ['127.0.0.1:PORT', 200],
    ['127.0.0.1', 200],
    ['[::1]:PORT', 200],
    ['localhost:9999', 200],
    ['evil.example:PORT', 421],
    ['localhost.evil.example:PORT', 421],
    ['127.0.0.1.evil.example', 421],
    ['192.168.1.7:PORT', 421],
    ['0.0.0.0:PORT', 421],
    ['localhost@evil.example', 400],
    ['local host', 400],
    ['localhost:PORT/evil', 400],
    ['[::1', 400],
  ])('%s: %i', async (host, expected) => {
    expect(await visit(studio, host)).toBe(expected);
    expect(await visit(studio, host, '/api/training/nothing')).toBe(
      expected === 200 ? 404 : expected,
    );
  });

  test('beyond this machine addresses are right too, but no names', async () => {
    expect(await visit(everywhere, '192.168.1.7:PORT')).toBe(200);
    expect(await visit(everywhere, '[fe80::1]:PORT')).toBe(200);
    expect(await visit(everywhere, 'localhost:PORT')).toBe(200);
    expect(await visit(everywhere, 'evil.example:PORT')).toBe(421);
  });

  test('no host, or two, are refused', async () => {
    expect(statusOf(await raw(studio.port, 'GET / HTTP/1.1\r\n\r\n'))).toBe(400);
    const two =
      'GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n';
    expect(statusOf(await raw(studio.port, two))).toBe(400);
    expect(statusOf(await raw(studio.port, 'GET / HTTP/1.0\r\n\r\n'))).toBe(400);
    const empty = 'GET / HTTP/1.1\r\nhost: \r\nconnection: close\r\n\r\n';
    expect(statusOf(await raw(studio.port, empty))).toBe(400);
  });
});

describe('where a request comes from', () => {
  const own = (): string => `http://localhost:${studio.port}`;
  const host = (): string => `localhost:${studio.port}`;

  test.each<[string, number, () => OutgoingHttpHeaders]>([
    ['the page itself', 200, () => ({ origin: own(), 'sec-fetch-site': 'same-origin' })],
    ['a program', 200, () => ({})],
    ['an address typed in', 200, () => ({ 'sec-fetch-site': 'none' })],
    ['another site', 403, () => ({ origin: 'https://evil.example' })],
    ['another port', 403, () => ({ origin: 'http://localhost:1' })],
    ['another protocol', 403, () => ({ origin: `https://localhost:${studio.port}` })],
    ['another name of this machine', 403, () => ({ origin: `http://127.0.0.1:${studio.port}` })],
    ['a sandboxed frame', 403, () => ({ origin: 'null' })],
    ['a script tag elsewhere', 403, () => ({ 'sec-fetch-site': 'cross-site' })],
    ['another port, without origin', 403, () => ({ 'sec-fetch-site': 'same-site' })],
    [
      'a link elsewhere',
      200,
      () => ({
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      }),
    ],
    [
      'a frame elsewhere',
      403,
      () => ({
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'iframe',
      }),
    ],
  ])('%s: %i', async (_, expected, headers) => {
    const reply = await ask(studio.port, '/', { headers: { host: host(), ...headers() } });
    expect(reply.status).toBe(expected);
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('nothing can be changed from elsewhere', async () => {
    const body = { name: 'nothing' };
    const target = '/api/training/stop';
    const headers = (more: OutgoingHttpHeaders): OutgoingHttpHeaders => ({ host: host(), ...more });
    const status = async (more: OutgoingHttpHeaders): Promise<number> =>
      (await post(studio.port, target, body, headers(more))).status;
    expect(await status({ origin: own() })).toBe(404);
    expect(await status({ origin: 'https://evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ host: 'evil.example' })).toBe(421);
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect(await status(link)).toBe(403);
    // What a form of another site could send without asking first.
    expect(await status({ 'content-type': 'text/plain' })).toBe(415);
    const preflight = await ask(studio.port, target, {
      method: 'OPTIONS',
      headers: headers({ 'access-control-request-method': 'POST' }),
    });
    expect(preflight.status).toBe(405);
    expect(preflight.headers['access-control-allow-methods']).toBeUndefined();
  });
});
