/** Why with a published model: symbols, rules and films are the solver's own, and every part tells its number. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  describeLevel,
  layoutOf,
  matrixPanels,
  panelsOf,
  ruleKind,
  ruleMeaning,
  sampleProblem,
} from '../../src/matrix/index.js';
import { Solver } from '../../src/solver/node.js';
import { decimalsFor, distanceText } from '../../src/studio/parts/distances.js';
import { CHROMIUM } from '../chromium.js';
import { pixelsOf } from '../matrix/pixels.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  goTo,
  labelsOf,
  largestDifference,
  openPage,
  PHONE,
  steadyBox,
} from './browser.js';
import { visitedSite } from './visited-site.js';
import { arePublished, ZOO } from '../project.js';

const hasModel = arePublished('grid-2x2');
const SEED = 5;
/** A problem of test/solver/ties.test.ts. */
const TIE = 'tab=why&config=grid-2x2&candidates=raven&seed=31415926&index=252';

/** The numbers of the table, row by row; what has none is left out. */
async function numbersOf(page: Page): Promise<number[][]> {
  const rows = await page.locator('.heat-map tbody tr').all();
  return Promise.all(
    rows.map(async (row) => {
      const texts = await row.locator('td').allInnerTexts();
      return texts.flatMap((text) => {
        const [number] = /^−?[\d,.]+/.exec(text) ?? [];
        return number === undefined ? [] : [Number(number.replaceAll(',', '').replace('−', '-'))];
      });
    }),
  );
}

/** Whether the last number of a row is the sum of the others, as they are shown. */
const isSumOfOthers =
  (unit: number) =>
  (row: readonly number[]): boolean =>
    Math.abs(row.slice(0, -1).reduce((sum, each) => sum + each, -(row.at(-1) ?? NaN))) <
    0.01 * unit;

describe.skipIf(CHROMIUM === undefined || !hasModel)('explaining with a published model', () => {
  const site = visitedSite({ zoo: ZOO, isolated: true });

  test('the machine shows symbols, named and true rules, and numbers on wish', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, `tab=why&config=grid-2x2&seed=${SEED}`);
    const layout = layoutOf('grid-2x2');
    const problem = sampleProblem({
      configuration: 'grid-2x2',
      variant: 'i-raven',
      seed: SEED,
      index: 0,
    });
    const panels = matrixPanels(problem);
    const solver = await Solver.load(path.join(ZOO, 'grid-2x2'));
    const answer = await solver.solve(
      panels.map((panel) => pixelsOf(layout, panel)),
      { missing: [9] },
    );
    const row = page.locator('.machine-row[data-attribute=Shape]');
    await row.waitFor();
    const labels = await labelsOf(row.locator('.symbols .symbol'));
    const [component] = layout.components;
    labels.slice(0, 8).forEach((label, i) => {
      const [{ entities }] = panels[i].components;
      const shape = describeLevel(component, 'Type', entities[0].type);
      expect(label).toContain(`Shape of panel ${i + 1}: ${shape}, read from concept Shape`);
    });
    const named = solver.nameRules(answer)?.find(({ group }) => group === 'Type');
    const truth = problem.rules[0].find(({ attribute }) => attribute === 'Type');
    if (named === undefined || truth === undefined) throw new Error('a rule has to be there');
    const rule = row.locator('.part.rule');
    await eventually(() => rule.innerText()).toContain(named.rules.map(ruleKind).join(' or '));
    expect(named.rules.map(ruleKind)).toEqual([ruleKind(truth)]);
    await eventually(() => rule.innerText()).toContain(ruleMeaning(truth));
    await eventually(() => rule.innerText()).toMatch(
      /(certain|sure|unsure|guessing) \(.*, and true/,
    );

    // The keyboard reaches every part, and each tells its number.
    const said = page.locator('.machine-detail');
    await rule.focus();
    const concept = (solver.vocabulary?.groups[(named.conceptGroup ?? 0) - 1].concepts[0] ?? 0) + 1;
    const vector = answer.rules[concept - 1].vector.map((each) => each.toFixed(2));
    await eventually(async () => (await said.innerText()).replaceAll('−', '-')).toContain(
      `Shape: r = (${vector.join(', ')})`,
    );
    await row.locator('.symbol').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await eventually(() => said.innerText()).toContain('Shape of panel 5:');
    await page.locator('.machine .part.imagined').hover();
    await eventually(() => said.innerText()).toMatch(/Panel 9 as it was painted; .* ms\. It is /);
    expect(await page.locator('.formulas').count()).toBe(0);
    await page.getByLabel('The paper’s symbols').check();
    await eventually(() => page.locator('.formulas dt').allInnerTexts()).toHaveLength(4);

    // What the model does without is folded away.
    const unused = solver.manifest.conceptNames.filter((each) => each?.name === 'unused').length;
    const { concepts } = solver.manifest.sizes;
    expect(unused).toBeGreaterThan(0);
    await eventually(() => page.locator('.heat').count()).toBe(8 * (concepts - unused));
    await page.getByLabel(`Show ${unused} unused concepts`).check();
    await eventually(() => page.locator('.heat').count()).toBe(8 * concepts);

    // The last column tells the distances by which it chose, and the numbers of a row add up to it.
    const { candidates } = panelsOf(problem);
    const choice = await solver.choose(answer, candidates);
    for (const [name, distance] of [
      ['Calibrated', 'calibrated'],
      ['Plain L2', 'l2'],
    ] as const) {
      await page.getByLabel(name).check({ force: true });
      const painted = (each: (typeof choice.candidates)[number]): number =>
        distance === 'l2' ? 0 : (each.painted ?? 0);
      const wanted = choice.candidates.map((each) => Number(each[distance]) + painted(each));
      const least = Math.min(...wanted);
      const unit = 10 ** -decimalsFor(wanted);
      for (const isFolded of [true, false]) {
        await page.getByLabel(`Show ${unused} unused concepts`).setChecked(!isFolded);
        await eventually(async () => {
          const shown = await numbersOf(page);
          return shown.length === 8 && shown.every(isSumOfOthers(unit));
        }).toBe(true);
        const totals = (await numbersOf(page)).map((row) => row.at(-1) ?? NaN);
        totals.forEach((total, i) =>
          expect(Math.abs(total - wanted[i])).toBeLessThan(0.501 * unit),
        );
      }
      const closest = page.locator('.heat-map tr', { has: page.locator('.closest') });
      expect(await closest.count()).toBe(1);
      await closest.locator('.heat').first().hover();
      await eventually(() => page.getByTestId('raw-distance').innerText()).toContain(
        ` of ${distanceText(least, decimalsFor(wanted))}.`,
      );
      if (distance === 'calibrated') {
        await eventually(() => page.locator('.heat-map tr.chosen').innerText()).toMatch(
          new RegExp(`\\s${wanted.indexOf(least) + 1}\\s`),
        );
      }
    }

    const type = (named.conceptGroup ?? 0) - 1;
    const film = page.locator('[data-testid=film]').nth(type);
    await eventually(() => labelsOf(film.locator('canvas'))).toHaveLength(5);
    const values = solver.vocabulary?.groups[type].attributes[0].values ?? [];
    const hexagon = values.findIndex(
      ([level]) => describeLevel(component, 'Type', level) === 'hexagon',
    );
    const [expected] = await solver.variations(answer, 9, type + 1, [hexagon + 1]);
    const frame = film.getByLabel(/^hexagon/);
    await eventually(async () =>
      largestDifference(await canvasPixels(frame), expected),
    ).toBeLessThan(CLOSE);
    await solver.dispose();
    expect(errors).toEqual([]);
  });

  test('of candidates that are about as close it says that it drew them', async () => {
    // A problem of test/solver/ties.test.ts: candidate 1 has figures unlike each other, 4 is the answer.
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, TIE);
    const closeness = page.locator('[data-testid=closeness]');
    await eventually(() => closeness.innerText()).toMatch(
      /candidates 1 and 4 are about equally close .* also drew these .* candidate 4 is by far the closest/,
    );
    const side = page.locator('.heat-side');
    await eventually(() => side.innerText()).toMatch(
      /Drawing added to candidate 1, because it came out worse/,
    );
    // What drawing added stands in the table, and the rest is told as before.
    const drawn = page.locator('.heat-map td.drawn');
    const [first, second, , fourth] = await drawn.allInnerTexts();
    expect(Number(first.replaceAll(',', ''))).toBeGreaterThan(1000);
    expect([second, fourth]).toEqual(['not drawn', '0']);
    expect((await numbersOf(page)).every(isSumOfOthers(1))).toBe(true);

    await page.getByLabel('Plain L2').check({ force: true });
    await eventually(() => drawn.count()).toBe(0);
    expect(await side.innerText()).not.toMatch(/drew|drawing|calibrated:/i);
    expect(await closeness.innerText()).toMatch(/^By plain L2 candidate/);
  });

  test('of drawing that moved nobody it says nothing', async () => {
    const seed = 12;
    const index = 5;
    const problem = sampleProblem({ configuration: 'grid-2x2', variant: 'raven', seed, index });
    const solver = await Solver.load(path.join(ZOO, 'grid-2x2'));
    const { panels, missing, candidates } = panelsOf(problem);
    const answer = await solver.solve(panels, { missing });
    const choice = await solver.choose(answer, candidates);
    await solver.dispose();
    const added = choice.candidates.flatMap(({ painted }) => painted ?? []);
    expect(added).toHaveLength(2);
    expect(Math.max(...added)).toBeLessThan(1);

    const { page } = await openPage(await site.fresh());
    await goTo(
      page,
      site.url,
      `tab=why&config=grid-2x2&candidates=raven&seed=${seed}&index=${index}`,
    );
    await eventually(() => page.locator('[data-testid=closeness]').innerText()).toContain(
      `candidate ${choice.index + 1} is`,
    );
    expect(await page.locator('.why-candidates').innerText()).not.toMatch(/drew|drawing/i);
  });

  test('on a phone the page is no wider than the screen, and no label of Why runs into another', async () => {
    const { page } = await openPage(
      await site.fresh({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }),
    );
    for (const hash of [TIE, 'tab=why&config=out-in-grid&seed=12']) {
      await goTo(page, site.url, hash);
      await page.locator('.heat-map .chosen').waitFor();
      await page.locator('.cards > :last-child .mini-map').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      // Who chose it and what is right are told here too, each in one line within its row.
      const tags = page.locator('.heat-map .chosen .tag');
      expect(await tags.allInnerTexts()).toEqual(['CRAB', 'answer']);
      const row = await steadyBox(page.locator('.heat-map .chosen th'));
      let below = row.y;
      for (const tag of await tags.all()) {
        const box = await steadyBox(tag);
        expect(box.height).toBeLessThan(22);
        expect(box.y).toBeGreaterThanOrEqual(below);
        expect(box.x + box.width).toBeLessThanOrEqual(row.x + row.width);
        below = box.y + box.height;
      }
      expect(below).toBeLessThanOrEqual(row.y + row.height);
      // Numbers fit their cells.
      const tooWide = page.evaluate(`[...document.querySelectorAll('.heat, .heat-map td.total')]
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`);
      expect(await tooWide).toBe(0);
    }
  });

  test('on a phone what drawing added stands in sight, and it is told that concepts go on', async () => {
    const { page } = await openPage(await site.fresh(PHONE));
    await goTo(page, site.url, TIE);
    const parts = page.locator('.heat-map .drawn-part');
    await eventually(() => parts.count()).toBe(2);
    expect(await parts.first().innerText()).toMatch(/^drawing \d,\d{3}$/);
    const { x, width } = await steadyBox(parts.first());
    expect(x + width).toBeLessThanOrEqual(PHONE.viewport.width);
    const swipe = page.getByText('Swipe the table sideways for the other concepts.');
    await swipe.waitFor();
    await page.locator('.heat-scroll.more-right:not(.more-left)').waitFor();
    await page.evaluate(`document.querySelector('.heat-scroll').scrollTo(1000, 0)`);
    await page.locator('.heat-scroll.more-left:not(.more-right)').waitFor();
    expect(await swipe.isVisible()).toBe(true);
  });

  test('a long rule stands beside its mark, not below it', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=make&config=out-in-grid&seed=7');
    const marks = page.locator('.rule-table .agreement');
    await eventually(() => marks.count()).toBe(6);
    const drops = (): Promise<number[]> =>
      page.evaluate(`[...document.querySelectorAll('.rule-table .agreement')].map((mark) =>
        mark.parentElement.querySelector('.term').getBoundingClientRect().top -
        mark.getBoundingClientRect().bottom)`);
    await eventually(async () => Math.max(...(await drops()))).toBeLessThan(0);
  });

  test('no tick stands beside a rule that the painted panel breaks, in Why nor in Play', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=why&config=grid-3x3&seed=12');
    const rules = page.locator('.machine-row .part.rule');
    await eventually(() => rules.count()).toBe(4);
    const broken = rules.filter({ hasText: 'the painted panel breaks it' });
    await eventually(() => broken.count()).toBe(1);
    expect(await broken.locator('.agreement.same').count()).toBe(0);
    expect(await broken.locator('.agreement.other').count()).toBe(1);
    expect(await broken.innerText()).not.toMatch(/certain|100%/);
    expect(await rules.locator('.agreement.same').count()).toBe(3);
    // A choice is close to what was painted, or not; nobody is sure of it by that.
    await eventually(() => page.locator('[data-testid=closeness]').innerText()).toMatch(
      /^In its own terms candidate \d is .*closest/,
    );
    expect(await page.locator('.heat-map').innerText()).not.toMatch(/%|sure/);

    await page.locator('.tabs a[href*="tab=play"]').click();
    await page.getByRole('button', { name: 'Let CRAB imagine it' }).click();
    await page.getByText('The rules of this matrix').click();
    const read = page.locator('.rule-table tr', { hasText: 'the painted panel breaks it' });
    await eventually(() => read.locator('.agreement').innerText()).toBe('not followed');
  });
});
