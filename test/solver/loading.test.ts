/** Loading a bundle over HTTP: how far it is, and what is said where there is none. */
import { createServer, type Server } from 'node:http';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bundleBytes,
  MissingBundleError,
  openBundle,
  type BundleProgress,
} from '../../src/solver/index.js';
import { folderSource, writeBundle } from '../../src/solver/node.js';
import { urlSource } from '../../src/solver/web.js';
import { scratchFolder } from '../scratch-folder.js';
import { randomBundle, tinyConfig } from './random-model.js';

const folder = scratchFolder();
let server: Server;
let base: string;

beforeAll(async () => {
  const { manifest, files } = randomBundle(tinyConfig());
  await writeBundle(path.join(folder, 'whole'), manifest, files);
  server = createServer((request, response) => {
    const name = request.url ?? '/';
    const file = path.join(folder, name);
    if (name.startsWith('/page/')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    } else if (name.startsWith('/broken/')) response.writeHead(500).end();
    else if (existsSync(file)) response.writeHead(200).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const sourceOf = (name: string) => urlSource(new URL(`${base}/${name}/`), null);

test.each(['http', 'folder'])('progress from %s rises to the size of all files', async (kind) => {
  const source = kind === 'http' ? sourceOf('whole') : folderSource(path.join(folder, 'whole'));
  const told: BundleProgress[] = [];
  const { manifest } = await openBundle(source, undefined, (progress) => told.push(progress));
  const total = bundleBytes(manifest);
  expect(told.at(-1)).toEqual({ loaded: total, total });
  told.forEach(({ loaded }, i) => expect(loaded).toBeGreaterThanOrEqual(told[i - 1]?.loaded ?? 0));
  expect(told[0].loaded).toBeLessThan(total);
});

test('a host without the bundle, or one that answers with a page, is told from a fault', async () => {
  await expect(openBundle(sourceOf('nowhere'))).rejects.toThrow(MissingBundleError);
  await expect(openBundle(sourceOf('page'))).rejects.toThrow(MissingBundleError);
  const fault = openBundle(sourceOf('broken'));
  await expect(fault).rejects.toThrow(/the server answers 500/);
  await expect(fault).rejects.not.toThrow(MissingBundleError);
});
