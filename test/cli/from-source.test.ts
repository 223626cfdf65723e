/** `npm run crab`: the command line as it is written, under tsx, with its threads and child processes. */
import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';
import { words } from './words.js';

const run = promisify(execFile);
const MAIN = path.resolve(import.meta.dirname, '../../src/cli/main.ts');
const fromSource = (...args: string[]) => run(process.execPath, ['--import', 'tsx', MAIN, ...args]);

test('worker threads make what those of the built one make', async () => {
  const folder = scratchFolder();
  const [written, built] = ['written.npz', 'built.npz'].map((name) => path.join(folder, name));
  const wanted = words`generate --config center --count 6 --format npz --workers 2`;
  await fromSource(...wanted, '--out', written);
  expect((await crab([...wanted, '--out', built])).code).toBe(0);
  expect((await readFile(written)).equals(await readFile(built))).toBe(true);
});

test('child processes tell what is installed', async () => {
  const { stdout } = await fromSource('info', '--json');
  const parsed = JSON.parse(stdout) as object;
  expect(parsed).toEqual(JSON.parse((await crab(['info', '--json'])).stdout));
});
