/**
 * Pipes and devices given in place of files: whoever reads refuses them at once. Opening a pipe would wait
 * for ever, and a few such would stop everything else that reads files.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTextInput } from '../../src/cli/paths.js';
import { readMeasured, updateResults } from '../../src/lab/results/index.js';
import { sampleProblem } from '../../src/matrix/index.js';
import { fileSource, openRegularFile, readSmallFile } from '../../src/base/node.js';
import { openProblems, readRavenProblem, writeRavenProblem } from '../../src/matrix/node.js';
import { readZoo } from '../../src/server/zoo.js';
import { folderSource, readProblem } from '../../src/solver/node.js';
import { SafetensorsFile } from '../../src/torch/safetensors/file.js';
import { openRun } from '../../src/training/open-run.js';
import { RunLock } from '../../src/training/run/lock.js';
import { scratchFolder } from '../scratch-folder.js';

/** A pipe of this name in a folder of its own; `below` is the folder's path. */
function pipe(...below: string[]): string {
  const file = path.join(scratchFolder(), ...below);
  mkdirSync(path.dirname(file), { recursive: true });
  execFileSync('mkfifo', [file]);
  return file;
}

describe.skipIf(process.platform === 'win32')('a pipe is refused by', () => {
  test.each<[string, () => unknown]>([
    ['openRegularFile', () => openRegularFile(pipe('a'))],
    ['readSmallFile', () => readSmallFile(pipe('a.json'), 100)],
    ['fileSource', () => fileSource(pipe('a.npz'))],
    ['a set', () => openProblems(pipe('a.npz'))],
    ['an HDF5 cache', () => openProblems(pipe('center_single', 'a.hdf5'))],
    ['a problem to solve', () => readProblem(pipe('a.npz'))],
    ['a picture to solve', () => readProblem(pipe('a.png'))],
    [
      'a bundle',
      () => folderSource(path.dirname(pipe('bundle.json'))).read('bundle.json', { most: 9 }),
    ],
    ['a safetensors file', () => SafetensorsFile.open(pipe('a.safetensors'))],
    ['a run', () => openRun(path.dirname(pipe('config.json')))],
    ['the lock of a run', () => new RunLock().take(path.dirname(pipe('training.lock')))],
    ['measurements', () => readMeasured(path.dirname(pipe('center.json')))],
    ['results', () => updateResults(path.dirname(pipe('results.md')))],
    ['the command line', () => readTextInput('--rules', pipe('rules.json'))],
  ])('%s', async (_, read) => {
    // Some throw at once, some reject.
    await expect(Promise.resolve().then(read)).rejects.toThrow(/not a file/);
  });

  test('a RAVEN folder, in place of a description', async () => {
    const root = scratchFolder();
    const problem = sampleProblem({ configuration: 'center', seed: 1, index: 0 });
    await writeRavenProblem(root, 0, problem);
    const xml = path.join(root, 'center_single', 'RAVEN_0_train.xml');
    execFileSync('rm', [xml]);
    execFileSync('mkfifo', [xml]);
    const place = { index: 0, part: 'train' } as const;
    await expect(readRavenProblem(path.dirname(xml), place)).rejects.toThrow(/a pipe/);
  });

  test('the list of models, which stays usable however often it is asked for', async () => {
    const manifest = pipe('bundles', 'x', 'bundle.json');
    const bundles = path.dirname(path.dirname(manifest));
    // Node has four threads for files: six that wait would stop everything.
    const answers = await Promise.all(Array.from({ length: 6 }, () => readZoo(bundles)));
    for (const answer of answers) expect(answer).toEqual({ bundles: [], damaged: ['x'] });
  });
});

test.skipIf(process.platform === 'win32')('a device and a folder are named as such', async () => {
  await expect(readSmallFile('/dev/null', 100)).rejects.toThrow(
    '/dev/null is not a file but a device: a regular file is needed',
  );
  const folder = scratchFolder();
  await expect(readSmallFile(folder, 100)).rejects.toThrow(`${folder} is not a file but a folder`);
});

test.skipIf(process.platform === 'win32')('a link to a file is a file', async () => {
  const folder = scratchFolder();
  writeFileSync(path.join(folder, 'file'), 'text');
  symlinkSync('file', path.join(folder, 'link'));
  expect(String(await readSmallFile(path.join(folder, 'link'), 100))).toBe('text');
});
