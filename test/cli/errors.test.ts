import { expect, test } from 'vitest';
import { sentenceAfterStop, sentenceOf } from '../../src/cli/errors.js';
import { temporaryName } from '../../src/matrix/node.js';
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

test('after Ctrl-C only what was lost is worth a word', () => {
  expect(sentenceAfterStop(new Error('aborted'))).toBe('stopped before the end');
  expect(sentenceAfterStop(new UnsavedError('runs/a', 4, 'no space left on the device'))).toBe(
    'runs/a: the last steps could not be saved (no space left on the device); the checkpoint of step 4 is the last one',
  );
});
