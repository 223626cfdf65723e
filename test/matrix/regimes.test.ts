/** Regimes: the rules of A-I-RAVEN by part, attribute and component, and regimes of one's own. */
import { describe, expect, test } from 'vitest';
import {
  CONFIGURATIONS,
  layoutOf,
  parseConstraints,
  REGIME_NAMES,
  RULE_GROUPS,
  ruleTables,
  samplePanels,
  type Configuration,
  type RegimeName,
  type RuleGroup,
  type RuleName,
  type Split,
} from '../../src/matrix/index.js';
import { goodnessOfFit } from './chi-square.js';

/** How often each rule is drawn, by component, group and `name attribute value`. */
function drawn(configuration: Configuration, constraints: object, split: Split, count: number) {
  const plan = parseConstraints(constraints, layoutOf(configuration), split);
  const counts = layoutOf(configuration).components.map(() =>
    RULE_GROUPS.map(() => new Map<string, number>()),
  );
  for (let index = 0; index < count; index++) {
    const { rules } = samplePanels({ configuration, seed: 12, index, constraints: plan });
    rules.forEach((own, component) =>
      own.forEach(({ name, attribute, value }, group) => {
        const tally = counts[component][group];
        const key = `${name} ${attribute} ${value}`;
        tally.set(key, (tally.get(key) ?? 0) + 1);
      }),
    );
  }
  return counts;
}

/** Held-out attributes and the rule of training, as the table of the paper has them. */
const HELD_OUT: Record<RegimeName, Partial<Record<RuleGroup, RuleName>>> = {
  'a-color': { Color: 'Constant' },
  'a-position': { 'Number/Position': 'Constant' },
  'a-size': { Size: 'Constant' },
  'a-type': { Type: 'Constant' },
  'a-color-size': { Color: 'Constant', Size: 'Constant' },
  'a-color-type': { Color: 'Constant', Type: 'Constant' },
  'a-size-type': { Size: 'Constant', Type: 'Constant' },
  'a-color-progression': { Color: 'Progression' },
  'a-color-arithmetic': { Color: 'Arithmetic' },
  'a-color-distribute-three': { Color: 'Distribute_Three' },
};

/** Rule names a component may have at all, by group. */
function possible(configuration: Configuration, component: number, group: RuleGroup): RuleName[] {
  const layout = layoutOf(configuration).components[component];
  const single = layout.slots.length === 1;
  const outer = layout.name === 'Out';
  if (group === 'Number/Position' && single) return ['Constant'];
  if (group === 'Color' && outer) return ['Constant'];
  if (group === 'Type') return ['Constant', 'Progression', 'Distribute_Three'];
  if (group === 'Size' && outer) return ['Constant', 'Progression', 'Distribute_Three'];
  return ['Constant', 'Progression', 'Arithmetic', 'Distribute_Three'];
}

/** The table of A-I-RAVEN, written out: which rule names a held-out attribute has. */
function expectedNames(names: readonly RuleName[], trained: RuleName, split: Split): RuleName[] {
  const others = names.filter((name) => name !== trained);
  const own = names.filter((name) => name === trained);
  if (split === 'test') return others.length > 0 ? others : own;
  return own.length > 0 ? own : others;
}

describe.each(REGIME_NAMES)('%s', (regime) => {
  test.each(CONFIGURATIONS)('%s: rules by part, attribute and component', (configuration) => {
    for (const split of ['train', 'val', 'test'] as const) {
      const counts = drawn(configuration, { regime }, split, 400);
      counts.forEach((groups, component) =>
        groups.forEach((tally, g) => {
          const group = RULE_GROUPS[g];
          const trained = HELD_OUT[regime][group];
          const all = possible(configuration, component, group);
          const names = trained ? expectedNames(all, trained, split) : all;
          const found = new Set([...tally.keys()].map((key) => key.split(' ')[0]));
          expect([...found].sort(), `${split} ${component} ${group}`).toEqual([...names].sort());
          // Among what is left, entries of a group are as likely as ever.
          const kept = ruleTables(layoutOf(configuration).components[component])[
            group
          ].rules.filter(({ rule }) => names.includes(rule.name));
          const total = kept.reduce((sum, { weight }) => sum + weight, 0);
          const p = goodnessOfFit(
            kept.map(({ rule }) => tally.get(`${rule.name} ${rule.attribute} ${rule.value}`) ?? 0),
            kept.map(({ weight }) => weight / total),
          );
          expect(p, `${split} ${component} ${group}`).toBeGreaterThan(0.00001);
        }),
      );
    }
  });
});

test('the parts of a regime do not share their problems', () => {
  const panels = (split: Split) => {
    const constraints = parseConstraints({ regime: 'a-color' }, layoutOf('center'), split);
    return JSON.stringify(
      Array.from({ length: 20 }, (_, index) =>
        samplePanels({ configuration: 'center', seed: 1, index, constraints }).panels.map(
          ({ components }) => components[0].entities[0].type,
        ),
      ),
    );
  };
  expect(new Set([panels('train'), panels('val'), panels('test')]).size).toBe(3);
});

test('a pair of attribute and rule can be kept for the test', () => {
  const constraints = { regime: { size: { test: 'arithmetic' } } };
  const names = (split: Split) =>
    new Set(
      [...drawn('center', constraints, split, 200)[0][2].keys()].map((key) => key.split(' ')[0]),
    );
  expect([...names('train')].sort()).toEqual(['Constant', 'Distribute_Three', 'Progression']);
  expect([...names('test')]).toEqual(['Arithmetic']);
});

test('several rules of training, beside fixed rules of another attribute', () => {
  const constraints = {
    rules: [{ type: 'constant' }],
    regime: { color: { train: ['constant', 'progression'] } },
    split: 'test',
  };
  const [[, type, , color]] = drawn('center', constraints, 'train', 200);
  expect([...type.keys()]).toEqual(['Constant Type 0']);
  const names = new Set([...color.keys()].map((key) => key.split(' ')[0]));
  expect([...names].sort()).toEqual(['Arithmetic', 'Distribute_Three']);
});

test.each([
  [{ regime: 'a-colour' }, /regime: expected one of a-color, a-position/],
  [{ regime: {} }, /regime: name at least one of position, type, size, color/],
  [{ regime: { color: {} } }, /regime.color: give the rules of "train" or those of "test"/],
  [{ regime: { color: { train: 'xor' } } }, /regime.color.train: unknown rule "xor"/],
  [{ split: 'test' }, /split: a split is of a regime/],
  [{ regime: 'a-color', split: 'exam' }, /split: expected one of train, val, test/],
])('%j is refused', (constraints, message) => {
  expect(() => parseConstraints(constraints, layoutOf('center'))).toThrow(message);
});
