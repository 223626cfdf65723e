/** Test mode: the same items for everyone, no feedback before the end, and tables that `crab grade` reads. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { GradeResult } from '../../src/lab/index.js';
import { HUMAN_ACCURACY, sampleProblem, type Configuration } from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import { crabInProcess } from '../cli/crab-in-process.js';
import { pdfTexts } from '../matrix/pdf-texts.js';
import { scratchFolder } from '../scratch-folder.js';
import { faultsInBothLooks } from './axe.js';
import { eventually, openPage } from './browser.js';
import { visitedSite } from './visited-site.js';

const SEED = 41;
const LAYOUTS = ['center', 'left-right'] as const;
const COUNT = 2;
/** In the order they are asked. */
const ITEMS = Array.from({ length: COUNT }, (_, index) =>
  LAYOUTS.map((configuration) => ({ configuration, index })),
).flat();
const targetOf = (configuration: Configuration, index: number): number =>
  sampleProblem({ configuration, variant: 'i-raven', seed: SEED, index }).target + 1;
const LINK = `tab=test&test=${SEED}&set=${LAYOUTS.join(',')}&count=${COUNT}`;

async function saved(page: Page, button: string, folder: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  const file = path.join(folder, download.suggestedFilename());
  writeFileSync(file, readFileSync(await download.path()));
  return file;
}

/** Collects what the page says of CRAB's share before CRAB has answered everything, into `early`. */
const watchShares = (page: Page): Promise<void> =>
  page.evaluate(`globalThis.early = new Set();
    new MutationObserver(() => {
      const table = document.querySelector('[data-testid=scores][aria-busy=true]');
      const figure = table?.querySelector('[data-who=CRAB] .figure');
      if (figure) early.add(figure.textContent);
    }).observe(document.body, { subtree: true, childList: true, attributes: true })`);

describe.skipIf(CHROMIUM === undefined)('test mode', () => {
  const site = visitedSite({ bundles: ['center'] });
  const folder = scratchFolder();

  test('a link, a practice item, items without feedback, a score and tables', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#${LINK}`);
    await page.getByText('4 matrices, the same for everyone').waitFor();
    const onPaper = await page.getByText('crab generate --config').innerText();
    await page.getByLabel('Who answers').fill('Ada, 7');
    await page.keyboard.press('Enter');

    // The practice item is none of the test, and tells.
    const practice = page.getByRole('region', { name: 'Practice item' });
    await practice.locator('.candidate').first().waitFor();
    // Nothing leads away from a test that goes on.
    expect(await page.getByRole('button', { name: 'Take the tour' }).count()).toBe(0);
    await page.keyboard.press(String(targetOf('center', COUNT)));
    await page.getByRole('button', { name: 'Check' }).click();
    await eventually(() => practice.getByRole('status').innerText()).toMatch(/^Right: /);
    await page.getByRole('button', { name: 'Start the test' }).press('Enter');

    // Right, wrong, right, left out: nothing on the page may tell which.
    for (const [i, { configuration, index }] of ITEMS.entries()) {
      const item = page.getByRole('region', { name: `Item ${i + 1} of 4` });
      await item.locator('.candidate').first().waitFor();
      await item.getByRole('timer').waitFor();
      const target = targetOf(configuration, index);
      if (i === 3) {
        await watchShares(page);
        await page.getByRole('button', { name: 'I do not know' }).click();
        continue;
      }
      if (i === 1) expect(await faultsInBothLooks(page)).toEqual([]);
      await page.keyboard.press(String(i === 1 ? (target % 8) + 1 : target));
      await eventually(() => item.locator('.candidate[aria-pressed=true]').count()).toBe(1);
      expect(await item.innerText()).not.toMatch(/right|wrong/i);
      expect(await item.locator('.candidate.right, .candidate.wrong').count()).toBe(0);
      if (i === 0) {
        // A page loaded again goes on where it was.
        await page.reload();
        await item.locator('.candidate').first().waitFor();
        await page.keyboard.press(String(target));
      }
      await page.keyboard.press('Enter');
    }

    // As long as CRAB has not answered everything there is no share of it.
    const scores = page.locator('[data-testid=scores]');
    const line = (who: string) => scores.locator(`[data-who=${who}]`).innerText();
    await eventually(() => line('You')).toMatch(/50\.0%[^]*2 of 4/);
    const people = (HUMAN_ACCURACY.center + HUMAN_ACCURACY['left-right']) / 2;
    expect(await line('People')).toContain(`${people.toFixed(1)}%`);
    // There is a model for one of the two configurations.
    await eventually(() => line('CRAB')).toMatch(/\d of 2; no model here for 2/);
    expect(await page.evaluate('[...early]')).toEqual(['–']);
    await eventually(() => page.locator('[data-testid=answers] tbody tr').count()).toBe(4);

    expect(await faultsInBothLooks(page)).toEqual([]);

    const responses = await saved(page, 'Responses', folder);
    const key = await saved(page, 'Answer key', folder);
    const [header, ...rows] = readFileSync(responses, 'utf8').trimEnd().split('\r\n');
    expect(header).toBe('respondent,item,choice,configuration,variant,seed,order,seconds');
    expect(rows[0]).toMatch(/^"Ada, 7",center-00000,[1-8],center,i-raven,41,1,\d+\.\d{3}$/);
    expect(rows[3]).toMatch(/^"Ada, 7",left-right-00001,,left-right,i-raven,41,4,\d+\.\d{3}$/);

    // The command that the page gives prints all items in one file, with the same numbers and key.
    const [paper, ownKey] = ['paper.pdf', 'paper.csv'].map((name) => path.join(folder, name));
    const command = onPaper.replace('test.pdf', paper).replace('key.csv', ownKey);
    await crabInProcess(...command.split(/\s+/).slice(1), '--quiet');
    expect(readFileSync(ownKey, 'utf8')).toBe(readFileSync(key, 'utf8'));
    expect(pdfTexts(readFileSync(paper)).map(([title]) => title)).toEqual(
      ITEMS.map(
        ({ configuration, index }, i) => `Item ${i + 1} of 4, ${configuration}-0000${index}`,
      ),
    );
    const graded = await crabInProcess('grade', responses, '--items', key, '--json', '--quiet');
    const result = JSON.parse(graded) as GradeResult;
    expect(result.respondents).toMatchObject([{ name: 'Ada, 7', right: 2, answered: 3 }]);
    // Every item can be looked at again, and the result is still there afterwards.
    await page.getByRole('link', { name: 'left-right-00000' }).click();
    const verdict = page.locator('[data-testid=verdict]');
    await eventually(() => verdict.innerText()).toMatch(
      /^Not this one\..*Candidate \d breaks the rule/s,
    );
    await page.goBack();
    await eventually(() => line('You')).toMatch(/50\.0%[^]*2 of 4/);

    // CRAB has answered items of other configurations; the one that was chosen before is back.
    await page.getByRole('link', { name: 'Play' }).click();
    await eventually(() => page.locator('.choice:has(:checked)').innerText()).toContain('Center');
    expect(errors).toEqual([]);
  });

  test('the command for paper breaks between its words alone', async () => {
    const { page } = await openPage(await site.fresh({ viewport: { width: 390, height: 844 } }));
    await page.goto(`${site.url}#${LINK}`);
    const command = page.locator('.test-start code').last();
    await eventually(() => command.innerText()).toMatch(/^crab generate --config .* key\.csv$/);
    const rows: number[] = await page.evaluate(
      `[...document.querySelectorAll('.test-start code .unbroken')].map((word) => word.getClientRects().length)`,
    );
    expect(rows.length).toBeGreaterThan(10);
    expect(new Set(rows)).toEqual(new Set([1]));
  });

  test('a wrong practice answer looks as in Play and is told by the rules it breaks', async () => {
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#${LINK}`);
    await page.getByRole('button', { name: 'Begin' }).click();
    const practice = page.getByRole('region', { name: 'Practice item' });
    await practice.locator('.candidate').first().waitFor();
    const target = targetOf('center', COUNT);
    const wrong = (target % 8) + 1;
    await page.keyboard.press(String(wrong));
    await page.getByRole('button', { name: 'Check' }).click();
    await eventually(() => practice.getByRole('status').innerText()).toMatch(
      new RegExp(`^Candidate ${target} completes[^]*Candidate ${wrong} breaks the rule`),
    );
    const classOf = (candidate: number) =>
      practice.locator(`[data-candidate="${candidate}"]`).getAttribute('class');
    expect(await classOf(target)).toBe('candidate right');
    expect(await classOf(wrong)).toBe('candidate wrong');
    const frameOf = (candidate: number): Promise<string> =>
      page.evaluate(
        `getComputedStyle(document.querySelector('[data-candidate="${candidate}"] .panel')).boxShadow`,
      );
    expect(await frameOf(wrong)).toBe('none');
    const badges = (candidate: number): Promise<string[]> =>
      practice
        .locator(`[data-candidate="${candidate}"]`)
        .locator('.answer-badge, .tag')
        .allInnerTexts();
    expect(await badges(target)).toEqual(['answer']);
    expect(await badges(wrong)).toEqual(['you']);
    // Who leaves the practice item leaves nothing behind.
    await page.getByRole('button', { name: 'End the test' }).click();
    await page.getByRole('button', { name: 'Begin' }).waitFor();
  });

  test('the clock goes on while one is elsewhere, and a test can be ended', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#${LINK}`);
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.candidate').first().waitFor();
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Start the test' }).click();
    const item = (number: number) => page.getByRole('region', { name: `Item ${number} of 4` });
    await item(1).locator('.candidate').first().waitFor();
    const time = async (): Promise<number> => {
      const [minutes, seconds] = (await page.getByRole('timer').innerText()).split(':').map(Number);
      return 60 * minutes + seconds;
    };
    await eventually(time).toBeGreaterThanOrEqual(2);
    await page.locator('.tabs a[href*="tab=play"]').click();
    await page.locator('.view-play').waitFor();
    await page.locator('.tabs a[href*="tab=test"]').click();
    expect(await time()).toBeGreaterThanOrEqual(2);
    await page.reload();
    expect(await time()).toBeGreaterThanOrEqual(2);
    await item(1).locator('.candidate').first().waitFor();
    await page.keyboard.press(String(targetOf('center', 0)));
    await page.keyboard.press('Enter');
    await item(2).locator('.candidate').first().waitFor();
    // It asks first; the answer that was given is kept.
    await page.getByRole('button', { name: 'End the test' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('button', { name: 'End the test' }).click();
    expect(await faultsInBothLooks(page)).toEqual([]);
    await page.getByRole('button', { name: 'End it', exact: true }).click();
    const scores = page.locator('[data-testid=scores]');
    await eventually(() => scores.locator('[data-who=You]').innerText()).toContain(
      '1 of 1; ended with 3 left',
    );
    await eventually(() => scores.locator('[data-who=CRAB]').innerText()).toMatch(/[01] of 1/);
    const [header, ...rows] = readFileSync(await saved(page, 'Responses', folder), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(header).toContain('seconds');
    expect(rows).toHaveLength(1);
    expect(Number(rows[0].split(',').at(-1))).toBeGreaterThanOrEqual(2);
    expect(errors).toEqual([]);
  });

  test('on a phone without motion it is answered by touch, and nothing is too wide', async () => {
    const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
    const { page } = await openPage(await site.fresh({ ...phone, reducedMotion: 'reduce' }));
    await page.goto(`${site.url}#tab=test&test=${SEED}&set=center&count=1`);
    const isNarrow = () =>
      page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');
    await page.getByRole('button', { name: 'Begin' }).tap();
    for (const button of ['Check', 'Start the test']) {
      await page.locator('.candidate').nth(2).waitFor();
      await eventually(isNarrow).toBe(true);
      if (button === 'Check') await page.locator('.candidate').nth(2).tap();
      await page.getByRole('button', { name: button }).tap();
    }
    await page.getByRole('region', { name: 'Item 1 of 1' }).locator('.candidate').first().tap();
    await page.getByRole('button', { name: 'Next' }).tap();
    await page.locator('[data-testid=scores]').waitFor();
    await eventually(isNarrow).toBe(true);
  });

  test('the first item is not the matrix of the first visit', async () => {
    const { page } = await openPage(await site.fresh());
    const altsOf = async (place: string): Promise<string[]> => {
      const panels = page.locator(`${place} .matrix .drawing`);
      await eventually(() => panels.count()).toBe(8);
      return page.evaluate(
        `[...document.querySelectorAll('${place} .matrix .drawing')].map((panel) => panel.getAttribute('aria-label'))`,
      );
    };
    await page.goto(site.url);
    const played = await altsOf('.view-play');
    await page.locator('.tabs a[href*="tab=test"]').click();
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.locator('.candidate').first().click();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Start the test' }).click();
    await page.getByRole('region', { name: 'Item 1 of 21' }).waitFor();
    expect(await altsOf('.test-item')).not.toEqual(played);
  });

  test('the items of a link do not depend on who opens it', async () => {
    const alts: string[][] = [];
    for (let visitor = 0; visitor < 2; visitor++) {
      const { page } = await openPage(await site.fresh());
      await page.goto(`${site.url}#${LINK}`);
      await page.getByRole('button', { name: 'Begin' }).click();
      const panels = page.locator('.test-item .matrix .drawing');
      await eventually(() => panels.count()).toBe(8);
      alts.push(
        await page.evaluate<string[]>(
          "[...document.querySelectorAll('.test-item .matrix .drawing')].map((panel) => panel.getAttribute('aria-label'))",
        ),
      );
    }
    expect(alts[0]).toEqual(alts[1]);
  });
});
