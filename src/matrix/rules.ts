/**
 * The rules of the data sets: which are possible in a component, how likely each is, which levels the
 * first column may start from so that a row stays in range, and what a rule says of a row.
 *
 * The data sets draw the rules of all groups and components together and draw everything again when
 * one of them leaves an empty range. A rule narrows only the range of its own group in its own
 * component, so a draw is valid exactly when each rule is valid by itself: the valid draws are a
 * product, and drawing each group from its own valid rules, at their original weights, gives the same
 * probabilities without any second draw.
 */
import type { LevelRange } from './attributes.js';
import type { ComponentLayout } from './layouts.js';
import type { ComponentRules, Rule, RuleAttribute, RuleName } from './problem.js';
import type { Random } from './random.js';

/** The four groups of rules of a component, in the data sets' order. */
export const RULE_GROUPS = ['Number/Position', 'Type', 'Size', 'Color'] as const;
export type RuleGroup = (typeof RULE_GROUPS)[number];

/** The attributes with a table of levels and a rule of their own. */
export const VALUE_ATTRIBUTES = ['Type', 'Size', 'Color'] as const;
export type ValueAttribute = (typeof VALUE_ATTRIBUTES)[number];

/** The key of an entity, or of a component layout's range, that holds a value attribute. */
export const VALUE_KEYS = { Type: 'type', Size: 'size', Color: 'color' } as const;
export type ValueKey = (typeof VALUE_KEYS)[ValueAttribute];

/** A rule with its weight among those of its group and the levels its first column may have. */
export interface PossibleRule {
  readonly rule: Rule;
  readonly weight: number;
  /** Levels of the rule's attribute; of Number for the rules on Number and Position. */
  readonly start: LevelRange;
}

/** The four rules of a component with the start ranges they leave. */
export type PossibleRules = readonly [PossibleRule, PossibleRule, PossibleRule, PossibleRule];

export const rulesOf = ([position, type, size, color]: PossibleRules): ComponentRules => [
  position.rule,
  type.rule,
  size.rule,
  color.rule,
];

/** The possible rules of one group; never empty, as Constant is always possible. */
export interface RuleTable {
  readonly rules: readonly PossibleRule[];
  readonly totalWeight: number;
}

export const ruleTable = (rules: readonly PossibleRule[]): RuleTable => ({
  rules,
  totalWeight: rules.reduce((sum, { weight }) => sum + weight, 0),
});

const GROUP_ATTRIBUTES: Record<RuleGroup, readonly RuleAttribute[]> = {
  'Number/Position': ['Number', 'Position', 'Number/Position'],
  Type: ['Type'],
  Size: ['Size'],
  Color: ['Color'],
};

/** The group a rule on this attribute belongs to. */
export function groupOf(attribute: RuleAttribute): RuleGroup {
  return attribute === 'Number' || attribute === 'Position' ? 'Number/Position' : attribute;
}

/** The parameters of a rule; a group's entries are equally likely, and so are an entry's values. */
const RULE_VALUES: Record<RuleName, readonly number[]> = {
  Constant: [0],
  Progression: [-2, -1, 1, 2],
  Arithmetic: [1, -1],
  Distribute_Three: [0],
};

/** A common multiple of the numbers of parameters, so that weights are integers. */
const ENTRY_WEIGHT = 4;

/** Whether the data sets have a rule of this name on this attribute, in any component. */
export function ruleExists(name: RuleName, attribute: RuleAttribute): boolean {
  if (attribute === 'Number/Position') return name === 'Constant';
  if (attribute === 'Number' || attribute === 'Position') return name !== 'Constant';
  return !(attribute === 'Type' && name === 'Arithmetic');
}

/** All rules of a name on an attribute that exist, possible in a given component or not. */
export function rulesNamed(name: RuleName, attribute: RuleAttribute): Rule[] {
  if (!ruleExists(name, attribute)) return [];
  return RULE_VALUES[name].map((value) => ({ name, attribute, value }));
}

/** The original range of the attribute that a rule narrows. */
export function originalRange(layout: ComponentLayout, attribute: RuleAttribute): LevelRange {
  switch (attribute) {
    case 'Type':
    case 'Size':
    case 'Color':
      return layout[VALUE_KEYS[attribute]];
    case 'Number':
    case 'Position':
    case 'Number/Position':
      return layout.number;
  }
}

const nonEmpty = (min: number, max: number): LevelRange | undefined =>
  min <= max ? { min, max } : undefined;

function positionArithmeticStart(value: number, { min, max }: LevelRange): LevelRange | undefined {
  // A difference can only leave something if the two sets are about half of the slots each.
  return nonEmpty(value > 0 ? min : Math.floor((max + 2) / 2) - 1, max - 1);
}

function arithmeticStart(rule: Rule, range: LevelRange): LevelRange | undefined {
  const { min, max } = range;
  if (rule.attribute === 'Position') return positionArithmeticStart(rule.value, range);
  if (rule.attribute === 'Color' && max - min < 1) return undefined;
  const offset = arithmeticOffset(rule.attribute);
  return rule.value > 0 ? nonEmpty(min, max - min - offset) : nonEmpty(2 * min + offset, max);
}

/** How many slots a progression of Position moves entities in each column. */
export const positionStep = ({ turn }: ComponentLayout, value: number): number =>
  turn === undefined ? value : turn * Math.sign(value);

/** A range of Number without what is never drawn freely. */
export function drawable(layout: ComponentLayout, { min, max }: LevelRange): LevelRange {
  return { min, max: Math.min(max, layout.mostDrawn ?? max) };
}

/** The levels the first column may have under a rule, or undefined if the rule is impossible. */
export function startRange(layout: ComponentLayout, rule: Rule): LevelRange | undefined {
  const start = unlimitedStart(layout, rule);
  return start && groupOf(rule.attribute) === 'Number/Position' ? drawable(layout, start) : start;
}

function unlimitedStart(layout: ComponentLayout, rule: Rule): LevelRange | undefined {
  const range = originalRange(layout, rule.attribute);
  const { min, max } = range;
  switch (rule.name) {
    case 'Constant':
      return range;
    case 'Progression': {
      const reach = 2 * Math.abs(rule.value);
      const down = rule.value < 0 && rule.attribute !== 'Position';
      return down ? nonEmpty(min + reach, max) : nonEmpty(min, max - reach);
    }
    case 'Arithmetic':
      return arithmeticStart(rule, range);
    case 'Distribute_Three':
      if (max - min + 1 < 3) return undefined;
      return rule.attribute === 'Position' ? nonEmpty(min, max - 1) : range;
  }
}

function buildTable(layout: ComponentLayout, group: RuleGroup): RuleTable {
  const rules: PossibleRule[] = [];
  for (const attribute of GROUP_ATTRIBUTES[group]) {
    for (const name of ['Progression', 'Arithmetic', 'Distribute_Three', 'Constant'] as const) {
      const named = rulesNamed(name, attribute);
      for (const rule of named) {
        const start = startRange(layout, rule);
        if (start) rules.push({ rule, weight: ENTRY_WEIGHT / named.length, start });
      }
    }
  }
  return ruleTable(rules);
}

const tables = new WeakMap<ComponentLayout, Record<RuleGroup, RuleTable>>();

/** The possible rules of each group of a component, with their weights in the data sets. */
export function ruleTables(layout: ComponentLayout): Record<RuleGroup, RuleTable> {
  let found = tables.get(layout);
  if (!found) {
    found = {
      'Number/Position': buildTable(layout, 'Number/Position'),
      Type: buildTable(layout, 'Type'),
      Size: buildTable(layout, 'Size'),
      Color: buildTable(layout, 'Color'),
    };
    tables.set(layout, found);
  }
  return found;
}

/** Draws a rule of a table by its weights. */
export function drawRule(random: Random, table: RuleTable): PossibleRule {
  let rest = random.below(table.totalWeight);
  for (const possible of table.rules) {
    rest -= possible.weight;
    if (rest < 0) return possible;
  }
  throw new RangeError('drawRule: the weights of the table do not add up');
}

export const sameRule = (a: Rule, b: Rule): boolean =>
  a.name === b.name && a.attribute === b.attribute && a.value === b.value;

/** The entry of a component's tables for a rule, or undefined if the rule is impossible there. */
export function findPossible(layout: ComponentLayout, rule: Rule): PossibleRule | undefined {
  return ruleTables(layout)[groupOf(rule.attribute)].rules.find((entry) =>
    sameRule(entry.rule, rule),
  );
}

/**
 * Whether a rule on Number or Position makes the entities of each column anew. In a component that is
 * not uniform these entities are then drawn again: the data sets' noise.
 */
export function regenerates(rule: Rule): boolean {
  if (rule.attribute === 'Number') return rule.name !== 'Constant';
  return rule.attribute === 'Position' && rule.name === 'Arithmetic';
}

/**
 * Arithmetic adds what the levels stand for: level 0 of Number and Size counts as one, so that a sum
 * of levels lies one higher; level 0 of Color, white, counts as none.
 */
const arithmeticOffset = (attribute: RuleAttribute): number => (attribute === 'Color' ? 0 : 1);

/** The levels the second column may have under an arithmetic rule, given the first. */
export function arithmeticSecond(rule: Rule, original: LevelRange, first: number): LevelRange {
  const offset = arithmeticOffset(rule.attribute);
  const { min, max } = original;
  return rule.value > 0 ? { min, max: max - first - offset } : { min, max: first - min - offset };
}

/** The level of the third column under an arithmetic rule on Number, Size or Color. */
export function arithmeticThird(rule: Rule, first: number, second: number): number {
  const offset = arithmeticOffset(rule.attribute);
  return rule.value > 0 ? first + second + offset : first - second - offset;
}
