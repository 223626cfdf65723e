/** One matrix with its eight candidates in Chromium, on wasm with one thread: a part of the solver bench. */
import { build } from 'esbuild';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { CHROMIUM, launch } from '../test/chromium.js';

const SCRIPT = `
  import { Solver } from './src/solver/index.ts';
  import { layoutOf, renderPanel64, sampleProblem } from './src/matrix/index.ts';
  globalThis.measure = async (rounds) => {
    const solver = await Solver.load('/bundle', { backend: 'wasm', cache: false });
    const { configuration, noisy } = solver.manifest;
    const problem = sampleProblem({ configuration, noisy, variant: 'raven', seed: 1, index: 0 });
    const draw = (panel) => Float32Array.from(renderPanel64(layoutOf(configuration, noisy), panel), (v) => v / 255);
    const context = problem.context.map(draw);
    const candidates = problem.candidates.map(({ panel }) => draw(panel));
    const times = [];
    for (let i = 0; i <= rounds; i++) {
      const start = performance.now();
      await solver.choose(await solver.solve(context), candidates);
      times.push(performance.now() - start);
    }
    await solver.dispose();
    return times.slice(1).sort((a, b) => a - b)[rounds >> 1];
  };`;

const TYPES: Readonly<Record<string, string>> = {
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
  '': 'text/html',
};

/** Median milliseconds over rounds after a first one; null where there is no Chromium. */
export async function chromiumLatency(bundle: string, rounds = 9): Promise<number | null> {
  if (CHROMIUM === undefined) return null;
  const root = path.resolve(import.meta.dirname, '..');
  const { outputFiles } = await build({
    stdin: { contents: SCRIPT, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    write: false,
  });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page');
    response.setHeader('content-type', TYPES[path.extname(pathname)] ?? 'application/octet-stream');
    if (pathname === '/') response.end('<script type="module" src="/page.js"></script>');
    else if (pathname === '/page.js') response.end(outputFiles[0].text);
    else {
      const file = path.join(bundle, path.basename(pathname));
      if (existsSync(file)) response.end(readFileSync(file));
      else response.writeHead(404).end();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.measure !== undefined');
    return await page.evaluate<number>(`globalThis.measure(${rounds})`);
  } finally {
    await browser.close();
    server.close();
  }
}
