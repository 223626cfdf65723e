import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { faultSentence, systemCauseOf, systemFaultOf } from '../../src/base/node.js';

test('what the system refuses is told in words, with the path', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'crab-system-'));
  try {
    const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((e: unknown) => e);
    const absent = path.join(folder, 'absent');
    expect(systemFaultOf(await failureOf(readFile(absent)))).toEqual({
      code: 'ENOENT',
      reason: 'no such file or folder',
      path: absent,
      ofDisk: false,
    });
    const inFolder = await failureOf(writeFile(folder, ''));
    expect(systemFaultOf(inFolder)?.reason).toBe('this is a folder, a file was expected');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('causes count only where that is asked for and they tell more; the outermost does', () => {
  const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
  const wrapped = new Error('saving failed', { cause: full });
  expect(systemFaultOf(wrapped)).toBeNull();
  expect(systemCauseOf(wrapped)?.code).toBe('ENOSPC');
  const denied = Object.assign(new Error('open', { cause: full }), { code: 'EACCES' });
  expect(systemCauseOf(denied)?.code).toBe('EACCES');
  const isFolder = Object.assign(new Error('open'), { code: 'EISDIR' });
  const telling = new Error('runs/x could not be exported', { cause: isFolder });
  expect(systemCauseOf(telling)).toBeNull();
  Object.assign(isFolder, { path: 'runs/x' });
  expect(systemCauseOf(telling)?.path).toBe('runs/x');
});

test('a sentence names the path, or a place, or what has none', () => {
  const fault = { code: 'EACCES', reason: 'permission denied', ofDisk: false };
  expect(faultSentence(fault, 'the disk')).toBe('the disk: permission denied');
  expect(faultSentence({ ...fault, path: 'a' }, 'the disk')).toBe('a: permission denied');
  const files = systemFaultOf(Object.assign(new Error('open'), { code: 'EMFILE', path: 'a' }));
  expect(files && faultSentence(files, 'the disk')).toBe(
    'too many open files: raise the limit (ulimit -n)',
  );
});

test('other errors have no words of the system', () => {
  const odd = Object.assign(new Error('odd'), { code: 'toString' });
  for (const error of [odd, new Error('plain'), 'text', null]) {
    expect(systemCauseOf(error)).toBeNull();
  }
});
