/** What is told of items that hand changes have broken, and of those with more than one answer. */
import { describe, expect, test } from 'vitest';
import {
  CONFIGURATIONS,
  editProblem,
  parseConstraints,
  layoutOf,
  sampleProblem,
  solveSymbolically,
  type PanelEdit,
  type Problem,
} from '../../src/matrix/index.js';
import { exportMatrix, makeMatrix, makeWorksheet } from '../../src/studio/engine/matrices.js';
import { soundnessOf } from '../../src/studio/engine/soundness.js';
import { pdfTexts } from '../matrix/pdf-texts.js';
import { sampledSpec } from './sampled-spec.js';

const layout = layoutOf('center');
/** Everything constant but the size, which grows. */
const rules = [{ type: 'constant', size: 'progression +1', color: 'constant' }];
const constraints = parseConstraints({ rules, start: [{ type: 3, size: 1, color: 4 }] }, layout);
const growing = sampleProblem({
  configuration: 'center',
  variant: 'i-raven',
  seed: 2,
  index: 0,
  constraints,
});
const figure = (problem: Problem, panel: number) => {
  const [{ type, size, color }] = problem.context[panel - 1].components[0].entities;
  return { panel, component: 0, slots: [0], type, size, color };
};
const edited = (...edits: Partial<PanelEdit>[]): Problem =>
  editProblem(
    growing,
    edits.map((edit) => ({ ...figure(growing, Math.min(edit.panel ?? 1, 8)), ...edit })),
  );

describe('an item', () => {
  test.each(CONFIGURATIONS)('%s: as it was made it has its answer', (configuration) => {
    for (let index = 0; index < 60; index++) {
      const problem = sampleProblem({ configuration, seed: 11, index });
      const { answer, broken, fault } = soundnessOf(problem);
      expect([answer, broken]).toEqual([problem.target, []]);
      const others = solveSymbolically(problem).length - 1;
      expect(fault !== null).toBe(others > 0);
    }
  });

  test('leaves places open if a rule says how many, unless the panel is full', async () => {
    const seen = new Set<string>();
    for (let index = 0; index < 60; index++) {
      const { problem, view } = await makeMatrix(sampledSpec({ layout: 'grid-2x2', index }));
      if (problem === null || view.fault !== null) continue;
      const hasRule = problem.rules[0].some(({ attribute }) => attribute === 'Number');
      const figures = view.described?.[8].components[0].entities.length;
      expect(view.isOpen).toBe(hasRule && figures !== 4);
      seen.add(`${hasRule} ${figures === 4}`);
    }
    expect([...seen].sort()).toEqual(['false false', 'false true', 'true false', 'true true']);
  });

  test('with a panel that breaks a rule has no right answer', () => {
    const { type } = figure(growing, 5);
    expect(soundnessOf(edited({ panel: 5, type: type === 5 ? 4 : 5 }))).toEqual({
      answer: null,
      right: [],
      broken: ['0 Type'],
      fault: 'The changed panels break Shape: constant. No candidate is right any more.',
    });
  });

  test('whose ninth panel was changed has no right answer', () => {
    const { answer, fault } = soundnessOf(edited({ panel: 9, size: 0, type: 1, color: 0 }));
    expect(answer).toBeNull();
    expect(fault).toContain('No candidate is right any more');
  });

  test('that follows other rules after the change has the answer of those', () => {
    // Sizes that were to grow stay the same in every row: a wrong candidate becomes the right one.
    const same = [2, 3, 5, 6, 8].map((panel) => ({
      ...figure(growing, panel - ((panel - 1) % 3)),
      panel,
    }));
    const { answer, broken, fault } = soundnessOf(edited(...same));
    expect(broken).toEqual(['0 Size']);
    expect(answer).not.toBe(growing.target);
    const [right] = growing.candidates[answer ?? growing.target].panel.components[0].entities;
    expect(right.size).toBe(figure(growing, 7).size);
    expect(fault).toBe(
      `The changed panels break Size: progression +1. By the rules they follow now, candidate ${Number(answer) + 1} is right.`,
    );
  });

  test('of two answers names both', () => {
    const problem = Array.from({ length: 2000 }, (_, index) =>
      sampleProblem({ configuration: 'left-right', variant: 'raven', seed: 3, index }),
    ).find((each) => solveSymbolically(each).length === 2);
    if (problem === undefined) throw new Error('no item with two answers was found');
    const [a, b] = solveSymbolically(problem);
    const other = a === problem.target ? b : a;
    expect(soundnessOf(problem).right).toEqual([problem.target, other]);
    expect(soundnessOf(problem).fault).toBe(
      `By the rules here candidate ${problem.target + 1} is right, but candidate ${other + 1} fits as well, by other rules.`,
    );
  });
});

test('the page calls no candidate right, nor a sum true, in a broken item', async () => {
  const constraints = JSON.stringify({ rules: [{ size: { name: 'Arithmetic', value: 1 } }] });
  const spec = sampledSpec({ constraints });
  const whole = (await makeMatrix(spec)).view;
  expect(whole.levels).toHaveLength(1);
  expect(whole.candidates.every(({ difference }) => difference !== null)).toBe(true);
  const { view } = await makeMatrix({ ...spec, edits: '5.0.1.5.0.9' });
  expect(view.target).toBeNull();
  expect(view.levels).toEqual([]);
  expect(view.candidates.every(({ difference }) => difference === null)).toBe(true);
  expect(view.broken).toContain('0 Size');
});

describe('files of a broken item', () => {
  const constraints = JSON.stringify({ rules: [{ size: { name: 'Arithmetic', value: 1 } }] });
  const spec = sampledSpec({ constraints });
  const broken = { ...spec, edits: '5.0.1.5.0.9' };

  test('a worksheet tells its maker and its key, never the pupils', () => {
    const [whole, changed] = [spec, broken].map((each) => makeWorksheet(each, 5));
    const [first, second] = pdfTexts(changed.bytes);
    expect([first, second]).toEqual(pdfTexts(whole.bytes).slice(0, 2));
    expect(whole.notice).toBeUndefined();
    expect(changed.notice).toBe(
      "Item 1 of the worksheet has no one right answer: the key at its end says why, the pupils' pages do not.",
    );
    const key = pdfTexts(changed.bytes).slice(2).flat().join(' ');
    expect(key).toContain('1: no one right answer The changed panels break');
  });

  test('pictures to solve do not tell either', async () => {
    const matrix = await makeMatrix(broken);
    const svg = new TextDecoder().decode(exportMatrix(matrix, broken, 'svg').bytes);
    expect(svg).not.toMatch(/right answer/);
    const [png, wholePng] = await Promise.all(
      [broken, spec].map(async (each) => exportMatrix(await makeMatrix(each), each, 'png').bytes),
    );
    // Their headers have the width and the height: no line of text was added.
    expect(png.slice(16, 24)).toEqual(wholePng.slice(16, 24));
  });

  test('the key has the levels that the page shows, without those of broken rules', async () => {
    const [{ view }, { view: changed }] = await Promise.all([spec, broken].map(makeMatrix));
    const keyOf = (each: typeof spec): string =>
      pdfTexts(makeWorksheet(each, 1).bytes)[1].join(' ');
    expect(view.levels).toHaveLength(1);
    expect(keyOf(spec)).toContain('Arithmetic counts in levels, sizes from 1 to 6, colours');
    expect(keyOf(spec)).toContain(`In levels, ${view.levels[0]}`);
    expect(changed.levels).toEqual([]);
    expect(keyOf(broken)).not.toContain('levels');
  });
});

test('panels are described with the names the page has for their parts', async () => {
  const { view } = await makeMatrix(sampledSpec({ layout: 'out-in-center' }));
  for (const panel of view.panels) expect(panel?.alt).toMatch(/^Outer: .*\. Inner: /);
});
