/** Printed items, panels changed by hand, and values that rules can start with. */
import { describe, expect, test } from 'vitest';
import {
  arithmeticRows,
  brokenRules,
  CONFIGURATIONS,
  editProblem,
  layoutOf,
  matrixPanels,
  parseConstraints,
  sampleProblem,
  validateProblem,
  worksheetPdf,
  type Configuration,
} from '../../src/matrix/index.js';
import { pdfTexts } from './pdf-texts.js';

describe('a worksheet', () => {
  const itemOf = (configuration: Configuration, index: number) => {
    const problem = sampleProblem({ configuration, seed: 3, index });
    const key = [`Size (${index + 1}): progression −1`];
    return { problem, answer: problem.target, key };
  };

  test.each(CONFIGURATIONS)('%s: title, name, four items a page, then the key', (name) => {
    const items = [0, 1, 2, 3, 4].map((index) => itemOf(name, index));
    const pages = pdfTexts(worksheetPdf(items, 'About (all) of it'));
    expect(pages).toHaveLength(3);
    const [first, second, key] = pages;
    expect(first[0]).toBe('Which one completes the matrix?');
    expect(first[1]).toMatch(/^Look along the rows\. Circle/);
    expect(first.slice(2, 5)).toEqual(['Name', 'Date', 'About (all) of it, page 1 of 2']);
    expect(first.slice(5, 15)).toEqual(['1', '?', '1', '2', '3', '4', '5', '6', '7', '8']);
    expect(first.filter((text) => text === '?')).toHaveLength(4);
    expect(second.slice(5, 7)).toEqual(['5', '?']);
    expect(second.filter((text) => text === '?')).toHaveLength(1);
    expect(key[0]).toBe('Answer key: About (all) of it');
    expect(key[1]).toBe(`1: answer ${items[0].problem.target + 1}`);
    expect(key[2]).toBe('Size (1): progression -1');
  });

  test('says in the key alone that there is no right answer', () => {
    const [whole, other] = [itemOf('center', 0), itemOf('center', 1)];
    const item = { ...whole, answer: null, key: ['Changed by hand.'] };
    const [sheet, key] = pdfTexts(worksheetPdf([item, other], ''));
    expect(sheet).toEqual(pdfTexts(worksheetPdf([whole, other], ''))[0]);
    expect(key.slice(1, 3)).toEqual(['1: no one right answer', 'Changed by hand.']);
    expect(key.join()).not.toContain('1: answer');
  });

  test('a long key goes over several pages', () => {
    const items = Array.from({ length: 40 }, () => itemOf('up-down', 0));
    const keys = pdfTexts(worksheetPdf(items, '')).filter(([first]) =>
      first.startsWith('Answer key'),
    );
    expect(keys.length).toBeGreaterThan(1);
    expect(keys.flat().filter((line) => line.includes('answer '))).toHaveLength(40);
  });
});

describe('panels changed by hand', () => {
  const problem = sampleProblem({
    configuration: 'grid-2x2',
    variant: 'i-raven',
    seed: 5,
    index: 0,
  });
  const edit = { panel: 2, component: 0, slots: [0, 3], type: 5, size: 1, color: 4 };

  test('show what was asked for, and tell which rules no longer hold', () => {
    expect(brokenRules(problem)).toEqual([]);
    const edited = editProblem(problem, [edit]);
    validateProblem(edited);
    const { entities } = matrixPanels(edited)[1].components[0];
    expect(entities.map(({ slot, type, size, color }) => [slot, type, size, color])).toEqual([
      [0, 5, 1, 4],
      [3, 5, 1, 4],
    ]);
    expect(brokenRules(edited).length).toBeGreaterThan(0);
    expect(matrixPanels(edited)[0]).toEqual(matrixPanels(problem)[0]);
  });

  test('of the ninth panel change the answer, and what others differ in', () => {
    const edited = editProblem(problem, [{ ...edit, panel: 9 }]);
    validateProblem(edited);
    expect(edited.target).toBe(problem.target);
    expect(edited.candidates[edited.target].changes).toEqual([]);
    edited.candidates.forEach(({ changes }, i) => {
      if (i !== edited.target) expect(changes.length).toBeGreaterThan(0);
    });
    const wrong = (problem.target + 1) % 8;
    const { entities } = problem.candidates[wrong].panel.components[0];
    const [{ type, size, color }] = entities;
    const twin = {
      panel: 9,
      component: 0,
      slots: entities.map(({ slot }) => slot),
      type,
      size,
      color,
    };
    // The answer and the candidate that it becomes equal to change places.
    const swapped = editProblem(problem, [twin]);
    validateProblem(swapped);
    expect(swapped.candidates[problem.target].panel).toEqual(problem.candidates[wrong].panel);
    expect(swapped.candidates[wrong].panel).toEqual(problem.candidates[problem.target].panel);
  });

  test.each([
    [{ ...edit, panel: 10 }, 'there is no part 1 in panel 10'],
    [{ ...edit, component: 1 }, 'there is no part 2 in panel 2'],
    [{ ...edit, type: 6 }, 'type: expected a level from 1 to 5, found 6'],
    [{ ...edit, slots: [] }, 'expected 1 to 4 items, found 0'],
    [{ ...edit, slots: [4] }, 'slot: expected a level from 0 to 3, found 4'],
  ])('what cannot be is refused: %o', (wrong, reason) => {
    expect(() => editProblem(problem, [wrong])).toThrow(reason);
  });
});

test('rows of arithmetic add up in levels', () => {
  const layout = layoutOf('center');
  const rules = [{ size: 'arithmetic +', color: 'arithmetic -' }];
  const constraints = parseConstraints({ rules }, layout);
  for (let index = 0; index < 20; index++) {
    const problem = sampleProblem({ configuration: 'center', seed: 9, index, constraints });
    const found = arithmeticRows(problem);
    expect(found.map(({ rule }) => rule.attribute)).toEqual(['Size', 'Color']);
    for (const row of found.flatMap(({ rows }) => rows)) {
      const [, a, sign, b, c] = /^(\d) ([+−]) (\d) = (\d)$/.exec(row) ?? [];
      expect(Number(a) + (sign === '+' ? 1 : -1) * Number(b)).toBe(Number(c));
    }
  }
});
