import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { gradeAnswers } from '../../../src/lab/index.js';
import {
  CONFIGURATIONS,
  optionIndices,
  sampleProblem,
  vlmItem,
  type VlmItem,
} from '../../../src/matrix/index.js';
import { scratchFolder } from '../../scratch-folder.js';

const EIGHT = [...'ABCDEFGH'];

describe('replies of models', () => {
  const root = scratchFolder();
  const items: VlmItem[] = [];
  const perception = {
    id: 'center-00000/shape',
    kind: 'shape',
    answer: 'B',
    options: { A: 'x', B: 'y' },
  };
  for (const configuration of CONFIGURATIONS.slice(0, 2)) {
    const folder = path.join(root, configuration);
    mkdirSync(folder);
    const own = Array.from({ length: 40 }, (_, index) => {
      const problem = sampleProblem({ configuration, variant: 'i-raven', seed: 1, index });
      return vlmItem(problem, optionIndices(problem, 8, 1, index), 1, index);
    });
    items.push(...own);
    writeFileSync(path.join(folder, 'items.jsonl'), own.map((x) => JSON.stringify(x)).join('\n'));
    writeFileSync(path.join(folder, 'perception.jsonl'), JSON.stringify(perception));
  }
  let files = 0;
  const answered = (lines: readonly object[]): string => {
    const file = path.join(root, `answers-${files++}.jsonl`);
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    return file;
  };
  const graded = (lines: readonly object[]) =>
    gradeAnswers({ answers: answered(lines), items: root });

  test('are counted by configuration, rule, attribute and letter', async () => {
    // Right in the first configuration; in the second always the same letter.
    const lines = items.map(({ id, answer, configuration }) => ({
      id,
      reply: configuration === 'center' ? `Answer: ${answer}` : 'Answer: A',
    }));
    const { models } = await graded([
      ...lines.slice(1),
      // A call that failed is a reply without a letter.
      { id: items[0].id, reply: null },
      ...items.slice(0, 30).map(({ id }) => ({ id, reply: 'B', blind: true })),
      { id: perception.id, reply: 'B' },
    ]);
    const [model] = models;
    const rightInSecond = items.slice(40).filter(({ answer }) => answer === 'A').length;
    expect(model.items).toBe(80);
    expect([model.unparsable, model.unanswered]).toEqual([1, 0]);
    expect(model.accuracy.value).toBeCloseTo((39 + rightInSecond) / 80);
    expect(model.accuracy.low).toBeLessThan(model.accuracy.value);
    expect(model.chance).toBe(1 / 8);
    expect(model.people).toBeCloseTo((0.9545 + 0.8636) / 2);
    expect(model.configurations.map(({ name, count }) => [name, count])).toEqual([
      ['center', 40],
      ['left-right', 40],
    ]);
    expect(model.configurations[0].accuracy.value).toBeCloseTo(39 / 40);
    const withArithmetic = items.filter(({ rule_list }) =>
      rule_list.flat().some(([, rule]) => rule === 'Arithmetic'),
    );
    expect(model.rules.find(({ name }) => name === 'Arithmetic')?.count).toBe(
      withArithmetic.length,
    );
    expect(model.attributes.map(({ name }) => name)).toEqual(['Color', 'Size', 'Type']);
    expect(model.letters).toHaveLength(8);
    expect(model.letterBias).toBeLessThan(0.01);
    const rightB = items.slice(0, 30).filter(({ answer }) => answer === 'B').length;
    expect(model.blind).toMatchObject({ count: 30, unparsable: 0 });
    expect(model.blind?.accuracy.value).toBeCloseTo(rightB / 30);
    expect(model.perception).toMatchObject([{ name: 'shape', count: 1, chance: 0.5 }]);
    expect(model.crab).toBeNull();
  });

  test('spread over all wrong letters are no bias', async () => {
    const { models } = await graded(
      items.map(({ id, answer }, i) => ({
        id,
        model: i % 2 ? 'odd' : 'even',
        response: EIGHT.filter((letter) => letter !== answer)[(i >> 1) % 7],
      })),
    );
    expect(models.map(({ model, items: count, unanswered }) => [model, count, unanswered])).toEqual(
      [
        ['even', 40, 40],
        ['odd', 40, 40],
      ],
    );
    for (const model of models) {
      expect(model.accuracy.value).toBe(0);
      expect(model.letterBias).toBeGreaterThan(0.1);
      for (const { share, expected } of model.mistakes) expect(share).toBeCloseTo(expected, 0);
    }
  });

  test('beside CRAB', async () => {
    const answers = answered(items.map(({ id }) => ({ id, reply: 'A' })));
    const askCrab = () => Promise.resolve(new Map(items.slice(0, 40).map((i) => [i.id, i.answer])));
    const [model] = (await gradeAnswers({ answers, items: root, askCrab })).models;
    expect(model.crab).toBe(1);
    expect(model.configurations.map(({ crab }) => crab)).toEqual([1, null]);
  });

  test('with the table of items in place of its folder', async () => {
    const own = items.filter(({ id }) => id.startsWith('center'));
    const answers = answered(own.map(({ id, answer }) => ({ id, reply: answer })));
    const [model] = (await gradeAnswers({ answers, items: path.join(root, 'center/items.jsonl') }))
      .models;
    expect([model.accuracy.value, model.items]).toEqual([1, own.length]);
  });

  test('that cannot be graded are refused by line', async () => {
    const [{ id }] = items;
    await expect(graded([{ id: 'center-99999', reply: 'A' }])).rejects.toThrow(
      /line 1: the items have no "center-99999"; they are called as center-00000/,
    );
    await expect(
      graded([
        { id, reply: 'A' },
        { id, reply: 'B' },
      ]),
    ).rejects.toThrow(/line 2: model has replied to center-00000 already: .*line 1/);
    await expect(graded([{ id }])).rejects.toThrow(/line 1: expected \{"id": …, "reply": …\}/);
    await expect(graded([])).rejects.toThrow(/holds no replies/);
    const none = { answers: answered([{ id, reply: 'A' }]), items: scratchFolder() };
    const empty = { ...none, items: scratchFolder() };
    writeFileSync(path.join(empty.items, 'items.jsonl'), '');
    await expect(gradeAnswers(empty)).rejects.toThrow(/items\.jsonl holds no items$/);
    await expect(gradeAnswers(none)).rejects.toThrow(/holds no items\.jsonl/);
  });
});
