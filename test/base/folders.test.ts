/** Folders are made with those above them, once; where none can be made, that is said at once. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, makeFolderOf } from '../../src/base/node.js';
import { scratchPlaces } from '../scratch-folder.js';

const at = scratchPlaces();

test('makes what is missing and leaves what is there', async () => {
  await makeFolder(at('a', 'b', 'c'));
  expect(statSync(at('a', 'b', 'c')).isDirectory()).toBe(true);
  writeFileSync(at('a', 'b', 'kept'), '');
  await makeFolder(at('a', 'b'));
  expect(existsSync(at('a', 'b', 'kept'))).toBe(true);
  await makeFolderOf(at('d', 'file.txt'));
  expect(existsSync(at('d', 'file.txt'))).toBe(false);
  expect(statSync(at('d')).isDirectory()).toBe(true);
  await makeFolder(path.parse(at()).root);
});

test('several may make the same at once', async () => {
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(at('many', 'deep'))));
  expect(statSync(at('many', 'deep')).isDirectory()).toBe(true);
});

test('a file in the way is told', async () => {
  mkdirSync(at('way'));
  writeFileSync(at('way', 'file'), '');
  await expect(makeFolder(at('way', 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeFolder(at('way', 'file', 'x', 'y'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test.skipIf(!existsSync('/proc/self'))('where none can be made, it fails at once', async () => {
  await expect(makeFolder('/proc/crab-nothing/deep')).rejects.toThrow(/\/proc\/crab-nothing\b/);
});
