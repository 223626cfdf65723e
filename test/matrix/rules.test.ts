/** The direct draw of rules against what the data sets' draw-and-reject would give. */
import { describe, expect, test } from 'vitest';
import {
  ALL_LAYOUTS,
  drawRule,
  layoutOf,
  Random,
  RULE_GROUPS,
  ruleTables,
  startRange,
  type ComponentLayout,
  type Rule,
  type RuleGroup,
} from '../../src/matrix/index.js';
import { goodnessOfFit, homogeneity, tally } from './chi-square.js';

const show = ({ name, attribute, value }: Rule): string => `${name} ${attribute} ${value}`;

const PROGRESSION = [-2, -1, 1, 2];

/** The entries of the groups, as the specification lists them. */
const ENTRIES: Record<RuleGroup, [Rule['name'], Rule['attribute'], number[]][]> = {
  'Number/Position': [
    ['Progression', 'Number', PROGRESSION],
    ['Progression', 'Position', PROGRESSION],
    ['Arithmetic', 'Number', [1, -1]],
    ['Arithmetic', 'Position', [1, -1]],
    ['Distribute_Three', 'Number', [0]],
    ['Distribute_Three', 'Position', [0]],
    ['Constant', 'Number/Position', [0]],
  ],
  Type: [
    ['Progression', 'Type', PROGRESSION],
    ['Distribute_Three', 'Type', [0]],
    ['Constant', 'Type', [0]],
  ],
  Size: [
    ['Progression', 'Size', PROGRESSION],
    ['Arithmetic', 'Size', [1, -1]],
    ['Distribute_Three', 'Size', [0]],
    ['Constant', 'Size', [0]],
  ],
  Color: [
    ['Progression', 'Color', PROGRESSION],
    ['Arithmetic', 'Color', [1, -1]],
    ['Distribute_Three', 'Color', [0]],
    ['Constant', 'Color', [0]],
  ],
};

/** Draws all rules of all components together and again until all are possible. */
function drawAndReject(random: Random, components: readonly ComponentLayout[]): Rule[][] {
  for (;;) {
    const rules = components.map(() =>
      RULE_GROUPS.map((group): Rule => {
        const [name, attribute, values] = random.pick(ENTRIES[group]);
        return { name, attribute, value: random.pick(values) };
      }),
    );
    const valid = rules.every((own, i) => own.every((rule) => startRange(components[i], rule)));
    if (valid) return rules;
  }
}

describe.each(ALL_LAYOUTS.map((layout) => [layout.folder, layout] as const))('%s', (_, layout) => {
  test('direct draws have the probabilities of draw-and-reject, also jointly', () => {
    const random = new Random(11);
    const rejected: string[] = [];
    const direct: string[] = [];
    const names = (rules: Rule[]): string => rules.map(({ name }) => name[0]).join('');
    for (let i = 0; i < 3000; i++) {
      rejected.push(drawAndReject(random, layout.components).map(names).join(' '));
      const drawn = layout.components.map((component) =>
        RULE_GROUPS.map((group) => drawRule(random, ruleTables(component)[group]).rule),
      );
      direct.push(drawn.map(names).join(' '));
    }
    expect(homogeneity(tally(rejected), tally(direct))).toBeGreaterThan(0.001);
  });

  test('each group is drawn by its weights', () => {
    for (const component of layout.components) {
      for (const group of RULE_GROUPS) {
        const table = ruleTables(component)[group];
        const random = new Random(12, table.totalWeight);
        const counts = table.rules.map(() => 0);
        for (let i = 0; i < 4000; i++) counts[table.rules.indexOf(drawRule(random, table))]++;
        const proportions = table.rules.map(({ weight }) => weight / table.totalWeight);
        expect(goodnessOfFit(counts, proportions)).toBeGreaterThan(0.001);
      }
    }
  });
});

test('single slots allow only a constant number and position', () => {
  const [left] = layoutOf('left-right').components;
  expect(ruleTables(left)['Number/Position'].rules.map(({ rule }) => show(rule))).toEqual([
    'Constant Number/Position 0',
  ]);
});

test('the outer component has no arithmetic, no rule on color, and short steps of size', () => {
  const [out] = layoutOf('out-in-center').components;
  expect(ruleTables(out).Color.rules.map(({ rule }) => show(rule))).toEqual(['Constant Color 0']);
  expect(ruleTables(out).Size.rules.map(({ rule }) => show(rule))).toEqual([
    'Progression Size -1',
    'Progression Size 1',
    'Distribute_Three Size 0',
    'Constant Size 0',
  ]);
});

test('ranges of the first column are narrowed as the specification says', () => {
  const [, inner] = layoutOf('out-in-grid').components;
  const [nine] = layoutOf('grid-3x3').components;
  const range = (
    layout: ComponentLayout,
    name: Rule['name'],
    attribute: Rule['attribute'],
    value: number,
  ) => startRange(layout, { name, attribute, value });
  expect(range(inner, 'Arithmetic', 'Size', 1)).toEqual({ min: 2, max: 2 });
  expect(range(inner, 'Arithmetic', 'Size', -1)).toEqual({ min: 5, max: 5 });
  expect(range(inner, 'Progression', 'Position', 2)).toBeUndefined();
  expect(range(inner, 'Arithmetic', 'Position', -1)).toEqual({ min: 1, max: 2 });
  expect(range(nine, 'Arithmetic', 'Position', 1)).toEqual({ min: 0, max: 7 });
  expect(range(nine, 'Arithmetic', 'Position', -1)).toEqual({ min: 4, max: 7 });
  expect(range(nine, 'Arithmetic', 'Number', 1)).toEqual({ min: 0, max: 7 });
  expect(range(nine, 'Arithmetic', 'Number', -1)).toEqual({ min: 1, max: 8 });
  expect(range(nine, 'Progression', 'Number', -2)).toEqual({ min: 4, max: 8 });
  expect(range(nine, 'Progression', 'Position', -2)).toEqual({ min: 0, max: 4 });
  expect(range(nine, 'Distribute_Three', 'Position', 0)).toEqual({ min: 0, max: 7 });
  expect(range(nine, 'Progression', 'Type', 2)).toEqual({ min: 1, max: 1 });
  expect(range(nine, 'Arithmetic', 'Color', -1)).toEqual({ min: 0, max: 9 });
  expect(range(nine, 'Arithmetic', 'Size', 1)).toEqual({ min: 0, max: 4 });
});
