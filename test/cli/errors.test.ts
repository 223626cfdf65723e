import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryName } from '../../src/base/node.js';
import { exitCodeOf } from '../../src/cli/errors.js';
import { sentenceAfterStop, sentenceOf } from '../../src/cli/sentences.js';
import { UnsavedError } from '../../src/training/errors.js';

const refusal = (code: string, path: string): Error =>
  Object.assign(new Error(`${code}: as the system says it`), { code, path });

test.each([
  ['data/.set.npz.123_456_0a1b2c3d_0a1b2c3d.part', 'data/set.npz: no such file or folder'],
  [temporaryName('items.pdf'), 'items.pdf: no such file or folder'],
  ['data/.hidden.part', 'data/.hidden.part: no such file or folder'],
])('an error names the file a person knows: %s', (path, sentence) => {
  expect(sentenceOf(refusal('ENOENT', path))).toBe(sentence);
});

test('a name that is too long', () => {
  expect(sentenceOf(refusal('ENAMETOOLONG', 'a.npz'))).toBe('a.npz: the name is too long');
});

test('after Ctrl-C only what was lost is worth a word', async () => {
  expect(await sentenceAfterStop(new Error('aborted'))).toBe('stopped before the end');
  const unsaved = new UnsavedError('runs/a', 9, 4, new Error('no space left on the device'));
  expect(await sentenceAfterStop(unsaved)).toBe(
    'runs/a: steps 5 to 9 could not be saved (no space left on the device) and are lost; make room and go on from step 4 with: crab train --resume runs/a',
  );
  expect(exitCodeOf(unsaved)).toBe(1);
});

test.each([
  ['scripts/check-gpu.mjs', '--gpu', "Unknown option '--gpu': expected --device"],
  ['scripts/check-gpu.mjs', '--device=tpu', '--device tpu: expected cpu, cuda or cuda:n'],
  ['scripts/setup-torch.mjs', 'now', "Unexpected argument 'now': expected --if-needed, --check"],
  ['bench/campaign.mjs', '--out', "Option '--out <value>' argument missing: expected --out"],
])('%s %s is wrong use, told in one line', (program, argument, sentence) => {
  const file = path.resolve(import.meta.dirname, '../..', program);
  const { status, stderr } = spawnSync(process.execPath, [file, argument], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
