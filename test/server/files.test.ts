import { execFileSync } from 'node:child_process';
import { utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStudio, type StudioServer } from '../../src/server/index.js';
import type { ZooIndex } from '../../src/protocol/index.js';
import { Solver, writeBundle } from '../../src/solver/node.js';
import { scratchFolder } from '../scratch-folder.js';
import { randomBundle } from '../solver/random-model.js';
import { ask, INDEX, json, makeSite, raw, SCRIPT, SECRET, statusOf, type Site } from './site.js';

const folder = scratchFolder();
let site: Site;
let studio: StudioServer;
let port: number;

beforeAll(async () => {
  site = await makeSite(folder);
  studio = await startStudio(site);
  port = studio.port;
});
afterAll(() => studio.close());

const APP = '/assets/app-Ab3dE6gH.js';

describe('files of the page', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ['/index.html?tab=why#x', 'text/html; charset=utf-8', 'no-cache'],
    [APP, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/assets/runtime-12345678.wasm', 'application/wasm', 'public, max-age=31536000, immutable'],
    ['/assets/plain.css', 'text/css; charset=utf-8', 'no-cache'],
    ['/zoo/center/bundle.json', 'application/json; charset=utf-8', 'no-cache'],
    ['/zoo/center/encoder.onnx', 'application/octet-stream', 'no-cache'],
  ])('%s has its type and is kept as long as is right', async (target, type, cache) => {
    const { status, headers } = await ask(port, target);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe(type);
    expect(headers['cache-control']).toBe(cache);
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toMatch(/connect-src 'self' data: blob:;/);
  });

  test('the content is that of the files', async () => {
    expect((await ask(port, '/')).body.toString()).toBe(INDEX);
    expect((await ask(port, APP)).body.toString()).toBe(SCRIPT);
    expect((await ask(port, '/empty.txt')).body).toHaveLength(0);
    expect((await ask(port, '/name%20with%20%2541.txt')).body.toString()).toBe('odd');
    expect((await ask(port, '/inside.html')).body.toString()).toBe(INDEX);
  });

  test('compressed copies go to those who take them', async () => {
    const plain = await ask(port, APP);
    const brotli = await ask(port, APP, { headers: { 'accept-encoding': 'gzip, br' } });
    const gzip = await ask(port, APP, { headers: { 'accept-encoding': 'br;q=0, gzip;q=0.5' } });
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
    expect(gunzipSync(gzip.body).toString()).toBe(SCRIPT);
    expect(brotli.headers['content-type']).toBe(plain.headers['content-type']);
    expect(plain.headers.vary).toBe('accept-encoding');
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  test('large files without a copy are compressed, once, and with the headers of it', async () => {
    const text = `globalThis.zeros = '${'0'.repeat(50_000)}';\n`;
    const file = path.join(site.page, 'assets/large.js');
    await writeFile(file, text);
    const target = '/assets/large.js';
    const taking = (encodings: string) => ({ headers: { 'accept-encoding': encodings } });
    const plain = await ask(port, target);
    const brotli = await ask(port, target, taking('gzip, deflate, br'));
    const gzip = await ask(port, target, taking('gzip'));
    expect(plain.body.toString()).toBe(text);
    expect(brotliDecompressSync(brotli.body).toString()).toBe(text);
    expect(gunzipSync(gzip.body).toString()).toBe(text);
    expect([plain, brotli, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'br',
      'gzip',
    ]);
    for (const { headers, body } of [plain, brotli, gzip]) {
      expect(headers['content-length']).toBe(String(body.length));
      expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
      expect(headers.vary).toBe('accept-encoding');
    }
    expect(brotli.body.length).toBeLessThan(1000);
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
    // Asked again: from memory, and not at all if the browser has it.
    expect((await ask(port, target, taking('br'))).body).toEqual(brotli.body);
    const head = await ask(port, target, { method: 'HEAD', ...taking('br') });
    expect(head.headers['content-length']).toBe(brotli.headers['content-length']);
    expect(head.body).toHaveLength(0);
    const known = { 'accept-encoding': 'br', 'if-none-match': String(brotli.headers.etag) };
    expect((await ask(port, target, { headers: known })).status).toBe(304);
    // A changed file is compressed anew.
    await writeFile(file, `${text}// more\n`);
    const changed = await ask(port, target, taking('br'));
    expect(brotliDecompressSync(changed.body).toString()).toBe(`${text}// more\n`);
    // Weights and small files go as they are.
    const onnx = await ask(port, '/zoo/center/encoder.onnx', taking('br'));
    expect(onnx.headers['content-encoding']).toBeUndefined();
    expect((await ask(port, '/assets/plain.css', taking('br'))).headers['content-encoding']).toBe(
      undefined,
    );
  });

  test('what has not changed is not sent again', async () => {
    const { headers } = await ask(port, '/assets/plain.css');
    const known = { 'if-none-match': `"other", W/${headers.etag}` };
    const again = await ask(port, '/assets/plain.css', { headers: known });
    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
    const file = path.join(site.page, 'assets/plain.css');
    await writeFile(file, 'body {};');
    await utimes(file, 1, 1);
    const changed = await ask(port, '/assets/plain.css', { headers: known });
    expect(changed.status).toBe(200);
    expect(changed.body.toString()).toBe('body {};');
  });

  test('HEAD has the headers of GET and no body', async () => {
    const head = await ask(port, APP, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(String(SCRIPT.length));
    expect(head.body).toHaveLength(0);
    expect((await ask(port, '/nowhere', { method: 'HEAD' })).status).toBe(404);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE'])(
    '%s is refused',
    async (method) => {
      const { status, headers } = await ask(port, '/', { method });
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );
});

describe('nothing outside is served', () => {
  test.each([
    ['/../secret.txt', 400],
    ['/assets/../../secret.txt', 400],
    ['/%2e%2e/secret.txt', 400],
    ['/%2e%2e%2fsecret.txt', 400],
    ['/..%5csecret.txt', 400],
    ['/..\\secret.txt', 400],
    ['/%252e%252e/secret.txt', 404],
    ['/assets/%2e/app-Ab3dE6gH.js', 400],
    ['//etc/passwd', 404],
    ['/%2fetc%2fpasswd', 400],
    ['/index.html%00.js', 400],
    ['/%00', 400],
    ['/index.html%0d%0aset-cookie:x', 400],
    ['/C:/secret.txt', 400],
    ['/index.html::$DATA', 400],
    ['/%ff%fe', 400],
    ['/%', 400],
    ['/%c0%ae%c0%ae/secret.txt', 400],
    ['http://127.0.0.1/index.html', 400],
    ['*', 400],
    ['/zoo/../page/.env', 400],
    ['/zoo/center/../../secret.txt', 400],
    ['/zoo/%2e%2e/secret.txt', 400],
    ['/out.txt', 404],
    ['/above/secret.txt', 404],
    ['/above/page/index.html', 200],
    ['/loop.txt', 404],
    ['/.env', 404],
    ['/.hidden/file.txt', 404],
    ['/assets', 404],
    ['/assets/', 404],
    ['/index.html/', 404],
    ['/index.html/x', 404],
    ['/zoo', 404],
    ['/zoo/', 404],
    ['/zoo/center', 404],
    ['/zoo/center/', 404],
    ['/zoo//bundle.json', 404],
    ['/zoo/center/nothing.onnx', 404],
    [`/${'a'.repeat(300)}`, 404],
    [`/${'a'.repeat(3000)}`, 414],
  ])('%s: %i', async (target, expected) => {
    const { status, body } = await ask(port, target);
    expect(status).toBe(expected);
    expect(body.toString()).not.toContain(SECRET);
    if (expected !== 200)
      expect(Object.keys(JSON.parse(body.toString()) as object)).toEqual(['error']);
  });

  test('a raw NUL byte in the address is refused by the parser', async () => {
    const answer = await raw(port, 'GET /index\0.html HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect(statusOf(answer)).toBe(400);
  });

  test('a pipe in the folder is no file, and does not make the server wait', async () => {
    execFileSync('mkfifo', [path.join(site.page, 'pipe.txt')]);
    expect((await ask(port, '/pipe.txt')).status).toBe(404);
  });
});

describe('models', () => {
  test('the list names what is there', async () => {
    const { body, headers, status } = await ask(port, '/zoo/index.json');
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    const { bundles } = JSON.parse(body.toString()) as { bundles: { bytes: number }[] };
    expect(bundles).toEqual([
      {
        name: 'center',
        configuration: 'center',
        noisy: false,
        bytes: expect.any(Number) as number,
      },
    ]);
    expect(bundles[0].bytes).toBeGreaterThan(10_000);
  });

  test('a solver loads one from here', async () => {
    const solver = await Solver.load(`${studio.url}zoo/center`, { cache: false });
    expect(solver.manifest.configuration).toBe('center');
    await solver.dispose();
  });

  test('models of other systems are listed apart, and a solver loads one by its folder', async () => {
    const home = path.join(folder, 'two-systems');
    await makeSite(home);
    const zoo = path.join(home, 'zoo');
    const { manifest, files } = randomBundle();
    await writeBundle(
      path.join(zoo, 'transformer/center'),
      { ...manifest, system: 'transformer' },
      files,
    );
    const other = await startStudio({ ...site, zoo });
    const list = json<ZooIndex>(await ask(other.port, '/zoo/index.json'));
    expect(list.bundles.map(({ name }) => name)).toEqual(['center']);
    expect(list.others).toMatchObject([
      { name: 'transformer/center', system: 'transformer', configuration: 'center' },
    ]);
    const solver = await Solver.load(`${other.url}zoo/transformer/center`, { cache: false });
    expect(solver.manifest.system).toBe('transformer');
    await solver.dispose();
    expect((await ask(other.port, '/zoo/elsewhere/center/bundle.json')).status).toBe(404);
    await other.close();
    const known = await Solver.load('transformer/center', { zoo });
    expect(known.manifest.system).toBe('transformer');
    await known.dispose();
    await expect(Solver.load('transformer/left-right', { zoo })).rejects.toThrow(
      /nor a bundle of the zoo \(center, transformer\/center\)/,
    );
  });

  test('a damaged manifest is left out, a missing folder is an empty zoo', async () => {
    const other = await startStudio({ ...site, zoo: path.join(folder, 'no-zoo') });
    expect(json(await ask(other.port, '/zoo/index.json'))).toEqual({ bundles: [] });
    await other.close();
    const zoo = path.join(folder, 'damaged');
    await makeSite(zoo);
    await writeFile(path.join(zoo, 'zoo/center/bundle.json'), '{"format": 1');
    const damaged = await startStudio({ ...site, zoo: path.join(zoo, 'zoo') });
    expect(json(await ask(damaged.port, '/zoo/index.json'))).toEqual({ bundles: [] });
    await damaged.close();
  });
});
