/** Playing as people do: going on too early, in two windows, with wrong numbers, on a small phone. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { brokenRules, ruleMeaning, sampleProblem } from '../../src/matrix/index.js';
import { CHROMIUM } from '../chromium.js';
import {
  eventually,
  fontsOf,
  goTo,
  LAPTOP,
  modelReady,
  moveTo,
  openPage,
  steadyBox,
} from './browser.js';
import { UNASSISTED, visitedSite } from './visited-site.js';

/** The smallest phone there is. */
const SMALL = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };

describe.skipIf(CHROMIUM === undefined)('playing', () => {
  const site = visitedSite({ bundles: ['center', 'grid-3x3'], isolated: true });

  const score = (page: Page): Promise<string> => page.locator('[data-testid=score]').innerText();

  /** Holds back the last part of the model until told. */
  const heldBack = async (page: Page): Promise<() => void> => {
    let release = (): void => undefined;
    const released = new Promise<void>((done) => (release = done));
    await page.route('**/zoo/center/reasoner.onnx', async (route) => {
      await released;
      await route.continue();
    });
    return release;
  };

  test('who goes on before the model is ready is still scored against it', async () => {
    const { page, errors } = await openPage(await site.fresh(UNASSISTED));
    const release = await heldBack(page);
    await page.goto(`${site.url}#tab=play&config=center&seed=3`);
    for (let i = 0; i < 2; i++) {
      await page.locator('.candidate:enabled').first().click();
      await page.getByRole('button', { name: 'Next matrix' }).click();
      await page.locator('main[aria-busy=false] .candidate:enabled').first().waitFor();
    }
    await eventually(() => score(page)).toMatch(/You[^]*of 2[^]*CRAB[^]*no answers yet/);
    release();
    await modelReady(page);
    await eventually(() => score(page)).toMatch(/CRAB[^]*of 2/);
    expect(errors).toEqual([]);
  });

  test('who goes to another configuration and back sees no failure of the load given up', async () => {
    const { page, errors } = await openPage(await site.fresh(UNASSISTED));
    const releases: (() => void)[] = [];
    await page.route('**/zoo/center/reasoner.onnx', async (route) => {
      await new Promise<void>((done) => releases.push(done));
      await route.continue();
    });
    await page.goto(`${site.url}#tab=play&config=center&seed=3`);
    await eventually(() => Promise.resolve(releases.length)).toBe(1);
    await page.locator('.choice input[value=grid-3x3]').check({ force: true });
    await page.locator('.choice input[value=center]').check({ force: true });
    await eventually(() => Promise.resolve(releases.length)).toBe(2);
    // The first load ends only now, when the second is under way.
    releases[0]();
    await page.waitForTimeout(1500);
    const chip = page.locator('[data-testid=backend]');
    expect(await chip.getAttribute('data-phase')).not.toBe('failed');
    expect(await page.locator('.notice').count()).toBe(0);
    releases[1]();
    await modelReady(page);
    expect(errors).toEqual([]);
  });

  test('who clicks on while a model is loaded loads no model to its end that is not wanted', async () => {
    const { page, errors } = await openPage(await site.fresh(UNASSISTED));
    const given = new Map<string, string>();
    page.on('requestfailed', (request) => {
      const [, name, file] = /\/zoo\/([\w-]+)\/(reasoner\.onnx)$/.exec(request.url()) ?? [];
      if (file !== undefined) given.set(name, request.failure()?.errorText ?? '');
    });
    let asked = 0;
    await page.route('**/zoo/center/reasoner.onnx', () => void asked++); // never answered
    await page.goto(`${site.url}#tab=play&config=center&seed=3`);
    await eventually(() => Promise.resolve(asked)).toBe(1);
    await page.locator('.choice input[value=grid-3x3]').check({ force: true });
    await modelReady(page);
    await eventually(() => [...given]).toEqual([['center', 'net::ERR_ABORTED']]);
    expect(errors).toEqual([]);
  });

  test('a link with the model of another configuration says so, and answers nothing', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=make&config=center&model=grid-3x3&seed=3`);
    await eventually(() => page.locator('.notice').allInnerTexts()).toEqual([
      expect.stringContaining('The model grid-3x3 is for grid-3x3, not for center.'),
    ]);
    await eventually(() => page.locator('[data-testid=rule-table]').innerText()).toContain(
      'there is no model',
    );
    expect(errors).toEqual([]);
  });

  test('a link with a rule for a concept that is not there says so', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=rules&config=center&seed=3&rule=60,0.5,0.5`);
    await modelReady(page);
    await eventually(() => page.locator('.fault').allInnerTexts()).toEqual([
      expect.stringContaining('concept "60": expected 1 to'),
    ]);
    expect(errors).toEqual([]);
  });

  test('a model that is there but not compiled yet is being prepared, not loaded', async () => {
    const { page } = await openPage(await site.fresh(UNASSISTED));
    let release = (): void => undefined;
    const released = new Promise<void>((done) => (release = done));
    await page.route('**/runtime/*.js', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${site.url}#tab=play&config=center&seed=3`);
    await page.locator('[data-testid=backend][data-phase=preparing]').waitFor();
    await eventually(() => page.getByLabel('Preparing the model for center').count()).toBe(1);
    release();
    await modelReady(page);
  });

  test('a matrix counts once, however one comes back to it', async () => {
    const { page, errors } = await openPage(await site.fresh());
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    const uncounted = page.getByText('The answer to this matrix was shown before');
    const tabTo = (tab: string) => page.locator(`.tabs a[href*="tab=${tab}"]`).click();
    const answer = async (): Promise<void> => {
      await page.locator('main[aria-busy=false] .candidate:enabled').first().click();
      await page.locator('[data-testid=verdict]').waitFor();
    };
    await tabTo('erase');
    await tabTo('play');
    await answer();
    await eventually(() => score(page)).toMatch(/You[^]*of 1[^]*CRAB[^]*of 1/);
    expect(await uncounted.count()).toBe(0);
    // The first step of the history has no answer yet.
    await page.goBack();
    await page.goBack();
    await answer();
    await uncounted.waitFor();
    expect(await score(page)).toMatch(/You[^]*of 1[^]*CRAB[^]*of 1/);
    // Nor does one count whose answer CRAB has shown.
    await goTo(page, site.url, 'tab=play&config=center&seed=4');
    await page.getByRole('button', { name: 'Let CRAB imagine it' }).click();
    await page.locator('[data-testid=verdict] canvas').waitFor();
    await goTo(page, site.url, 'tab=play&config=center&seed=4');
    await answer();
    await uncounted.waitFor();
    await goTo(page, site.url, 'tab=play&config=center&seed=5');
    await answer();
    await eventually(() => score(page)).toMatch(/You[^]*of 2[^]*CRAB[^]*of 2/);
    // The score starts anew; what was seen stays seen.
    await page.getByRole('button', { name: 'Reset' }).click();
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    await answer();
    await uncounted.waitFor();
    expect(await score(page)).toMatch(/You[^]*no answers yet/);
    expect(errors).toEqual([]);
  });

  test('a wrong answer is told by the rules it breaks, and they are open', async () => {
    const { page, errors } = await openPage(await site.fresh());
    const problem = sampleProblem({
      configuration: 'grid-3x3',
      variant: 'i-raven',
      seed: 3,
      index: 0,
    });
    const wrong = (problem.target + 1) % 8;
    const broken = brokenRules({ ...problem, target: wrong }).map(({ rule }) => ruleMeaning(rule));
    expect(broken.length).toBeGreaterThan(0);
    await goTo(page, site.url, 'tab=play&config=grid-3x3&seed=3');
    await eventually(() => page.locator('.verdict.waiting').innerText()).toContain(
      'number or place, shape, size and colour each follow a rule',
    );
    await page.keyboard.press(String(wrong + 1));
    const mistake = page.locator('[data-testid=mistake]');
    await eventually(() => mistake.innerText()).toContain(`Candidate ${wrong + 1} breaks the rule`);
    for (const meaning of broken) expect(await mistake.innerText()).toContain(`(${meaning})`);
    // Words, not colour alone, tell the answer; the colour of what is right is on no wrong choice.
    const badges = (candidate: number, kinds: string) =>
      page
        .locator(`[data-candidate="${candidate + 1}"]`)
        .locator(kinds)
        .allInnerTexts();
    await eventually(() => badges(problem.target, '.answer-badge')).toEqual(['answer']);
    await eventually(() => page.locator('.answer-badge').count()).toBe(1);
    await eventually(() => badges(wrong, '.tag.missed')).toEqual(['you']);
    expect(await page.locator('.tag.you').count()).toBe(0);
    await page.locator('[data-testid=rule-table]').waitFor();
    await moveTo(page, 'tab=play&config=grid-3x3&seed=3&difficulty=gentle');
    await eventually(() => page.locator('.verdict.waiting').innerText()).toContain(
      'one thing changes',
    );
    // A right answer has no mistake.
    await goTo(page, site.url, 'tab=play&config=center&seed=3');
    await eventually(() => page.locator('.verdict.waiting').innerText()).not.toContain('number');
    const { target } = sampleProblem({
      configuration: 'center',
      variant: 'i-raven',
      seed: 3,
      index: 0,
    });
    await page.keyboard.press(String(target + 1));
    await page.locator('[data-testid=verdict] canvas').waitFor();
    expect(await mistake.count()).toBe(0);
    await eventually(() => badges(target, '.tag.you')).toEqual(['you']);
    expect(errors).toEqual([]);
  });

  test('on a phone the rule table says in plain words what a rule does', async () => {
    const { page } = await openPage(await site.fresh(SMALL));
    await goTo(page, site.url, 'tab=play&config=center&seed=3&shown=1');
    const table = page.locator('[data-testid=rule-table]');
    // CRAB's choice opens the table if it is wrong.
    await page.locator('[data-testid=verdict] canvas').waitFor();
    if (!(await table.isVisible())) await page.getByText('The rules of this matrix').click();
    const meanings = table.locator('.meaning');
    await eventually(() => meanings.count()).toBe(3);
    for (let i = 0; i < 3; i++) expect(await meanings.nth(i).isVisible()).toBe(true);
    await eventually(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  test.each([
    [1280, '888888888'],
    [390, '888888888'],
    [320, '888888'],
  ])(
    'on a screen %i wide the field has room for the number %s, and all tools stand in one line',
    async (width, seed) => {
      const { page } = await openPage(
        await site.fresh({ viewport: { width, height: 800 }, isMobile: width < 400 }),
      );
      await goTo(page, site.url, `tab=play&config=center&seed=${seed}`);
      const field = page.getByLabel('Number of the matrix');
      expect(await field.inputValue()).toBe(seed);
      const [whole, seen] = await field.evaluate((input: unknown) => {
        const { scrollWidth, clientWidth } = input as { scrollWidth: number; clientWidth: number };
        return [scrollWidth, clientWidth];
      });
      expect(whole).toBeLessThanOrEqual(seen);
      const [{ y: first }, { y: last }] = [
        await steadyBox(page.getByLabel('Difficulty')),
        await steadyBox(page.locator('.share button')),
      ];
      expect(Math.abs(first - last)).toBeLessThan(12);
    },
  );

  test('two windows add to one score', async () => {
    const context = await site.fresh();
    const first = (await openPage(context)).page;
    const second = (await openPage(context)).page;
    for (const [page, seed] of [
      [first, 3],
      [second, 4],
      [first, 5],
    ] as const) {
      await goTo(page, site.url, `tab=play&config=center&seed=${seed}`);
    }
    await first.locator('.candidate').first().click();
    await eventually(() => score(second)).toMatch(/You[^]*of 1[^]*CRAB[^]*of 1/);
    await second.locator('.candidate').first().click();
    for (const page of [first, second]) {
      await eventually(() => score(page)).toMatch(/You[^]*of 2[^]*CRAB[^]*of 2/);
    }
  });

  test.each(['-1', '1000000000', '1.5', ''])('number “%s” is refused in words', async (number) => {
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=play&config=up-down&seed=3`);
    const field = page.getByLabel('Number of the matrix (its seed)');
    await field.fill(number);
    // Whoever leaves the field is told as well as who presses Enter.
    await page.keyboard.press(number === '1.5' ? 'Tab' : 'Enter');
    const words = page.getByText('Matrices are numbered 0 to 999,999,999.');
    await words.waitFor();
    await eventually(() => field.inputValue()).toBe('3');
    await eventually(() => field.getAttribute('aria-invalid')).not.toBe('true');
    await eventually(() => page.url()).toContain('seed=3');
    await field.fill('4');
    await page.keyboard.press('Enter');
    await eventually(() => page.url()).toContain('seed=4');
    await eventually(() => words.count()).toBe(0);
  });

  test('on a laptop an answer moves nothing; on a phone the next matrix is back in sight', async () => {
    for (const [viewport, moves] of [
      [{ width: 1280, height: 800 }, false],
      [{ width: 390, height: 700 }, true],
    ] as const) {
      const context = await site.fresh({ viewport, reducedMotion: 'reduce' });
      const { page } = await openPage(context);
      await goTo(page, site.url, 'tab=play&config=center&seed=3');
      const scrolled = (): Promise<number> => page.evaluate('scrollY');
      await page.keyboard.press('2');
      await page.locator('[data-testid=verdict] canvas').waitFor();
      await eventually(async () => (await scrolled()) > 0).toBe(moves);
      await page.keyboard.press('n');
      await eventually(scrolled).toBe(0);
    }
  });

  test.each(['light', 'dark'] as const)(
    'the first click on the button for colours changes them, from %s',
    async (colorScheme) => {
      const { page } = await openPage(await site.fresh({ viewport: LAPTOP, colorScheme }));
      await page.goto(`${site.url}#tab=play&config=up-down&seed=3`);
      const paper = (): Promise<string> =>
        page.evaluate(
          'getComputedStyle(document.documentElement).colorScheme + getComputedStyle(document.body).backgroundColor',
        );
      await page.locator('.candidate').first().waitFor();
      const before = await paper();
      await page.getByLabel(/^Colours:/).click();
      await eventually(paper).not.toBe(before);
    },
  );

  test('a file dropped beside the place for pictures does not leave the page', async () => {
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=make&config=up-down&seed=3`);
    await page.locator('.drop-zone').waitFor();
    const isTaken = (kind: string): Promise<boolean> =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['x'], 'x.png', { type: 'image/png' }));
        const event = new DragEvent('${kind}', { dataTransfer, bubbles: true, cancelable: true });
        document.querySelector('.masthead').dispatchEvent(event);
        return event.defaultPrevented;
      })()`);
    expect(await isTaken('dragover')).toBe(true);
    expect(await isTaken('drop')).toBe(true);
    expect(await page.locator('.drop .fault').count()).toBe(0);
  });

  test('rules of one’s own stay for the next matrix, on every tab', async () => {
    const { page } = await openPage(await site.fresh());
    await page.goto(`${site.url}#tab=make&config=center&seed=3`);
    const rule = page.locator('[data-rule="0 Size"]');
    await rule.selectOption({ label: 'distribute three' });
    const chosen = await rule.inputValue();
    const truth = page.locator('[data-testid=rule-table] tr[data-attribute=Size] td').first();
    for (let i = 0; i < 3; i++) {
      const before = page.url();
      await page.getByRole('button', { name: 'New matrix' }).click();
      await eventually(() => page.url()).not.toBe(before);
      await eventually(() => rule.inputValue()).toBe(chosen);
      await eventually(() => truth.innerText()).toContain('distribute three');
    }
    await page.getByRole('link', { name: 'Play' }).click();
    await eventually(() => page.getByLabel('Difficulty').inputValue()).toBe('own');
    await page.getByLabel('Difficulty').selectOption('gentle');
    await eventually(() => page.url()).not.toContain('make=');
  });

  test('a link carries whether the truth is shown', async () => {
    const context = await site.fresh();
    const { page } = await openPage(context);
    await goTo(page, site.url, 'tab=erase&config=center&seed=4');
    await page.getByLabel('Show the true panels').check();
    await eventually(() => page.url()).toContain('truth=1');
    const other = (await openPage(context)).page;
    await other.goto(page.url());
    await other.locator('.cell.truth').waitFor();
  });

  test('on the smallest phone nothing overflows, and what matters comes into sight', async () => {
    const { page } = await openPage(await site.fresh(SMALL));
    await goTo(page, site.url, 'tab=play&config=grid-3x3&seed=3');
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox();
      if (box === null) throw new Error(`${selector} is not to be seen`);
      return box;
    };
    await eventually(async () => {
      const { x, width } = await boxOf('.choice:has(:checked)');
      return x >= 0 && x + width <= 320;
    }).toBe(true);
    await page.locator('.candidate').nth(1).click();
    await eventually(async () => {
      const { y, height } = await boxOf('[data-testid=verdict]');
      return Math.max(0, -y) + Math.max(0, Math.min(height, 400) + y - 640);
    }).toBeLessThan(120);
    for (const tab of ['play', 'erase', 'why', 'rules', 'make', 'train']) {
      await page.locator(`.tabs a[href*="tab=${tab}"]`).click();
      await page.locator(`.view-${tab}`).waitFor();
      if (tab === 'why') await page.locator('.heat-map').waitFor();
      await eventually(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await eventually(() => page.evaluate('innerWidth')).toBe(320);
    }
  });

  test.each([
    ['its own fonts', []],
    ['the fonts of the system alone', ['**/*.woff2']],
    ['a font as wide as any', ['**/*.woff2', 'wide']],
  ])(
    'with %s a laptop shows all concepts of a candidate without scrolling',
    async (_, [blocked, wide]) => {
      const { page } = await openPage(
        await site.fresh({ ...UNASSISTED, viewport: { width: 1280, height: 900 } }),
      );
      if (blocked !== undefined) await page.route(blocked, (route) => route.abort());
      await goTo(page, site.url, 'tab=why&config=grid-3x3&seed=3');
      await page.locator('.heat-map .chosen').waitFor();
      if (wide !== undefined) await page.addStyleTag({ content: '* { letter-spacing: 0.12em }' });
      await eventually(async () => (await fontsOf(page)).includes('Inter')).toBe(
        blocked === undefined,
      );
      const [whole, seen] = await page.evaluate<number[]>(
        "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('.heat-scroll'))",
      );
      expect(whole).toBeLessThanOrEqual(seen);
      const heads = await page.evaluate<{ left: number; right: number }[]>(
        "[...document.querySelectorAll('.heat-map thead th span')].map((each) => each.getBoundingClientRect().toJSON())",
      );
      expect(heads.length).toBeGreaterThanOrEqual(5);
      for (let at = 1; at < heads.length; at++) {
        expect(heads[at].left).toBeGreaterThanOrEqual(heads[at - 1].right);
      }
    },
  );

  test('on the rule map a finger on the dot drags the rule, elsewhere it scrolls', async () => {
    const context = await site.fresh(SMALL);
    const { page } = await openPage(context);
    await goTo(page, site.url, 'tab=rules&config=center&seed=3');
    const dot = page.locator('.plane-handle');
    await dot.waitFor();
    await page.evaluate(
      "document.querySelector('.plane').scrollIntoView({ block: 'center', behavior: 'instant' })",
    );
    const session = await context.newCDPSession(page);
    const swipe = async (x: number, y: number, dx: number, dy: number): Promise<void> => {
      const touch = (type: 'touchStart' | 'touchMove', share: number) =>
        session.send('Input.dispatchTouchEvent', {
          type,
          touchPoints: [{ x: x + share * dx, y: y + share * dy }],
        });
      await touch('touchStart', 0);
      for (let step = 1; step <= 8; step++) await touch('touchMove', step / 8);
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    };
    const centreOf = async (selector: string): Promise<[number, number]> => {
      const box = await page.locator(selector).boundingBox();
      if (box === null) throw new Error(`${selector} is not to be seen`);
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [middle, height] = await centreOf('.plane');
    const isLow = (await centreOf('.plane-handle'))[1] > height;
    const before = await page.evaluate<number>('scrollY');
    await swipe(middle, isLow ? height - 60 : height + 120, 0, -60);
    await eventually(() => page.evaluate<number>('scrollY')).not.toBe(before);
    expect(page.url()).not.toContain('rule=');
    // The page may still be on its way from the last swipe.
    const { x: left, y: top, width, height: side } = await steadyBox(dot);
    const [x, y] = [left + width / 2, top + side / 2];
    await swipe(x, y, x > middle ? -50 : 50, isLow ? -40 : 40);
    await eventually(() => page.url()).toContain('rule=');
  });

  test('without a network the Train tab says so, and finds the server again', async () => {
    const { page, errors } = await openPage(await site.fresh(UNASSISTED));
    await page.route('**/api/training', (route) => route.abort());
    await page.goto(`${site.url}#tab=train`);
    const silent = page.locator('[data-testid=train-silent]');
    await silent.waitFor();
    await eventually(() => silent.innerText()).toContain('cannot be reached');
    expect(await page.locator('main').innerText()).not.toContain('Failed to fetch');
    await page.unroute('**/api/training');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-testid=train-absent]').waitFor();
    expect(errors).toEqual([]);
  });
});
