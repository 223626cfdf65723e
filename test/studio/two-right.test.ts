/** Items whose panels allow a second candidate: the page takes either for right, and says so. */
import { describe, expect, test } from 'vitest';
import { alsoRight, sampleProblem } from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, LAPTOP, openPage } from './browser.js';
import { visitedSite } from './visited-site.js';

/** The answer and the other right candidate of an item of center, 1..8. */
function rightOf(seed: number, index: number): readonly [own: number, other: number] {
  const problem = sampleProblem({ configuration: 'center', variant: 'i-raven', seed, index });
  const [other] = alsoRight(problem);
  return [problem.target + 1, other + 1];
}

describe.skipIf(CHROMIUM === undefined)('an item with two right candidates', () => {
  const site = visitedSite({ bundles: ['center'] });

  test('is right with either in a test, and its result says both', async () => {
    const [own, other] = rightOf(154, 0);
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=test&test=154&set=center&count=1`);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.candidate').first().click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Start the test' }).click();
    const item = page.getByRole('region', { name: 'Item 1 of 1' });
    await item.locator(`[data-candidate="${other}"]`).click();
    await page.getByRole('button', { name: 'Next' }).click();
    const you = page.locator('[data-testid=scores] [data-who=You]');
    await eventually(() => you.innerText()).toMatch(/100\.0%[^]*1 of 1/);
    const row = page.locator('[data-testid=answers] tbody tr');
    await eventually(() => row.innerText()).toMatch(
      new RegExp(`${other}\\s*, right\\s+${own} or ${other}`),
    );
    await page.getByText('Two answers: the panels of such an item allow other rules too').waitFor();
    expect(errors).toEqual([]);
  });

  test('tells so when it is the practice item', async () => {
    const [own, other] = rightOf(64, 1);
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=test&test=64&set=center&count=1`);
    await page.getByRole('button', { name: 'Begin' }).click();
    const practice = page.getByRole('region', { name: 'Practice item' });
    await practice.locator(`[data-candidate="${other}"]`).click();
    await page.getByRole('button', { name: 'Check' }).click();
    await eventually(() => practice.getByRole('status').innerText()).toMatch(
      new RegExp(`^Right: candidate ${other} completes[^]*${other} is right as well as ${own}`),
    );
    expect(await practice.getByRole('status').innerText()).not.toContain('breaks');
    expect(await practice.locator('.candidate.right').count()).toBe(2);
  });

  test.each([
    ['laptop', { viewport: LAPTOP }],
    ['phone', { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }],
  ])('counts either in Play, with a badge that fits: %s', async (_, looks) => {
    const [own, other] = rightOf(154, 0);
    const { page, errors } = await openPage(await site.fresh(looks));
    await page.goto(`${site.url}#tab=play&config=center&seed=154`);
    await page.locator(`[data-candidate="${other}"]:enabled`).click();
    const verdict = page.getByTestId('verdict');
    await eventually(() => verdict.innerText()).toMatch(/^You are (both )?right/);
    expect(await verdict.innerText()).toContain(`Candidate ${other} is right as well as ${own}`);
    await eventually(() => page.locator('[data-testid=score]').innerText()).toMatch(
      /You[^]*1 of 1/,
    );
    const badge = page.locator(`[data-candidate="${other}"] .answer-badge`);
    expect(await badge.innerText()).toBe('right');
    const [inner, outer] = await Promise.all([
      badge.boundingBox(),
      page.locator(`[data-candidate="${other}"]`).boundingBox(),
    ]);
    expect(inner?.width ?? Infinity).toBeLessThanOrEqual(outer?.width ?? 0);
    expect(inner?.height ?? Infinity).toBeLessThan(30);
    expect(errors).toEqual([]);
  });
});
