/**
 * examples/browser as a user has it: in a project of its own with the packed package among its modules,
 * under Vite's development server and as it builds, without any configuration.
 */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { build, createServer, preview } from 'vite';
import { panelsOf, sampleProblem } from '../../src/matrix/index.js';
import { CHROMIUM, launch } from '../chromium.js';
import { installPacked } from '../packed-package.js';
import { scratchFolder } from '../scratch-folder.js';
import { ROOT } from '../project.js';

const project = path.join(scratchFolder(), 'project');
const quiet = { root: project, logLevel: 'error' } as const;
const { answer } = panelsOf(
  sampleProblem({ configuration: 'center', variant: 'i-raven', seed: 1, index: 0 }),
);

describe.skipIf(CHROMIUM === undefined)('examples/browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    cpSync(path.join(ROOT, 'examples/browser'), project, { recursive: true });
    const installed = installPacked(project);
    mkdirSync(path.join(project, 'public/zoo'), { recursive: true });
    symlinkSync(path.join(installed, 'zoo/center'), path.join(project, 'public/zoo/center'), 'dir');
    browser = await launch();
  });
  afterAll(() => browser.close());

  /** Opens the page, waits for the model, and gives a picture of its own. */
  async function check(url: string): Promise<void> {
    const page: Page = await browser.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(url);
    await page.waitForFunction(
      "document.getElementById('choice').textContent.startsWith('candidate')",
      undefined,
    );
    const choice = await page.locator('#choice').innerText();
    expect(choice).toMatch(
      new RegExp(
        `^candidate ${answer + 1}, \\d+% sure; the answer is ${answer + 1} \\((wasm|webgpu)\\)$`,
      ),
    );
    expect(await page.locator('#matrix canvas').count()).toBe(9);
    await page.setInputFiles('#file', path.join(ROOT, 'README.md'));
    await page.locator('#own', { hasText: 'not a picture this browser can read' }).waitFor();
    await page.setInputFiles('#file', path.join(ROOT, 'docs/images/matrix.png'));
    await page.locator('#own', { hasText: /^candidate [1-8], \d+% sure$/ }).waitFor();
    expect(faults).toEqual([]);
    await page.close();
  }

  const addressOf = (address: string | AddressInfo | null | undefined): string =>
    `http://localhost:${(address as AddressInfo).port}/`;

  test('runs under the development server', async () => {
    const server = await createServer({ ...quiet, server: { port: 0 } });
    try {
      await server.listen();
      await check(addressOf(server.httpServer?.address()));
    } finally {
      await server.close();
    }
  });

  test('runs as it is built', async () => {
    await build(quiet);
    const server = await preview({ ...quiet, preview: { port: 0 } });
    try {
      await check(addressOf(server.httpServer.address()));
    } finally {
      await server.close();
    }
  });
});
