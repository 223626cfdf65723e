import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { attributeGrades, choiceTable, grade, gradeTable } from '../../../src/lab/grade/grade.js';
import { openItems } from '../../../src/lab/grade/item-banks.js';
import type { TestItem } from '../../../src/lab/grade/items.js';
import { gradePage } from '../../../src/lab/index.js';
import {
  findLayout,
  layoutOf,
  sampleProblem,
  type ConfigurationLayout,
} from '../../../src/matrix/index.js';
import { generate, type GenerateFormat, type GenerateOptions } from '../../../src/matrix/node.js';
import { Solver, writeBundle } from '../../../src/solver/node.js';
import { exampleBundle } from '../report/example-model.js';
import { scratchFolder } from '../../scratch-folder.js';

const folder = scratchFolder();

const SEED = 6;
const COUNT = 4;
const at = (...names: string[]): string => path.join(folder, ...names);

const make = (
  layouts: readonly ConfigurationLayout[],
  format: GenerateFormat,
  out: string,
  extra: Partial<Pick<GenerateOptions, 'answers' | 'rules' | 'count'>> = {},
) =>
  generate({
    variant: 'i-raven',
    layouts,
    count: COUNT,
    seed: SEED,
    format,
    out,
    workers: 1,
    ...extra,
  });

function save(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

beforeAll(async () => {
  const layouts = [findLayout('center'), findLayout('left-right')];
  await make(layouts, 'svg', at('svg'), { answers: at('key.csv') });
  await make(layouts, 'raven', at('raven'));
  await make(layouts.slice(0, 1), 'npz', at('set.npz'));
  await make(layouts.slice(0, 1), 'svg', at('ruled'), {
    answers: at('ruled.csv'),
    rules: { rules: { Grid: { type: 'Constant' } } },
  });
  const { manifest, files } = exampleBundle('center');
  await writeBundle(at('center'), manifest, files);
});

async function itemOf(items: string, name: string): Promise<TestItem | undefined> {
  const bank = await openItems(items);
  try {
    return await bank.find(name);
  } finally {
    await bank.close?.();
  }
}

describe('items', () => {
  const banks = ['svg', 'raven', 'key.csv'];

  test.each(banks)('%s tells the answer and what each candidate gets wrong', async (bank) => {
    const problem = sampleProblem({
      configuration: 'left-right',
      variant: 'i-raven',
      seed: SEED,
      index: 2,
    });
    const item = await itemOf(at(bank), 'Left-Right-00002.png');
    expect(item).toMatchObject({
      id: 'left-right-00002',
      layout: 'left-right',
      answer: problem.target + 1,
    });
    const names = ['Left', 'Right'];
    expect(item?.violations).toEqual(
      problem.candidates.map(({ changes }) =>
        changes.map(({ component, attribute }) => ({
          attribute,
          text: `${names[component]}: ${attribute}`,
        })),
      ),
    );
    expect(item?.pictures?.candidates).toHaveLength(8);
  });

  test('the pictures are the same wherever an item is found', async () => {
    const [drawn, read, stored] = await Promise.all([
      itemOf(at('svg'), 'center-00003'),
      itemOf(at('raven'), 'center-00003'),
      itemOf(at('set.npz'), 'center-00003'),
    ]);
    expect(drawn?.pictures).toEqual(read?.pictures);
    expect(stored?.pictures).toEqual(read?.pictures);
    expect(stored?.violations).toBeNull();
    expect(stored?.answer).toBe(read?.answer);
  });

  test('RAVEN names work where they name one item only', async () => {
    const center = at('raven', 'center_single');
    expect(readdirSync(center)).toContain('RAVEN_1_train.npz');
    expect((await itemOf(center, 'RAVEN_1_train'))?.id).toBe('center-00001');
    await expect(itemOf(at('raven'), 'RAVEN_1_train')).rejects.toThrow(/several folders/);
  });

  test('items made with rules of their own are made again from the folder, told by the key', async () => {
    const made = await itemOf(at('ruled'), 'center-00000');
    const told = await itemOf(at('ruled.csv'), 'center-00000');
    expect(made?.rules?.some((rule) => rule.startsWith('Type: constant'))).toBe(true);
    expect(told?.answer).toBe(made?.answer);
    expect(told?.violations).toEqual(made?.violations);
    expect(made?.pictures).not.toBeNull();
  });

  test('items of each part of a regime, and items with a mesh, are made again as they were', async () => {
    const mesh = layoutOf('center', false, true);
    for (const [out, layout, rules] of [
      ['regime', findLayout('center'), { regime: 'a-size' }],
      ['mesh', mesh, undefined],
    ] as const) {
      await make([layout], 'svg', at(out), { rules, count: 10 });
      await make([layout], 'raven', at(`${out}-raven`), { rules, count: 10 });
      const name = out === 'mesh' ? 'center-mesh' : 'center';
      if (out === 'mesh') {
        const answers = at('mesh.csv');
        await make([layout], 'pdf', at('mesh.pdf'), { count: 10, answers });
        const [told, drawn] = await Promise.all(
          [answers, at(out)].map((place) => itemOf(place, 'center-mesh-00007')),
        );
        expect(told).toEqual(drawn);
      }
      for (const number of [0, 7, 9]) {
        const item = `${name}-0000${number}`;
        const file = `RAVEN_${number}_${number === 0 ? 'train' : number === 7 ? 'val' : 'test'}`;
        const made = await itemOf(at(out), item);
        const read = await itemOf(at(`${out}-raven`, layout.folder), file);
        expect(made?.rules).toEqual(read?.rules);
        expect(made?.pictures).toEqual(read?.pictures);
      }
    }
  });

  test('what is no item bank is refused by name', async () => {
    await expect(openItems(save('x.pdf', ''))).rejects.toThrow(
      /x\.pdf: expected a folder or a set/,
    );
    await expect(openItems(save('x.csv', 'a,b\n1,2\n'))).rejects.toThrow(/not an answer file/);
    await expect(openItems(at('center'))).rejects.toThrow(
      /holds neither RAVEN problems nor sheets/,
    );
    await expect(openItems(at('absent'))).rejects.toThrow(/ENOENT/);
  });
});

const madeUp = (id: string, answer: number, wrong: readonly string[][]): TestItem => ({
  id,
  layout: 'center',
  answer,
  alsoRight: [],
  rules: null,
  violations: wrong.map((list) => list.map((attribute) => ({ attribute, text: attribute }))),
  pictures: null,
});

/** Candidate 1 is right; 2 to 4 change the size, 5 to 8 the type, 4 and 5 both. */
const WRONG = [
  [],
  ['Size'],
  ['Size'],
  ['Size', 'Type'],
  ['Type', 'Size'],
  ['Type'],
  ['Type'],
  ['Type'],
];

describe('grades', () => {
  const items = [madeUp('a', 1, WRONG), madeUp('b', 1, WRONG), madeUp('c', 1, WRONG)];
  const table = {
    respondents: ['ann', 'bob', 'cleo', 'dan'],
    items,
    choices: [
      [1, 1, 1],
      [1, 1, 2],
      [1, 6, null],
      [5, 2, 2],
    ],
  };

  test('scores, difficulty, choices left out', () => {
    const { respondents, items: graded, mean } = gradeTable(table, 'r.csv');
    expect(respondents.map(({ right }) => right)).toEqual([3, 2, 1, 0]);
    expect(respondents.map(({ answered }) => answered)).toEqual([3, 3, 2, 3]);
    expect(graded.map(({ difficulty }) => difficulty)).toEqual([0.75, 0.5, 0.25]);
    expect(graded.map(({ omitted }) => omitted)).toEqual([0, 0, 1]);
    expect(mean).toBe(1.5);
    expect(graded[2].choices[1]).toMatchObject({ count: 2, share: 0.5, violates: ['Size'] });
  });

  test('a distractor that the weak take has a negative correlation, the answer a positive one', () => {
    const [, item] = gradeTable(table, 'r.csv').items;
    expect(item.discrimination).toBeGreaterThan(0);
    expect(item.choices[0].discrimination).toBeCloseTo(item.discrimination ?? NaN, 12);
    expect(item.choices[1].discrimination).toBeLessThan(0);
    expect(item.choices[7].discrimination).toBeNull();
  });

  test('attributes of wrong choices, against choices at random', () => {
    // Wrong: a 5 (both); b 6 (type), 2 (size); c 2, 2 (size): size 4 of 5, type 2 of 5.
    const { attributes, wrongChoices } = attributeGrades(table);
    expect(wrongChoices).toBe(5);
    expect(attributes).toEqual([
      { attribute: 'Size', count: 4, share: 0.8, expected: expect.closeTo(4 / 7, 12) as number },
      { attribute: 'Type', count: 2, share: 0.4, expected: expect.closeTo(5 / 7, 12) as number },
    ]);
  });

  test('the model is one more respondent and changes nothing for the others', () => {
    const alone = gradeTable(table, 'r.csv');
    const { model, ...rest } = gradeTable(table, 'r.csv', { names: ['m'], chosen: [1, 2, null] });
    expect(model).toEqual({
      names: ['m'],
      right: 1,
      answered: 2,
      share: 0.5,
      above: 0.25,
      sameError: 0,
    });
    expect(rest.items.map(({ modelChoice }) => modelChoice)).toEqual([1, 2, null]);
    expect(rest.respondents).toEqual(alone.respondents);
    expect(rest.alpha).toEqual(alone.alpha);
  });

  test('two names of one item are one column, and no second answer to it', () => {
    const found = new Map([
      ['a', items[0]],
      ['A.png', items[0]],
    ]);
    const response = (respondent: string, item: string, line: number) => ({
      respondent,
      item,
      choice: 1,
      line,
    });
    const both = [response('ann', 'a', 2), response('bob', 'A.png', 3)];
    expect(choiceTable(both, found, 'r.csv').choices).toEqual([[1], [1]]);
    expect(() => choiceTable([both[0], response('ann', 'A.png', 3)], found, 'r.csv')).toThrow(
      /line 3: ann has answered a already in line 2, under another name/,
    );
  });
});

describe('from files', () => {
  const responses = (): string =>
    save(
      'responses.csv',
      '\uFEFFrespondent;item;choice\r\n' +
        ['ann', 'bob', 'cleo']
          .flatMap((name, p) =>
            Array.from(
              { length: COUNT },
              (_, i) => `${name};center-0000${i};${((p * i) % 8) + 1}\r\n`,
            ),
          )
          .join(''),
    );

  test('the model chooses as the solver does', async () => {
    const { result } = await grade({
      responses: responses(),
      items: at('raven'),
      models: [at('center')],
    });
    const solver = await Solver.load(at('center'));
    const item = await itemOf(at('raven'), 'center-00001');
    const pictures = item?.pictures;
    if (pictures === null || pictures === undefined) throw new Error('a RAVEN folder has pictures');
    const answer = await solver.solve(pictures.context);
    const { index } = await solver.choose(answer, pictures.candidates);
    await solver.dispose();
    expect(result.items[1].modelChoice).toBe(index + 1);
    expect(result.model).toMatchObject({ answered: COUNT });
  });

  test('a folder of models stands for all in it; two of one configuration are refused', async () => {
    const asked = { responses: responses(), items: at('raven') };
    const { result: alone } = await grade({ ...asked, models: [at('center')] });
    mkdirSync(at('models'), { recursive: true });
    cpSync(at('center'), at('models/mine'), { recursive: true });
    const { result } = await grade({ ...asked, models: [at('models')] });
    expect(result.model).toEqual({ ...alone.model, names: ['mine'] });
    await expect(grade({ ...asked, models: [at('center'), at('models')] })).rejects.toThrow(
      '--model mine: another model given answers items of center already; give one of them',
    );
    await expect(grade({ ...asked, models: [at('svg')] })).rejects.toThrow(
      /--model .*svg is neither a folder with a bundle\.json nor a bundle of the zoo/,
    );
  });

  test('items of the key that nobody answered are counted apart', async () => {
    const file = save('one.csv', 'respondent,item,choice\nann,center-00001,1\n');
    const [key, folder] = await Promise.all(
      [at('key.csv'), at('svg')].map((items) => grade({ responses: file, items })),
    );
    const all = readFileSync(at('key.csv'), 'utf8').trimEnd().split('\r\n').length - 1;
    expect(key.result).toMatchObject({ items: [{ id: 'center-00001' }], unanswered: all - 1 });
    expect(await gradePage(key)).toContain(`1 item, ${all - 1} more answered by nobody`);
    expect(folder.result.unanswered).toBeNull();
  });

  test('an item that is not there is named with its line and an example', async () => {
    const file = save('r.csv', 'respondent,item,choice\nann,center-00001,1\nann,center-99999,1\n');
    await expect(grade({ responses: file, items: at('svg') })).rejects.toThrow(
      /r\.csv, line 3: .*svg has no item "center-99999"; its items are called as center-00000/,
    );
  });

  test('names of another configuration than that of a set are refused', async () => {
    const file = save('lr.csv', 'respondent,item,choice\nann,left-right-00000,1\n');
    await expect(grade({ responses: file, items: at('set.npz') })).rejects.toThrow(
      /left-right-00000: it is called after left-right, the items of .*set\.npz are of center/,
    );
    for (const name of ['center-00000', 'Center_single-0', '0']) {
      expect((await itemOf(at('set.npz'), name))?.id).toBe('0');
    }
  });

  test.each(['key.csv', 'svg'])('what lines say of their items must hold for %s', async (items) => {
    const of = (columns: string, values: string) =>
      grade({
        responses: save(
          'claims.csv',
          `respondent,item,choice,${columns}\nann,center-00000,1,${values}\n`,
        ),
        items: at(items),
      });
    const { result } = await of('configuration,variant,seed', `center,i-raven,${SEED}`);
    expect(result.items).toHaveLength(1);
    expect((await of('seed', '')).result.items).toHaveLength(1);
    await expect(of('seed', '0')).rejects.toThrow(
      /line 2: center-00000 was answered with seed 0, in .* it has seed 6/,
    );
    await expect(of('variant', 'raven')).rejects.toThrow(/variant raven, in .* variant i-raven/);
    await expect(of('configuration', 'up-down')).rejects.toThrow(/configuration up-down/);
  });

  test('a model of another configuration is refused', async () => {
    const file = save('lr.csv', 'respondent,item,choice\nann,left-right-00001,1\n');
    await expect(
      grade({ responses: file, items: at('svg'), models: [at('center')] }),
    ).rejects.toThrow(/none of the items is of its configuration/);
  });

  test('the page shows every item and no name as markup', async () => {
    const file = save('evil.csv', 'respondent,item,choice\n<script>x</script>,center-00001,1\n');
    const page = await gradePage(await grade({ responses: file, items: at('key.csv') }));
    expect(page).not.toContain('<script');
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain('id="item-center-00001"');
  });
});
