/** The matrix layer in a browser: bundled without any stand-in for Node, it does what it does in Node. */
import path from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { CHROMIUM, launch } from '../chromium.js';
import { work } from './browser-work.js';

/** The work as one script that leaves `work` in the page. */
async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { work } from './browser-work.js';`,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    absWorkingDir: path.resolve(import.meta.dirname, '../..'),
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'matrixWork',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0].text;
}

test('bundles for a browser, with no module of Node in it', async () => {
  const script = await bundle();
  expect(script).not.toMatch(/require\("(node:)?\w+"\)|from "node:/);
  expect(script.length).toBeLessThan(600_000);
});

test.skipIf(CHROMIUM === undefined)(
  'makes, draws, writes and reads the same bytes in Chromium as in Node',
  async () => {
    const script = await bundle();
    const browser = await launch();
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('pageerror', (error) => problems.push(error.message));
      await page.addScriptTag({ content: script });
      const inBrowser: unknown = await page.evaluate('matrixWork.work()');
      expect(problems).toEqual([]);
      expect(inBrowser).toEqual(await work());
    } finally {
      await browser.close();
    }
  },
);
