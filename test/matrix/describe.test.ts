import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  answerOf,
  describeChange,
  describePanel,
  describeRule,
  describeRules,
  layoutOf,
  ruleKind,
  ruleMeaning,
  TYPES,
  type Panel,
  type Rule,
} from '../../src/matrix/index.js';
import { anyProblem, RUNS } from './arbitrary.js';

type RuleParts = [name: Rule['name'], attribute: Rule['attribute'], value: number];

test.each<[...RuleParts, string]>([
  ['Constant', 'Number/Position', 0, 'Number/Position: constant in each row'],
  ['Arithmetic', 'Size', 1, 'Size: arithmetic, third = first + second'],
  ['Arithmetic', 'Color', -1, 'Color: arithmetic, third = first - second'],
  ['Arithmetic', 'Position', 1, 'Position: arithmetic, third = first and second together'],
  ['Arithmetic', 'Position', -1, 'Position: arithmetic, third = first without second'],
  ['Progression', 'Number', -2, 'Number: progression, 2 fewer in each column'],
  ['Progression', 'Color', 2, 'Color: progression, darker by 2 in each column'],
  ['Progression', 'Position', 1, 'Position: progression, 1 slot forward in each column'],
  ['Progression', 'Type', 1, 'Type: progression, 1 shape on in each column, triangle to circle'],
  ['Progression', 'Type', -2, 'Type: progression, 2 shapes on in each column, circle to triangle'],
  ['Distribute_Three', 'Type', 0, 'Type: distribute three, the same three in each row'],
])('%s on %s, %i reads well', (name, attribute, value, text) => {
  expect(describeRule({ name, attribute, value })).toBe(text);
});

test('a panel is described by its figures and their places', () => {
  const look = { type: 5, size: 0, color: 9, angle: 0 };
  const panel: Panel = {
    components: [
      {
        uniformity: 0,
        entities: [
          { ...look, slot: 3 },
          { ...look, slot: 0 },
          { type: 1, size: 5, color: 1, angle: 6, slot: 1 },
        ],
      },
    ],
  };
  expect(describePanel(layoutOf('grid-2x2', true), panel)).toBe(
    '2 × black circle of size 0.4 (top left, bottom right); ' +
      'grey 224 triangle of size 0.9, turned by 135 degrees (top right)',
  );
});

test('a change is named with its component if there are two', () => {
  const change = { component: 1, attribute: 'Color' } as const;
  expect(describeChange(layoutOf('left-right'), change)).toBe('Right: Color');
  expect(describeChange(layoutOf('center'), { ...change, component: 0 })).toBe('Color');
});

test('every problem is described in lines that differ where the panels look different', () => {
  fc.assert(
    fc.property(anyProblem, (problem) => {
      const layout = layoutOf(problem.configuration, problem.noisy);
      const lines = describeRules(problem);
      expect(lines).toHaveLength(4 * layout.components.length);
      const two = layout.components.length > 1;
      expect(lines.every((line) => /^(Left|Right|Up|Down|Out|In): /.test(line) === two)).toBe(true);
      const answer = answerOf(problem);
      const text = describePanel(layout, answer);
      for (const { entities } of answer.components) {
        for (const { type } of entities) expect(text).toContain(TYPES[type]);
      }
      expect([...lines, text].join('')).not.toMatch(/undefined|NaN|\n/);
    }),
    { numRuns: RUNS },
  );
});

test.each<[...RuleParts, string, string]>([
  ['Constant', 'Size', 0, 'constant', 'the same in each row'],
  ['Progression', 'Color', -1, 'progression −1', 'lighter in each column'],
  ['Progression', 'Size', 2, 'progression +2', 'larger by 2 in each column'],
  ['Arithmetic', 'Number', -1, 'arithmetic −', 'third = first − second'],
  ['Distribute_Three', 'Type', 0, 'distribute three', 'the same three in each row'],
])('a rule in short: %s on %s, %i', (name, attribute, value, kind, meaning) => {
  const rule = { name, attribute, value };
  expect(ruleKind(rule)).toBe(kind);
  expect(ruleMeaning(rule)).toBe(meaning);
});
