/**
 * The built page on the real server, in Chromium: its policy and headers let the page do all it does,
 * with threads, and a person trains a model in it and plays with the result.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageFolder, startStudio, type StudioServer } from '../../src/server/index.js';
import { isTorchAvailable } from '../../src/torch/index.js';
import { goTo, LAPTOP, openPage } from '../studio/browser.js';
import { CHROMIUM, launch } from '../chromium.js';
import { scratchFolder } from '../scratch-folder.js';
import { makeSite } from './site.js';
import { TINY_TRAINING } from './tiny-training.js';

const canRun = CHROMIUM !== undefined && existsSync(path.join(pageFolder(), 'index.html'));
const folder = scratchFolder();

describe.skipIf(!canRun)('the page on its server', () => {
  let studio: StudioServer;
  let browser: Browser;

  beforeAll(async () => {
    const { zoo, runs } = await makeSite(folder);
    studio = await startStudio({ zoo, runs, training: TINY_TRAINING });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await studio.close();
  });

  test('solves a matrix with threads, breaks no rule and asks nobody else', async () => {
    const { page, errors } = await openPage(await browser.newContext({ viewport: LAPTOP }));
    const hosts = new Set<string>();
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol === 'http:' || protocol === 'https:') hosts.add(host);
    });
    await goTo(page, studio.url, 'tab=play&config=center&seed=3&shown=1');
    await page.locator('.cell.imagined canvas').waitFor();
    expect(await page.evaluate('crossOriginIsolated')).toBe(true);
    expect([...hosts]).toEqual([`localhost:${studio.port}`]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test.skipIf(!isTorchAvailable())('a person trains a model and plays with it', async () => {
    const { page, errors } = await openPage(await browser.newContext({ viewport: LAPTOP }));
    await page.goto(`${studio.url}#tab=train`);
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.getByText(/^Step \d+/).waitFor();
    await page.locator('.live-matrices canvas').first().waitFor();
    await page.locator('.live-plane [aria-label=dot] path').first().waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Export and play' }).click();
    await page.waitForURL(/model=center-small-\d+/);
    await page.locator('[data-testid=backend][data-phase=ready]').waitFor();
    await page.locator('.candidates').waitFor();
    expect(errors).toEqual([]);
  });
});
