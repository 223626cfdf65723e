/** The page as a page: accessible, steady, small, offline, on any host, on a phone. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startStudio } from '../../src/server/index.js';
import { CHROMIUM } from '../chromium.js';
import { scratchFolder } from '../scratch-folder.js';
import { faultsInBothLooks } from './axe.js';
import { eventually, fontsOf, goTo, modelReady, moveTo, openPage, requirePage } from './browser.js';
import { PAGE, servePage } from './served-page.js';
import { UNASSISTED, visitedSite } from './visited-site.js';

const TABS = ['play', 'erase', 'why', 'rules', 'compare', 'make', 'test', 'train'];
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
/** Most that may shift while the page loads, as browsers measure it; 0.1 counts as good. */
const MOST_SHIFT = 0.05;
const MOST_BYTES = 330_000;
const MOST_FONT_BYTES = 130_000;

/** A full state of each tab, so that everything it can show is judged. */
const hashOf = (tab: string): string =>
  `tab=${tab}&config=center&seed=3&picked=2&shown=1&missing=159&concept=2&point=4&rule=2,0.5,0.5`;

describe.skipIf(CHROMIUM === undefined)('the page', () => {
  const site = visitedSite({ bundles: ['center'] });
  const { zoo } = site;
  const noModels = scratchFolder();
  const runs = scratchFolder();

  /** What a tab shows last. */
  const settled = async (page: Page, tab: string) => {
    const last: Readonly<Record<string, string>> = {
      play: '[data-testid=verdict] canvas',
      erase: '.cell[data-position="9"] canvas',
      why: '[data-concept="4"] .mini-map',
      rules: '[data-testid=point] .drawing',
      compare: '[data-contender=crab] canvas',
      make: '[data-testid=reading] .drawing',
      test: '.test-start',
      train: '[data-testid=train-absent]',
    };
    await page.locator(last[tab]).first().waitFor();
  };

  test('axe finds no serious fault on any tab, light or dark', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, hashOf('play'));
    for (const tab of TABS) {
      await moveTo(page, hashOf(tab));
      await settled(page, tab);
      expect([tab, ...(await faultsInBothLooks(page))]).toEqual([tab]);
    }
    expect(errors).toEqual([]);
  });

  test('nothing is wider than a phone, on any tab', async () => {
    const { page } = await openPage(await site.fresh(PHONE));
    await goTo(page, site.url, hashOf('play'));
    for (const tab of TABS) {
      await moveTo(page, hashOf(tab));
      await settled(page, tab);
      const widths = () => page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
      await eventually(async () => [tab, await widths()]).toEqual([tab, [360, 360]]);
    }
  });

  test('what is there stays where it is while the page loads', async () => {
    const { page } = await openPage(await site.fresh());
    await page.addInitScript(`
      globalThis.shifts = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    for (const tab of ['play', 'why']) {
      await page.goto('about:blank');
      await page.goto(`${site.url}#tab=${tab}&config=center&seed=3`);
      await modelReady(page);
      await page.locator('.cell canvas, .cell.open, .mark').first().waitFor();
      expect(await page.evaluate<number>('shifts')).toBeLessThan(MOST_SHIFT);
    }
  });

  test('everything can be reached with the keyboard alone', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    const reached = new Set<string>();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      reached.add(
        await page.evaluate<string>(
          "(document.activeElement.textContent || document.activeElement.getAttribute('aria-label') || document.activeElement.value || '').trim()",
        ),
      );
    }
    const all = [...reached].join('\n');
    for (const part of [
      'Skip to the matrix',
      'Play',
      'Train',
      'New matrix',
      'Share',
      'Candidate 8',
    ]) {
      expect(all).toContain(part);
    }
    expect(all).toContain('Let CRAB imagine it');
  });

  test('networks run in a worker, not on the page’s own thread', async () => {
    const { page } = await openPage(await site.fresh(UNASSISTED));
    await goTo(page, site.url, 'tab=play&config=center&seed=3&shown=1');
    await page.locator('.cell.imagined canvas').waitFor();
    const [worker] = page.workers();
    expect(worker.url()).toMatch(/\/assets\/worker-[\w-]+\.js$/);
    const scripts = await page.evaluate<string[]>(
      "performance.getEntriesByType('resource').map((entry) => new URL(entry.name).pathname)",
    );
    expect(scripts.filter((name) => /runtime|\.onnx|ort\./.test(name))).toEqual([]);
    expect(site.host.requests.some((name) => name.endsWith('encoder.onnx'))).toBe(true);
  });

  test('panels are drawn in the page: the browser makes no document for each', async () => {
    const { page } = await openPage(await site.fresh(UNASSISTED));
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    expect(await page.locator('.matrix svg.drawing').count()).toBeGreaterThanOrEqual(8);
    expect(await page.locator('main :not(.print-item) > img[src^="data:image/svg"]').count()).toBe(
      0,
    );
  });

  test('after one visit it works without a network, and with threads on a plain host', async () => {
    const own = await servePage({ zoo });
    const context = await site.fresh();
    const { page } = await openPage(context);
    await goTo(page, own.url, 'tab=play&config=center&seed=3');
    expect(await page.evaluate('crossOriginIsolated')).toBe(false);
    await eventually(() => page.locator('[data-testid=backend]').innerText()).toContain('1 thread');
    const isKept = (file: string): Promise<boolean> =>
      page.evaluate(`caches.match('${file}').then((found) => found !== undefined)`);
    for (const file of ['./', 'runtime/wasm.js', 'zoo/center/bundle.json']) {
      await eventually(() => isKept(file)).toBe(true);
    }
    await own.close();
    await page.goto('about:blank');
    await page.goto(`${own.url}#tab=erase&config=center&seed=9&missing=258`);
    await modelReady(page);
    await eventually(() => fontsOf(page)).toEqual(
      expect.arrayContaining(['Inter', 'Source Serif 4']),
    );
    await eventually(() => page.evaluate('crossOriginIsolated')).toBe(true);
    await page.locator('[data-position="8"].cell canvas').waitFor();
    await eventually(() => page.locator('.cell.imagined').count()).toBe(3);
  });

  test('the model loads on demand, with progress', async () => {
    const { page } = await openPage(await site.fresh(UNASSISTED));
    let release = (): void => undefined;
    const released = new Promise<void>((done) => (release = done));
    await page.route('**/zoo/center/reasoner.onnx', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${site.url}#tab=play&config=center&seed=3`);
    const bar = page.getByLabel('Loading the model for center');
    await eventually(async () => Number(await bar.getAttribute('value'))).toBeGreaterThan(0);
    expect(Number(await bar.getAttribute('value'))).toBeLessThan(1);
    await eventually(() => page.locator('[data-testid=backend]').innerText()).toMatch(
      /loading \d+%/,
    );
    release();
    await modelReady(page);
    await eventually(() => bar.count()).toBe(0);
  });

  test('a configuration without a model says so, and can still be played', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=play&config=up-down&seed=3`);
    const notice = page.locator('.notice[role=alert]');
    await notice.waitFor();
    await eventually(() => notice.innerText()).toContain('There is no model for up-down here');
    await page.locator('.candidate').nth(2).click();
    await eventually(() => page.locator('[data-testid=verdict]').innerText()).toMatch(
      /right|Not this one/,
    );
    expect(errors).toEqual([]);
  });

  test('the zoo tells which configurations have a model, and offers those trained here', async () => {
    const { page } = await openPage(await site.fresh(UNASSISTED));
    const entry = { configuration: 'center', noisy: false, bytes: 1 };
    await page.route('**/zoo/index.json', (route) =>
      route.fulfill({
        json: {
          bundles: [
            { name: 'mine', ...entry },
            { name: 'center', ...entry },
            { name: 'grid-3x3-noisy', configuration: 'grid-3x3', noisy: true, bytes: 1 },
          ],
        },
      }),
    );
    await page.route('**/zoo/mine/**', async (route) => {
      const name = path.basename(new URL(route.request().url()).pathname);
      await route.fulfill({ body: readFileSync(path.join(zoo, 'center', name)) });
    });
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    // Noise is offered where a model knows it.
    const noise = page.locator('.toggle', { hasText: 'Noise' });
    await page.locator('.choice.absent').first().waitFor();
    await eventually(() => noise.count()).toBe(0);
    await page.evaluate(`location.hash = 'tab=play&config=grid-2x2&seed=3'`);
    // What the list does not have is not there a second time either.
    await page.locator('.notice[role=alert]').waitFor();
    await eventually(() => noise.count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.evaluate(`location.hash = 'tab=play&config=grid-3x3&seed=3'`);
    await eventually(() => noise.locator('input').isEnabled()).toBe(true);
    await page.evaluate(`location.hash = 'tab=play&config=center&seed=3'`);
    await modelReady(page);
    await eventually(() => page.locator('.choice.absent').count()).toBe(6);
    await page.getByLabel('Model', { exact: true }).selectOption('mine');
    await eventually(() => page.locator('.footer').innerText()).toContain('Model mine');
    await eventually(() => page.url()).toContain('model=mine');
  });

  test('a damaged model is refused, a damaged link is read as far as it makes sense', async () => {
    const own = await servePage({ zoo: noModels });
    const { page } = await openPage(await site.fresh(UNASSISTED));
    await page.route('**/zoo/center/**', async (route) => {
      const name = new URL(route.request().url()).pathname.replace('/zoo/', '');
      const bytes = readFileSync(path.join(zoo, name));
      if (name.endsWith('decoder.onnx')) bytes[bytes.length >> 1] ^= 1;
      await route.fulfill({ body: bytes });
    });
    await page.goto(`${own.url}#tab=nowhere&config=pentagram&seed=-1&missing=999999999&picked=77`);
    await page.locator('.notice[role=alert]').waitFor();
    await eventually(() => page.locator('.notice').innerText()).toMatch(/decoder\.onnx is damaged/);
    await eventually(() => page.locator('.tabs [aria-current=page]').innerText()).toContain('Play');
    await eventually(() => page.getByLabel('Center').isChecked()).toBe(true);
    await own.close();
  });

  test('the server of crab studio serves it under its own strict policy, with threads', async () => {
    const studio = await startStudio({ port: 0, runs, zoo, page: PAGE });
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, studio.url, 'tab=play&config=center&seed=3&shown=1');
    await page.locator('.cell.imagined canvas').waitFor();
    await eventually(() => page.evaluate('crossOriginIsolated')).toBe(true);
    await goTo(page, studio.url, 'tab=rules&config=center&seed=3');
    await page.locator('.plane-base svg').waitFor();
    await eventually(() => fontsOf(page)).toEqual(
      expect.arrayContaining(['Inter', 'Source Serif 4']),
    );
    expect(errors).toEqual([]);
    await page.close();
    await studio.close();
  });
});

test('the built page is small: under 330 kB compressed, and its fonts under 130 kB', () => {
  requirePage();
  const files = readdirSync(PAGE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\](runtime|zoo)[/\\]|ort\.\w+\.min|documentation\.txt$/.test(file));
  const isFont = (file: string): boolean => file.endsWith('.woff2');
  const bytesOf = (some: string[]): number =>
    some.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  const [bytes, fontBytes] = [
    bytesOf(files.filter((file) => !isFont(file))),
    bytesOf(files.filter(isFont)),
  ];
  expect(files.some((file) => file.includes('worker'))).toBe(true);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(MOST_BYTES);
  expect(fontBytes).toBeGreaterThan(10_000);
  expect(fontBytes).toBeLessThan(MOST_FONT_BYTES);
});

test('every font has its licence beside the page', () => {
  requirePage();
  const fonts = readdirSync(path.join(PAGE, 'assets')).filter((name) => name.endsWith('.woff2'));
  expect(fonts.length).toBeGreaterThan(0);
  for (const font of fonts) {
    const family = font.replace(/-latin-.*/, '');
    const licence = readFileSync(path.join(PAGE, 'licences', `${family}.txt`), 'utf8');
    expect(licence).toContain('SIL OPEN FONT LICENSE');
  }
});
