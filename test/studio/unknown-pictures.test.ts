/** Pictures a published model does not know: it must say so; its own kind it must know. */
import { describe, expect, test } from 'vitest';
import {
  encodePng,
  encodeRavenNpz,
  problemToSvg,
  renderProblem,
  sampleProblem,
  type Configuration,
} from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, goTo, LAPTOP, modelReady, openPage } from './browser.js';
import { otherPanels } from '../solver/other-pictures.js';
import { visitedSite } from './visited-site.js';
import { fileOf, handedProblem, panelFiles, pictureFile } from './picture-files.js';
import { arePublished, ZOO } from '../project.js';

const hasModel = arePublished('center', 'left-right', 'up-down', 'grid-2x2');

/** A matrix of another kind with its eight candidates, and without its answer. */
function npzFile(configuration: Configuration) {
  const problem = handedProblem(configuration);
  const bytes = encodeRavenNpz(problem, renderProblem(problem).images);
  return fileOf('matrix.npz', bytes, 'application/octet-stream');
}

describe.skipIf(CHROMIUM === undefined || !hasModel)('pictures', () => {
  const site = visitedSite({ zoo: ZOO, isolated: true });

  const opened = async (place: string) => {
    const { page, errors } = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await goTo(page, site.url, place);
    return {
      page,
      errors,
      input: page.locator('input[type=file]'),
      notice: page.locator('[data-testid=misfit]'),
      found: page.locator('[data-testid=pictures-found]'),
    };
  };

  test('find their configuration by themselves', async () => {
    const { page, errors, input, notice, found } = await opened('tab=make&config=center');
    const item = problemToSvg(handedProblem('grid-2x2'), { markAnswer: false });
    const given = {
      'left-right': panelFiles('left-right'),
      'up-down': [npzFile('up-down')],
      'grid-2x2': [fileOf('item.svg', new TextEncoder().encode(item), 'image/svg+xml')],
    };
    for (const [configuration, files] of Object.entries(given)) {
      await input.setInputFiles(files);
      await eventually(() => found.innerText()).toBe(
        `These are panels of ${configuration}, so its model solves them.`,
      );
      await eventually(() => page.url()).toContain(`config=${configuration}`);
      await modelReady(page);
      await page.locator('.stage .cell.imagined canvas').waitFor();
      expect(await notice.count()).toBe(0);
    }
    // The picture of a whole matrix had candidates, and the right one is chosen.
    const target = handedProblem('grid-2x2').target + 1;
    await page.locator('.tabs a[href*="tab=play"]').click();
    const candidate = page.locator(`[data-candidate="${target}"]`);
    await candidate.click();
    await eventually(() => candidate.locator('.tag').allInnerTexts()).toEqual(['you', 'CRAB']);
    expect(errors).toEqual([]);
  });

  test('with a mesh are said to be unknown, and the page stays at work', async () => {
    const { page, errors, input, found } = await opened('tab=make&config=center');
    const mesh = sampleProblem({ configuration: 'center', mesh: true, seed: 5, index: 0 });
    const bytes = encodeRavenNpz(mesh, renderProblem(mesh).images);
    await input.setInputFiles(fileOf('mesh.npz', bytes, 'application/octet-stream'));
    await eventually(() => found.innerText()).toBe('No model here knows such pictures.');
    await page.getByText('Remove my pictures').click();
    await eventually(() => found.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test('of another kind are said to be unknown, those of its own are not', async () => {
    const { page, errors, input, notice, found } = await opened('tab=make&config=center');
    const letters = await otherPanels('letters', 4);
    await input.setInputFiles(
      letters.map((panel, i) =>
        fileOf(
          `letter-${i + 1}.png`,
          encodePng({
            width: 64,
            height: 64,
            channels: 1,
            data: Uint8Array.from(panel, (value) => Math.round(255 * value)),
          }),
        ),
      ),
    );
    await eventually(() => found.innerText()).toBe('No model here knows such pictures.');
    expect(page.url()).toMatch(/config=center|^[^?]*#(?!.*config=)/);
    await notice.waitFor();
    await eventually(() => notice.innerText()).toContain('does not know such pictures');
    await eventually(() => notice.locator('canvas').count()).toBe(8);
    // Nowhere is it sure of them.
    await page.locator('.tabs a[href*="tab=erase"]').click();
    const sureness = page.locator('.sureness-list li');
    await sureness.first().waitFor();
    await eventually(() => sureness.allInnerTexts()).toEqual([
      expect.stringMatching(/9\s+guessing$/),
    ]);
    await page.locator('.tabs a[href*="tab=make"]').click();
    await page.getByText('Remove my pictures').click();
    await eventually(() => notice.count()).toBe(0);
    // Pictures of one configuration tried on the model of another.
    await input.setInputFiles(npzFile('left-right'));
    await eventually(() => page.url()).toMatch(/config=left-right.*pictures=/);
    await modelReady(page);
    await page.locator('.stage .cell.imagined canvas').waitFor();
    await eventually(() => notice.count()).toBe(0);
    await page.getByLabel('Center').check();
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
