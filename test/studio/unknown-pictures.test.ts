/** Pictures a published model does not know: it must say so; its own kind it must know. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeRavenNpz, renderProblem, type Configuration } from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, goTo, LAPTOP, modelReady, openPage } from './browser.js';
import { ROOT } from './served-page.js';
import { visitedSite } from './visited-site.js';
import { fileOf, handedProblem, panelFiles, pictureFile } from './picture-files.js';

const ZOO = path.join(ROOT, 'zoo');
const hasModel = ['center', 'left-right'].every((name) =>
  existsSync(path.join(ZOO, name, 'bundle.json')),
);

/** A matrix of another kind with its eight candidates, and without its answer. */
function npzFile(configuration: Configuration) {
  const problem = handedProblem(configuration);
  const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
  return fileOf('matrix.npz', bytes, 'application/octet-stream');
}

describe.skipIf(CHROMIUM === undefined || !hasModel)('pictures', () => {
  const site = visitedSite({ zoo: ZOO, isolated: true });

  test('of another kind are said to be unknown, those of its own are not', async () => {
    const { page, errors } = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await goTo(page, site.url, 'tab=make&config=center');
    const input = page.locator('input[type=file]');
    const notice = page.locator('[data-testid=misfit]');
    await input.setInputFiles(panelFiles('left-right'));
    await notice.waitFor();
    await eventually(() => notice.innerText()).toContain('does not know such pictures');
    await eventually(() => notice.locator('canvas').count()).toBe(9);
    // Nowhere is it sure of them.
    await page.locator('.tabs a[href*="tab=erase"]').click();
    const sureness = page.locator('.sureness-list li');
    await sureness.first().waitFor();
    await eventually(() => sureness.allInnerTexts()).toEqual([
      expect.stringMatching(/9\s+guessing$/),
    ]);
    await page.locator('.tabs a[href*="tab=make"]').click();
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
    await page.getByText('Remove my pictures').click();
    await input.setInputFiles(npzFile('left-right'));
    await notice.waitFor();
    await page.locator('.tabs a[href*="tab=why"]').click();
    await page.locator('.heat').first().waitFor();
    await eventually(() => page.locator('.heat-map').innerText()).not.toMatch(/%|sure/);
    await page.locator('.tabs a[href*="tab=make"]').click();
    await page.getByText('Remove my pictures').click();
    const white = new Uint8Array(160 * 160).fill(255);
    await input.setInputFiles(
      Array.from({ length: 9 }, (_, i) => pictureFile(`white-${i + 1}.png`, white)),
    );
    await notice.waitFor();
    await eventually(() => notice.innerText()).toContain('empty');
    expect(errors).toEqual([]);
  });
});
