/**
 * How much memory the page takes after every model was looked at twice: `npx tsx test/studio/memory.ts`.
 * Takes the built page and the bundles of the zoo; prints megabytes of the page's process (shared pages
 * counted by their share) after each model, and in the end what the page itself holds. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONFIGURATIONS } from '../../src/matrix/index.js';
import { launch } from '../chromium.js';
import { modelReady, openPage, requirePage } from './browser.js';
import { servePage } from './served-page.js';

const ROUNDS = 2;
const KIBI = 1024;
const MEBI = KIBI * KIBI;

const read = (pid: string, name: string): string =>
  readFileSync(path.join('/proc', pid, name), 'utf8');

function isOurs(pid: string): boolean {
  for (let at = pid; at !== '0' && at !== '';) {
    at = /^PPid:\s+(\d+)/m.exec(read(at, 'status'))?.[1] ?? '';
    if (at === String(process.pid)) return true;
  }
  return false;
}

/** Megabytes of the largest process that shows pages. */
function largestRenderer(): number {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        if (!read(pid, 'cmdline').includes('--type=renderer') || !isOurs(pid)) return 0;
        return Number(/^Pss:\s+(\d+)/m.exec(read(pid, 'smaps_rollup'))?.[1]) / KIBI;
      } catch {
        // It has ended meanwhile.
        return 0;
      }
    });
  return Math.max(...sizes);
}

requirePage();
const host = await servePage({ isolated: true });
const browser = await launch();
const { page } = await openPage(await browser.newContext());
await page.goto(`${host.url}#tab=why&config=center&seed=3`);
for (let round = 0; round < ROUNDS; round++) {
  for (const name of CONFIGURATIONS) {
    await page.evaluate(`location.hash = 'tab=why&config=${name}&seed=${3 + round}'`);
    await page.locator('.footer', { hasText: name }).waitFor();
    await modelReady(page);
    await page.waitForLoadState('networkidle');
    process.stdout.write(`${round + 1} ${name}: ${largestRenderer().toFixed(0)} MB\n`);
  }
}
const own = await page.evaluate<number>(
  'performance.measureUserAgentSpecificMemory().then(({ bytes }) => bytes)',
);
process.stdout.write(`held by the page itself: ${(own / MEBI).toFixed(0)} MB\n`);
await browser.close();
await host.close();
