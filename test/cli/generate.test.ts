import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { contactSheet, encodePng, readNpz, sampleProblem } from '../../src/matrix/index.js';
import { openProblems, openSet } from '../../src/matrix/node.js';
import { pdfTexts } from '../matrix/pdf-texts.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';
import { words } from './words.js';

const folder = scratchFolder();
let used = 0;
const fresh = (ending = ''): string => path.join(folder, `out-${used++}${ending}`);
const hashOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex');

/** Every file of a folder with its hash. */
const hashesOf = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root)
      .sort()
      .map((name) => [name, hashOf(path.join(root, name))]),
  );

const generate = (...args: string[]): ReturnType<typeof crab> =>
  crab(['generate', '--quiet', ...args]);

describe('crab generate', () => {
  test('a set does not depend on the number of workers', async () => {
    const [one, three] = [fresh('.npz'), fresh('.npz')];
    const common = ['--config', 'grid-2x2', '--count', '100', '--seed', '7', '--format', 'npz'];
    expect((await generate(...common, '--out', one, '--workers', '1')).code).toBe(0);
    expect((await generate(...common, '--out', three, '--workers', '3')).code).toBe(0);
    expect(hashOf(one)).toBe(hashOf(three));
  });

  test('a smaller count gives the first problems of a larger one', async () => {
    const [few, many] = [fresh('.npz'), fresh('.npz')];
    const common = ['--config', 'center', '--seed', '3', '--format', 'npz', '--variant', 'i-raven'];
    await generate(...common, '--count', '5', '--out', few);
    await generate(...common, '--count', '70', '--out', many);
    const [small, large] = [await openSet(few), await openSet(many)];
    expect(small.count).toBe(5);
    expect(large.count).toBe(70);
    expect(await small.read(0, 5)).toEqual(await large.read(0, 5));
    await Promise.all([small.close(), large.close()]);
  });

  test('an interrupted folder is resumed to the same files', async () => {
    const out = fresh();
    const args = ['--config', 'left-right', '--count', '12', '--seed', '5', '--out', out];
    expect((await generate(...args)).code).toBe(0);
    const where = path.join(out, 'left_center_single_right_center_single');
    const complete = hashesOf(where);
    rmSync(path.join(where, 'RAVEN_3_train.npz'));
    rmSync(path.join(where, 'RAVEN_8_test.npz'));
    rmSync(path.join(where, 'RAVEN_8_test.xml'));
    const resumed = await generate(...args, '--resume', '--json');
    expect(JSON.parse(resumed.stdout)).toMatchObject({ problems: 12, kept: 10 });
    expect(hashesOf(where)).toEqual(complete);

    const other = await generate(...args.with(5, '6'), '--resume');
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(/made with other options/);
  });

  test.each([
    ['raven', 'center_single', 'RAVEN_2_train.npz', 'RAVEN_3_train.xml', 'RAVEN_4_train.npz'],
    ['png', 'center', 'center-00002.png', 'center-00003.png', 'center-00004.png'],
    ['svg', 'center', 'center-00002.svg', 'center-00003.svg', 'center-00004.svg'],
  ])(
    '%s: files that are cut off, empty or overwritten are made again',
    async (format, ...names) => {
      const out = fresh();
      const args = ['--config', 'center', '--count', '6', '--format', format, '--out', out];
      expect((await generate(...args)).code).toBe(0);
      const where = path.join(out, names[0]);
      const complete = hashesOf(where);
      const [cutOff, empty, zeroed] = names.slice(1).map((name) => path.join(where, name));
      truncateSync(cutOff, 1000);
      truncateSync(empty, 0);
      // As after a power cut: the length is right, the content never reached the disk.
      writeFileSync(zeroed, new Uint8Array(statSync(zeroed).size));
      const { stdout } = await generate(...args, '--resume');
      expect(stdout).toMatch(/^3 problems \(3 of them were damaged\), 3 were there already/);
      expect(hashesOf(where)).toEqual(complete);
    },
  );

  test('compressed RAVEN folders hold the same arrays, and do not mix with others', async () => {
    const [plain, small] = [fresh(), fresh()];
    const args = ['--config', 'center', '--count', '2', '--out'];
    expect((await generate(...args, plain)).code).toBe(0);
    expect((await generate(...args, small, '--compress')).code).toBe(0);
    const read = async (root: string): Promise<unknown> => {
      const source = await openProblems(path.join(root, 'center_single'));
      return source.read(0, 2);
    };
    expect(await read(small)).toEqual(await read(plain));
    const size = (root: string): number =>
      statSync(path.join(root, 'center_single', 'RAVEN_0_train.npz')).size;
    expect(size(small)).toBeLessThan(size(plain) / 10);
    expect((await generate(...args, small, '--resume')).stderr).toMatch(/made with other options/);
    expect((await generate(...args, small, '--resume', '--compress')).stdout).toMatch(
      /2 were there/,
    );
    const other = await generate(...args, fresh('.npz'), '--format', 'npz', '--compress');
    expect(other.stderr).toMatch('--compress is for --format raven, not npz');
  });

  test('a regime goes by the number of a problem; --split makes one part of it', async () => {
    const [whole, part] = [fresh(), fresh()];
    const args = ['--config', 'center', '--regime', 'a-type', '--count', '10', '--seed', '4'];
    expect((await generate(...args, '--out', whole)).stderr).toBe('');
    expect((await generate(...args, '--split', 'test', '--out', part)).stderr).toBe('');
    const [all, tests] = [whole, part].map((root) => path.join(root, 'center_single'));
    const typeRule = (file: string) =>
      /attr="Type" name="(\w+)"/.exec(readFileSync(file, 'utf8'))![1];
    for (const name of readdirSync(all).filter((each) => each.endsWith('.xml'))) {
      const constant = typeRule(path.join(all, name)) === 'Constant';
      expect(constant, name).toBe(!name.includes('test'));
    }
    expect(readdirSync(tests).filter((name) => name.endsWith('_test.xml'))).toHaveLength(10);
    // The same problem, whichever way it is asked for.
    expect(hashOf(path.join(all, 'RAVEN_8_test.npz'))).toBe(
      hashOf(path.join(tests, 'RAVEN_8_test.npz')),
    );
    const alone = await generate(...words`--config center --count 1 --split test --out ${fresh()}`);
    expect([alone.code, alone.stderr]).toEqual([
      2,
      expect.stringMatching(/--split goes with --regime/),
    ]);
  });

  test('rule parameters are arrays of RAVEN files if asked for', async () => {
    const out = fresh();
    const args = ['--config', 'center', '--count', '1', '--rule-parameters', '--out', out];
    expect((await generate(...args)).stderr).toBe('');
    const file = readFileSync(path.join(out, 'center_single', 'RAVEN_0_train.npz'));
    expect([...(await readNpz(file)).keys()]).toEqual(expect.arrayContaining(['rule_index']));
    const other = await generate(...args.with(-1, fresh('.npz')), '--format', 'npz');
    expect(other.stderr).toMatch(/--rule-parameters is for --format raven/);
  });

  test('sheets without answers, and the answers in a file', async () => {
    const [out, key] = [fresh(), fresh('.csv')];
    const args = ['--config', 'center', '--count', '2', '--format', 'png', '--out', out];
    expect((await generate(...args, '--no-answers', '--answers', key)).stderr).toBe('');
    expect(readFileSync(key, 'utf8')).toMatch(/Type:/);
    const problem = sampleProblem({ configuration: 'center', variant: 'raven', seed: 0, index: 1 });
    const silent = contactSheet(problem, { title: 'center-00001', markAnswer: false });
    const sheet = readFileSync(path.join(out, 'center', 'center-00001.png'));
    expect(sheet.equals(encodePng(silent))).toBe(true);
    // Sheets with and without answers do not mix.
    const other = await generate(...args, '--resume');
    expect(other.stderr).toMatch(/made with other options/);
  });

  test('answers name rules, changes and the right candidate', async () => {
    const answers = fresh('.csv');
    const out = fresh('.pdf');
    const args = ['--config', 'up-down', '--count', '4', '--seed', '2', '--format', 'pdf'];
    expect((await generate(...args, '--out', out, '--answers', answers)).code).toBe(0);
    const [header, ...rows] = readFileSync(answers, 'utf8').trimEnd().split('\r\n');
    expect(header.split(',').slice(0, 6)).toEqual([
      'item',
      'configuration',
      'variant',
      'seed',
      'index',
      'answer',
    ]);
    expect(rows).toHaveLength(4);
    rows.forEach((row, index) => {
      const problem = sampleProblem({ configuration: 'up-down', seed: 2, index });
      expect(row.startsWith(`up-down-0000${index},up-down,raven,2,${index},`)).toBe(true);
      expect(row.split(',')[5]).toBe(String(problem.target + 1));
      expect(row).toContain('Up: Type:');
    });
    const pages = readFileSync(out, 'latin1').match(/\/Type \/Page\b(?!s)/g);
    expect(pages).toHaveLength(4);
  });

  test('a PDF of several configurations has one of each after the other, as the key has', async () => {
    const [answers, out] = [fresh('.csv'), fresh('.pdf')];
    const args = ['--config', 'center, O-IC,center', '--count', '2', '--format', 'pdf'];
    expect((await generate(...args, '--out', out, '--answers', answers)).code).toBe(0);
    const [, ...rows] = readFileSync(answers, 'utf8').trimEnd().split('\r\n');
    const names = ['center-00000', 'out-in-center-00000', 'center-00001', 'out-in-center-00001'];
    expect(rows.map((row) => row.split(',')[0])).toEqual(names);
    expect(pdfTexts(readFileSync(out)).map(([title]) => title)).toEqual(
      names.map((name, i) => `Item ${i + 1} of 4, ${name}`),
    );
  });

  test('several configurations have a folder each', async () => {
    const out = fresh();
    const { code } = await generate('--config', 'center,up-down', '--count', '1', '--out', out);
    expect(code).toBe(0);
    expect(readdirSync(out).sort()).toEqual([
      'center_single',
      'up_center_single_down_center_single',
    ]);
  });

  test.each(['png', 'svg'])('%s writes one file an item', async (format) => {
    const out = fresh();
    await generate('--config', 'out-in-grid', '--count', '3', '--format', format, '--out', out);
    const names = readdirSync(path.join(out, 'out-in-grid'));
    expect(names.sort()).toEqual([
      'generate.json',
      ...[0, 1, 2].map((i) => `out-in-grid-0000${i}.${format}`),
    ]);
  });

  test('answers go into a folder that is not there yet; rules may begin with a mark', async () => {
    const [rules, answers] = [fresh('.json'), path.join(fresh(), 'key.csv')];
    writeFileSync(rules, '\uFEFF{}');
    const args = ['--config', 'center', '--count', '1', '--format', 'npz', '--rules', rules];
    const made = await generate(...args, '--out', fresh('.npz'), '--answers', answers);
    expect(made.stderr).toBe('');
    expect(existsSync(answers)).toBe(true);
  });

  test('fixed rules hold in every problem', async () => {
    const rules = fresh('.json');
    const out = fresh('.npz');
    writeFileSync(rules, JSON.stringify({ rules: [{ size: 'arithmetic' }] }));
    const made = await generate(
      ...['--config', 'center', '--count', '30', '--format', 'npz', '--rules', rules, '--out', out],
    );
    expect(made.stderr).toBe('');
    const set = await openSet(out);
    const { label } = await set.read(0, 30);
    await set.close();
    for (const [component] of label) {
      expect(component[2]).toMatchObject({ attribute: 'Size', name: 'Arithmetic' });
    }
  });
});

describe('crab generate refuses', () => {
  const good = ['--config', 'center', '--count', '1'];

  test.each<[string, string[], RegExp]>([
    ['an unknown configuration', ['--config', 'centre', '--count', '1'], /unknown configuration/],
    ['no problems', ['--config', 'center', '--count', '0'], /whole number/],
    ['half a problem', ['--config', 'center', '--count', '1.5'], /whole number/],
    ['an unknown variant', [...good, '--variant', 'x-raven'], /expected one of raven, i-raven/],
    ['an unknown option', [...good, '--colour'], /unknown option/],
    ['noise where there is none', [...good, '--noisy'], /no noisy form/],
    ['rules that are not there', [...good, '--rules', 'none.json'], /none\.json: no such file/],
    ['to resume a single file', [...good, '--format', 'npz', '--resume'], /made in one go/],
    ['to hide answers in a set', [...good, '--no-answers'], /--no-answers is for png/],
  ])('%s', async (_, args, sentence) => {
    const out = fresh();
    const { code, stderr, stdout } = await generate(...args, '--out', out);
    expect(stderr).toMatch(sentence);
    expect(code).toBe(stderr.includes('no such file') ? 1 : 2);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(() => readdirSync(out)).toThrow();
  });

  test.each<[string, string[], RegExp]>([
    ['an option for a path', ['--out', '--quiet'], /--out --quiet: a value is missing/],
    ['an option for a file', ['--out', 'x', '--answers', '--json'], /--answers --json: a value/],
    ['a picture for a set', ['--format', 'npz', '--out', 'x.png'], /must not end in \.png/],
    ['a set for a page', ['--format', 'pdf', '--out', 'x.npz'], /must not end in \.npz/],
    ['a set for a folder', ['--out', 'x.npz'], /--format raven makes a folder/],
    ['a picture for pictures', ['--format', 'png', '--out', 'x.png'], /makes a folder of files/],
    ['a page for a key', ['--out', 'x', '--answers', 'key.pdf'], /a \.csv file is written/],
    [
      'one set for all configurations',
      ['--config', 'all', '--format', 'npz', '--out', 'x.npz'],
      /a set for each configuration makes a folder/,
    ],
  ])('%s', async (_, args, sentence) => {
    const cwd = fresh();
    mkdirSync(cwd);
    const { code, stderr } = await crab(['generate', ...good, ...args], { cwd });
    expect(stderr).toMatch(sentence);
    expect(code).toBe(2);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.skipIf(process.platform === 'win32')('a link that leads nowhere, as such', async () => {
    const link = fresh();
    symlinkSync('nowhere', link);
    const { code, stderr } = await generate(...good, '--out', link);
    expect(stderr).toMatch(/is a link to nowhere, which does not exist/);
    expect(code).toBe(2);
  });

  test('answers that would overwrite the problems, or have no name', async () => {
    const set = fresh('.npz');
    const same = await generate(...good, '--format', 'npz', '--out', set, '--answers', set);
    expect(same.code).toBe(2);
    expect(same.stderr).toMatch(/--answers .* is also written by --out/);
    expect(existsSync(set)).toBe(false);
    const nameless = await generate(...good, '--out', fresh(), '--answers', '');
    expect(nameless.code).toBe(2);
    expect(nameless.stderr).toMatch(/--answers is empty/);
  });

  test('an empty --out, and rules that are a folder', async () => {
    const empty = await generate(...good, '--out', '');
    expect(empty.code).toBe(2);
    expect(empty.stderr).toMatch(/--out is empty/);
    const rules = await generate(...good, '--out', fresh(), '--rules', folder);
    expect(rules.code).toBe(2);
    expect(rules.stderr).toMatch(/--rules .* is not a file/);
  });

  test('impossible rules, naming the place', async () => {
    const rules = fresh('.json');
    writeFileSync(rules, JSON.stringify({ rules: [{ type: 'arithmetic' }] }));
    const { code, stderr } = await generate(...good, '--rules', rules, '--out', fresh());
    expect(code).toBe(2);
    expect(stderr).toMatch(/--rules for center: .*type/i);
  });

  test('an existing folder and an existing file', async () => {
    const out = fresh();
    mkdirSync(path.join(out, 'center_single'), { recursive: true });
    writeFileSync(path.join(out, 'center_single', 'notes.txt'), 'mine');
    const { code, stderr } = await generate(...good, '--out', out);
    expect(code).toBe(2);
    expect(stderr).toMatch(/holds files already/);

    const file = fresh('.npz');
    writeFileSync(file, 'mine');
    const again = await generate(...good, '--format', 'npz', '--out', file);
    expect(again.code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});

describe('crab generate stops cleanly', () => {
  test.each(['npz', 'raven'])('on Ctrl-C, leaving nothing half-written (%s)', async (format) => {
    const out = fresh(format === 'npz' ? '.npz' : '');
    const args = ['--config', 'grid-3x3', '--count', '50000', '--format', format, '--out', out];
    const isUnderWay = (): boolean =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.includes(path.basename(out)))
        .map((name) => statSync(path.join(folder, name), { throwIfNoEntry: false }))
        .some((entry) => entry?.isFile() && entry.size > 100_000);
    const { code, stderr } = await crab(['generate', ...args], {
      onStart: (child) => {
        const timer = setInterval(() => {
          if (isUnderWay() && child.kill('SIGINT')) clearInterval(timer);
        }, 50);
        child.once('close', () => clearInterval(timer));
      },
    });
    expect(code).toBe(130);
    expect(stderr).toMatch(/stopped before the end/);
    const left = readdirSync(folder, { recursive: true }).map(String);
    expect(left.filter((name) => name.endsWith('.part'))).toEqual([]);
    if (format === 'npz') expect(left).not.toContain(path.basename(out));
  });

  const small = path.join(folder, 'small-disk');
  const mounted = mountSmallDisk(small);
  afterAll(() => {
    if (mounted) execFileSync('umount', [small]);
  });

  test.skipIf(!mounted)('on a full disk, saying so', async () => {
    for (const [format, name] of [
      ['npz', 'set.npz'],
      ['raven', 'folder'],
      ['pdf', 'items.pdf'],
    ]) {
      const out = path.join(small, name);
      const { code, stderr } = await generate(
        ...['--config', 'center', '--count', '2000', '--format', format, '--out', out],
      );
      expect(stderr).toContain('no space left on the device');
      expect(stderr).toContain(`crab: ${out}`);
      expect(code).toBe(1);
      const left = readdirSync(small, { recursive: true }).map(String);
      expect(left.filter((file) => file.endsWith('.part'))).toEqual([]);
      rmSync(out, { recursive: true, force: true });
    }
  });
});

/** A disk of one megabyte, where we are allowed to make one. */
function mountSmallDisk(where: string): boolean {
  try {
    mkdirSync(where);
    const options = ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', where];
    execFileSync('mount', options, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
