/** The rule map: it opens where there is most to see, names its clusters, and plays its training. */
import { describe, expect, test } from 'vitest';
import { clusterLabels } from '../../src/studio/engine/plane-labels.js';
import { eitherRule } from '../../src/studio/engine/words.js';
import { placeNames, type Box } from '../../src/studio/views/rules/place-names.js';
import { spreadPoints } from '../../src/studio/views/rules/spread-points.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, goTo, moveTo, openPage, steadyBox } from './browser.js';
import { visitedSite } from './visited-site.js';
import { arePublished, ZOO } from '../project.js';

const hasModel = arePublished('out-in-center');

const areApart = (a: Box, b: Box): boolean =>
  a.left >= b.left + b.width || b.left >= a.left + a.width || Math.abs(a.top - b.top) >= 16;

/** Points in rows of ten, one row for each class, so far from each other. */
const rows = (classes: number, apart: number) => ({
  points: Float32Array.from({ length: 20 * classes }, (_, i) => {
    const n = i >> 1;
    return i % 2 === 0 ? (n % 10) / 10 : apart * Math.floor(n / 10);
  }),
  classOf: Array.from({ length: 10 * classes }, (_, n) => Math.floor(n / 10)),
});

describe('names of clusters', () => {
  test('stand among the points that have the rule', () => {
    const { points, classOf } = rows(3, 5);
    const labels = clusterLabels(points, classOf, 3);
    expect(labels.map(({ kind, y }) => [kind, y])).toEqual([
      [0, 0],
      [1, 5],
      [2, 10],
    ]);
  });

  test('stand in every place that has many points of the rule', () => {
    const { points, classOf } = rows(4, 5);
    // The first and the last row have the same rule, and one point of it is astray.
    const kinds = classOf.map((kind, n) => (n === 15 ? 0 : kind % 3));
    const labels = clusterLabels(points, kinds, 3);
    expect(labels.map(({ kind, y }) => [kind, y])).toEqual([
      [0, 0],
      [0, 15],
      [1, 5],
      [2, 10],
    ]);
  });

  test('are those of two rules if both have many points in a place', () => {
    const { points, classOf } = rows(3, 5);
    // In the first row two rules alternate but for one end, in the others one has a single point.
    const kinds = classOf.map((kind, n) => (n < 10 ? (n > 2 ? n % 2 : 0) : n === 14 ? 2 : kind));
    const named = clusterLabels(points, kinds, 3).map(({ kind, also, y }) => [kind, also, y]);
    expect(named).toEqual([
      [0, 1, 0],
      [1, null, 5],
      [2, null, 10],
    ]);
  });

  test('are those of one rule if it only lies beside a larger place of another', () => {
    const points = Float32Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? i / 2 : 0));
    const kinds = Array.from({ length: 50 }, (_, n) => Number(n >= 40 && n % 3 > 0));
    const named = clusterLabels(points, kinds, 2).map(({ kind, also }) => [kind, also]);
    expect(named).toEqual([
      [0, null],
      [1, null],
    ]);
  });

  test('say what two rules share once', () => {
    expect(eitherRule('progression −2', 'progression +2')).toBe('progression −2 or +2');
    expect(eitherRule('constant', 'arithmetic +')).toBe('constant or arithmetic +');
  });

  test('are not given to what lies mixed, nor to what is rare', () => {
    const { points } = rows(3, 5);
    const mixed = Array.from({ length: 30 }, (_, n) => n % 3);
    expect(clusterLabels(points, mixed, 3)).toEqual([]);
    const rare = Array.from({ length: 30 }, (_, n) => Number(n < 2));
    expect(clusterLabels(points, rare, 2).map(({ kind }) => kind)).not.toContain(1);
  });

  test('keep apart, stay on the map and off the points', () => {
    const at = [200, 200] as const;
    const names = ['one', 'two', 'three'].map((text) => ({ text, colour: 'red', at }));
    const points = [[200, 200]] as const;
    const placed = placeNames(names, points, 400);
    expect(placed.map(({ text }) => text)).toEqual(['one', 'two', 'three']);
    for (const [i, a] of placed.entries()) {
      expect(a.left < 200 && a.left + a.width > 200 && a.top < 200 && a.top + 16 > 200).toBe(false);
      for (const b of placed.slice(i + 1)) {
        expect(areApart(a, b)).toBe(true);
      }
    }
    expect(placeNames(names, points, 20)).toEqual([]);
    // A place that is taken, such as that of the red dot, is left free.
    const [first] = placed;
    for (const each of placeNames(names, points, 400, [first])) {
      expect(areApart(each, first)).toBe(true);
    }
  });
});

describe('points that lie on each other', () => {
  const nearest = (points: Float32Array): number => {
    let least = Infinity;
    for (let a = 0; a < points.length; a += 2) {
      for (let b = 0; b < a; b += 2) {
        const away = Math.hypot(points[a] - points[b], points[a + 1] - points[b + 1]);
        least = Math.min(least, away);
      }
    }
    return least;
  };

  test('are set side by side, around their place', () => {
    const heap = Float32Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? 100 : 50));
    const { points, moved } = spreadPoints(heap, 4);
    expect(nearest(points)).toBeGreaterThan(3.99);
    expect(moved).toBeGreaterThan(0.5);
    const away = points.map((_, i) => Math.hypot(points[i & ~1] - 100, points[i | 1] - 50));
    // A disc of 200 dots that touch has a radius of about 30.
    expect(Math.max(...away)).toBeLessThan(45);
  });

  test('leave all others in their places', () => {
    const grid = Float32Array.from({ length: 200 }, (_, i) =>
      i % 2 === 0 ? 5 * ((i >> 1) % 10) : 5 * Math.floor(i / 20),
    );
    expect(spreadPoints(grid, 4)).toEqual({ points: grid, moved: 0 });
  });
});

describe.skipIf(CHROMIUM === undefined || !hasModel)('the rule map of a published model', () => {
  const site = visitedSite({ zoo: ZOO });

  test('shows every matrix, and says so if many have the very same rule', async () => {
    const { page } = await openPage(await site.fresh());
    const dots = async (): Promise<number> => {
      const places = await page
        .locator('.plane-base [aria-label=dot] path')
        .evaluateAll((all: unknown) =>
          (all as { getAttribute(name: string): string }[]).map((dot) =>
            dot.getAttribute('transform'),
          ),
        );
      return new Set(places).size;
    };
    const said = page.locator('[data-testid=spread]');
    await goTo(page, site.url, 'tab=rules&config=out-in-center&seed=12&concept=6');
    await eventually(() => said.innerText()).toContain('set side by side');
    await eventually(dots).toBe(400);
    await moveTo(page, 'tab=rules&config=out-in-center&seed=12&concept=1');
    await eventually(dots).toBe(400);
    await eventually(() => said.count()).toBe(0);
    // Its heaps of two rules have the names of both.
    await moveTo(page, 'tab=rules&config=out-in-center&seed=12&concept=7');
    await eventually(() => page.locator('.cluster-names span').allInnerTexts()).toEqual(
      expect.arrayContaining(['constant', 'progression −2 or +2']),
    );
  });
});

describe.skipIf(CHROMIUM === undefined)('the rule map', () => {
  const site = visitedSite({ bundles: ['center', 'left-right'] });
  const LAPTOP = { width: 1280, height: 800 };

  test('opens on a concept that tells rules apart, with its clusters named in the chart', async () => {
    const { page, errors } = await openPage(await site.fresh({ viewport: LAPTOP }));
    await goTo(page, site.url, 'tab=rules&config=center&seed=3');
    const chosen = page.locator('.concept-tabs label:has(:checked)');
    // The fourth concept of the example model follows nothing.
    await eventually(() => chosen.innerText()).toMatch(/^(Shape|Size|Colour)$/);
    const names = page.locator('.cluster-names span');
    await eventually(() => names.allInnerTexts()).toEqual(
      expect.arrayContaining(['constant', 'distribute three']),
    );
    await page.locator('.concept-tabs input').last().check({ force: true });
    await eventually(() => page.url()).toContain('concept=4');
    await eventually(() => names.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test.each(['center', 'left-right'])(
    '%s: legend and training are in sight without scrolling',
    async (configuration) => {
      const { page } = await openPage(await site.fresh({ viewport: LAPTOP }));
      await goTo(page, site.url, `tab=rules&config=${configuration}&seed=3`);
      for (const part of ['.plane', '.map-notes .legend', '.moments input', '.play-moments']) {
        const { y, height } = await steadyBox(page.locator(part));
        expect([part, y + height <= LAPTOP.height]).toEqual([part, true]);
      }
    },
  );

  test('the frame of the focused map is whole', async () => {
    const { page } = await openPage(await site.fresh({ viewport: LAPTOP }));
    await goTo(page, site.url, 'tab=rules&config=center&seed=3');
    await page.locator('.plane-base svg').waitFor();
    await page.locator('.concept-tabs input:checked').focus();
    await page.keyboard.press('Tab');
    await eventually(() => page.evaluate('document.activeElement.dataset.testid')).toBe('plane');
    // It belongs to the box itself: what is inside of it is clipped.
    const styleOf = (selector: string): Promise<string> =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).outlineStyle`);
    expect([await styleOf('.plane'), await styleOf('.plane-overlay')]).toEqual(['solid', 'none']);
  });

  test('a rule explains itself to the mouse, the keyboard and a finger', async () => {
    const { page } = await openPage(await site.fresh({ viewport: LAPTOP, hasTouch: true }));
    await goTo(page, site.url, 'tab=rules&config=center&seed=3');
    // What a rule does stands beside its name; what that means is told on wish.
    await eventually(() => page.locator('.legend').innerText()).toContain(
      'the same three in each row',
    );
    const term = page.locator('.legend .term', { hasText: 'distribute three' });
    const told = page.locator('.explanation:not([hidden])');
    const explains = () =>
      eventually(() => told.allInnerTexts()).toEqual([
        'Every row has the same three values, each time in another order.',
      ]);
    const isSilent = () => eventually(() => told.count()).toBe(0);
    await term.hover();
    await explains();
    await page.mouse.move(5, 5);
    await isSilent();
    await term.focus();
    await explains();
    await page.keyboard.press('Escape');
    await isSilent();
    await page.locator('.legend .term').first().blur();
    await term.tap();
    await explains();
    await page.locator('.side h2').first().tap();
    await isSilent();
    // Who cannot see it is told by the button.
    const id = await term.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${id ?? ''}"]`).getAttribute('role')).toBe('tooltip');
  });

  test('a point can be chosen without a mouse', async () => {
    const { page } = await openPage(await site.fresh({ viewport: LAPTOP }));
    await goTo(page, site.url, 'tab=rules&config=center&seed=3');
    await page.getByRole('button', { name: 'Show the first' }).press('Enter');
    const point = page.locator('[data-testid=point]');
    await eventually(() => point.locator('h2').innerText()).toBe('Point 1');
    await point.getByRole('button', { name: 'Next' }).press('Enter');
    await eventually(() => point.locator('h2').innerText()).toBe('Point 2');
  });

  test('its training plays from the keyboard, and pauses', async () => {
    const { page } = await openPage(await site.fresh({ viewport: LAPTOP }));
    await goTo(page, site.url, 'tab=rules&config=center&seed=3&moment=0');
    await page.getByText('After 100 steps of training').waitFor();
    const names = page.locator('.cluster-names span');
    await page.getByRole('button', { name: 'Play its training' }).press('Enter');
    await page.getByText('After 2,000 steps of training').waitFor();
    await page.getByRole('button', { name: 'Play its training' }).waitFor();
    await eventually(() => names.count()).toBeGreaterThan(0);
    await page.getByRole('button', { name: 'Play its training' }).press('Enter');
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByRole('button', { name: 'Play its training' }).waitFor();
  });
});
