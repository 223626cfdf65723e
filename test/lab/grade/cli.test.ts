/** `crab grade` as a person runs it, and its page as a person sees it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseCsv } from '../../../src/lab/grade/csv.js';
import { grade, type GradeResult } from '../../../src/lab/index.js';
import { crabInProcess } from '../../cli/crab-in-process.js';
import { crab } from '../../cli/run-crab.js';
import { lookAt } from '../report/browser.js';
import { CHROMIUM, launch } from '../../chromium.js';
import { scratchFolder } from '../../scratch-folder.js';
import { words } from '../../cli/words.js';

const folder = scratchFolder();
const at = (name: string): string => path.join(folder, name);

/** Twelve people of rising ability: person p gets items 0 to p / 2 right. */
function responses(answers: readonly (readonly [string, number])[]): string {
  const lines = Array.from({ length: 12 }, (_, p) => {
    const choices = answers.map(([, answer], i) => (i <= p / 2 ? answer : (answer % 8) + 1));
    return `person ${p + 1},${choices.join(',')}`;
  });
  return `respondent,${answers.map(([item]) => item).join(',')}\n${lines.join('\n')}\n`;
}

beforeAll(async () => {
  const wanted = words`--config grid-2x2 --count 6 --seed 3 --format pdf --out ${at('items.pdf')}`;
  const made = await crab(['generate', ...wanted, '--answers', at('key.csv'), '--quiet']);
  expect(made.code).toBe(0);
  const [, ...rows] = parseCsv(readFileSync(at('key.csv'), 'utf8'), 'key.csv');
  writeFileSync(
    at('responses.csv'),
    responses(rows.map(({ fields }) => [fields[0], Number(fields[5])] as const)),
  );
});

describe('crab grade', () => {
  test('says how many items of the key nobody answered', async () => {
    writeFileSync(at('one.csv'), 'respondent,grid-2x2-00001\nann,1\n');
    const text = await crabInProcess('grade', at('one.csv'), '--items', at('key.csv'), '--quiet');
    expect(text).toContain('\n5 items of the key answered by nobody and not counted\n');
  });

  test('more respondents than a call can have arguments', async () => {
    const key = parseCsv(readFileSync(at('key.csv'), 'utf8'), 'key.csv');
    const [first, second] = [key[1].fields, key[2].fields];
    const people = Array.from({ length: 130_000 }, (_, p) => `p${p},${first[5]},${1 + (p % 8)}`);
    writeFileSync(
      at('many.csv'),
      ['respondent,' + first[0] + ',' + second[0], ...people].join('\n'),
    );
    const page = at('many.html');
    const text = await crabInProcess(
      ...['grade', at('many.csv'), '--items', at('key.csv'), '--out', page, '--quiet'],
    );
    expect(text).toMatch(/^130000 respondents, 2 items, 1\.1\d right on average/);
    expect(text).toMatch(/^p129999 +\d +2 +\d+\.0%$/m);
    expect(existsSync(page)).toBe(true);
  });

  test('scores, item statistics and attributes as JSON', async () => {
    const { code, stdout } = await crab(
      words`grade ${at('responses.csv')} --items ${at('key.csv')} --json --quiet`,
    );
    expect(code).toBe(0);
    const result = JSON.parse(stdout) as GradeResult;
    expect(result.respondents.map(({ right }) => right)).toEqual([
      1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6,
    ]);
    const shares = result.items.map(({ difficulty }) => difficulty);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(result.items[0].discrimination).toBeNull();
    expect(result.items[3].discrimination).toBeGreaterThan(0.5);
    expect(result.alpha?.value).toBeGreaterThan(0.7);
    expect(result.wrongChoices).toBe(30);
    expect(result.attributes.length).toBeGreaterThan(0);
  });

  test('words for people', async () => {
    const { code, stdout } = await crab(
      words`grade ${at('responses.csv')} --items ${at('key.csv')} --quiet`,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^12 respondents, 6 items, 3\.50 right on average/);
    expect(stdout).toMatch(/KR-20\) 0\.\d\d, no interval: it takes 20 respondents\n/);
    expect(stdout).toMatch(/grid-2x2-00005 +2 +16\.7%/);
  });

  test.skipIf(CHROMIUM === undefined)('a page without barriers', async () => {
    const { code } = await crab(
      words`grade ${at('responses.csv')} --items ${at('key.csv')} --out ${at('out.html')} --quiet`,
    );
    expect(code).toBe(0);
    const browser = await launch();
    try {
      const seen = await lookAt(browser, at('out.html'), 'dark');
      expect(seen.complaints).toEqual([]);
      expect(seen.barriers).toEqual([]);
      expect(seen.tooWide).toBe(false);
      expect(seen.requests).toHaveLength(1);
      expect(seen.figures).toHaveLength(3 + 6);
      expect(seen.figures.every(({ marks, broken }) => marks > 10 && broken === 0)).toBe(true);
    } finally {
      await browser.close();
    }
  });

  test.each([
    [['--items', 'key.csv'], 2, /missing required argument/],
    [['responses.csv'], 2, /required option '--items <path>'/],
    [['absent.csv', '--items', 'key.csv'], 1, /absent\.csv: no such file or folder/],
    [['responses.csv', '--items', 'items.pdf'], 2, /items\.pdf: expected a folder or a set/],
    [['replies.json', '--items', 'key.csv'], 2, /replies of models are a \.jsonl file, a line/],
    [
      ['responses.csv', '--items', 'key.csv', '--model', 'center,'],
      2,
      /--model center,: a name is empty/,
    ],
  ])('%j ends with %i and one sentence', async (args, code, message) => {
    const outcome = await crab([
      'grade',
      ...args.map((each) => (/\.(csv|pdf|json)$/.test(each) ? at(each) : each)),
    ]);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toMatch(message);
    expect(outcome.stdout).toBe('');
  });

  test.each([
    [
      'two keys in one file',
      (key: string) => `${key}${key.split('\n')[1].replace(',3,0,', ',4,0,')}\n`,
      /line 8: grid-2x2-00000 is another item in line 2/,
    ],
    [
      'a changed seed',
      (key: string) => key.replace(/^(grid-2x2-00002,.*?),3,2,/m, '$1,4,2,'),
      /line 4: an item of grid-2x2 from seed 4, while line 2 has seed 3/,
    ],
    [
      'a changed answer',
      (key: string) =>
        key.replace(/,3,1,(\d),/, (_, right: string) => `,3,1,${(Number(right) % 8) + 1},`),
      /line 3: the answer is \d, but candidate \d is said to be it/,
    ],
    [
      'a changed name',
      (key: string) => key.replace('grid-2x2,raven,3,1,', 'grid-2x2,raven,3,7,'),
      /line 3: item grid-2x2-00001 is said to be number 7 .*called grid-2x2-00007/,
    ],
  ])('%s is refused', async (_, change, message) => {
    writeFileSync(at('changed.csv'), change(readFileSync(at('key.csv'), 'utf8')));
    await expect(
      grade({ responses: at('responses.csv'), items: at('changed.csv') }),
    ).rejects.toThrow(message);
  });

  test('two folders of one name and two seeds are refused', async () => {
    for (const seed of [1, 2]) {
      mkdirSync(at(`two/${seed}`), { recursive: true });
      const recipe = { format: 'png', configuration: 'grid-2x2', variant: 'raven', seed };
      writeFileSync(at(`two/${seed}/generate.json`), JSON.stringify(recipe));
      writeFileSync(at(`two/${seed}/grid-2x2-00000.png`), '');
    }
    await expect(grade({ responses: at('responses.csv'), items: at('two') })).rejects.toThrow(
      /grid-2x2-00000 is in two folders .*seeds 1 and 2/,
    );
  });

  test('a failure writes no page', async () => {
    writeFileSync(at('bad.csv'), 'respondent,item,choice\nann,grid-2x2-00001,12\n');
    const { code, stderr } = await crab(
      words`grade ${at('bad.csv')} --items ${at('key.csv')} --out ${at('never.html')}`,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/bad\.csv, line 2: the choice "12"/);
    expect(existsSync(at('never.html'))).toBe(false);
  });
});

describe('crab report', () => {
  test.each([
    [['report'], /--zoo/],
    [['report', '--zoo', folder, '--out', at('r')], /no bundles and no runs in this folder/],
    [['report', '--zoo', folder, '--metrics', 'sa,xyz'], /--metrics xyz/],
  ])('%j is wrong use', async (args, message) => {
    const { code, stderr } = await crab(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});
