import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { contactSheet, encodePng, ravenFileName, sampleProblem } from '../../src/matrix/index.js';
import { convert } from '../../src/matrix/node.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';
import { words } from './words.js';

const folder = scratchFolder();
const at = (name: string): string => path.join(folder, name);
const SETTING = ['--count', '20', '--seed', '9', '--quiet'];

describe('crab convert', () => {
  beforeAll(async () => {
    for (const config of ['center', 'out-in-grid']) {
      const args = ['generate', '--config', config, ...SETTING, '--out', at('raven')];
      expect((await crab(args)).code).toBe(0);
    }
    const args = ['generate', '--config', 'center', ...SETTING];
    expect((await crab([...args, '--format', 'npz', '--out', at('made.npz')])).code).toBe(0);
  });

  test('a folder becomes the set that generate makes, copied or drawn again', async () => {
    const center = at('raven/center_single');
    expect((await crab(['convert', center, '--out', at('copied.npz')])).code).toBe(0);
    expect((await crab(['convert', center, '--redraw', '--out', at('drawn.npz')])).code).toBe(0);
    const made = readFileSync(at('made.npz'));
    expect(readFileSync(at('copied.npz')).equals(made)).toBe(true);
    expect(readFileSync(at('drawn.npz')).equals(made)).toBe(true);
  });

  test('folders of configurations without problems are no success', async () => {
    for (const name of ['center_single', 'distribute_four'])
      mkdirSync(at(`empty/${name}`), { recursive: true });
    const { code, stderr } = await crab(['convert', at('empty'), '--out', at('nothing')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/empty holds no RAVEN problems/);
    expect(existsSync(at('nothing'))).toBe(false);
  });

  test('a root with several configurations becomes several sets', async () => {
    const { code, stdout } = await crab(
      words`convert ${at('raven')} --format npz --out ${at('sets')} --json`,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ problems: 40 });
    expect(readdirSync(at('sets')).sort()).toEqual([
      'center_single.npz',
      'in_distribute_four_out_center_single_uniform.npz',
    ]);
  });

  test('a folder drawn again is the same folder', async () => {
    expect((await crab(['convert', at('raven'), '--redraw', '--out', at('again')])).code).toBe(0);
    const names = readdirSync(at('again/center_single')).sort();
    expect(names).toHaveLength(40);
    for (const name of names) {
      const [a, b] = ['again', 'raven'].map((root) => at(`${root}/center_single/${name}`));
      expect(readFileSync(a).equals(readFileSync(b)), name).toBe(true);
    }
  });

  test("refuses to draw again from another problem's description", async () => {
    const problems = Array.from({ length: 20 }, (_, index) =>
      sampleProblem({ configuration: 'center', variant: 'raven', seed: 9, index }),
    );
    // With another answer, rules would not hold: that is refused already when the XML is read.
    const other = problems.findIndex(({ target }, i) => i > 3 && target === problems[3].target);
    cpSync(at('raven/center_single'), at('mixed/center_single'), { recursive: true });
    cpSync(
      at(`raven/center_single/${ravenFileName(other)}.xml`),
      at('mixed/center_single/RAVEN_3_train.xml'),
    );
    const args = ['convert', at('mixed/center_single'), '--redraw', '--out', at('mixed.npz')];
    const { code, stderr } = await crab(args);
    expect(stderr).toMatch(/RAVEN_3_train\.npz describes another problem/);
    expect(code).toBe(1);
    expect(existsSync(at('mixed.npz'))).toBe(false);
  });

  test('sheets without answers are those that generate makes', async () => {
    const args = words`convert ${at('raven/center_single')} --format png --no-answers --quiet`;
    expect((await crab([...args, '--out', at('silent')])).stderr).toBe('');
    const index = 3;
    const problem = sampleProblem({ configuration: 'center', variant: 'raven', seed: 9, index });
    const sheet = contactSheet(problem, { title: 'RAVEN_3_train', markAnswer: false });
    expect(readFileSync(at('silent/RAVEN_3_train.png')).equals(encodePng(sheet))).toBe(true);
  });

  test('a set becomes contact sheets', async () => {
    const args = ['convert', at('made.npz'), '--format', 'png', '--out', at('sheets')];
    expect((await crab(args)).code).toBe(0);
    expect(readdirSync(at('sheets'))).toHaveLength(20);
  });

  test.each<[string, string[], RegExp]>([
    ['redrawing a set', ['made.npz', '--format', 'npz', '--redraw'], /needs a RAVEN folder/],
    ['answers that cannot be hidden', ['raven', '--no-answers'], /--no-answers is for png/],
    ['a folder without problems', ['sheets', '--format', 'npz'], /no RAVEN problems/],
  ])('refuses %s', async (_, [input, ...rest], sentence) => {
    const { code, stderr } = await crab(['convert', at(input), ...rest, '--out', at('refused')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(() => readdirSync(at('refused'))).toThrow();
  });

  test.each<[string, string[], RegExp]>([
    ['one file for several sets', ['raven', '--out', 'x.npz'], /a set for each configuration/],
    [
      'a set named as a picture',
      ['made.npz', '--format', 'npz', '--out', 'x.png'],
      /not end in \.png/,
    ],
    ['pictures named as one', ['made.npz', '--format', 'png', '--out', 'x.png'], /makes a folder/],
    [
      'an option for a path',
      ['made.npz', '--out', '--redraw'],
      /--out --redraw: a value is missing/,
    ],
  ])('refuses %s', async (_, [input, ...rest], sentence) => {
    const { code, stderr } = await crab(['convert', at(input), ...rest], { cwd: folder });
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
    expect(existsSync(at(rest[rest.length - 1]))).toBe(false);
  });

  test.skipIf(process.platform === 'win32')('refuses a pipe at once', async () => {
    const pipe = path.join(folder, 'pipe.npz');
    execFileSync('mkfifo', [pipe]);
    const { code, stderr } = await crab(['convert', pipe, '--out', path.join(folder, 'p.npz')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/pipe\.npz is not a file/);
  });

  test.each(['raven', 'png'] as const)(
    'stopped, leaves no half of a folder: %s',
    async (format) => {
      for (const input of [at('raven/center_single'), at('made.npz')]) {
        const stop = new AbortController();
        const out = at(`half-${format}`);
        let written: string[] = [];
        const converting = convert({
          input,
          format,
          out,
          signal: stop.signal,
          onProgress: () => {
            written = readdirSync(out);
            stop.abort();
          },
        });
        // A set comes in one batch, so that all of it is there before anyone can stop.
        if (input.endsWith('.npz')) await converting;
        else await expect(converting).rejects.toThrow(/abort/i);
        expect(written).not.toEqual([]);
        expect(existsSync(out)).toBe(input.endsWith('.npz'));
      }
    },
  );

  test('refuses what is not there, and a file that is no set', async () => {
    const missing = await crab(['convert', at('nothing.npz'), '--out', at('refused.npz')]);
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toMatch(/nothing\.npz: no such file/);
    const foreign = await crab(['convert', 'package.json', '--out', at('refused.npz')]);
    expect(foreign.code).toBe(1);
    expect(foreign.stderr).toMatch(/package\.json/);
  });
});
