/** WebGPU: where the browser has one it is taken and gives the same panels; where it fails, wasm does. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { layoutOf, matrixPanels, renderPanel64, sampleProblem } from '../../src/matrix/index.js';
import { Solver } from '../../src/solver/node.js';
import { CHROMIUM } from '../chromium.js';
import { canvasPixels, eventually, goTo, LAPTOP, largestDifference, openPage } from './browser.js';
import { UNASSISTED, visitedSite } from './visited-site.js';

/** Shaders add up in another order. */
const CLOSE = 3 / 255;
/** A GPU in software, for machines without one. */
const SOFTWARE_GPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

describe.skipIf(CHROMIUM === undefined)('WebGPU', () => {
  const site = visitedSite({ bundles: ['center'], isolated: true, flags: SOFTWARE_GPU });

  test('gives the panel that the solver gives', async (context) => {
    const { page } = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await page.goto(site.url);
    const hasGpu = await page.evaluate<boolean>(
      'Promise.resolve(navigator.gpu?.requestAdapter()).then((adapter) => Boolean(adapter))',
    );
    context.skip(!hasGpu, 'this Chromium has no WebGPU');
    await goTo(page, site.url, 'tab=play&config=center&seed=31&shown=1');
    await eventually(() => page.locator('[data-testid=backend]').innerText()).toContain('WebGPU');
    const layout = layoutOf('center');
    const problem = sampleProblem({
      configuration: 'center',
      variant: 'i-raven',
      seed: 31,
      index: 0,
    });
    const solver = await Solver.load(path.join(site.zoo, 'center'));
    const panels = matrixPanels(problem).map((panel) => renderPanel64(layout, panel));
    const answer = await solver.solve(panels, { missing: [9] });
    await solver.dispose();
    const shown = page.locator('.stage .cell.imagined canvas');
    await eventually(async () =>
      largestDifference(await canvasPixels(shown), answer.images[0]),
    ).toBeLessThan(CLOSE);
  });

  test('that fails gives way to wasm', async () => {
    const { page, errors } = await openPage(await site.browser.newContext(UNASSISTED));
    // The runtime's WebGPU build is gone: whatever the adapter promised, it cannot run.
    await page.route('**/runtime/webgpu.js', (route) => route.abort());
    await goTo(page, site.url, 'tab=play&config=center&seed=31&shown=1');
    await eventually(() => page.locator('[data-testid=backend]').innerText()).toContain(
      'WebAssembly',
    );
    await page.locator('.stage .cell.imagined canvas').waitFor();
    expect(errors).toEqual([]);
  });
});
