/** Items whose panels allow a second candidate by other rules: whoever gives either is right. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { attributeGrades, grade, gradeTable } from '../../../src/lab/grade/grade.js';
import { gradeAnswers, gradePage } from '../../../src/lab/index.js';
import {
  alsoRight,
  findLayout,
  LETTERS,
  optionIndices,
  sampleProblem,
  vlmItem,
} from '../../../src/matrix/index.js';
import { generate } from '../../../src/matrix/node.js';
import { crabInProcess } from '../../cli/crab-in-process.js';
import { scratchFolder } from '../../scratch-folder.js';

const folder = scratchFolder();
const at = (name: string): string => path.join(folder, name);

const SEED = 5;
/** The first of this seed whose panels allow a second candidate. */
const INDEX = 28;
const NAME = 'grid-2x2-00028';
const problem = sampleProblem({
  configuration: 'grid-2x2',
  variant: 'i-raven',
  seed: SEED,
  index: INDEX,
});
const own = problem.target + 1;
const [second] = alsoRight(problem).map((index) => index + 1);
const wrong = [1, 2, 3].find((each) => each !== own && each !== second) ?? 0;

beforeAll(async () => {
  await generate({
    layouts: [findLayout('grid-2x2')],
    variant: 'i-raven',
    count: INDEX + 1,
    seed: SEED,
    format: 'pdf',
    out: at('items.pdf'),
    answers: at('key.csv'),
    workers: 1,
  });
  const answers = { ann: own, bob: second, cleo: wrong };
  const lines = Object.entries(answers).map(([name, choice]) => `${name},${NAME},${choice}\n`);
  writeFileSync(at('responses.csv'), `respondent,item,choice\n${lines.join('')}`);
});

const rightIn = async (items: string): Promise<number[]> => {
  const { result } = await grade({ responses: at('responses.csv'), items });
  return result.respondents.map(({ right }) => right);
};

test('the key names the other right candidate, and leaves the column empty elsewhere', () => {
  const [header, ...lines] = readFileSync(at('key.csv'), 'utf8').trimEnd().split('\r\n');
  expect(header).toContain(',answer,also_right,rules,');
  const cells = lines.map((line) => line.split(',').slice(5, 7));
  expect(cells[INDEX]).toEqual([String(own), String(second)]);
  expect(cells.slice(0, INDEX).map(([, other]) => other)).toEqual(Array(INDEX).fill(''));
});

describe('either candidate is right', () => {
  test('by the key, by a key without the column, and by a key whose items cannot be made again', async () => {
    expect(await rightIn(at('key.csv'))).toEqual([1, 1, 0]);
    const [header, ...lines] = readFileSync(at('key.csv'), 'utf8').trimEnd().split('\r\n');
    const withoutColumn = lines.map((line) => line.replace(/^((?:[^,]*,){6})[^,]*,/, '$1'));
    writeFileSync(
      at('old.csv'),
      [header.replace('also_right,', ''), ...withoutColumn].join('\r\n'),
    );
    expect(await rightIn(at('old.csv'))).toEqual([1, 1, 0]);
    const changed = lines.map((line) => line.replace('Type: ', 'Type:  '));
    writeFileSync(at('told.csv'), [header, ...changed].join('\r\n'));
    expect(await rightIn(at('told.csv'))).toEqual([1, 1, 0]);
  });

  test('a key that calls no candidate right is refused by line', async () => {
    const key = readFileSync(at('key.csv'), 'utf8');
    const row = `,${SEED},${INDEX},${own},`;
    for (const told of ['9', String(own), '3;4']) {
      writeFileSync(at('bad.csv'), key.replace(`${row}${second},`, `${row}${told},`));
      await expect(rightIn(at('bad.csv'))).rejects.toThrow(
        `bad.csv, line ${INDEX + 2}: also_right is "${told}", not candidates 1 to 8`,
      );
    }
  });

  test('which is told, on the terminal and on the page', async () => {
    const told = `More than one candidate is right in ${NAME} (${own} or ${second})`;
    const asked = [at('responses.csv'), '--items', at('key.csv'), '--quiet'];
    expect(await crabInProcess('grade', ...asked)).toContain(told);
    const page = await gradePage(
      await grade({ responses: at('responses.csv'), items: at('key.csv') }),
    );
    expect(page).toContain(told);
    expect(page).toContain(`${second} also right`);
  });

  test('it is no wrong choice, nor one to take at random', () => {
    const changes = (...names: string[]) =>
      names.map((attribute) => ({ attribute, text: attribute }));
    const item = {
      id: 'a',
      layout: 'center',
      answer: 1,
      alsoRight: [2],
      rules: null,
      violations: [[], changes('Size'), ...Array.from({ length: 6 }, () => changes('Type'))],
      pictures: null,
    };
    const table = { respondents: ['ann', 'bob'], items: [item], choices: [[2], [3]] };
    expect(attributeGrades(table)).toEqual({
      wrongChoices: 1,
      attributes: [{ attribute: 'Type', count: 1, share: 1, expected: 1 }],
    });
    const { model, items } = gradeTable(table, 'r.csv', { names: ['m'], chosen: [2] });
    expect(model?.right).toBe(1);
    expect(items[0]).toMatchObject({ right: 1, alsoRight: [2] });
  });

  test('in replies of models too, if their items tell', async () => {
    const item = vlmItem(problem, optionIndices(problem, 8, SEED, INDEX), SEED, INDEX);
    expect(item.also_right).toEqual([LETTERS[second - 1]]);
    writeFileSync(at('answers.jsonl'), JSON.stringify({ id: item.id, reply: LETTERS[second - 1] }));
    const rightOf = async (line: object): Promise<number> => {
      mkdirSync(at('items'), { recursive: true });
      writeFileSync(path.join(at('items'), 'items.jsonl'), JSON.stringify(line));
      const askCrab = () => Promise.resolve(new Map([[item.id, LETTERS[second - 1]]]));
      const graded = await gradeAnswers({
        answers: at('answers.jsonl'),
        items: at('items'),
        askCrab,
      });
      const [{ accuracy, crab }] = graded.models;
      expect(crab).toBe(accuracy.value);
      return accuracy.value;
    };
    expect(await rightOf(item)).toBe(1);
    // Items of earlier versions know of one right option alone.
    expect(await rightOf({ ...item, also_right: undefined })).toBe(0);
  });
});
