/**
 * Pictures of every tab for the documents: `npx tsx test/studio/screenshots.ts [configuration] [seed] [tabs]`.
 * Takes the built page with its zoo, and writes docs/images/studio-<tab>-<look>.png.
 */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { CHROMIUM, launch } from '../chromium.js';
import { goTo, openPage, requirePage } from './browser.js';
import { PAGE, servePage } from './served-page.js';
import { ROOT } from '../project.js';

const LOOKS = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  wide: { viewport: { width: 1920, height: 1080 }, colorScheme: 'light' },
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    colorScheme: 'light',
  },
} as const;

/** The state each tab is shown in. */
const STATES: Readonly<Record<string, string>> = {
  play: 'shown=1',
  erase: 'missing=1359',
  why: '',
  // Of center's concepts the one whose map has the rules furthest apart.
  rules: 'concept=4&point=3',
  compare: 'missing=59',
  make: '',
  test: '',
  train: '',
};
const LAST_SHOWN: Readonly<Record<string, string>> = {
  play: '[data-testid=verdict] canvas',
  erase: '.sureness-list canvas',
  why: '.cards > :last-child .mini-map',
  rules: '[data-testid=point] .drawing',
  compare: '.contender.crab[data-missing] ~ .contender.rival[data-missing] canvas',
  make: '[data-testid=reading] .agreement',
  test: '.test-start',
  train: '.recording .live-plane:last-child svg',
};

const [configuration = 'center', seed = '12', tabs = Object.keys(STATES).join()] =
  process.argv.slice(2);
const zoo = path.resolve(process.env.CRAB_ZOO ?? path.join(PAGE, 'zoo'));
if (CHROMIUM === undefined || !existsSync(path.join(zoo, configuration, 'bundle.json'))) {
  throw new Error(`this needs Chromium and a bundle ${configuration} in ${zoo}`);
}
requirePage();
const images = path.join(ROOT, 'docs', 'images');
mkdirSync(images, { recursive: true });
const host = await servePage({ zoo, isolated: true });
const browser = await launch();
for (const [look, options] of Object.entries(LOOKS)) {
  const context = await browser.newContext(options);
  const { page } = await openPage(context);
  for (const tab of tabs.split(',')) {
    const state = STATES[tab];
    await goTo(page, host.url, `tab=${tab}&config=${configuration}&seed=${seed}&${state}`);
    await page.locator(LAST_SHOWN[tab]).first().waitFor();
    if (tab === 'why') await page.locator('.heat').nth(7).hover();
    await page.waitForLoadState('networkidle');
    // Nothing is to come under the pointer.
    await page.mouse.move(0, 0);
    await page.evaluate('scrollTo(0, 0)');
    // Panels are painted from left to right; what pulses without end is not waited for.
    await page.evaluate(`Promise.allSettled(document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().iterations !== Infinity)
      .map(({ finished }) => finished))`);
    // Phones show what fits on the screen; laptops the whole view.
    const file = path.join(images, `studio-${tab}-${look}.png`);
    await page.screenshot({ path: file, fullPage: look !== 'phone' });
  }
  await context.close();
}
await browser.close();
await host.close();
