/** The candidates in the Make tab: to be seen, with the answer on wish, whatever is changed by hand. */
import { describe, expect, test } from 'vitest';
import { alsoRight, describePanel, layoutOf, sampleProblem } from '../../src/matrix/index.js';
import { valueWords } from '../../src/studio/engine/words.js';
import { CHROMIUM } from '../chromium.js';
import { faultsInBothLooks } from './axe.js';
import { eventually, moveTo, openPage } from './browser.js';
import { visitedSite } from './visited-site.js';

/** This one has two right candidates. */
const SEED = 154;

describe.skipIf(CHROMIUM === undefined)('candidates of a matrix that is made', () => {
  const site = visitedSite({ bundles: ['center'] });

  test('are shown, and the answer on wish, also after changes by hand', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=make&config=center&seed=${SEED}`);
    const problem = sampleProblem({
      configuration: 'center',
      variant: 'i-raven',
      seed: SEED,
      index: 0,
    });
    const { candidates, target } = problem;
    const alts = candidates.map(({ panel }) =>
      describePanel(layoutOf('center'), panel, valueWords),
    );
    const place = page.getByRole('region', { name: 'The candidates' });
    const shownAlts = (): Promise<string[]> =>
      page.evaluate(
        `[...document.querySelectorAll('.made-candidates .drawing')].map((panel) => panel.getAttribute('aria-label'))`,
      );
    await eventually(shownAlts).toEqual(alts);
    expect(await place.locator('.right, .answer-badge').count()).toBe(0);
    await place.getByLabel('Mark the answer').check();
    await eventually(() => place.locator('.answer-badge').allInnerTexts()).toEqual([
      'right',
      'answer',
    ]);
    expect(await place.locator(`[data-candidate="${target + 1}"]`).innerText()).toContain('answer');
    expect(await faultsInBothLooks(page)).toEqual([]);
    // Panel 9 is one of the candidates: changed by hand it is wrong, and the other one alone is right.
    const [other] = alsoRight(problem);
    await moveTo(page, `tab=make&config=center&seed=${SEED}&edit=9.0.1.5.2.9`);
    await eventually(async () => (await shownAlts())[target]).not.toBe(alts[target]);
    await eventually(() => place.locator('.answer-badge').allInnerTexts()).toEqual(['answer']);
    expect(await place.locator('.right').getAttribute('data-candidate')).toBe(String(other + 1));
    // Where no candidate is right there is none to mark.
    await moveTo(page, `tab=make&config=center&seed=${SEED}&edit=5.0.1.5.2.9`);
    await eventually(() => place.locator('.answer-badge').count()).toBe(0);
    expect(await place.getByLabel('Mark the answer').isDisabled()).toBe(true);
    expect(errors).toEqual([]);
  });
});
