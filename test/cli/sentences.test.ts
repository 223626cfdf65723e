/** What people do wrong, and the one sentence that names the file or option it is about. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  encodeRavenNpz,
  encodeSet,
  problemToBatch,
  renderProblem,
  sampleProblem,
} from '../../src/matrix/index.js';
import { VARIANT_NAMES } from '../../src/lab/index.js';
import { scratchFolder } from '../scratch-folder.js';
import { crabInProcess as crab, failureOf } from './crab-in-process.js';
import { words } from './words.js';

const root = scratchFolder();
const at = (name: string): string => path.join(root, name);
/** The command fails with this exit code and sentence, which is one line. */
async function expectFailure(args: string[], code: number, sentence: string): Promise<void> {
  const failure = await failureOf(...args);
  expect(failure).toEqual({ message: sentence, code });
  expect(failure.message).not.toContain('\n');
}

describe('crab generate --resume names the options that differ', () => {
  beforeAll(async () => {
    await crab(
      ...words`generate --config center --count 4 --format parquet --out ${at('table')} --quiet`,
    );
    await crab(...words`generate --config center --count 2 --out ${at('folder')} --quiet`);
  });
  const folder = at('table/center_single');
  const ending = (made: string): string =>
    `; choose another folder, or the options of ${path.join(made, 'generate.json')}`;

  test('the count of a table', () =>
    expectFailure(
      words`generate --config center --count 6 --format parquet --out ${at('table')} --resume`,
      2,
      `--resume: ${folder} was made with other options (--count 4, not 6)${ending(folder)}`,
    ));

  test('several at once', async () => {
    const made = at('folder/center_single');
    await expectFailure(
      words`generate --config center --count 2 --seed 9 --compress --out ${at('folder')} --resume`,
      2,
      `--resume: ${made} was made with other options (--seed 0, not 9; --compress)${ending(made)}`,
    );
  });
});

describe('crab solve names what is wrong with a file', () => {
  test.each([
    ['empty.svg', '', 'is empty'],
    ['empty.png', '', 'is empty'],
    ['empty.npz', '', 'is empty'],
    ['text.svg', 'no drawing', ': not an SVG drawing'],
  ])('%s', async (name, content, what) => {
    writeFileSync(at(name), content);
    const sentence = what.startsWith(':') ? `${at(name)}${what}` : `${at(name)} ${what}`;
    await expectFailure(['solve', at(name)], 1, sentence);
  });

  test('a drawing of nothing is one that cannot be used', async () => {
    writeFileSync(at('nothing.svg'), '<svg/>');
    const { message } = await failureOf('solve', at('nothing.svg'));
    expect(message).toMatch(/nothing\.svg: not an SVG that can be drawn/);
  });

  test('a whole set', async () => {
    const set = encodeSet(
      problemToBatch(sampleProblem({ configuration: 'center', seed: 1, index: 0 })),
    );
    writeFileSync(at('set.npz'), set);
    await expectFailure(
      ['solve', at('set.npz')],
      1,
      `${at('set.npz')}: a set of many problems instead of the file of one: crab evaluate --data takes it, and crab convert --format raven makes a file of each problem, unless they have a mesh`,
    );
  });
});

describe.each(['convert', 'evaluate'])('crab %s names what is wrong with its data', (command) => {
  const args = (data: string): string[] =>
    command === 'convert'
      ? words`convert ${data} --format npz --out ${at('never.npz')}`
      : words`evaluate --model center --data ${data}`;

  test('a file of another kind', async () => {
    writeFileSync(at('key.csv'), 'item,answer');
    await expectFailure(
      args(at('key.csv')),
      1,
      `${at('key.csv')}: expected a RAVEN folder, a set (.npz) or an HDF5 cache (.hdf5)`,
    );
  });

  test('the file of one problem', async () => {
    const problem = sampleProblem({ configuration: 'center', seed: 1, index: 0 });
    const file = at('RAVEN_0_train.npz');
    writeFileSync(file, encodeRavenNpz(problem, renderProblem(problem).images));
    await expectFailure(
      args(file),
      1,
      `${file}: the file of one problem instead of a set: give the folder it lies in`,
    );
  });
});

describe.skipIf(!existsSync('/proc/self'))('a place where nothing can be made', () => {
  test.each(['npz', 'jsonl', 'pdf'])('for a file: %s', (format) =>
    expectFailure(
      words`generate --config center --count 1 --format ${format} --out /proc/x.${format}`,
      1,
      `/proc/x.${format}: no file can be made here`,
    ),
  );

  test.each(['raven', 'png', 'parquet'])('for a folder: %s', async (format) => {
    const { message } = await failureOf(
      ...words`generate --config center --count 1 --format ${format} --out /proc/x`,
    );
    expect(message).toBe('/proc/x: no folder can be made here');
  });

  test('for the answers, before anything is made', async () => {
    await expectFailure(
      words`generate --config center --count 1 --format npz --out ${at('a.npz')} --answers /proc/key.csv`,
      1,
      '/proc/key.csv: no file can be made here',
    );
    expect(existsSync(at('a.npz'))).toBe(false);
  });

  test('for a conversion, and for a completed picture before it is made', async () => {
    const set = encodeSet(
      problemToBatch(sampleProblem({ configuration: 'center', seed: 1, index: 0 })),
    );
    writeFileSync(at('one.npz'), set);
    await expectFailure(
      words`convert ${at('one.npz')} --format png --out /proc/sheets`,
      1,
      '/proc/sheets: no folder can be made here',
    );
    await expectFailure(
      words`solve ${at('one.npz')} --out /proc/a.png`,
      1,
      '--out /proc/a.png: nothing can be written to /proc',
    );
  });
});

test('a failed work leaves no answers behind, and a good one leaves them alone', async () => {
  const made = at('answers');
  mkdirSync(made);
  writeFileSync(path.join(made, 'file'), '');
  const blocked = words`generate --config center --count 1 --format npz --out ${path.join(made, 'file', 'x.npz')} --answers ${path.join(made, 'key.csv')}`;
  await failureOf(...blocked);
  expect(readdirSync(made)).toEqual(['file']);
  await crab(
    ...words`generate --config center --count 1 --format npz --out ${path.join(made, 'x.npz')} --answers ${path.join(made, 'key.csv')} --quiet`,
  );
  expect(readdirSync(made).sort()).toEqual(['file', 'key.csv', 'x.npz']);
});

describe('crab systems --docs', () => {
  test('without measurements says so', async () => {
    const docs = at('docs');
    mkdirSync(docs);
    await expectFailure(
      ['systems', '--docs', docs],
      2,
      `--docs ${docs}: there are no measurements in ${path.join(docs, 'measured')}; crab report --zoo --docs ${docs} writes them`,
    );
    const absent = at('absent');
    await expectFailure(['systems', '--docs', absent], 2, `--docs ${absent}: no such folder`);
  });

  test('of a file names the option', async () => {
    writeFileSync(at('file.md'), '');
    await expectFailure(
      ['systems', '--docs', at('file.md')],
      2,
      `--docs ${at('file.md')}: this is a file, a folder was expected`,
    );
  });
});

test('candidates are called as the option calls them', () => {
  expect(VARIANT_NAMES).toMatchObject({
    'raven-fair': 'RAVEN-FAIR',
    'raven-unique': 'RAVEN-unique',
  });
});
