import { expect, test } from 'vitest';
import { exitCodeOf, sentenceAfterStop, sentenceOf } from '../../src/cli/errors.js';
import { UnsavedError } from '../../src/training/errors.js';

const refusal = (code: string, path: string): Error =>
  Object.assign(new Error(`${code}: as the system says it`), { code, path });

test.each([
  ['data/.set.npz.123-0a1b2c3d.part', 'data/set.npz: no such file or folder'],
  ['.items.pdf.123.part', 'items.pdf: no such file or folder'],
  ['data/.hidden.part', 'data/.hidden.part: no such file or folder'],
])('an error names the file a person knows: %s', (path, sentence) => {
  expect(sentenceOf(refusal('ENOENT', path))).toBe(sentence);
});

test('a name that is too long', () => {
  expect(sentenceOf(refusal('ENAMETOOLONG', 'a.npz'))).toBe('a.npz: the name is too long');
});

test('after Ctrl-C only what was lost is worth a word', () => {
  expect(sentenceAfterStop(new Error('aborted'))).toBe('stopped before the end');
  const unsaved = new UnsavedError('runs/a', 9, 4, new Error('no space left on the device'));
  expect(sentenceAfterStop(unsaved)).toBe(
    'runs/a: steps 5 to 9 could not be saved (no space left on the device) and are lost; make room and go on from step 4 with: crab train --resume runs/a',
  );
  expect(exitCodeOf(unsaved)).toBe(1);
});
