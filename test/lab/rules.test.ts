/** Rule agreement: assignment, tables of ARI and labels on cases whose values are known. */
import { describe, expect, test } from 'vitest';
import {
  ariTable,
  authorsColumns,
  authorsLabeller,
  bestAssignment,
  ruleAgreement,
  ruleCategories,
  ruleName,
  studyProblems,
} from '../../src/lab/index.js';
import {
  attributeColumns,
  layoutOf,
  Random,
  samplePanels,
  type AttributeColumn,
  type Configuration,
  type Label,
  type RuleAttribute,
  type RuleName,
} from '../../src/matrix/index.js';
import { adjustedRandIndex, codedRandIndex, codesOf } from '../../src/models/index.js';
import type { RuleMap } from '../../src/solver/index.js';
import { madeUpSubject } from './made-up.js';

/** The best sum over all one-to-one assignments, tried one by one. */
function bestByTrial(scores: readonly (readonly number[])[], row = 0, used = 0): number {
  if (row === scores.length) return 0;
  const columns = scores[0].length;
  const free = [...scores[row].keys()].filter((c) => ((used >> c) & 1) === 0);
  const tried = free.map((c) => scores[row][c] + bestByTrial(scores, row + 1, used | (1 << c)));
  // With fewer columns than rows a row may stay without one.
  if (scores.length > columns) tried.push(bestByTrial(scores, row + 1, used));
  return Math.max(...tried);
}

describe('one-to-one assignment', () => {
  test('reaches the best sum there is', () => {
    const random = new Random(4);
    for (let trial = 0; trial < 120; trial++) {
      const [rows, columns] = [random.between(1, 6), random.between(1, 6)];
      const scores = Array.from({ length: rows }, () =>
        Array.from({ length: columns }, () => random.between(-9, 9)),
      );
      const assigned = bestAssignment(scores);
      const used = assigned.filter((column) => column >= 0);
      expect(new Set(used).size).toBe(used.length);
      expect(used).toHaveLength(Math.min(rows, columns));
      const sum = assigned.reduce((total, c, r) => total + (c < 0 ? 0 : scores[r][c]), 0);
      const best = rows > columns ? bestOfAll(scores, columns) : bestByTrial(scores);
      expect(sum).toBe(best);
    }
  });

  /** The best sum with every column used, where there are fewer columns than rows. */
  function bestOfAll(scores: readonly (readonly number[])[], columns: number): number {
    const flipped = Array.from({ length: columns }, (_, c) => scores.map((row) => row[c]));
    return bestByTrial(flipped);
  }
});

const NAMES: readonly RuleName[] = ['Constant', 'Progression', 'Arithmetic', 'Distribute_Three'];

/** A label of one component: the names of its four rules, and which of Number and Position is meant. */
const labelOf = (
  group: RuleAttribute,
  names: readonly [RuleName, RuleName, RuleName, RuleName],
): Label => [
  [
    { attribute: group, name: names[0], value: 0 },
    { attribute: 'Type', name: names[1], value: 0 },
    { attribute: 'Size', name: names[2], value: 0 },
    { attribute: 'Color', name: names[3], value: 0 },
  ],
];

function randomLabels(count: number, seed = 1): Label[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () =>
    labelOf('Number', [
      random.pick(NAMES),
      random.pick(NAMES),
      random.pick(NAMES),
      random.pick(NAMES),
    ]),
  );
}

describe('a table of ARI', () => {
  const columns = attributeColumns(layoutOf('center'));
  const labels = randomLabels(300);
  const categoryOf = (label: Label, attribute: AttributeColumn): number =>
    NAMES.indexOf(ruleName(label, attribute) as RuleName);

  test('has 1 where concepts know the rules, 0 where they do not', () => {
    const random = new Random(5);
    const shuffled = [2, 0, 3, 1];
    const categories = labels.map((label) => [
      random.below(4),
      shuffled[categoryOf(label, columns[0])],
      categoryOf(label, columns[1]),
    ]);
    const table = ariTable(columns, categories, labels, ruleName);
    expect(table.attributes.map(({ name }) => name)).toEqual(['Type', 'Size', 'Color']);
    expect(table.matrix[1][0]).toBe(1);
    expect(table.matrix[2][1]).toBe(1);
    expect(Math.abs(table.matrix[0][2])).toBeLessThan(0.05);
    expect(table.best.map(({ concept }) => concept).slice(0, 2)).toEqual([2, 3]);
    expect(table.oneToOne.map(({ concept }) => concept)).toEqual([2, 3, 1]);
    expect(table.average).toBeCloseTo((2 + table.best[2].ari) / 3, 10);
    expect(table.byGroup).toEqual({
      Type: 1,
      Size: 1,
      Color: table.best[2].ari,
      'Num/Pos': null,
    });
  });

  test('takes a concept twice in the best, once in the one-to-one', () => {
    const both = labels.map((label) => [
      4 * categoryOf(label, columns[0]) + categoryOf(label, columns[1]),
      0,
    ]);
    const table = ariTable(columns, both, labels, ruleName);
    expect(table.best.slice(0, 2).map(({ concept }) => concept)).toEqual([1, 1]);
    expect(table.oneToOne.filter(({ concept }) => concept === 1)).toHaveLength(1);
    expect(table.oneToOne.filter(({ concept }) => concept === null)).toHaveLength(1);
    expect(table.averageOneToOne).toBeLessThan(table.average);
  });

  test('is the value of the definition on a small case', () => {
    // Clusters of three and two against two and three.
    const truth: RuleName[] = ['Constant', 'Constant', 'Constant', 'Arithmetic', 'Arithmetic'];
    const small = truth.map((name) => labelOf('Number', [name, name, name, name]));
    const table = ariTable(columns, [[0], [0], [1], [1], [1]], small, ruleName);
    // Pairs together in both: {1,2} and {4,5}; in each partition 3 + 1 of 10: (2 - 1.6) / (4 - 1.6).
    expect(table.matrix[0][0]).toBeCloseTo(0.4 / 2.4, 12);
  });

  test('averages over attributes of all components, as the paper does', () => {
    const layout = layoutOf('out-in-center');
    const attributes = attributeColumns(layout);
    expect(attributes.map(({ name }) => name)).toEqual([
      'Type Out',
      'Size Out',
      'Type In',
      'Size In',
      'Color In',
    ]);
    const two = labels.map((label, n): Label => [label[0], labels[(n + 7) % labels.length][0]]);
    const categories = two.map((label) => [categoryOf(label, attributes[4])]);
    const table = ariTable(attributes, categories, two, ruleName);
    expect(table.byGroup.Color).toBe(1);
    const sum = table.best.reduce((total, { ari }) => total + ari, 0);
    expect(table.average).toBeCloseTo(sum / 5, 12);
    expect(table.byGroup.Type).toBeCloseTo((table.best[0].ari + table.best[2].ari) / 2, 12);
  });
});

describe('the interval of an average', () => {
  const columns = attributeColumns(layoutOf('center'));
  const labels = randomLabels(200, 6);
  const categoriesOf = (wrong: number): number[][] => {
    const random = new Random(12);
    return labels.map((label) =>
      columns.map((attribute) =>
        random.below(100) < wrong
          ? random.below(4)
          : NAMES.indexOf(ruleName(label, attribute) as RuleName),
      ),
    );
  };

  test('has no width where all agrees, and holds the average elsewhere', () => {
    const perfect = ariTable(columns, categoriesOf(0), labels, ruleName);
    expect(perfect.averageInterval).toEqual({ low: 1, high: 1 });
    const { average, averageInterval } = ariTable(columns, categoriesOf(30), labels, ruleName);
    expect(averageInterval?.low).toBeLessThan(average);
    expect(averageInterval?.high).toBeGreaterThan(average);
    expect((averageInterval?.high ?? 1) - (averageInterval?.low ?? 0)).toBeLessThan(0.25);
  });

  test('is of the index itself, items counted as often as they stand', () => {
    const random = new Random(9);
    const first = Array.from({ length: 30 }, () => random.below(4));
    const second = first.map((value) => (random.coin() ? value : random.below(3)));
    const times = first.map(() => random.below(4));
    const repeated = (values: readonly number[]): number[] =>
      values.flatMap((value, i) => Array.from({ length: times[i] }, () => value));
    const expected = adjustedRandIndex(repeated(first), repeated(second));
    expect(codedRandIndex(codesOf(first), codesOf(second), times)).toBeCloseTo(expected, 12);
    const once = first.map(() => 1);
    expect(codedRandIndex(codesOf(first), codesOf(second), once)).toBeCloseTo(
      adjustedRandIndex(first, second),
      12,
    );
  });
});

describe('labels', () => {
  const groupOf = (configuration: Configuration) =>
    attributeColumns(layoutOf(configuration)).filter(({ group }) => group === 'Num/Pos');

  test('of Num/Pos are the rule on either of the two', () => {
    const [column] = groupOf('grid-2x2');
    const number = labelOf('Number', ['Progression', 'Constant', 'Constant', 'Constant']);
    const position = labelOf('Position', ['Progression', 'Constant', 'Constant', 'Constant']);
    expect([number, position].map((label) => ruleName(label, column))).toEqual([
      'Progression',
      'Progression',
    ]);
    expect(ruleName([], column)).toBeNull();
  });

  test("of the authors know only one of the two, and not out-in-grid's outer size", () => {
    const number = labelOf('Number', ['Arithmetic', 'Constant', 'Constant', 'Constant']);
    const position = labelOf('Position', ['Arithmetic', 'Constant', 'Constant', 'Constant']);
    const seen = (configuration: 'grid-2x2' | 'grid-3x3') => {
      const [column] = groupOf(configuration);
      const labeller = authorsLabeller(layoutOf(configuration));
      return [number, position].map((label) => labeller(label, column));
    };
    expect(seen('grid-2x2')).toEqual(['Arithmetic', 'Constant']);
    expect(seen('grid-3x3')).toEqual(['Constant', 'Arithmetic']);
    expect(authorsColumns(layoutOf('out-in-grid')).map(({ name }) => name)).toEqual([
      'Type Out',
      'Num/Pos In',
      'Type In',
      'Size In',
      'Color In',
    ]);
  });
});

/** Four narrow components at the corners of a square. */
const CORNERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
];
const MIXTURE = {
  weights: [0.25, 0.25, 0.25, 0.25],
  means: CORNERS,
  covariances: CORNERS.map(() => [
    [0.01, 0],
    [0, 0.01],
  ]),
};

test('rules belong to the component that makes them most likely', () => {
  const skewed = {
    weights: [0.9, 0.1],
    means: [
      [0, 0],
      [1, 0],
    ],
    covariances: [
      [
        [1, 0],
        [0, 1],
      ],
      [
        [0.01, 0],
        [0, 0.01],
      ],
    ],
  };
  const rules = [[[0, 0]], [[0.9, 0.1]], [[0.7, 0]], [[-3, 0]]];
  // At 0.7 the wide component's 0.9 * 0.125 is more than the narrow one's 0.1 * 15.9 * e^-4.5.
  expect(ruleCategories([skewed], rules)).toEqual([[0], [1], [0], [0]]);
});

test('rule agreement uses rules of whole matrices and of contexts', async () => {
  const source = { configuration: 'center', noisy: false, seed: 1 } as const;
  const ruleMap: RuleMap = { prior: [MIXTURE, MIXTURE], source, truth: [], snapshots: [] };
  const [type] = attributeColumns(layoutOf('center'));
  const parts = {
    rules: () => CORNERS.slice(0, 2),
    // Asked twice for all of them: as they are, and mirrored, which changes no kind of rule.
    parse: (count: number) =>
      studied.labels.slice(0, count).map((label) => {
        const corner = CORNERS[NAMES.indexOf(ruleName(label, type) as RuleName)];
        return [corner, CORNERS[0]];
      }),
  };
  const subject = madeUpSubject({ ...parts, ruleMap });
  const studied = await studyProblems(subject, [], { count: 60, seed: 9 });
  const found = await ruleAgreement(subject, studied);
  expect(found?.problems).toEqual({ fromData: 0, generated: 60, seed: 9 });
  expect(found?.matrix.best[0]).toEqual({ attribute: 'Type', concept: 1, ari: 1 });
  expect(found?.authors.best[0].ari).toBe(1);
  expect(found?.context.best[0].ari).toBe(0);
  expect(found?.oneReading?.best[0].ari).toBe(1);
  expect(found?.plain?.best[0].ari).toBeGreaterThan(0.9);
  expect(found?.groups).toBeUndefined();
  expect(await ruleAgreement(madeUpSubject(parts), studied)).toBeNull();
  const unlabelled = { ...studied, labels: studied.labels.map((): Label => []) };
  expect(await ruleAgreement(subject, unlabelled)).toBeNull();
});

test('true rules are those of the attribute and component', () => {
  const { rules } = samplePanels({ configuration: 'out-in-grid', seed: 1, index: 0 });
  expect(ruleName(rules, { name: 'Size In', component: 1, group: 'Size' })).toBe(rules[1][2].name);
  expect(ruleName(rules, { name: 'Num/Pos In', component: 1, group: 'Num/Pos' })).toBe(
    rules[1][0].name,
  );
  expect(ruleName(rules, { name: 'Rotation', component: 0, group: 'Rotation' })).toBeNull();
  expect(ruleName([], { name: 'Type', component: 0, group: 'Type' })).toBeNull();
});
