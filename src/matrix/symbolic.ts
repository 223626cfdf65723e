/**
 * A solver on descriptions instead of images: which rules agree with the eight context panels, and
 * which candidates agree with rules. It knows the rules of `rules.ts` and nothing of how a problem was
 * sampled. Where a component is not uniform and its entities are made anew in each column, attributes
 * with a Constant rule are noise and say nothing.
 */
import { UNIFORMITIES, type LevelRange } from './attributes.js';
import type { ComponentLayout, ConfigurationLayout } from './layouts.js';
import { layoutOfProblem } from './layouts.js';
import type { ComponentPanel, ComponentRules, Panel, Problem, Rule } from './problem.js';
import {
  arithmeticThird,
  originalRange,
  positionStep,
  regenerates,
  RULE_GROUPS,
  ruleTables,
  VALUE_KEYS,
  type RuleGroup,
  type ValueKey,
} from './rules.js';
import { maskOf, maskSlots } from './slots.js';

/** One component of the panels in reading order: eight, or nine with a candidate. */
type Sequence = readonly ComponentPanel[];

/** The value of an attribute in each panel, undefined if its entities differ. */
type Values = readonly (number | undefined)[];

const LAST = 8;
const ROWS = [0, 3, 6] as const;

function commonLevel(panel: ComponentPanel, key: ValueKey): number | undefined {
  const [first, ...rest] = panel.entities;
  return rest.every((entity) => entity[key] === first[key]) ? first[key] : undefined;
}

const within = (level: number, { min, max }: LevelRange): boolean => min <= level && level <= max;

/**
 * Whether each row's third value follows from its first two; a ninth value that is not given must only
 * be possible.
 */
function rowsFollow(
  values: readonly number[],
  third: (first: number, second: number) => number | undefined,
  possible: (value: number) => boolean,
): boolean {
  return ROWS.every((row) => {
    const expected = third(values[row], values[row + 1]);
    if (expected === undefined) return false;
    return row + 2 < values.length ? values[row + 2] === expected : possible(expected);
  });
}

const isConstant = (values: readonly number[]): boolean =>
  rowsFollow(
    values,
    (a, b) => (a === b ? a : undefined),
    () => true,
  );

/** Whether the rows hold the same three different values in the same cyclic order, shifted. */
function isDistributed(values: readonly number[]): boolean {
  const [x, y, z] = values;
  if (x === y || y === z || x === z) return false;
  const orders = [
    [x, y, z, y, z, x, z, x, y],
    [x, y, z, z, x, y, y, z, x],
  ];
  return orders.some((order) => values.every((value, index) => value === order[index]));
}

function levelsFollow(rule: Rule, range: LevelRange, values: Values): boolean {
  if (values.some((value) => value === undefined)) return false;
  const levels = values as readonly number[];
  switch (rule.name) {
    case 'Constant':
      return isConstant(levels);
    case 'Progression':
      return rowsFollow(
        levels,
        (a, b) => (b === a + rule.value ? b + rule.value : undefined),
        (level) => within(level, range),
      );
    case 'Arithmetic':
      // White in the second column of both complete rows is never arithmetic: see `rows.ts`.
      if (rule.attribute === 'Color' && levels[1] === 0 && levels[4] === 0) return false;
      return rowsFollow(
        levels,
        (a, b) => arithmeticThird(rule, a, b),
        (level) => within(level, range),
      );
    case 'Distribute_Three':
      return isDistributed(levels);
  }
}

/** A set of slots moved by a number of steps, around the end. */
function rotated(mask: number, steps: number, slotCount: number): number {
  const shift = (steps + slotCount) % slotCount;
  const all = (1 << slotCount) - 1;
  return ((mask << shift) | (mask >> (slotCount - shift))) & all;
}

function positionsFollow(rule: Rule, layout: ComponentLayout, masks: readonly number[]): boolean {
  switch (rule.name) {
    case 'Constant':
      return isConstant(masks);
    case 'Progression': {
      const move = (mask: number): number =>
        rotated(mask, positionStep(layout, rule.value), layout.slots.length);
      return rowsFollow(
        masks,
        (a, b) => (b === move(a) ? move(b) : undefined),
        () => true,
      );
    }
    case 'Arithmetic':
      return rowsFollow(
        masks,
        (a, b) => {
          const changes = rule.value > 0 ? b & ~a : a & ~b;
          if (changes === 0) return undefined;
          return rule.value > 0 ? a | b : changes;
        },
        () => true,
      );
    case 'Distribute_Three':
      return isDistributed(masks);
  }
}

function groupRuleHolds(layout: ComponentLayout, rule: Rule, panels: Sequence): boolean {
  if (rule.attribute === 'Number') {
    const counts = panels.map(({ entities }) => entities.length - 1);
    return levelsFollow(rule, layout.number, counts);
  }
  return positionsFollow(rule, layout, panels.map(maskOf));
}

/** The levels of a panel in an order in which a row's panels correspond, entity by entity. */
function alignedLevels(
  layout: ComponentLayout,
  groupRule: Rule,
  panel: ComponentPanel,
  column: number,
  key: ValueKey,
): number[] {
  // Under Distribute_Three only the order of the entities tells which one moved where.
  if (groupRule.name === 'Distribute_Three') return panel.entities.map((entity) => entity[key]);
  const slotCount = layout.slots.length;
  const steps =
    groupRule.attribute === 'Position' ? positionStep(layout, groupRule.value) * column : 0;
  const origin = (slot: number): number => (slot - steps + 2 * slotCount) % slotCount;
  return [...panel.entities]
    .sort((a, b) => origin(a.slot) - origin(b.slot))
    .map((entity) => entity[key]);
}

/** Whether an attribute without a rule of its own stays the same in each row. */
function constantHolds(
  layout: ComponentLayout,
  key: ValueKey,
  groupRule: Rule,
  panels: Sequence,
): boolean {
  const uniform = UNIFORMITIES[panels[0].uniformity];
  if (!uniform && regenerates(groupRule)) return true;
  if (uniform) {
    const rule: Rule = { name: 'Constant', attribute: 'Type', value: 0 };
    const values = panels.map((panel) => commonLevel(panel, key));
    return levelsFollow(rule, layout[key], values);
  }
  return panels.every((panel, index) => {
    const column = index % 3;
    const first = alignedLevels(layout, groupRule, panels[index - column], 0, key);
    const own = alignedLevels(layout, groupRule, panel, column, key);
    return own.length === first.length && own.every((level, i) => level === first[i]);
  });
}

/**
 * Whether a rule holds in every row of one component. With eight panels the third row need only be
 * open to a panel that completes it.
 * @param groupRule the component's rule on Number or Position, which decides what is noise
 */
export function ruleHolds(
  layout: ComponentLayout,
  rule: Rule,
  groupRule: Rule,
  panels: Sequence,
): boolean {
  const { attribute } = rule;
  if (attribute !== 'Type' && attribute !== 'Size' && attribute !== 'Color') {
    return groupRuleHolds(layout, rule, panels);
  }
  const key = VALUE_KEYS[attribute];
  if (rule.name === 'Constant') return constantHolds(layout, key, groupRule, panels);
  const values = panels.map((panel) => commonLevel(panel, key));
  return levelsFollow(rule, originalRange(layout, attribute), values);
}

const componentOf = (panels: readonly Panel[], component: number): Sequence =>
  panels.map(({ components }) => components[component]);

/** Whether all rules hold in every row of a matrix of nine panels (or eight: see `ruleHolds`). */
export function rulesHold(
  layout: ConfigurationLayout,
  rules: readonly ComponentRules[],
  panels: readonly Panel[],
): boolean {
  return rules.every((componentRules, component) => {
    const sequence = componentOf(panels, component);
    const componentLayout = layout.components[component];
    return componentRules.every((rule) =>
      ruleHolds(componentLayout, rule, componentRules[0], sequence),
    );
  });
}

/** The candidates, by index, that complete a problem's matrix so that its own rules hold. */
export function candidatesConsistentWith(
  problem: Problem,
  rules: readonly ComponentRules[] = problem.rules,
): number[] {
  const layout = layoutOfProblem(problem);
  return [...problem.candidates.keys()].filter((index) =>
    rulesHold(layout, rules, [...problem.context, problem.candidates[index].panel]),
  );
}

/** The rules of each group of one component, in the order of `RULE_GROUPS`, that are not ruled out. */
export type InferredRules = readonly [
  readonly Rule[],
  readonly Rule[],
  readonly Rule[],
  readonly Rule[],
];

/** Whether a value rule holds under at least one of the rules on Number or Position. */
const holdsUnderSome = (
  layout: ComponentLayout,
  rule: Rule,
  groupRules: readonly Rule[],
  panels: Sequence,
): boolean => groupRules.some((groupRule) => ruleHolds(layout, rule, groupRule, panels));

function inferComponent(layout: ComponentLayout, panels: Sequence): InferredRules {
  const [groupTable, ...valueTables] = RULE_GROUPS.map((group) => ruleTables(layout)[group]);
  const groupRules = groupTable.rules
    .map(({ rule }) => rule)
    .filter((rule) => ruleHolds(layout, rule, rule, panels));
  const [type, size, color] = valueTables.map((table) =>
    table.rules
      .map(({ rule }) => rule)
      .filter((rule) => holdsUnderSome(layout, rule, groupRules, panels)),
  );
  return [groupRules, type, size, color];
}

/**
 * The rules of one group that hold for values of all nine panels of a uniform component: levels of Type,
 * Size or Color, or sets of slots (as bits) for Number and Position.
 */
export function rulesOnValues(
  layout: ComponentLayout,
  group: RuleGroup,
  values: readonly number[],
): Rule[] {
  const possible = ruleTables(layout)[group].rules.map(({ rule }) => rule);
  if (group !== 'Number/Position') {
    return possible.filter((rule) => levelsFollow(rule, layout[VALUE_KEYS[group]], values));
  }
  const counts = values.map((mask) => maskSlots(mask).length - 1);
  return possible.filter((rule) =>
    rule.attribute === 'Number'
      ? levelsFollow(rule, layout.number, counts)
      : positionsFollow(rule, layout, values),
  );
}

/** Every possible rule of every component that the eight context panels agree with. */
export function inferRules(
  layout: ConfigurationLayout,
  context: readonly Panel[],
): readonly InferredRules[] {
  return layout.components.map((component, index) =>
    inferComponent(component, componentOf(context.slice(0, LAST), index)),
  );
}

/**
 * The rules of a value group that explain what is seen. Noise agrees with everything: it is believed
 * only if no rule explains the context.
 */
function explaining(
  layout: ComponentLayout,
  choices: readonly Rule[],
  groupRule: Rule,
  panels: Sequence,
): readonly Rule[] {
  const noise = !UNIFORMITIES[panels[0].uniformity] && regenerates(groupRule);
  const context = panels.slice(0, LAST);
  const holding = choices.filter((rule) => ruleHolds(layout, rule, groupRule, context));
  const rules = noise ? holding.filter(({ name }) => name !== 'Constant') : holding;
  return rules.length > 0 ? rules : holding;
}

/** Whether one component of a complete matrix obeys some choice among the inferred rules. */
function someRulesHold(layout: ComponentLayout, rules: InferredRules, panels: Sequence): boolean {
  const [groupRules, ...valueRules] = rules;
  return groupRules.some(
    (groupRule) =>
      ruleHolds(layout, groupRule, groupRule, panels) &&
      valueRules.every((choices) =>
        explaining(layout, choices, groupRule, panels).some((rule) =>
          ruleHolds(layout, rule, groupRule, panels),
        ),
      ),
  );
}

/**
 * Solves a problem from its panels, without looking at its rules: the candidates, by index, that the rules allow
 * which the context does not rule out. More than one if those rules disagree about the answer.
 */
export function solveSymbolically(problem: Omit<Problem, 'rules' | 'target'>): number[] {
  const layout = layoutOfProblem(problem);
  const rules = inferRules(layout, problem.context);
  return [...problem.candidates.keys()].filter((candidate) => {
    const panels = [...problem.context, problem.candidates[candidate].panel];
    return rules.every((componentRules, component) =>
      someRulesHold(layout.components[component], componentRules, componentOf(panels, component)),
    );
  });
}

/**
 * The candidates, by index, that are as right as the answer: they complete the matrix by other rules that the
 * eight panels allow too. Up to 1 problem in 100 has one, so whoever gives it must not be marked wrong.
 */
export function alsoRight(problem: Problem): number[] {
  const candidates = solveSymbolically(problem);
  // If not even the answer follows the rules of the data sets, other candidates are no better.
  return candidates.includes(problem.target)
    ? candidates.filter((index) => index !== problem.target)
    : [];
}
