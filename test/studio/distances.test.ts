/** The numbers of Why: rounded so that a row adds up, and true of models that choose by plain L2. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CandidateScore } from '../../src/studio/engine/protocol.js';
import {
  decimalsFor,
  distanceRows,
  distanceText,
  drawingMoved,
  ownDistance,
  roundedParts,
} from '../../src/studio/parts/distances.js';
import { CHROMIUM } from '../chromium.js';
import { scratchFolder } from '../scratch-folder.js';
import { eventually, goTo, openPage } from './browser.js';
import { writeBundle } from './bundles.js';
import { visitedSite } from './visited-site.js';

const score = (calibrated: number | null, painted: number | null): CandidateScore => ({
  probability: 0.5,
  l2: 1,
  l2Shares: [0.75, 0.25],
  calibrated,
  calibratedShares: calibrated === null ? null : [calibrated - 1, 1],
  painted,
});

describe('distances as they are told', () => {
  test('have two digits where they are least, three decimals at most, and five digits in all', () => {
    expect(decimalsFor([13_961, 187])).toBe(0);
    expect(decimalsFor([10, 400])).toBe(0);
    expect(decimalsFor([9.9, 400])).toBe(1);
    expect(decimalsFor([5.1, 12_352])).toBe(0);
    expect(decimalsFor([0.009, 185])).toBe(2);
    expect(decimalsFor([0.009, 3])).toBe(3);
    expect(decimalsFor([0.5])).toBe(2);
    expect(decimalsFor([0.00001])).toBe(3);
    expect(decimalsFor([0, 3])).toBe(3);
    expect(distanceText(13_961.2, 0)).toBe('13,961');
    expect(distanceText(-2.04, 1)).toBe('−2.0');
  });

  test('add up in a row as they are shown, each at most one digit off', () => {
    expect(roundedParts([0.4, 0.4, 0.4], 0)).toEqual([1, 0, 0]);
    expect(roundedParts([-0.4, 5.2, 0], 0)).toEqual([0, 5, 0]);
    const parts = fc.array(fc.double({ min: -50, max: 50_000, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 0, max: 3 }), (given, decimals) => {
        const unit = 10 ** decimals;
        const rounded = roundedParts(given, decimals);
        const total = given.reduce((sum, part) => sum + part, 0);
        const shown = rounded.reduce((sum, part) => sum + Math.round(part * unit), 0);
        expect(Math.abs(shown - total * unit)).toBeLessThan(0.501);
        rounded.forEach((each, i) => {
          expect(Math.abs(each - given[i]) * unit).toBeLessThan(1.001);
        });
      }),
    );
  });

  test('tell of drawing only if it moved a candidate or changed the choice', () => {
    const tie = (added: number, index = 0) => ({
      index,
      candidates: [score(20, 0), score(21, added), score(900, null)],
    });
    expect(drawingMoved(tie(0.1))).toBe(false);
    expect(drawingMoved(tie(600))).toBe(true);
    const turned = { index: 1, candidates: [score(20, 0.3), score(20.1, 0)] };
    expect(drawingMoved(turned)).toBe(true);
    expect(drawingMoved({ index: 0, candidates: [score(20, null), score(21, null)] })).toBe(false);
    expect(drawingMoved({ index: null, candidates: [] })).toBe(false);
  });

  test('consist of the shares of concepts and what drawing added, which plain L2 does not know', () => {
    const candidates = [score(20, 0), score(21, 600)];
    const choice = { index: 0, candidates };
    expect(distanceRows(choice, 'calibrated')[1]).toEqual({
      shares: [20, 1],
      drawn: 600,
      total: 621,
    });
    expect(distanceRows(choice, 'l2')[1]).toEqual({
      shares: [0.75, 0.25],
      drawn: null,
      total: 1,
    });
    // A trifle has no column, so a row adds up without it.
    const trifle = { index: 0, candidates: [score(20, 0), score(21, 0.4)] };
    expect(distanceRows(trifle, 'calibrated')[1]).toMatchObject({ drawn: null, total: 21 });
    expect(ownDistance(candidates)).toBe('calibrated');
    expect(ownDistance([score(null, null)])).toBe('l2');
  });
});

describe.skipIf(CHROMIUM === undefined)('a model without statistics', () => {
  const zoo = scratchFolder();
  const site = visitedSite({ zoo });

  test('chooses by plain L2, and Why speaks of nothing else', async () => {
    await writeBundle(zoo, 'center', ['selection.safetensors']);
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=why&config=center&seed=4');
    const table = page.locator('.heat-map');
    await eventually(() => table.locator('.chosen .closest').count()).toBe(1);
    const section = page.locator('.why-candidates');
    expect(await section.innerText()).toContain('Plain L2, as in the paper');
    expect(await section.innerText()).not.toMatch(/calibrated|foretold|dr[ae]w/i);
    expect(await section.locator('input[name=distance]').count()).toBe(0);
    expect(errors).toEqual([]);
  });
});
