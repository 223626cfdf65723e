/** The page solves for real: what it shows is what the solver itself says of the same matrix, in Node. */
import { describe, expect, test } from 'vitest';
import {
  layoutOf,
  matrixPanels,
  sampleProblem,
  type Panel,
  type Problem,
} from '../../src/matrix/index.js';
import { decimalsFor } from '../../src/studio/parts/distances.js';
import { CHROMIUM } from '../chromium.js';
import { pixelsOf } from '../matrix/pixels.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  labelsOf,
  largestDifference,
  moveTo,
  steadyBox,
} from './browser.js';
import { sharedPage, visitedSite } from './visited-site.js';

const layout = layoutOf('center');
const pixels = (panel: Panel): Float32Array => pixelsOf(layout, panel);
const problemOf = (seed: number, index = 0): Problem =>
  sampleProblem({ configuration: 'center', variant: 'i-raven', seed, index });
const panelsOf = (problem: Problem): Float32Array[] => matrixPanels(problem).map(pixels);

describe.skipIf(CHROMIUM === undefined)('the page solves', () => {
  const site = visitedSite({ bundles: ['center'], isolated: true });
  const shared = sharedPage(site);

  test('play: the imagined panel and the choice are the model’s own; both are scored', async () => {
    const { page } = shared;
    const problem = problemOf(31);
    const answer = await shared.solver.solve(panelsOf(problem), { missing: [9] });
    const choice = await shared.solver.choose(
      answer,
      problem.candidates.map(({ panel }) => pixels(panel)),
    );
    await moveTo(page, 'tab=play&config=center&seed=31');
    await eventually(() => page.locator('.cell.imagined').count()).toBe(0);
    await page.keyboard.press(String(problem.target + 1));
    const canvas = page.locator('.stage .cell.imagined canvas');
    await eventually(async () =>
      largestDifference(await canvasPixels(canvas), answer.images[0]),
    ).toBeLessThan(CLOSE);
    const marked = page.locator('.candidate:has(.tag.crab)');
    await eventually(() => marked.getAttribute('data-candidate')).toBe(String(choice.index + 1));
    const score = page.locator('[data-testid=score]');
    await eventually(() => score.innerText()).toMatch(/You\s+100%\s+1 of 1/);
    const models = choice.index === problem.target ? '1 of 1' : '0 of 1';
    await eventually(() => score.innerText()).toContain(models);
    await eventually(() => score.innerText()).toContain('95.5%');
    await eventually(() => page.locator('[data-testid=streak]').innerText()).toContain('Streak 1');
    await page.locator('.actions button.main').click();
    await eventually(() => page.locator('.cell.imagined').count()).toBe(0);
    await eventually(() => page.url()).not.toContain('picked');
  });

  test('erase: three panels clicked away are painted in by the model; the truth is shown on wish', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=erase&config=center&seed=8');
    for (const position of [1, 5]) await page.locator(`[data-position="${position}"].cell`).click();
    await eventually(() => page.url()).toContain('missing=159');
    const answer = await shared.solver.solve(panelsOf(problemOf(8)), { missing: [1, 5, 9] });
    for (const [i, position] of [1, 5, 9].entries()) {
      const canvas = page.locator(`[data-position="${position}"].cell canvas`);
      await eventually(async () =>
        largestDifference(await canvasPixels(canvas), answer.images[i]),
      ).toBeLessThan(CLOSE);
    }
    // Without a vocabulary there is one answer only, and no word for how sure it is.
    await eventually(() => page.locator('.side').innerText()).toContain('has no vocabulary');
    const truth = page.locator('.cell.truth');
    await page.getByLabel('Show the true panels').check();
    await eventually(() => truth.count()).toBe(3);
    await page.getByLabel('Show the true panels').uncheck();
    await eventually(() => truth.count()).toBe(0);
  });

  test('erase: one panel has to stay', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=erase&config=center&seed=8&missing=12345678');
    await page.locator('[data-position="9"].cell').click();
    await eventually(() => page.locator('.cell.imagined').count()).toBe(8);
    await eventually(() => page.locator('.side').innerText()).toContain('one panel has to stay');
  });

  test('why: the heat map shows the solver’s distances, a cell what differs', async () => {
    const { page } = shared;
    const problem = problemOf(4);
    const candidates = problem.candidates.map(({ panel }) => pixels(panel));
    const answer = await shared.solver.solve(panelsOf(problem), { missing: [9] });
    const choice = await shared.solver.choose(answer, candidates);
    await moveTo(page, 'tab=why&config=center&seed=4');
    const cells = page.locator('.heat');
    await cells.first().waitFor();
    const { concepts } = shared.solver.manifest.sizes;
    await eventually(() => cells.count()).toBe(8 * concepts);
    const shares = choice.candidates.flatMap((each) => each.calibratedShares ?? []);
    const unit = 10 ** -decimalsFor(choice.candidates.map(({ calibrated }) => calibrated ?? NaN));
    const labels = await labelsOf(cells);
    labels.forEach((label, i) => {
      const shown = Number(/: (−?[\d,.]+)$/.exec(label)?.[1].replace(',', '').replace('−', '-'));
      expect(Math.abs(shown - shares[i])).toBeLessThan(1.001 * unit);
    });
    await page.getByLabel('Plain L2').check();
    await eventually(() => page.url()).toContain('distance=l2');
    await cells.nth(2 * concepts + 1).hover();
    const swapped = page.locator('[data-testid=difference] canvas').nth(1);
    const [means] = await shared.solver.encode([candidates[2]]);
    const imagined = answer.concepts[8];
    const mixed = imagined.map((values, m) => (m === 1 ? means[1] : values));
    const [expected] = await shared.solver.decode([mixed]);
    await eventually(async () =>
      largestDifference(await canvasPixels(swapped), expected),
    ).toBeLessThan(CLOSE);

    await cells.nth(2 * concepts + 1).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByText('candidate 4', { exact: true }).waitFor();

    const card = page.locator('[data-concept="2"]');
    await card.scrollIntoViewIfNeeded();
    await eventually(() => card.locator('h3').innerText()).toMatch(/size/i);
    await card.locator('.to-map').click();
    await eventually(() => page.url()).toContain('tab=rules');
    await eventually(() => page.url()).toContain('concept=2');
  });

  test('why: rules are named after what the known matrices around them were', async () => {
    const { page } = shared;
    const words = page.locator('[data-testid=rule-words]');
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=2&rule=2,-1.000,-1.000');
    await eventually(() => words.innerText()).toMatch(/^Size: constant/);
    // Progressions of all steps lie in one place here, so none of them is told for certain.
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=2&rule=2,1.000,-1.000');
    await eventually(() => words.innerText()).toMatch(/^Size: unclear, perhaps progression/);
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=3&rule=3,-1.000,1.000');
    await eventually(() => words.innerText()).toMatch(/^Colour: distribute three/);
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=4&rule=4,-1.000,1.000');
    await eventually(() => words.innerText()).toMatch(/no single attribute/);
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=2&rule=2,0.000,0.000');
    await eventually(() => words.innerText()).toMatch(/no known matrix has a rule near/);
  });

  test('rule map: a point shows its matrix, and a dragged rule really drives the prediction', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=1');
    const plane = page.locator('[data-testid=plane]');
    await plane.locator('.mark').waitFor();
    const box = await steadyBox(plane);
    const map = shared.solver.ruleMap;
    const points = map?.snapshots.at(-1)?.rules.map((rules) => rules[0]) ?? [];
    // The span of the plane as the engine works it out: of points and means, with a margin.
    const span = (k: number): [number, number] => {
      const all = [...points.map((point) => point[k]), -1, 1];
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const margin = 0.12 * (high - low);
      return [low - margin, high + margin];
    };
    const [x, y] = [span(0), span(1)];
    const inner = (box.width * (560 - 28)) / 560;
    const edge = (box.width * 14) / 560;
    const at = (px: number, py: number): [number, number] => [
      box.x + edge + (inner * (px - x[0])) / (x[1] - x[0]),
      box.y + edge + (inner * (y[1] - py)) / (y[1] - y[0]),
    ];
    await page.mouse.click(...at(points[17][0], points[17][1]));
    const point = page.locator('[data-testid=point]');
    await eventually(() => point.locator('.drawing').count()).toBe(9);
    await eventually(() => page.url()).toContain('point=');
    const chosen = Number(/point=(\d+)/.exec(page.url())?.[1]);
    const near = Math.hypot(points[chosen][0] - points[17][0], points[chosen][1] - points[17][1]);
    expect(near).toBeLessThan(0.02);
    const problem = problemOf(map?.source.seed ?? -1, chosen);
    const shown = await point.locator('.drawing').first().innerHTML();
    await page.locator('.point button', { hasText: 'Look at this matrix' }).click();
    const first = page.locator('.side .matrix:not(.small) .drawing').first();
    await eventually(() => first.innerHTML()).toBe(shown);

    const canvas = page.locator('.matrix .cell.imagined canvas');
    const plain = await shared.solver.solve(panelsOf(problem), { missing: [9] });
    await eventually(async () =>
      largestDifference(await canvasPixels(canvas), plain.images[0]),
    ).toBeLessThan(CLOSE);
    await page.mouse.move(...at(0.2, 0.1));
    await page.mouse.down();
    await page.mouse.move(...at(0.6, 0.4), { steps: 4 });
    await page.mouse.up();
    const rule = (): number[] =>
      (/rule=1%2C(-?[\d.]+)%2C(-?[\d.]+)/.exec(page.url()) ?? []).slice(1).map(Number);
    await eventually(() => Math.abs(rule()[0] - 0.6)).toBeLessThan(0.02);
    // What the address holds is what is used: opened anew it paints the same.
    const answer = await shared.solver.solve(panelsOf(problem), {
      missing: [9],
      rules: { 1: rule() },
    });
    await eventually(async () =>
      largestDifference(await canvasPixels(canvas), answer.images[0]),
    ).toBeLessThan(CLOSE);
    await page.getByText('Back to its own rule').click();
    await eventually(async () =>
      largestDifference(await canvasPixels(canvas), plain.images[0]),
    ).toBeLessThan(CLOSE);
  });

  test('rule map: moments of training, and arrow keys in place of a drag', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=rules&config=center&seed=4&concept=1');
    await page.locator('[data-testid=plane] .mark').waitFor();
    await eventually(() => page.locator('.moments').innerText()).toContain('2,000 steps');
    await page.locator('.moments input').focus();
    await page.keyboard.press('ArrowLeft');
    await eventually(() => page.locator('.moments').innerText()).toContain('100 steps');
    await eventually(() => page.url()).toContain('moment=0');
    // All early points are in sight, and nothing of the finished model is among them.
    await eventually(() => page.locator('[data-testid=plane] .mark').count()).toBe(0);
    await eventually(() => page.locator('.plane-handle').count()).toBe(0);
    const contours = page.locator('.plane-base [aria-label=contour] path');
    await eventually(() => contours.count()).toBe(0);
    await eventually(() => page.locator('[data-testid=early]').innerText()).toContain(
      'finished model',
    );
    const inSight = `(() => {
      const base = document.querySelector('.plane-base');
      const { left, right } = base.getBoundingClientRect();
      const boxes = [...base.querySelectorAll('[aria-label=dot] path')].map((dot) => dot.getBoundingClientRect());
      return boxes.filter(({ x }) => x >= left && x < right).length;
    })()`;
    await eventually(() => page.evaluate(inSight)).toBe(60);
    expect(await page.locator('.plane-base [aria-label=dot] path').count()).toBe(60);
    await page.locator('.moments input').focus();
    await page.keyboard.press('ArrowRight');
    await page.locator('[data-testid=plane] .mark').waitFor();
    // The plane is painted again a moment after its marks.
    await eventually(() => contours.count()).toBeGreaterThan(0);
    await page.locator('[data-testid=plane]').focus();
    await page.keyboard.press('ArrowRight');
    await eventually(() => page.url()).toMatch(/rule=1%2C/);
  });
});
