/**
 * What it costs to have every file of a RAVEN folder on the disk before it gets its name.
 *
 *     npx tsx bench/file-sync.ts [--problems N] [--rounds N] [--folder PATH] [--json FILE] [--fast]
 *
 * Makes problems on one thread, as a worker of `crab generate` does, and writes their files in three ways:
 * without syncing, syncing one file after the other, and as `FileBatch` does, which syncs some files while
 * the next are made. The ways take turns, so that a busy machine hits all of them; before each, what waits
 * for the disk is written out. `--fast` leaves the second way out. Prints the medians of the rounds, on the clock and of processor time.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sampleProblem } from '../src/matrix/index.js';
import { makeFolder, writeFileAtomically } from '../src/base/node.js';
import { FileBatch } from '../src/matrix/node/file-batch.js';
import { ravenFiles } from '../src/matrix/node/raven-folder.js';

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '640' },
    rounds: { type: 'string', default: '7' },
    folder: { type: 'string', default: '.' },
    json: { type: 'string' },
    fast: { type: 'boolean' },
  },
});
/** Problems that a worker makes before it answers, as in generate.ts. */
const CHUNK = 32;

type Write = (file: string, bytes: Uint8Array) => Promise<void>;
const inBatches = (): [Write, () => Promise<void>] => {
  const batch = new FileBatch();
  return [(file, bytes) => batch.write(file, bytes), () => batch.finish()];
};
const done = (): Promise<void> => Promise.resolve();
const WAYS: Readonly<Record<string, () => [Write, () => Promise<void>]>> = {
  'without syncing': () => [
    (file, bytes) => writeFileAtomically(file, bytes, { sync: false }),
    done,
  ],
  'one after the other': () => [(file, bytes) => writeFileAtomically(file, bytes), done],
  'while the next are made': inBatches,
};

async function measure(way: string): Promise<{ clock: number; processor: number }> {
  const root = mkdtempSync(path.join(values.folder, 'file-sync-'));
  try {
    await makeFolder(path.join(root, 'center_single'));
    execFileSync('sync');
    const start = performance.now();
    const before = process.cpuUsage();
    for (let first = 0; first < Number(values.problems); first += CHUNK) {
      const [write, finish] = WAYS[way]();
      for (let index = first; index < first + CHUNK; index++) {
        const problem = sampleProblem({ configuration: 'center', seed: 1, index });
        for (const { file, bytes } of ravenFiles(root, index, problem)) await write(file, bytes());
      }
      await finish();
    }
    const { user, system } = process.cpuUsage(before);
    return { clock: performance.now() - start, processor: (user + system) / 1000 };
  } finally {
    rmSync(root, { recursive: true });
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

const found: Record<string, { clock: number; processor: number }[]> = {};
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const way of Object.keys(WAYS)) {
    if (values.fast && way === 'one after the other') continue;
    const taken = await measure(way);
    // The first round is for the compiler.
    if (round > 0) (found[way] ??= []).push(taken);
  }
}
console.log('| files are synced | ms a problem, on the clock | of processor time |\n|---|---|---|');
for (const [way, rounds] of Object.entries(found)) {
  const each = (key: 'clock' | 'processor'): string =>
    (median(rounds.map((taken) => taken[key])) / Number(values.problems)).toFixed(2);
  console.log(`| ${way} | ${each('clock')} | ${each('processor')} |`);
}
if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(found));
