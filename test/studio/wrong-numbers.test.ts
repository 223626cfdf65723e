/** Numbers that cannot be, in links and in fields: the page says so, and never takes another without a word. */
import { describe, expect, test } from 'vitest';
import { linkFaults } from '../../src/studio/state/link-faults.js';
import { readSettings } from '../../src/studio/state/settings.js';
import { CHROMIUM } from '../chromium.js';
import { eventually, moveTo, openPage } from './browser.js';
import { visitedSite } from './visited-site.js';

const wordsOf = (hash: string): string[] =>
  linkFaults(hash, readSettings(hash)).map(({ words }) => words);

describe('a link', () => {
  test.each([
    [
      'seed=12x',
      'matrix number “12x”, but matrices are numbered 0 to 999,999,999. Used instead: 5.',
    ],
    ['seed=1000000000', 'matrix number “1000000000”, but matrices are'],
    ['index=-1', 'place in a series “-1”, but places are'],
    [
      'config=hexagons',
      'the configuration “hexagons”, but this page does not know it. Used instead: center.',
    ],
    ['test=old', 'test number “old”, but tests are numbered 0 to 999,999,999. Used instead: 1938.'],
    [
      'count=51',
      'a number of items “51”, but a test has 1 to 50 of each configuration. Used instead: 3.',
    ],
    [
      'set=center,moon',
      'a test of “center,moon”, but this page does not know all of these configurations.',
    ],
    [`seed=${'9'.repeat(200)}`, `“${'9'.repeat(24)}…”`],
  ])('with %s is told', (part, words) => {
    expect(wordsOf(`#tab=play&${part}`)).toEqual([expect.stringContaining(words)]);
  });

  test('with damaged rules or pictures does not repeat them', () => {
    expect(wordsOf('#tab=make&make=oops&pictures=***')).toEqual([
      'The rules in the link are damaged, so they are left out.',
      'The pictures in the link are damaged, so they are left out.',
    ]);
  });

  test('that is whole, or leaves a value out, has no fault', () => {
    expect(wordsOf('#tab=play&config=center&seed=12&candidates=raven&test=3&set=center')).toEqual(
      [],
    );
    expect(wordsOf('#tab=play&seed=&make=')).toEqual([]);
  });
});

describe.skipIf(CHROMIUM === undefined)('the page', () => {
  const site = visitedSite({ bundles: ['center'] });

  test('says what it did not understand of a link, until another matrix is chosen', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=play&config=center&seed=12x`);
    const faults = page.getByTestId('link-faults');
    await eventually(() => faults.innerText()).toMatch(/^The link asks for matrix number “12x”/);
    const number = page.getByLabel('Number of the matrix (its seed)');
    expect(await number.inputValue()).toBe('5');
    await page.locator('.tabs a[href*="tab=make"]').click();
    await faults.waitFor();
    await page.getByRole('button', { name: 'New matrix' }).click();
    await eventually(() => faults.count()).toBe(0);
    // A link that is opened in the same page is read as one that is opened first.
    await moveTo(page, 'tab=test&count=99');
    await eventually(() => faults.innerText()).toContain('a number of items “99”');
    await moveTo(page, 'tab=test&count=9');
    await eventually(() => faults.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test.each(['101', '0', '2.5', ''])(
    'makes no worksheet of “%s” items, and says why',
    async (count) => {
      const { page, errors } = await openPage(await site.fresh());
      await page.goto(`${site.url}#tab=make&config=center&seed=5`);
      let files = 0;
      page.on('download', () => files++);
      const field = page.getByLabel('Items of the worksheet');
      await field.fill(count);
      await page.getByRole('button', { name: 'PDF with key' }).click();
      const words = page.getByText('A worksheet has 1 to 100 items.');
      await words.waitFor();
      expect(await field.inputValue()).toBe(count);
      await eventually(() => field.getAttribute('aria-invalid')).toBe('true');
      await field.fill('3');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'PDF with key' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('worksheet-center-5.pdf');
      await eventually(() => words.count()).toBe(0);
      expect(files).toBe(1);
      expect(errors).toEqual([]);
    },
  );

  test('begins no test with a number of items that it refused', async () => {
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=test&set=center&count=2`);
    const field = page.getByLabel('Items of each');
    await field.fill('51');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByText('A test has 1 to 50 items of each.').waitFor();
    expect(await page.getByRole('region', { name: 'Practice item' }).count()).toBe(0);
    await field.fill('4');
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByRole('region', { name: 'Practice item' }).waitFor();
    expect(page.url()).toContain('count=4');
  });
});
