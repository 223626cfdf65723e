/** Matrices of a person's own: rules and values, pictures, files to keep, and links that restore it all. */
import { encode } from 'jpeg-js';
import { readFileSync } from 'node:fs';
import type { Download } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  contactSheet,
  decodePng,
  decodeRavenNpz,
  encodePng,
  encodeRavenNpz,
  layoutOf,
  matrixPanels,
  parseConstraints,
  renderPanel64,
  renderProblem,
  sampleProblem,
} from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import { faultsInBothLooks } from './axe.js';
import { pdfTexts } from '../matrix/pdf-texts.js';
import { pixelsOf } from '../matrix/pixels.js';
import {
  canvasPixels,
  CLOSE,
  eventually,
  goTo,
  labelsOf,
  LAPTOP,
  largestDifference,
  modelReady,
  moveTo,
  openPage,
  steadyBox,
} from './browser.js';
import { sharedPage, visitedSite } from './visited-site.js';
import { fileOf, handedProblem, panelFiles, pictureFile } from './picture-files.js';

const layout = layoutOf('center');
const problem = handedProblem('center');
const smallPanels = matrixPanels(problem).map((panel) => pixelsOf(layout, panel));

async function bytesOf(download: Download): Promise<Uint8Array> {
  return new Uint8Array(readFileSync(await download.path()));
}

describe.skipIf(CHROMIUM === undefined)('making matrices', () => {
  const site = visitedSite({ bundles: ['center', 'grid-2x2'], isolated: true });
  const shared = sharedPage(site);

  const imaginedLast = () => shared.page.locator('.stage .cell.imagined canvas');

  test('rules and values make the matrix, and an impossible wish is explained', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center&seed=5');
    const size = page.locator('[data-rule="0 Size"]');
    await size.selectOption({ label: 'progression +1' });
    await page.locator('[data-start="0 type"]').selectOption({ label: 'circle' });
    const wish = {
      rules: [{ size: { name: 'Progression', value: 1 } }],
      start: [{ type: 5 }],
    };
    const expected = sampleProblem({
      configuration: 'center',
      variant: 'i-raven',
      seed: 5,
      index: 0,
      constraints: parseConstraints(wish, layout),
    });
    const panels = matrixPanels(expected).map((panel) => pixelsOf(layout, panel));
    const answer = await shared.solver.solve(panels, { missing: [9] });
    await eventually(async () =>
      largestDifference(await canvasPixels(imaginedLast()), answer.images[0]),
    ).toBeLessThan(CLOSE);
    await eventually(() =>
      page.locator('.stage .drawing').first().getAttribute('aria-label'),
    ).toContain('circle');
    const read = page.locator('[data-testid=rule-table] tr[data-attribute=Size] td');
    await eventually(() => read.first().innerText()).toContain('progression +1');
  });

  test('what cannot be together cannot be chosen, and it says why', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center&seed=5');
    await page.locator('[data-rule="0 Size"]').selectOption({ label: 'progression +1' });
    const first = page.locator('[data-start="0 size"] option');
    const refused = () => page.locator('[data-start="0 size"] option:disabled').allInnerTexts();
    await eventually(refused).toEqual(['5', '6']);
    expect(await first.count()).toBe(7);
    await eventually(() => page.locator('[data-meaning="0 Size"]').innerText()).toBe(
      'larger in each column; starts at 4 or less.',
    );
    // And the other way round: a first value rules out rules.
    await page.locator('[data-start="0 color"]').selectOption({ label: 'black' });
    const rules = page.locator('[data-rule="0 Color"] option:disabled');
    await eventually(() => rules.allInnerTexts()).toEqual([
      'progression +1: starts at white to grey 7',
      'progression +2: starts at white to grey 5',
    ]);
    // A link may still ask for it, and is told the same.
    const wish = { rules: [{ size: 'progression +1' }], start: [{ size: 0.9 }] };
    await moveTo(page, `tab=make&config=center&make=${encodeURIComponent(JSON.stringify(wish))}`);
    await eventually(() => page.locator('.fault[role=alert]').first().innerText()).toContain(
      'Size of Grid: progression +1 starts at 0.7 or less',
    );
  });

  test('arithmetic shows the levels it counts in', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center&seed=5');
    await page.getByText('What the rules do').press('Enter');
    await eventually(() => page.locator('.glossary dt').allInnerTexts()).toEqual(
      expect.arrayContaining(['constant', 'progression −2', 'arithmetic +', 'distribute three']),
    );
    await page.locator('[data-rule="0 Size"]').selectOption({ label: 'arithmetic +' });
    await eventually(() =>
      page.locator('[data-start="0 size"] option:not(:disabled)').allInnerTexts(),
    ).toEqual(['any', '1', '2', '3', '4', '5']);
    await eventually(() => page.locator('[data-testid=levels]').innerText()).toMatch(
      /Size: (\d) \+ (\d) = (\d), /,
    );
    const text = await page.locator('[data-testid=levels]').innerText();
    const [, a, b, c] = (/Size: (\d) \+ (\d) = (\d)/.exec(text) ?? []).map(Number);
    expect(a + b).toBe(c);
  });

  test('a panel is changed by hand, with the keyboard too, and the link keeps it', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=grid-2x2&seed=5');
    await modelReady(page);
    const cell = page.locator('.stage .cell[data-position="5"]');
    const shows = () => cell.locator('.drawing').getAttribute('aria-label');
    await cell.press('Enter');
    const editor = page.locator('[data-testid=panel-editor]');
    await editor.getByLabel('circle').check();
    await eventually(shows).toMatch(/circle/);
    await editor.getByLabel('black').check();
    await eventually(shows).toMatch(/black circle/);
    expect(await faultsInBothLooks(page)).toEqual([]);
    for (const place of ['A figure top left', 'A figure top right', 'A figure bottom left']) {
      const toggle = editor.getByLabel(place, { exact: true });
      if ((await toggle.getAttribute('aria-pressed')) === 'false') await toggle.press('Enter');
    }
    await eventually(shows).toMatch(/^[34] × black circle/);
    await eventually(() => page.locator('[data-testid=broken]').innerText()).toMatch(
      /The changed panels break .*(Shape|Colour|Number).* No candidate is right any more\./,
    );
    // Nothing is called right where nothing is.
    await eventually(() => page.locator('[data-testid=reading]').innerText()).toContain(
      'But this item has no one right answer',
    );
    await eventually(() => page.locator('.rule-table').innerText()).toContain('broken by');
    expect(await page.getByRole('button', { name: 'RAVEN npz' }).isDisabled()).toBe(true);
    await eventually(() => page.url()).toMatch(/edit=5\.0\.\d+\.5\.\d\.9/);
    const other = await openPage(shared.context);
    await other.page.goto(page.url());
    const again = other.page.locator('.stage .cell[data-position="5"] .drawing');
    await eventually(() => again.getAttribute('aria-label')).toBe(await shows());
    await other.page.close();
    await editor.getByRole('button', { name: 'Undo all changes' }).click();
    await eventually(() => page.locator('[data-testid=broken]').count()).toBe(0);
    await eventually(() => page.url()).not.toContain('edit=');
    await page.keyboard.press('Escape');
    await eventually(() => editor.count()).toBe(0);
    await page.locator('[data-rule="0 Size"]').waitFor();
  });

  test.each([
    ['a laptop', { viewport: { width: 1280, height: 600 } }],
    ['a phone', { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }],
  ])('on %s the keyboard changes a panel, which stays in sight', async (_, options) => {
    const { page, errors } = await openPage(await site.fresh(options));
    await goTo(page, site.url, 'tab=make&config=grid-2x2&seed=5');
    const cell = page.locator('.stage .cell[data-position="5"]');
    const focused = page.locator(':focus');
    const editor = page.locator('[data-testid=panel-editor]');
    const picture = editor.locator('.drawing');
    const shows = () => picture.getAttribute('aria-label');
    /** The focus and the panel, once the matrix is made anew and nothing moves any more. */
    const areInSight = async (): Promise<void> => {
      await page.locator('main[aria-busy=false]').waitFor();
      const [height, ...boxes] = [
        await page.evaluate<number>('innerHeight'),
        await steadyBox(picture),
        await steadyBox(focused),
      ];
      for (const { y, height: tall } of boxes) {
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y + tall).toBeLessThanOrEqual(height);
      }
    };
    await cell.press('Enter');
    await eventually(() => focused.innerText()).toBe('Panel 5');
    await areInSight();
    const { y: top } = await steadyBox(editor);
    await page.keyboard.press('Tab');
    expect(await focused.innerText()).toBe('Back to the rules');
    // Shape, size and colour, then the four places.
    for (let field = 0; field < 3; field++) {
      const before = await shows();
      await page.keyboard.press('Tab');
      const radio = await focused.getAttribute('name');
      await page.keyboard.press('ArrowRight');
      await eventually(shows).not.toBe(before);
      expect(await focused.getAttribute('name')).toBe(radio);
      expect(await focused.isChecked()).toBe(true);
      await areInSight();
    }
    const slots = page.locator('.slots button');
    const pressed = await slots.first().getAttribute('aria-pressed');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await eventually(() => slots.first().getAttribute('aria-pressed')).not.toBe(pressed);
    expect(await focused.getAttribute('aria-label')).toBe('A figure top left');
    await areInSight();
    // What is said of the broken matrix has not moved the editor.
    await page.locator('[data-testid=broken]').waitFor();
    expect((await steadyBox(editor)).y).toBe(top);

    await editor.getByRole('button', { name: 'Undo this panel' }).press('Enter');
    await eventually(() => page.url()).not.toContain('edit=');
    expect(await focused.innerText()).toBe('Panel 5');
    await areInSight();
    await page.keyboard.press('Escape');
    await eventually(() => editor.count()).toBe(0);
    expect(await focused.getAttribute('data-position')).toBe('5');
    expect(errors).toEqual([]);
  });

  test('changes of a panel that follow each other at once are all kept', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=grid-2x2&seed=5');
    await modelReady(page);
    await page.locator('.stage .cell[data-position="5"]').click();
    const editor = page.locator('[data-testid=panel-editor]');
    await editor.waitFor();
    const chosen = () => labelsOf(editor.locator('input:checked'));
    // Before the page can draw the matrix anew.
    const after = await page.evaluate<string[]>(`(() => {
      const press = (label) =>
        document.querySelector('[data-testid=panel-editor] [aria-label=' + label + ']').click();
      press('circle');
      press('black');
      return [...document.querySelectorAll('[data-testid=panel-editor] input:checked')]
        .map((input) => input.ariaLabel);
    })()`);
    expect(after).toEqual([expect.stringMatching('circle'), expect.anything(), 'black']);
    await eventually(() => editor.locator('.drawing').getAttribute('aria-label')).toMatch(
      /black circle/,
    );
    expect(await chosen()).toEqual(after);
  });

  test('the answer that is changed by hand is seen as it is, not as CRAB paints it', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center&seed=5');
    await page.locator('.stage .cell[data-position="9"]').click();
    const editor = page.locator('[data-testid=panel-editor]');
    await editor.getByLabel('black').check();
    await eventually(() => editor.locator('.drawing').getAttribute('aria-label')).toMatch(/black/);
  });

  test('an item without a right answer has none on the other tabs either', async () => {
    const { page } = shared;
    const item = 'config=center&seed=5&shown=1';
    const right = page.locator('.candidate.right');
    await moveTo(page, `tab=play&${item}`);
    await eventually(() => right.count()).toBe(1);
    await moveTo(page, `tab=play&${item}&edit=5.0.1.5.2.9`);
    await page.locator('[data-testid=verdict] canvas').waitFor();
    await eventually(() => right.count()).toBe(0);
    expect(await page.getByText('The answer', { exact: true }).count()).toBe(0);
    await moveTo(page, `tab=why&${item}&edit=5.0.1.5.2.9`);
    await page.locator('.heat').first().waitFor();
    expect(await page.locator('.tag.you').count()).toBe(0);
  });

  test('a worksheet has four items a page, and a key that knows of changed panels', async () => {
    const { page } = shared;
    const worksheet = async (): Promise<string[][]> => {
      await page.getByLabel('Items of the worksheet').fill('5');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'PDF with key' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('worksheet-center-5.pdf');
      return pdfTexts(await bytesOf(download));
    };
    await moveTo(page, 'tab=make&config=center&seed=5');
    const [first, second, key, ...rest] = await worksheet();
    expect(rest).toEqual([]);
    expect(first).toContain('Center, number 5, page 1 of 2');
    expect(second).toContain('5');
    const targets = [0, 1, 2, 3, 4].map(
      (index) =>
        sampleProblem({ configuration: 'center', variant: 'i-raven', seed: 5, index }).target,
    );
    targets.forEach((target, i) => expect(key).toContain(`${i + 1}: answer ${target + 1}`));
    // The words of the page, not those of the data sets.
    expect(key.join()).toContain('Colour: ');
    expect(key.join()).not.toMatch(/Color|Type/);
    await moveTo(page, 'tab=make&config=center&seed=5&edit=5.0.1.5.2.9');
    const [changed, , changedKey] = await worksheet();
    // The page tells who makes the sheet; who solves it is not told.
    expect(changed).toEqual(first);
    expect(await page.getByTestId('untold').innerText()).toContain('the key of a worksheet has it');
    await eventually(() => page.locator('.exports .fault').allInnerTexts()).toEqual([
      "Item 1 of the worksheet has no one right answer: the key at its end says why, the pupils' pages do not.",
    ]);
    expect(changedKey).toContain('1: no one right answer');
    expect(changedKey).toContain(`2: answer ${targets[1] + 1}`);
  });

  const PARTS = ['.tabs', '.masthead', '.configuration', '.story', '.stage', '.side', '.footer'];

  test('the printer gets the item and nothing of the page, and is not told of a broken one', async () => {
    const { page } = shared;
    const sheets = async (): Promise<number> => {
      const pdf = (await page.pdf({ format: 'A4' })).toString('latin1');
      return pdf.match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;
    };
    const item = page.locator('.print-item');
    const source = async (): Promise<string> =>
      decodeURIComponent((await item.getAttribute('src')) ?? '');
    for (const tab of ['make', 'play', 'why', 'rules']) {
      await moveTo(page, `tab=${tab}&config=center&seed=5`);
      await item.waitFor({ state: 'attached' });
      await page.emulateMedia({ media: 'print' });
      await item.waitFor();
      for (const part of PARTS) {
        expect([part, await page.locator(part).first().isVisible()]).toEqual([part, false]);
      }
      expect(await sheets()).toBe(1);
      await page.emulateMedia({ media: 'screen' });
    }
    const whole = await source();
    await moveTo(page, 'tab=make&config=center&seed=5&edit=5.0.1.5.2.9');
    await eventually(source).not.toBe(whole);
    const texts = (svg: string): string[] => svg.match(/<text[^]*?<\/text>/g) ?? [];
    expect(texts(await source())).toEqual(texts(whole));
  });

  test('the printer gets dark ink on white paper from a dark page too', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=train&config=center');
    const looks = (): Promise<string[]> =>
      page.evaluate(`(() => {
        const probe = document.body.appendChild(document.createElement('i'));
        const names = ['--paper', '--ink', '--crab-text', '--you-soft', '--rival-soft'];
        const colours = names.map((name) => {
          probe.style.color = 'var(' + name + ')';
          return getComputedStyle(probe).color;
        });
        probe.remove();
        return colours;
      })()`);
    await page.emulateMedia({ media: 'print', colorScheme: 'light' });
    const light = await looks();
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    expect(await looks()).not.toEqual(light);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await looks()).toEqual(light);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  });

  test('pictures of one’s own are printed without the page too', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center');
    await page.locator('input[type=file]').setInputFiles(panelFiles('center'));
    await eventually(() => page.url()).toContain('pictures=');
    await eventually(() => page.locator('.print-item .drawing').count()).toBe(8);
    await page.emulateMedia({ media: 'print' });
    await page.locator('.print-item').waitFor();
    for (const part of PARTS) {
      expect([part, await page.locator(part).first().isVisible()]).toEqual([part, false]);
    }
    await page.emulateMedia({ media: 'screen' });
    await page.getByText('Remove my pictures').click();
  });

  test('nine pictures, in the order of their names', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center');
    await page.locator('input[type=file]').setInputFiles([...panelFiles('center')].reverse());
    await eventually(() => page.url()).toContain('pictures=');
    const answer = await shared.solver.solve(smallPanels, { missing: [9] });
    await eventually(async () =>
      largestDifference(await canvasPixels(imaginedLast()), answer.images[0]),
    ).toBeLessThan(CLOSE);
    // The link holds the pictures themselves.
    const other = await openPage(shared.context);
    await other.page.goto(page.url());
    await modelReady(other.page);
    const canvas = other.page.locator('.stage .cell.imagined canvas');
    await eventually(async () =>
      largestDifference(await canvasPixels(canvas), answer.images[0]),
    ).toBeLessThan(CLOSE);
    expect(other.errors).toEqual([]);
    await page.getByText('Remove my pictures').click();
    await eventually(() => page.url()).not.toContain('pictures=');
  });

  test('a black picture among nine is the blank, and a JPEG is a picture', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center');
    const input = page.locator('input[type=file]');
    const black = pictureFile('panel-3.png', new Uint8Array(160 * 160));
    await input.setInputFiles(panelFiles('center').map((file, i) => (i === 2 ? black : file)));
    const imagined = page.locator('.stage .cell.imagined');
    await eventually(() => imagined.getAttribute('data-position')).toBe('3');
    await page.getByText('Remove my pictures').click();
    const { width, height, data } = decodePng(encodePng(contactSheet(problem)));
    const rgba = new Uint8Array(4 * width * height);
    data.forEach((value, i) => rgba.fill(Math.round(255 * value), 4 * i, 4 * i + 4));
    const jpeg = encode({ width, height, data: rgba }, 85).data;
    await input.setInputFiles(fileOf('sheet.jpg', jpeg, 'image/jpeg'));
    await eventually(() => page.locator('[data-testid=reading]').innerText()).toContain('chooses');
    await eventually(() => imagined.getAttribute('data-position')).toBe('9');
    await page.getByText('Remove my pictures').click();
  });

  test('one picture of a whole matrix, and one .npz', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center');
    const input = page.locator('input[type=file]');
    await input.setInputFiles(fileOf('sheet.png', encodePng(contactSheet(problem))));
    await eventually(() => page.locator('[data-testid=reading]').innerText()).toContain('chooses');
    await eventually(() =>
      page.locator('.stage .cell.imagined').getAttribute('data-position'),
    ).toBe('9');
    const npz = encodeRavenNpz(problem, renderProblem(problem).images);
    await page.getByText('Remove my pictures').click();
    await input.setInputFiles(fileOf('RAVEN_1_train.npz', npz, 'application/octet-stream'));
    const answer = await shared.solver.solve(smallPanels, { missing: [9] });
    await eventually(async () =>
      largestDifference(await canvasPixels(imaginedLast()), answer.images[0]),
    ).toBeLessThan(CLOSE);
    const choice = await shared.solver.choose(
      answer,
      problem.candidates.map(({ panel }) => renderPanel64(layout, panel)),
    );
    await eventually(() => page.locator('[data-testid=reading]').innerText()).toContain(
      `chooses ${choice.index + 1}`,
    );
  });

  test('wrong uploads get one clear sentence', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center');
    const input = page.locator('input[type=file]');
    const fault = page.locator('.drop .fault[role=alert]');
    await input.setInputFiles(fileOf('letter.png', Buffer.from('Dear Sir or Madam')));
    await eventually(() => fault.innerText()).toBe(
      'letter.png is not a picture this browser can read',
    );
    await input.setInputFiles(panelFiles('center').slice(0, 3));
    await eventually(() => fault.innerText()).toMatch(/^3 files: give nine pictures/);
    const tiny = encodePng({ width: 8, height: 8, channels: 1, data: new Uint8Array(64) });
    await input.setInputFiles(fileOf('tiny.png', tiny));
    await eventually(() => fault.innerText()).toBe(
      'tiny.png: a picture of 8x8 is too small for a 3x3 matrix',
    );
    await input.setInputFiles(fileOf('broken.npz', Buffer.from('PK no'), 'application/zip'));
    await eventually(() => fault.innerText()).toMatch(/^broken\.npz is not a complete zip file/);
    expect(page.url()).not.toContain('pictures=');
  });

  test('files to keep: PNG, SVG and RAVEN npz of the very matrix', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=make&config=center&seed=5');
    const save = async (name: string): Promise<Uint8Array> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      return bytesOf(download);
    };
    const sheet = decodePng(await save('PNG'));
    expect(sheet.width).toBe(contactSheet(problem, { scale: 2 }).width);
    const svg = Buffer.from(await save('SVG')).toString('utf8');
    expect(svg).toMatch(/^<svg /);
    expect(svg.match(/<rect /g)?.length).toBeGreaterThan(17);
    const { images, target } = await decodeRavenNpz(await save('RAVEN npz'));
    expect(target).toBe(problem.target);
    expect(Buffer.from(images).equals(Buffer.from(renderProblem(problem).images))).toBe(true);
  });

  test('a shared link restores configuration, seed, erased panels and view', async () => {
    const { page } = shared;
    await moveTo(page, 'tab=play');
    await page.getByLabel('2×2 grid').check();
    await modelReady(page);
    await page.getByLabel('Number of the matrix (its seed)').fill('1234');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Erase' }).click();
    for (const position of [2, 6]) await page.locator(`[data-position="${position}"].cell`).click();
    const canvas = page.locator('[data-position="6"].cell canvas');
    await canvas.waitFor();
    await shared.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const before = await steadyBox(page.getByLabel('Number of the matrix (its seed)'));
    await page.getByRole('button', { name: 'Share' }).click();
    await page.getByText('Link copied').waitFor();
    // Nothing makes room for the message.
    expect(await steadyBox(page.getByLabel('Number of the matrix (its seed)'))).toEqual(before);
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(link).toContain('config=grid-2x2');
    const other = await openPage(await site.browser.newContext({ viewport: LAPTOP }));
    await other.page.goto(link);
    await modelReady(other.page);
    await eventually(() => other.page.locator('.cell[aria-pressed=true]').count()).toBe(3);
    await eventually(() => other.page.getByLabel('2×2 grid').isChecked()).toBe(true);
    const again = other.page.locator('[data-position="6"].cell canvas');
    await eventually(async () =>
      largestDifference(await canvasPixels(again), await canvasPixels(canvas)),
    ).toBe(0);
    expect(other.errors).toEqual([]);
    await other.page.context().close();
    // Back leaves the view, and comes to the one before.
    await page.goBack();
    await page.locator('.candidates').waitFor();
  });
});
