import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';

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

  test('a root with several configurations becomes several sets', async () => {
    const { code, stdout } = await crab([
      'convert',
      at('raven'),
      '--format',
      'npz',
      '--out',
      at('sets'),
      '--json',
    ]);
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

  test('a set becomes contact sheets', async () => {
    const args = ['convert', at('made.npz'), '--format', 'png', '--out', at('sheets')];
    expect((await crab(args)).code).toBe(0);
    expect(readdirSync(at('sheets'))).toHaveLength(20);
  });

  test.each<[string, string[], RegExp]>([
    ['redrawing a set', ['made.npz', '--format', 'npz', '--redraw'], /needs a RAVEN folder/],
    ['a folder without problems', ['sheets', '--format', 'npz'], /no RAVEN problems/],
  ])('refuses %s', async (_, [input, ...rest], sentence) => {
    const { code, stderr } = await crab(['convert', at(input), ...rest, '--out', at('refused')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(sentence);
    expect(() => readdirSync(at('refused'))).toThrow();
  });

  test.skipIf(process.platform === 'win32')('refuses a pipe at once', async () => {
    const pipe = path.join(folder, 'pipe.npz');
    execFileSync('mkfifo', [pipe]);
    const { code, stderr } = await crab(['convert', pipe, '--out', path.join(folder, 'p.npz')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/pipe\.npz is not a file/);
  });

  test('refuses what is not there, and a file that is no set', async () => {
    const missing = await crab(['convert', at('nothing.npz'), '--out', at('refused.npz')]);
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toMatch(/nothing\.npz: no such file/);
    const foreign = await crab(['convert', 'package.json', '--out', at('refused.npz')]);
    expect(foreign.code).toBe(1);
    expect(foreign.stderr).toMatch(/package\.json/);
  });
});
