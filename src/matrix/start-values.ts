/**
 * Whether rows can start with fixed values under a rule, and if not, why: for people who choose rules and
 * values together.
 */
import { ArgumentError } from '../base/index.js';
import type { LevelRange } from './attributes.js';
import { levelWords, ruleKind } from './describe.js';
import type { ComponentLayout } from './layouts.js';
import type { ComponentPlan } from './plan.js';
import type { RuleAttribute } from './problem.js';
import {
  groupOf,
  originalRange,
  RULE_GROUPS,
  ruleTable,
  VALUE_KEYS,
  type PossibleRule,
  type RuleGroup,
  type RuleTable,
} from './rules.js';
import { slotMask } from './slots.js';

export type Starts = ComponentPlan['starts'];
type Tables = Readonly<Record<RuleGroup, RuleTable>>;

export const defined = <T>(value: T | undefined): value is T => value !== undefined;

/** The words of a range of levels within all of them: "0.7 or less". */
function rangeWords(
  attribute: RuleAttribute,
  { min, max }: LevelRange,
  all: LevelRange,
  wordsOf: typeof levelWords,
): string {
  const [low, high] = [wordsOf(attribute, min), wordsOf(attribute, max)];
  if (min === max) return low;
  if (attribute === 'Color') return `${low} to ${high}`;
  if (min === all.min) return `${high} or ${attribute === 'Type' ? 'before it' : 'less'}`;
  if (max === all.max) return `${low} or ${attribute === 'Type' ? 'after it' : 'more'}`;
  return `${low} to ${high}`;
}

/** Whether a second row may start where white is the only second color: see `rows.ts`. */
function colorStartsFit({ rule }: PossibleRule, layout: ComponentLayout, starts: Starts): boolean {
  if (rule.name !== 'Arithmetic' || rule.attribute !== 'Color') return true;
  const barren = rule.value > 0 ? layout.color.max : layout.color.min;
  return !(starts[0].color === barren && starts[1].color === barren);
}

/**
 * Why three rows cannot start as fixed under a rule: "starts at 0.7 or less"; null if they can. `wordsOf`:
 * what levels are called.
 */
export function startRefusal(
  possible: PossibleRule,
  layout: ComponentLayout,
  starts: Starts,
  wordsOf = levelWords,
): string | null {
  const { rule, start } = possible;
  const group = groupOf(rule.attribute);
  const isNumber = group === 'Number/Position';
  const levels = starts.map((row) => row[isNumber ? 'number' : VALUE_KEYS[group]]).filter(defined);
  if (levels.some((level) => level < start.min || level > start.max)) {
    const attribute = isNumber ? 'Number' : group;
    return `starts at ${rangeWords(attribute, start, originalRange(layout, attribute), wordsOf)}`;
  }
  if (!colorStartsFit(possible, layout, starts)) return 'cannot start two rows with this colour';
  if (rule.name !== 'Distribute_Three') return null;
  const different = 'starts each row with another value';
  const distinct = new Set(levels).size;
  if (rule.attribute !== 'Position') return distinct === levels.length ? null : different;
  const sets = starts.map(({ slots }) => slots).filter(defined);
  if (distinct > 1) return 'starts all rows with the same number';
  return new Set(sets.map(slotMask)).size === sets.length ? null : different;
}

/** The rules of tables under which rows can start as fixed; fails in words if a group has none. */
export function fitTables(
  tables: Tables,
  layout: ComponentLayout,
  starts: Starts,
  path: string,
): Record<RuleGroup, RuleTable> {
  const fitting = { ...tables };
  for (const group of RULE_GROUPS) {
    const { rules } = tables[group];
    const refusals = rules.map((rule) => startRefusal(rule, layout, starts));
    if (refusals.includes(null)) {
      fitting[group] = ruleTable(rules.filter((_, i) => refusals[i] === null));
      continue;
    }
    const reasons = rules.map(({ rule }, i) => `${ruleKind(rule)} ${refusals[i] ?? ''}`);
    throw new ArgumentError(`${path}: ${group} of ${layout.name}: ${reasons.join('; ')}`);
  }
  return fitting;
}
