/** Paths are looked at before any work: what is refused names the argument, and nothing is changed. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/errors.js';
import { requireOwnFile } from '../../src/cli/own-files.js';
import { ownJson, ownPage } from '../../src/cli/own-reports.js';
import { requireInput, requireOutputFile, requireOutputFolder } from '../../src/cli/paths.js';
import { scratchFolder } from '../scratch-folder.js';
import { failureOf } from './crab-in-process.js';

const folder = scratchFolder();
const at = (...names: string[]): string => path.join(folder, ...names);

beforeAll(() => {
  mkdirSync(at('folder'));
  writeFileSync(at('file.csv'), 'mine');
});

describe('outputs', () => {
  const page = ownPage('Written by x');
  const json = ownJson('crab-x', 'a file of x');
  test.each([
    ['page.html', page, '', false],
    ['page.html', page, '<footer>Written by x; so.</footer>', true],
    ['page.html', page, '# Mine', false],
    ['page.html', page, 'Written by x', false],
    ['page.html', page, '<footer>Written by y</footer>', false],
    ['x.json', json, '', false],
    ['x.json', json, '{"format": "crab-x", "version": 7}', true],
    ['x.json', json, '{"format": "crab-y"}', false],
    ['x.json', json, '["crab-x"]', false],
    ['x.json', json, 'null', false],
    ['x.json', json, '{"format": "crab-x"', false],
  ])('%s is written over files of the same command only: %#', async (name, own, text, may) => {
    const file = at('folder', name);
    await requireOwnFile('--report', file, [], own);
    writeFileSync(file, text);
    try {
      const check = requireOwnFile('--report', file, [], own);
      const error: unknown = await check.catch((thrown: unknown) => thrown);
      if (may) return expect(error).toMatchObject({ direct: false });
      expect((error as Error).message).toMatch(/^--report .*: this file exists .*another file/);
      expect(exitCodeOf(error)).toBe(2);
    } finally {
      rmSync(file);
    }
  });

  test.each([
    ['evaluate --model x --report', 'mine.md'],
    ['evaluate --model x --save', 'mine.json'],
    ['report --pictures x --save', 'mine.json'],
    ['grade FILE --items FILE --out', 'mine.html'],
  ])('%s %s keeps a file of somebody else', async (asked, name) => {
    const mine = path.join(scratchFolder(), name);
    writeFileSync(mine, '# Mine');
    const args = asked.replaceAll('FILE', at('file.csv')).split(' ');
    const { message, code } = await failureOf(...args, mine);
    expect(code).toBe(2);
    expect(message).toMatch(/^--(report|save|out) .*mine\.\w+: this file exists/);
    expect(readFileSync(mine, 'utf8')).toBe('# Mine');
  });

  test('may be new, in new folders, or written over', async () => {
    await requireOutputFile('--out', at('new', 'deep', 'x.html'));
    await requireOutputFile('--out', at('file.csv'));
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
    [
      'a place among the files of an input',
      () =>
        requireOutputFile('--out', at('folder', '3.png'), [
          { argument: 'INPUT', location: at('folder'), whole: true },
        ]),
      /this lies in INPUT/,
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

  test.skipIf(process.platform === 'win32')('two links to one new file are wrong use', async () => {
    const links = scratchFolder();
    const [first, second, around] = ['a', 'b', 'around'].map((name) => path.join(links, name));
    const target = path.join(links, 'new.json');
    for (const link of [first, second]) symlinkSync(target, link);
    symlinkSync(links, around);
    for (const location of [second, target, path.join(around, 'new.json')]) {
      const before = [{ argument: '--save', location: first }];
      await expect(requireOutputFile('--answers', location, before)).rejects.toThrow(/also --save/);
    }
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
    [['evaluate', ...model, '--part', 'val'], 2, /^--part is of --data/],
    [['evaluate', ...model, '--data', 'FILE', '--part', 'val'], 2, /^--part is of a RAVEN folder/],
    [['evaluate', ...model, '--device', 'cuda'], 2, /^--device is of a run: center is no run/],
    [['report', '--zoo', '--device', 'cuda'], 2, /^--device is of a run: .*zoo\/ holds none/],
    [['report', '--pictures', 'center', '--device', 'cpu'], 2, /^--device is of a run: center is/],
    [['evaluate', ...model, '--data', 'FILE', '--count', '5'], 2, /^--count/],
    [['evaluate', ...model, '--metrics', 'vd', '--count', '5'], 2, /^--count is of sa, gsa/],
    [['evaluate', ...model, '--metrics', 'vd', '--data', 'FILE'], 2, /^--data is of sa, gsa/],
    [['evaluate', ...model, '--repeats', '3'], 2, /^--repeats is of gsa: --metrics sa does not/],
    [['evaluate', '--model', 'nothing'], 2, /^--model nothing is neither a folder/],
    [['report', '--zoo', '--out', 'FILE'], 2, /^--out .*this is a file/],
    [['report', '--zoo', 'NONE'], 1, /^--zoo .*no such file/],
    [['report', '--zoo', '--data', 'NONE'], 1, /^--data .*no such file/],
    [['report', '--zoo', '--docs', 'FOLDER'], 2, /^--docs .*no results\.md/],
    [['report', '--zoo', '--cards', '--docs', 'FOLDER'], 2, /^--docs .*no folder measured/],
    [['report', '--cards'], 2, /^--cards needs --zoo/],
    [['report', '--systems'], 2, /^--systems needs --docs/],
    [['report', '--systems', '--zoo'], 2, /^--systems does not go with --zoo/],
    [['report', '--zoo', '--examples', '2'], 2, /^--zoo does not go with --examples/],
    [['report', '--cards', '--zoo', '--count', '5'], 2, /^--cards does not go with --count/],
    [
      ['report', '--answer-sets', '--metrics', 'sa'],
      2,
      /^--answer-sets does not go with --metrics/,
    ],
    [
      ['report', '--pictures', 'FILE', '--docs', 'FOLDER'],
      2,
      /^--pictures does not go with --docs/,
    ],
    [['report', '--pictures', 'a.json', '--seed', '2'], 2, /^--seed is of models/],
    [['report', '--pictures', 'NONE', '--quiet'], 2, /^--pictures .* is neither a folder/],
    [
      ['text', '--set', 'i-raven-x', '--count', '99999999999999999', '--out', 'x'],
      2,
      /1 to 1000000/,
    ],
    [
      ['arrays', 'FILE', '--out', 'x.npz', '--count', '9'.repeat(20)],
      2,
      /number, 1 to 900719925474/,
    ],
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
