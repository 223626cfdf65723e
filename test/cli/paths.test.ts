/** Paths are looked at before any work: what is refused names the argument, and nothing is changed. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/errors.js';
import {
  requireInput,
  requireOutputFile,
  requireOutputFolder,
  requireOwnPage,
} from '../../src/cli/paths.js';
import { scratchFolder } from '../scratch-folder.js';
import { failureOf } from './crab-in-process.js';
import { words } from './words.js';

const folder = scratchFolder();
const at = (...names: string[]): string => path.join(folder, ...names);

beforeAll(() => {
  mkdirSync(at('folder'));
  writeFileSync(at('file.csv'), 'mine');
});

describe('outputs', () => {
  test('pages are written over pages of the same command only', async () => {
    const page = at('folder', 'page.html');
    await requireOwnPage('--report', undefined, 'Written by x');
    await requireOwnPage('--report', page, 'Written by x');
    for (const own of ['', '<footer>Written by x; so.</footer>']) {
      writeFileSync(page, own);
      await requireOwnPage('--report', page, 'Written by x');
    }
    for (const foreign of ['# Mine', 'Written by x', '<footer>Written by y</footer>']) {
      writeFileSync(page, foreign);
      const error = await requireOwnPage('--report', page, 'Written by x').catch((e: unknown) => e);
      expect((error as Error).message).toMatch(/^--report .*page\.html: .*name another file/);
      expect(exitCodeOf(error)).toBe(2);
    }
    rmSync(page);
    writeFileSync(at('mine.md'), '# Mine');
    const { message, code } = await failureOf(
      ...words`evaluate --model x --report ${at('mine.md')}`,
    );
    expect(code).toBe(2);
    expect(message).toMatch(/^--report .*mine\.md: this file exists/);
    expect(readFileSync(at('mine.md'), 'utf8')).toBe('# Mine');
    rmSync(at('mine.md'));
  });

  test('may be new, in new folders, or written over', async () => {
    await requireOutputFile('--out', at('new', 'deep', 'x.html'));
    await requireOutputFile('--out', at('file.csv'));
    await requireOutputFile('--out', undefined);
    await requireOutputFolder('--out', at('new', 'deep'));
    await requireOutputFolder('--out', at('folder'));
    expect(readdirSync(folder).sort()).toEqual(['file.csv', 'folder']);
  });

  test.each([
    [
      'a folder',
      () => requireOutputFile('--out', at('folder')),
      /^--out .*folder: this is a folder/,
    ],
    ['a folder to be', () => requireOutputFile('--out', at('x') + path.sep), /this is a folder/],
    ['nothing', () => requireOutputFile('--out', ''), /^--out is empty/],
    ['below a file', () => requireOutputFile('--out', at('file.csv', 'x')), /file\.csv is a file/],
    [
      'an input',
      () =>
        requireOutputFile('--out', at('folder', '..', 'file.csv'), [
          { argument: 'RESPONSES', location: at('file.csv') },
        ]),
      /this is also RESPONSES/,
    ],
    ['a file', () => requireOutputFolder('--out', at('file.csv')), /this is a file/],
  ])('%s is wrong use', async (_, check, message) => {
    const error: unknown = await check().catch((thrown: unknown) => thrown);
    expect((error as Error).message).toMatch(message);
    expect(exitCodeOf(error)).toBe(2);
  });

  test.skipIf(process.platform === 'win32')('a link to an input is wrong use', async () => {
    const links = scratchFolder();
    const link = path.join(links, 'link.csv');
    symlinkSync(at('file.csv'), link);
    const input = [{ argument: 'RESPONSES', location: at('file.csv') }];
    await expect(requireOutputFile('--out', link, input)).rejects.toThrow(/also RESPONSES/);
    await requireOutputFile('--out', link);
  });

  test('an input that is not there is a failure that names the argument', async () => {
    const error: unknown = await requireInput('--data', at('none')).catch((e: unknown) => e);
    expect((error as Error).message).toBe(`--data ${at('none')}: no such file or folder`);
    expect(exitCodeOf(error)).toBe(1);
  });
});

describe('commands', () => {
  const model = ['--model', 'center'];
  test.each([
    [['evaluate', ...model, '--report', 'FOLDER'], 2, /^--report .*this is a folder/],
    [['evaluate', ...model, '--save', 'FOLDER'], 2, /^--save .*this is a folder/],
    [
      ['evaluate', ...model, '--report', 'x.html', '--save', 'x.html'],
      2,
      /^--save x\.html: this is also --report/,
    ],
    [['evaluate', ...model, '--data', 'NONE'], 1, /^--data .*no such file/],
    [['evaluate', ...model, '--data', 'FILE', '--count', '5'], 2, /^--count/],
    [['evaluate', ...model, '--metrics', 'vd', '--count', '5'], 2, /^--count .*vd makes its own/],
    [['evaluate', '--model', 'nothing'], 2, /^--model nothing is neither a folder/],
    [['report', '--zoo', '--out', 'FILE'], 2, /^--out .*this is a file/],
    [['report', '--zoo', 'NONE'], 1, /^--zoo .*no such file/],
    [['report', '--zoo', '--data', 'NONE'], 1, /^--data .*no such file/],
    [['report', '--zoo', '--docs', 'FOLDER'], 2, /^--docs .*no results\.md/],
    [['grade', 'FILE', '--items', 'FOLDER', '--out', 'FILE'], 2, /^--out .*also RESPONSES/],
    [['grade', 'NONE', '--items', 'FOLDER'], 1, /^RESPONSES .*no such file/],
    [['grade', 'FILE', '--items', 'NONE'], 1, /^--items .*no such file/],
    [['solve', 'NONE', ...model], 1, /^INPUT .*no such file/],
    [['solve', 'FILE', ...model, '--out', 'FILE'], 2, /^--out .*also INPUT/],
    [['export', 'NONE', '--out', 'x'], 1, /^RUN .*no such file/],
    [['export', 'FOLDER', '--out', 'FILE'], 2, /^--out .*this is a file/],
  ])('%j', async (args, code, message) => {
    const named: Record<string, string> = {
      FOLDER: at('folder'),
      FILE: at('file.csv'),
      NONE: at('none'),
    };
    const failed = await failureOf(...args.map((arg) => named[arg] ?? arg));
    expect(failed.message).toMatch(message);
    expect(failed.code).toBe(code);
    expect(readdirSync(folder).sort()).toEqual(['file.csv', 'folder']);
    expect(readFileSync(at('file.csv'), 'utf8')).toBe('mine');
  });
});
