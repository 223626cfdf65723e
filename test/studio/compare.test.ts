/** Compare: two systems on the same matrix and on a hundred, what they got wrong, and copies that run. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { panelsOf, sampleProblem } from '../../src/matrix/index.js';
import { Solver, type Choice } from '../../src/solver/node.js';
import { CHROMIUM } from '../chromium.js';
import { faultsInBothLooks } from './axe.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  goTo,
  largestDifference,
  modelReady,
  moveTo,
  openPage,
  PHONE,
  steadyBox,
} from './browser.js';
import { writeTransformer } from './bundles.js';
import { PAGE } from './served-page.js';
import { visitedSite } from './visited-site.js';
import { ROOT } from '../project.js';

const SEED = 40;
const LINK = `tab=compare&config=center&seed=${SEED}`;
const SYSTEMS = { crab: 'center', rival: 'transformer/center' } as const;
type Kind = keyof typeof SYSTEMS;
const KINDS = Object.keys(SYSTEMS) as Kind[];

const contender = (page: Page, kind: Kind): Locator => page.locator(`[data-contender=${kind}]`);
const cell = (page: Page, kind: Kind, position: number): Locator =>
  contender(page, kind).locator(`.cell[data-position="${position}"]`);
/** Waits until both have painted these panels. */
const painted = async (page: Page, missing: string): Promise<void> => {
  for (const kind of KINDS) {
    await page.locator(`[data-contender=${kind}][data-missing="${missing}"]`).waitFor();
  }
};
const tallyOf = (page: Page, kind: Kind): Promise<string> =>
  page.locator(`[data-testid=tally] [data-who=${kind}]`).innerText();
const isRunning = (page: Page): Promise<string | null> =>
  page.locator('.tally').getAttribute('data-running');

const problemOf = (seed: number) =>
  sampleProblem({ configuration: 'center', variant: 'i-raven', seed, index: 0 });

/** Whether another candidate is so close that the last digits of a runtime may decide. */
function isClose({ candidates, index }: Choice): boolean {
  const chosen = candidates[index].probability;
  return candidates.some(({ probability }, i) => i !== index && probability > 0.98 * chosen);
}

describe.skipIf(CHROMIUM === undefined)('comparing', () => {
  const site = visitedSite({ bundles: ['center', 'left-right'] });
  const solvers = new Map<Kind, Solver>();
  beforeAll(async () => {
    await writeTransformer(site.zoo, ['center', 'left-right']);
    for (const kind of KINDS) {
      solvers.set(kind, await Solver.load(path.join(site.zoo, SYSTEMS[kind])));
    }
  });
  afterAll(async () => {
    for (const solver of solvers.values()) await solver.dispose();
  });
  const solverOf = (kind: Kind): Solver => {
    const solver = solvers.get(kind);
    if (solver === undefined) throw new Error(`no solver for ${kind}`);
    return solver;
  };
  const choiceOf = async (kind: Kind, seed: number, missing = [9]): Promise<Choice> => {
    const { panels, candidates } = panelsOf(problemOf(seed));
    const answer = await solverOf(kind).solve(panels, { missing });
    return solverOf(kind).choose({ ...answer, missing: [9] }, candidates);
  };

  test('both paint what is erased and choose, and the right one is marked on wish', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, LINK);
    await painted(page, '9');
    // A panel erased in one matrix is erased in both.
    await cell(page, 'rival', 5).click();
    await painted(page, '59');
    const { panels, answer: right } = panelsOf(problemOf(SEED));
    for (const kind of KINDS) {
      const { images } = await solverOf(kind).solve(panels, { missing: [5, 9] });
      for (const [i, position] of [5, 9].entries()) {
        await eventually(async () =>
          largestDifference(
            await canvasPixels(cell(page, kind, position).locator('canvas')),
            images[i],
          ),
        ).toBeLessThan(CLOSE);
      }
      const choice = await choiceOf(kind, SEED, [5, 9]);
      expect(isClose(choice)).toBe(false);
      await eventually(() => contender(page, kind).getByRole('status').innerText()).toMatch(
        new RegExp(
          `In its own terms candidate ${choice.index + 1} is (by far |clearly )?the closest to what it painted(, but not by much)?\\.$`,
        ),
      );
      const tag = kind === 'crab' ? 'CRAB' : 'Transformer';
      const chosen = page.locator(`.candidate[data-candidate="${choice.index + 1}"]`);
      await eventually(() => chosen.innerText()).toContain(tag);
    }
    expect(await page.locator('.candidate.right').count()).toBe(0);
    await page.getByRole('button', { name: 'Mark the right candidate' }).press('Enter');
    const marked = page.locator('.candidate.right');
    await eventually(() => marked.getAttribute('data-candidate')).toBe(String(right + 1));
    for (const kind of KINDS) {
      const { index } = await choiceOf(kind, SEED, [5, 9]);
      const words = index === right ? 'Right.' : 'Wrong.';
      await eventually(() => contender(page, kind).getByRole('status').innerText()).toContain(
        words,
      );
    }
    // The switch tells as well, without a press.
    await moveTo(page, `${LINK}&truth=1`);
    await eventually(() => marked.getAttribute('data-candidate')).toBe(String(right + 1));
    // Candidates are for the last panel alone.
    await moveTo(page, `${LINK}&missing=5`);
    await painted(page, '5');
    for (const kind of KINDS) {
      await eventually(() => contender(page, kind).innerText()).toContain('No candidate to choose');
    }
    expect(errors).toEqual([]);
  });

  test('a hundred matrices are counted, can be stopped, and failures open', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, LINK);
    await painted(page, '9');
    await page.getByRole('button', { name: 'Try 100 matrices' }).press('Enter');
    await eventually(() => tallyOf(page, 'crab')).toMatch(/of [1-9]/);
    // Meanwhile the page answers, and the keyboard is where it was.
    await cell(page, 'crab', 1).click();
    await painted(page, '19');
    const stop = page.getByRole('button', { name: 'Stop' });
    if ((await isRunning(page)) === 'true') await stop.press('Enter');
    await eventually(() => isRunning(page)).toBe('false');
    await page.getByRole('button', { name: 'Try 100 more' }).waitFor();
    const [, stopped] = /of (\d+)/.exec(await tallyOf(page, 'crab')) ?? [];
    const total = Number(stopped) + 100;
    await page.getByRole('button', { name: 'Try 100 more' }).click();
    await eventually(() => tallyOf(page, 'rival')).toContain(`of ${total}`);
    await eventually(() => isRunning(page)).toBe('false');

    const failures = page.locator('.failure');
    const listed = await failures.evaluateAll((all: unknown) =>
      (all as { dataset: { seed: string }; textContent: string }[]).map((each) => ({
        seed: Number(each.dataset.seed),
        words: each.textContent,
      })),
    );
    const names = { crab: 'CRAB', rival: 'Transformer' } as const;
    for (const kind of KINDS) {
      const wrong = listed.filter(({ words }) => words.includes(names[kind]));
      // The line and the gallery say the same.
      const line = await tallyOf(page, kind);
      expect(line).toContain(`${total - wrong.length} of ${total}`);
      expect(line).toMatch(/\d+%; 95% interval \d+% to \d+%/);
      // The bar is filled up to the share, and its interval lies around the end of it.
      const boxOf = (part: string) =>
        steadyBox(page.locator(`[data-testid=tally] [data-who=${kind}] ${part}`));
      const [track, bar, range] = [
        await boxOf('.track'),
        await boxOf('.share-bar'),
        await boxOf('.range'),
      ];
      expect(bar.x).toBeCloseTo(track.x, 0);
      expect(bar.width / track.width).toBeCloseTo(1 - wrong.length / total, 2);
      const end = bar.x + bar.width;
      expect(range.x <= end + 1 && range.x + range.width >= end - 1).toBe(true);
      for (let seed = SEED + 1; seed <= SEED + 12; seed++) {
        const choice = await choiceOf(kind, seed);
        const isListed = wrong.some((each) => each.seed === seed);
        const isWrong = choice.index !== problemOf(seed).target;
        if (!isClose(choice)) expect([kind, seed, isListed]).toEqual([kind, seed, isWrong]);
      }
    }

    expect(listed.length).toBeGreaterThan(0);
    expect(await faultsInBothLooks(page)).toEqual([]);
    await failures.first().press('Enter');
    await eventually(() => page.url()).toContain(`seed=${listed[0].seed}&`);
    await painted(page, '9');
    await eventually(() => page.locator('.compare').innerText()).toContain('Wrong.');
    // What was counted is of this kind of matrix alone.
    await page.getByRole('combobox', { name: 'Candidates' }).selectOption('raven');
    await eventually(() => tallyOf(page, 'crab')).toContain('not tried yet');
    await page.getByRole('combobox', { name: 'Candidates' }).selectOption('i-raven');
    await eventually(() => tallyOf(page, 'crab')).toContain(`of ${total}`);
    expect(errors).toEqual([]);
  });

  test('the second model is let go with the tab, and one that is absent is said to be', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    const workers = () => page.workers().length;
    const alone = workers();
    await page.locator('.tabs a[href*="tab=compare"]').click();
    await painted(page, '9');
    expect(workers()).toBe(alone + 1);
    await page.getByRole('button', { name: 'Try 100 matrices' }).click();
    await page.locator('.tabs a[href*="tab=play"]').click();
    await eventually(workers).toBe(alone);
    await page.goBack();
    await painted(page, '9');
    await eventually(() => isRunning(page)).toBe('false');
    await moveTo(page, 'tab=compare&config=left-right&seed=3');
    const absent = page.locator('[data-testid=no-rival]');
    await eventually(() => absent.innerText()).toBe(
      'There is no Transformer for Left-right here; there is one for Center.',
    );
    await modelReady(page);
    await contender(page, 'crab').locator('canvas').waitFor();
    await eventually(workers).toBe(alone);
    // CRAB is tried alone, and that is said.
    await page.getByText('missing; CRAB alone.').waitFor();
    await page.getByRole('button', { name: 'Try 100 matrices' }).click();
    await eventually(() => tallyOf(page, 'crab')).toMatch(/of [1-9]/);
    expect(await tallyOf(page, 'rival')).toContain('none to try here');
    await eventually(() => contender(page, 'rival').innerText()).toContain('A general network');
    await absent.getByRole('link', { name: 'Center' }).click();
    await painted(page, '9');
    expect(errors).toEqual([]);
  });

  test('on a phone without motion it works by touch, and nothing is too wide', async () => {
    const { page } = await openPage(await site.fresh({ ...PHONE, reducedMotion: 'reduce' }));
    await goTo(page, site.url, LINK);
    await painted(page, '9');
    await cell(page, 'crab', 2).tap();
    await painted(page, '29');
    const isNarrow = () =>
      page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');
    await eventually(isNarrow).toBe(true);
    await page.getByRole('button', { name: 'Try 100 matrices' }).tap();
    await page.locator('.failure').first().waitFor();
    await eventually(isNarrow).toBe(true);
    expect(await faultsInBothLooks(page)).toEqual([]);
  });
});

const hasModels = existsSync(path.join(PAGE, 'zoo', 'transformer', 'center', 'bundle.json'));
const hasPackage = existsSync(path.join(ROOT, 'dist', 'node.js'));

describe.skipIf(CHROMIUM === undefined || !hasModels)('published models', () => {
  const site = visitedSite({ zoo: path.join(PAGE, 'zoo'), isolated: true });

  test('a panel that was left empty is told to be empty', async () => {
    const { page } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=compare&config=grid-3x3&seed=12');
    await painted(page, '9');
    await eventually(() => contender(page, 'rival').getByRole('status').innerText()).toMatch(
      /^It painted nothing: its panel is empty, so its choice of candidate \d says little\.$/,
    );
    await eventually(() => contender(page, 'crab').getByRole('status').innerText()).toMatch(
      /closest to what it painted(, but not by much)?\.$/,
    );
  });
});

describe.skipIf(CHROMIUM === undefined || !hasModels || !hasPackage)('copies', () => {
  const site = visitedSite({ zoo: path.join(PAGE, 'zoo'), isolated: true });

  async function copied(page: Page, button: string): Promise<string> {
    await page.getByRole('button', { name: `Copy as ${button}` }).click();
    await page.getByText(`${button === 'code' ? 'Code' : 'JSON'} copied`).waitFor();
    return page.evaluate<string>('navigator.clipboard.readText()');
  }
  const run = (code: string): string =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: ROOT,
      encoding: 'utf8',
    });

  test('the code runs and answers as the page does, and JSON tells the same', async () => {
    const context = await site.fresh();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { page, errors } = await openPage(context);
    await goTo(page, site.url, 'tab=compare&config=center&seed=12&missing=59');
    await painted(page, '59');
    const json = JSON.parse(await copied(page, 'JSON')) as {
      answers: { system: string; model: string; candidate: number; confidence: number }[];
    };
    const { target } = sampleProblem({
      configuration: 'center',
      variant: 'i-raven',
      seed: 12,
      index: 0,
    });
    expect(json).toMatchObject({
      matrix: { configuration: 'center', noisy: false, candidates: 'i-raven', seed: 12, index: 0 },
      missing: [5, 9],
      right: target + 1,
      answers: [
        { system: 'crab', model: 'center' },
        { system: 'transformer', model: 'transformer/center' },
      ],
    });
    const [right, ...lines] = run(await copied(page, 'code'))
      .trimEnd()
      .split('\n');
    expect(right).toBe(`right: candidate ${target + 1}`);
    json.answers.forEach(({ model, candidate }, i) => {
      expect(lines[i]).toMatch(new RegExp(`^${model}: candidate ${candidate}, \\d+% sure$`));
    });

    // Rules of one's own, and a last panel that is there.
    const rules = encodeURIComponent('{"rules":[{"size":"progression"}]}');
    await goTo(page, site.url, `tab=compare&config=center&seed=12&missing=1&make=${rules}`);
    await painted(page, '1');
    const printed = run(await copied(page, 'code'));
    expect(printed).toMatch(/transformer\/center \[\s*Float32Array\(4096\)/);

    // A damaged link is said to be one, and nothing of it gets into code.
    await moveTo(page, 'tab=compare&config=center&seed=12&make=%7B%7D)%3Balert(%7B%7D');
    await contender(page, 'rival').getByText('the rules in this link are damaged').waitFor();
    for (const button of ['code', 'JSON']) {
      const copy = page.getByRole('button', { name: `Copy as ${button}` });
      await eventually(() => copy.isDisabled()).toBe(true);
    }

    // This page's difficulties are not in the package.
    await moveTo(page, 'tab=compare&config=center&seed=12&difficulty=hard');
    await painted(page, '9');
    await page.getByText('Code needs a matrix that a seed makes again').waitFor();
    expect(await page.getByRole('button', { name: 'Copy as code' }).isDisabled()).toBe(true);
    expect(errors).toEqual([]);
  });
});
