/** I-RAVEN-X: its tables obey their rules, its draws have the published laws, its JSON the published form. */
import { expect, test } from 'vitest';
import {
  numericProblemJson,
  sampleNumericProblem,
  shownRows,
  VALUE_ATTRIBUTES,
  type NumericProblem,
  type ValueAttribute,
} from '../../src/matrix/index.js';
import { goodnessOfFit, tally } from './chi-square.js';

const problemAt = (index: number, changes: object = {}): NumericProblem =>
  sampleNumericProblem({ seed: 7, index, ...changes });

const tableOf = (problem: NumericProblem, attribute: ValueAttribute): number[][] => {
  const { width, context, candidates, target } = problem;
  const all = [...context, candidates[target]].map((panel) => panel[attribute]);
  return Array.from({ length: width }, (_, row) => all.slice(row * width, (row + 1) * width));
};

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

const HOLDS: Record<string, (rows: number[][], values: number) => boolean> = {
  Constant: (rows) => rows.every((row) => row.every((value) => value === row[0])),
  Progression: (rows) => {
    const step = rows[0][1] - rows[0][0];
    const steady = rows.every((row) => row.slice(1).every((value, i) => value - row[i] === step));
    return steady && [-2, -1, 1, 2].includes(step);
  },
  Arithmetic: (rows, values) => {
    const plus = rows.every((row) => row.at(-1) === sum(row.slice(0, -1)));
    const minus = rows.every((row) => row[0] === sum(row.slice(1)));
    return (plus || minus) && rows.flat().every((value) => value < values);
  },
  Distribute_Three: (rows) => {
    const rolled = (row: number[], by: number) =>
      row.map((_, i) => row[(i - by + row.length) % row.length]);
    return [1, -1].some((by) =>
      rows.slice(1).every((row, r) => row.join() === rolled(rows[r], by).join()),
    );
  },
};

test.each([
  [3, 10],
  [10, 100],
  [10, 1000],
])('every row obeys its rules: width %d, %d values', (width, values) => {
  for (let index = 0; index < 150; index++) {
    const problem = problemAt(index, { width, values });
    expect(problem.context).toHaveLength(width * width - 1);
    for (const attribute of VALUE_ATTRIBUTES) {
      const rows = tableOf(problem, attribute);
      const name = problem.rules[attribute];
      expect(HOLDS[name](rows, values), `${name} ${attribute} ${JSON.stringify(rows)}`).toBe(true);
    }
  }
});

test('rules are equally likely; Type has no arithmetic', () => {
  const problems = Array.from({ length: 1200 }, (_, i) => problemAt(i, { width: 3, values: 10 }));
  for (const attribute of VALUE_ATTRIBUTES) {
    const counts = tally(problems.map(({ rules }) => rules[attribute]));
    expect(counts.has('Arithmetic')).toBe(attribute !== 'Type');
    const even = Array<number>(counts.size).fill(1 / counts.size);
    expect(goodnessOfFit([...counts.values()], even)).toBeGreaterThan(0.001);
  }
});

test('one rule for all holds for Type too', () => {
  const { rules } = problemAt(0, { rule: 'Arithmetic' });
  expect(Object.values(rules)).toEqual(['Arithmetic', 'Arithmetic', 'Arithmetic']);
});

test('the law of values: starts, steps, sums and the one value more of distribute three', () => {
  const values = 30;
  const starts: number[] = [];
  const steps: number[] = [];
  const highest: number[] = [];
  const lastOperand: boolean[] = [];
  for (let index = 0; index < 2000; index++) {
    const problem = problemAt(index, { width: 5, values });
    const rows = tableOf(problem, 'Size');
    if (problem.rules.Size === 'Progression') {
      steps.push(rows[0][1] - rows[0][0]);
      if (steps.at(-1) === 2) starts.push(rows[0][0]);
    }
    if (problem.rules.Size === 'Distribute_Three') highest.push(Math.max(...rows[0]));
    if (problem.rules.Size === 'Arithmetic') {
      const plus = rows.every((row) => row.at(-1) === sum(row.slice(0, -1)));
      if (plus) lastOperand.push(rows.every((row) => row.at(-2) !== 0));
    }
  }
  const fit = (found: number[], range: number[]) =>
    goodnessOfFit(
      range.map((value) => found.filter((one) => one === value).length),
      range.map(() => 1 / range.length),
    );
  expect(fit(steps, [-2, -1, 1, 2])).toBeGreaterThan(0.001);
  expect(
    fit(
      starts,
      Array.from({ length: values - 8 }, (_, i) => i),
    ),
  ).toBeGreaterThan(0.001);
  expect(Math.max(...highest)).toBe(values);
  expect(lastOperand.every(Boolean)).toBe(true);
});

test('candidates are all combinations of the right and one wrong value, which occurs in the matrix', () => {
  const places: number[] = [];
  for (let index = 0; index < 400; index++) {
    const problem = problemAt(index, { width: 4, values: 20 });
    const answer = problem.candidates[problem.target];
    const keys = new Set(
      problem.candidates.map((panel) => VALUE_ATTRIBUTES.map((a) => panel[a]).join()),
    );
    expect(keys.size).toBe(8);
    const present = new Set(VALUE_ATTRIBUTES.flatMap((a) => tableOf(problem, a).flat()));
    for (const attribute of VALUE_ATTRIBUTES) {
      const offered = problem.candidates.map((panel) => panel[attribute]);
      expect(offered.filter((value) => value === answer[attribute])).toHaveLength(4);
      expect(new Set(offered).size).toBe(2);
      for (const value of offered) expect(present.has(value)).toBe(true);
    }
    places.push(problem.target);
  }
  const counts = Array.from({ length: 8 }, (_, i) => places.filter((p) => p === i).length);
  expect(goodnessOfFit(counts, Array<number>(8).fill(1 / 8))).toBeGreaterThan(0.001);
});

test('the last three rows are shown', () => {
  const problem = problemAt(1, { width: 10 });
  const rows = shownRows(problem);
  expect(rows.map((row) => row.length)).toEqual([10, 10, 9]);
  expect(rows[2].at(-1)).toBe(problem.context.at(-1));
});

test('the JSON has the published form', () => {
  const problem = problemAt(2, { width: 3, values: 50, confounders: 2 });
  const { rules, rpm, target } = numericProblemJson(problem);
  expect(rules).toEqual([{ 'Number/Position': 'Constant', ...problem.rules }]);
  expect(rpm).toHaveLength(16);
  expect(Object.keys(rpm[0][0])).toEqual([
    'Type',
    'Size',
    'Color',
    'Angle',
    'Confounder0',
    'Confounder1',
  ]);
  expect(rpm[8 + problem.target][0].Type).toBe(String(problem.candidates[problem.target].Type));
  expect(target).toBe(String(problem.target));
});

test.each([
  [{ width: 2 }, /width must be a whole number from 3/],
  [{ values: 5 }, /values must be a whole number from 10/],
  [{ width: 10, values: 18 }, /values must be more than 18/],
  [{ confounders: -1 }, /confounders must be a whole number from 0/],
])('%j is refused', (wrong, message) => {
  expect(() => problemAt(0, wrong)).toThrow(message);
});
