/** Erasing with a published model: what is painted is seen, how sure it is, and what else it could be. */
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { layoutOf, matrixPanels, sampleProblem } from '../../src/matrix/index.js';
import { Solver, type Answer } from '../../src/solver/node.js';
import { CHROMIUM } from '../chromium.js';
import { pixelsOf } from '../matrix/pixels.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  goTo,
  largestDifference,
  openPage,
  PHONE,
} from './browser.js';
import { visitedSite } from './visited-site.js';
import { arePublished, ZOO } from '../project.js';

const hasModel = arePublished('grid-2x2');
/** Its rule says how many figures there are, not where. */
const OPEN = 'config=grid-2x2&seed=12';

async function solveOpen(solver: Solver, missing: readonly number[]): Promise<Answer> {
  const layout = layoutOf('grid-2x2');
  const problem = sampleProblem({
    configuration: 'grid-2x2',
    variant: 'i-raven',
    seed: 12,
    index: 0,
  });
  const panels = matrixPanels(problem).map((panel) => pixelsOf(layout, panel));
  return solver.solve(panels, { missing });
}

describe.skipIf(CHROMIUM === undefined || !hasModel)('erasing with a published model', () => {
  const site = visitedSite({ zoo: ZOO, isolated: true });

  const cell = (page: Page, position: number): Locator =>
    page.locator(`.cell[data-position="${position}"]`);
  const shows = (page: Page, position: number, values: ArrayLike<number>) =>
    eventually(async () =>
      largestDifference(await canvasPixels(cell(page, position).locator('canvas')), values),
    ).toBeLessThan(CLOSE);
  /** What a person sees of the truth: all of it, or nothing once it is wiped. */
  const clipOf = (page: Page, position: number): Promise<string> =>
    page.evaluate(
      `getComputedStyle(document.querySelector('.cell[data-position="${position}"] .under')).clipPath`,
    );
  const WIPED = 'inset(0px 0px 0px 100%)';

  test('a panel under the pointer or the keyboard shows its painting; the truth is held', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, `tab=erase&${OPEN}`);
    const solver = await Solver.load(path.join(ZOO, 'grid-2x2'));
    const answer = await solveOpen(solver, [5, 9]);
    await cell(page, 5).click();
    await shows(page, 5, answer.images[0]);
    // The pointer is still over it, and the keyboard on it.
    await eventually(() => clipOf(page, 5)).toBe(WIPED);
    await cell(page, 9).focus();
    await page.keyboard.press('Shift+Tab');
    await eventually(() => clipOf(page, 9)).toBe(WIPED);
    expect(await cell(page, 5).getAttribute('aria-label')).toBe('Panel 5, erased');
    await cell(page, 5).hover();
    await page.mouse.down();
    await eventually(() => clipOf(page, 5)).toBe('none');
    await eventually(() => cell(page, 5).getAttribute('aria-label')).toMatch(/^Panel 5, erased: /);
    await page.mouse.up();
    await eventually(() => clipOf(page, 5)).toBe(WIPED);
    // A press that was held puts nothing back; a click does.
    expect(page.url()).toContain('missing=59');
    await cell(page, 5).focus();
    await page.keyboard.down('Space');
    await eventually(() => clipOf(page, 5)).toBe('none');
    await page.keyboard.up('Space');
    await eventually(() => clipOf(page, 5)).toBe(WIPED);
    expect(page.url()).toContain('missing=59');
    await page.keyboard.press('Enter');
    await eventually(() => page.url()).not.toContain('missing=59');
    await solver.dispose();
    expect(errors).toEqual([]);
  });

  test('one sharp answer, another on wish, and a word for how sure it is', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, `tab=erase&${OPEN}`);
    const solver = await Solver.load(path.join(ZOO, 'grid-2x2'));
    const answer = await solveOpen(solver, [9]);
    const [first, second, ...others] = await solver.alternatives(answer, 8, { differ: 'value' });
    const likely = [first, second, ...others].filter(
      ({ probability }) => probability >= 0.05 * first.probability,
    );
    await shows(page, 9, answer.images[0]);
    const another = page.locator('[data-testid=another]');
    const percent = `${Math.round(100 * first.probability)}%`;
    await eventually(() => another.innerText()).toContain(
      `Answer 1 of ${likely.length} that fit, ${percent} likely`,
    );
    await eventually(() => page.locator('.sureness-list li').innerText()).toContain('position');
    // The small picture lays the answers over one another, each as strong as it is likely.
    const all = await solver.alternatives(answer, 16, { differ: 'value' });
    const sum = all.reduce((total, { probability }) => total + probability, 0);
    const expected = first.images[0].map((_, pixel) =>
      all.reduce((laid, each) => laid + (each.probability / sum) * each.images[0][pixel], 0),
    );
    const overlaid = page.locator('.sureness-list [data-position="9"] canvas');
    await eventually(async () =>
      largestDifference(await canvasPixels(overlaid), expected),
    ).toBeLessThan(CLOSE);
    await another.getByRole('button').click();
    await shows(page, 9, second.images[0]);
    await eventually(() => page.url()).toContain('another=1');
    await eventually(() => another.innerText()).toContain(`Answer 2 of ${likely.length}`);
    // Going on it comes back to the first; another question starts with its likeliest answer.
    for (let i = 1; i < likely.length; i++) await another.getByRole('button').click();
    await shows(page, 9, first.images[0]);
    await another.getByRole('button').click();
    await cell(page, 1).click();
    await eventually(() => page.url()).not.toContain('another=');
    await solver.dispose();
    expect(errors).toEqual([]);
  });

  test('arrow keys go from panel to panel, and Enter erases', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, `tab=erase&${OPEN}`);
    await cell(page, 1).focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'Enter']) {
      await page.keyboard.press(key);
    }
    // There is nothing above the first row.
    await eventually(() => page.url()).toContain('missing=39');
  });

  test('where many answers fit, it is said in words', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=erase&config=center&seed=1&missing=12346789');
    const another = page.locator('[data-testid=another]');
    await eventually(() => another.innerText()).toContain('Answer 1 of many that fit');
    // Each panel has its own answers laid over one another: as many pictures as panels are missing.
    await eventually(() => page.locator('.sureness-list canvas').count()).toBe(8);
  });

  test('Play, Erase and Why speak of certainty in the same words', async () => {
    const { page } = await openPage(await site.fresh(PHONE));
    await goTo(page, site.url, `tab=play&${OPEN}&shown=1`);
    const verdict = page.locator('[data-testid=verdict]');
    await eventually(() => verdict.innerText()).toMatch(/It is \w+ (of|the) position/);
    const said = /It is ([\w ]+)\./.exec(await verdict.innerText())?.[1] ?? '';
    await verdict.getByRole('button', { name: 'Another answer' }).click();
    await eventually(() => page.url()).toContain('another=1');
    await page.locator('.tabs a[href*="tab=erase"]').click();
    await eventually(() => page.locator('.sureness-list li').innerText()).toContain(said);
    await page.locator('.tabs a[href*="tab=why"]').click();
    await eventually(() => page.locator('main').innerText()).toMatch(
      /(certain|sure|unsure|guessing) \(\d/,
    );
  });
});
