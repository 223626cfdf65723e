/**
 * How much memory the page takes after every model was looked at twice: `npx tsx test/studio/memory.ts`.
 * Takes the built page and the bundles of the zoo; after each model prints megabytes of the page's process:
 * all that is resident, and with shared pages counted by their share. Linux only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { CONFIGURATIONS } from '../../src/matrix/index.js';
import { launch } from '../chromium.js';
import { modelReady, openPage, requirePage } from './browser.js';
import { servePage } from './served-page.js';

const ROUNDS = 2;
const KIBI = 1024;

const read = (pid: string, name: string): string =>
  readFileSync(path.join('/proc', pid, name), 'utf8');

function isOurs(pid: string): boolean {
  for (let at = pid; at !== '0' && at !== '';) {
    at = /^PPid:\s+(\d+)/m.exec(read(at, 'status'))?.[1] ?? '';
    if (at === String(process.pid)) return true;
  }
  return false;
}

/** The largest process that shows pages, in megabytes. */
function largestRenderer(): { resident: number; share: number } {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!read(pid, 'cmdline').includes('--type=renderer') || !isOurs(pid)) return [];
        const [resident, share] = ['Rss', 'Pss'].map(
          (name) =>
            Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(read(pid, 'smaps_rollup'))?.[1]) /
            KIBI,
        );
        return [{ resident, share }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
  return sizes.reduce((a, b) => (b.resident > a.resident ? b : a));
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
    const { resident, share } = largestRenderer();
    const sizes = `${resident.toFixed(0)} MB resident, ${share.toFixed(0)} MB by shares`;
    process.stdout.write(`${round + 1} ${name}: ${sizes}\n`);
  }
}
await browser.close();
await host.close();
