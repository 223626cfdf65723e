/** The solver's behaviour, in Node and in a real Chromium: the same checks. */
import { build } from 'esbuild';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Solver, writeBundle } from '../../src/solver/node.js';
import { CHROMIUM, launch } from '../chromium.js';
import { scratchFolder } from '../scratch-folder.js';
import { randomBundle, randomTransformer, tinyConfig } from './random-model.js';
import { CHECKS, TRANSFORMER_CHECKS } from './shared-checks.js';

const folder = scratchFolder();
const bundleFolder = path.join(folder, 'bundle');
/** A name in a zoo: that folder for Node, the root of the page's server for a browser. */
const OTHER = 'transformer/center';

beforeAll(async () => {
  const { manifest, files } = randomBundle(tinyConfig());
  await writeBundle(bundleFolder, manifest, files);
  const other = randomTransformer();
  await writeBundle(path.join(folder, OTHER), other.manifest, other.files);
});

describe('in Node', () => {
  for (const { name, run } of CHECKS) {
    test(name, () => run((options) => Solver.load(bundleFolder, options)));
  }
  for (const { name, run } of TRANSFORMER_CHECKS) {
    test(name, () => run((options) => Solver.load(OTHER, { zoo: folder, ...options })));
  }
});

/** The page's script: the solver's browser entry and the checks, with no Node module in it. */
async function pageScript(): Promise<{ readonly code: string; readonly imports: string[] }> {
  const result = await build({
    stdin: {
      contents: `
        import { Solver } from './src/solver/index.ts';
        import { CHECKS, TRANSFORMER_CHECKS } from './test/solver/shared-checks.ts';
        globalThis.runCheck = async (name) => {
          const others = TRANSFORMER_CHECKS.filter((each) => each.name === name);
          const [check] = [...others, ...CHECKS.filter((each) => each.name === name)];
          const model = others.length > 0 ? '${OTHER}' : '/bundle';
          await check.run((options) => Solver.load(model, { backend: 'wasm', zoo: '/', ...options }));
          return 'passed';
        };
        globalThis.loadTwice = async () => {
          for (let i = 0; i < 2; i++) await (await Solver.load('/bundle', { backend: 'wasm' })).dispose();
        };`,
      resolveDir: path.resolve(import.meta.dirname, '../..'),
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const imports = Object.values(result.metafile.inputs).flatMap((input) =>
    input.imports.filter(({ external }) => external).map(({ path: name }) => name),
  );
  return { code: result.outputFiles[0].text, imports };
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

describe.skipIf(CHROMIUM === undefined)('in Chromium', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const requests: string[] = [];

  beforeAll(async () => {
    const { code, imports } = await pageScript();
    // esbuild counts its own helpers as <runtime>; a Node module would be an error or stand here.
    expect(imports.filter((name) => name !== '<runtime>')).toEqual([]);
    server = createServer((request, response) => {
      const name = new URL(request.url ?? '/', 'http://page').pathname;
      requests.push(name);
      if (name === '/') {
        response.setHeader('content-type', 'text/html');
        response.end('<!doctype html><script type="module" src="/page.js"></script>');
        return;
      }
      response.setHeader('content-type', TYPES[path.extname(name)] ?? 'application/octet-stream');
      if (name === '/page.js') {
        response.end(code);
        return;
      }
      const file = path.join(folder, path.normalize(name));
      if (existsSync(file)) response.end(readFileSync(file));
      else response.writeHead(404).end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    browser = await launch();
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.runCheck !== undefined');
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  for (const { name } of [...CHECKS, ...TRANSFORMER_CHECKS]) {
    test(name, async () => {
      expect(await page.evaluate(`globalThis.runCheck(${JSON.stringify(name)})`)).toBe('passed');
    });
  }

  test('a second load downloads nothing but the manifest', async () => {
    await page.evaluate('globalThis.loadTwice()');
    requests.length = 0;
    await page.evaluate('globalThis.loadTwice()');
    expect(requests).toEqual(['/bundle/bundle.json', '/bundle/bundle.json']);
  });
});
