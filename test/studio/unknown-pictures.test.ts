/** Pictures a published model does not know: it must say so; its own kind it must know. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  encodePng,
  layoutOf,
  matrixPanels,
  renderPanel,
  sampleProblem,
  type Configuration,
} from '../../src/matrix/index.js';
import {
  CHROMIUM,
  eventually,
  goTo,
  LAPTOP,
  launch,
  modelReady,
  openPage,
  requirePage,
} from './browser.js';
import { ROOT, servePage, type Host } from './served-page.js';

const ZOO = path.join(ROOT, 'zoo');
const hasModel = ['center', 'left-right'].every((name) =>
  existsSync(path.join(ZOO, name, 'bundle.json')),
);

function panelFiles(configuration: Configuration) {
  const problem = sampleProblem({ configuration, variant: 'i-raven', seed: 5, index: 0 });
  const layout = layoutOf(configuration);
  return matrixPanels(problem).map((panel, i) => ({
    name: `panel-${i + 1}.png`,
    mimeType: 'image/png',
    buffer: Buffer.from(
      encodePng({ width: 160, height: 160, channels: 1, data: renderPanel(layout, panel) }),
    ),
  }));
}

describe.skipIf(CHROMIUM === undefined || !hasModel)('pictures', () => {
  let host: Host;
  let browser: Browser;

  beforeAll(async () => {
    requirePage();
    host = await servePage({ zoo: ZOO, isolated: true });
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await host.close();
  });

  test('of another kind are said to be unknown, those of its own are not', async () => {
    const { page, errors } = await openPage(await browser.newContext({ viewport: LAPTOP }));
    await goTo(page, host.url, 'tab=make&config=center');
    const input = page.locator('input[type=file]');
    const notice = page.locator('[data-testid=misfit]');
    await input.setInputFiles(panelFiles('left-right'));
    await notice.waitFor();
    expect(await notice.innerText()).toContain('does not know such pictures');
    expect(await notice.locator('canvas').count()).toBe(9);
    // Another configuration tries the same pictures.
    await page.getByLabel('Left-right').check();
    await eventually(() => page.url()).toMatch(/config=left-right.*pictures=/);
    await modelReady(page);
    await page.locator('.stage .cell.imagined canvas').waitFor();
    await eventually(() => notice.count()).toBe(0);
    await page.getByLabel('Center').check();
    await notice.waitFor();
    await page.getByText('Remove my pictures').click();
    await eventually(() => notice.count()).toBe(0);
    await input.setInputFiles(panelFiles('center'));
    await page.locator('.stage .cell.imagined canvas').waitFor();
    await page.locator('[data-testid=rule-table]').waitFor();
    expect(await notice.count()).toBe(0);
    expect(errors).toEqual([]);
  });
});
