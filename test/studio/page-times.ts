/**
 * How long a visitor waits: `npx tsx test/studio/page-times.ts [FOLDER] [ROUNDS]`. Prints seconds from the click on a
 * link to the first paint and to a model that is ready, and from a new matrix to its painted answer, as medians
 * (least to most) of rounds; every round is a browser context without a cache. FOLDER is the built page of
 * another version (its dist/studio), which takes turns with this one. Takes the built page and the zoo.
 */
import { CONFIGURATIONS, type Configuration } from '../../src/matrix/index.js';
import { launch } from '../chromium.js';
import { LAPTOP, modelReady, moveTo, openPage, requirePage } from './browser.js';
import { servePage } from './served-page.js';

const MATRICES = 5;

const PAINTED =
  "performance.getEntriesByName('first-contentful-paint').map(({ startTime }) => startTime)[0]";

interface Times {
  readonly paint: number;
  readonly ready: number;
  readonly solved: number[];
}

const [other, rounds = '5'] = process.argv.slice(2);
requirePage();
const hosts = new Map([['this page', await servePage({ isolated: true })]]);
if (other !== undefined) hosts.set(other, await servePage({ isolated: true, page: other }));
const browser = await launch();

async function visit(url: string, configuration: Configuration): Promise<Times> {
  const context = await browser.newContext({ viewport: LAPTOP });
  const { page } = await openPage(context);
  const hash = (seed: number): string => `tab=erase&seed=${seed}&config=${configuration}&missing=9`;
  await page.goto(`${url}#${hash(1)}`);
  await modelReady(page);
  const ready = await page.evaluate<number>('performance.now()');
  const paint = await page.evaluate<number>(PAINTED);
  await page.waitForLoadState('networkidle');
  const solved: number[] = [];
  for (let seed = 2; seed < 2 + MATRICES; seed++) {
    const start = performance.now();
    await moveTo(page, hash(seed));
    await page.locator('.cell.imagined canvas').first().waitFor();
    solved.push(performance.now() - start);
  }
  await context.close();
  return { paint, ready, solved };
}

/** Seconds: the median, and from the least to the most. */
function inShort(milliseconds: readonly number[]): string {
  const sorted = [...milliseconds].sort((a, b) => a - b).map((each) => (each / 1000).toFixed(2));
  return `${sorted[sorted.length >> 1]} (${sorted[0]} to ${sorted[sorted.length - 1]})`;
}

for (const configuration of CONFIGURATIONS) {
  const found = new Map([...hosts.keys()].map((name) => [name, [] as Times[]]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, { url }] of hosts) found.get(name)?.push(await visit(url, configuration));
  }
  for (const [name, times] of found) {
    const [paint, ready] = [times.map((each) => each.paint), times.map((each) => each.ready)];
    const solved = times.flatMap((each) => each.solved);
    process.stdout.write(
      `${configuration}, ${name}: first paint ${inShort(paint)}, model ready ${inShort(ready)}, painted ${inShort(solved)}\n`,
    );
  }
}
await browser.close();
for (const host of hosts.values()) await host.close();
