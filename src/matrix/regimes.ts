/**
 * Regimes: which rules training sees and which only the test does, as in A-I-RAVEN (Małkiński and
 * Mańdziuk, "A-I-RAVEN and I-RAVEN-Mesh"). Only the draw of rules changes; val is drawn like train.
 *
 * A regime tells of an attribute either the rules of training, and the test has the others; or the rules
 * of the test, and training has the others. If a component cannot have any of the rules it should (the
 * outer figure never changes its colour, a single slot has no rule on position), it has the others.
 */
import { RULE_NAMES, type RuleName } from './problem.js';
import { ruleTable, type RuleGroup, type RuleTable } from './rules.js';

export const SPLITS = ['train', 'val', 'test'] as const;
export type Split = (typeof SPLITS)[number];

/** What of an attribute training has; the test has the other rules. */
export type Regime = Partial<Record<RuleGroup, readonly RuleName[]>>;

const CONSTANT: readonly RuleName[] = ['Constant'];

/** The ten regimes of A-I-RAVEN. `position` stands for the whole group of Number and Position. */
export const REGIMES = {
  'a-color': { Color: CONSTANT },
  'a-position': { 'Number/Position': CONSTANT },
  'a-size': { Size: CONSTANT },
  'a-type': { Type: CONSTANT },
  'a-color-size': { Color: CONSTANT, Size: CONSTANT },
  'a-color-type': { Color: CONSTANT, Type: CONSTANT },
  'a-size-type': { Size: CONSTANT, Type: CONSTANT },
  'a-color-progression': { Color: ['Progression'] },
  'a-color-arithmetic': { Color: ['Arithmetic'] },
  'a-color-distribute-three': { Color: ['Distribute_Three'] },
} as const satisfies Record<string, Regime>;
export type RegimeName = keyof typeof REGIMES;
export const REGIME_NAMES = Object.keys(REGIMES) as RegimeName[];

/** The rules that are not among these. */
export const otherRules = (names: readonly RuleName[]): RuleName[] =>
  RULE_NAMES.filter((name) => !names.includes(name));

/** A component's rules as a regime has them in a part of the set. */
export function regimeTables(
  tables: Record<RuleGroup, RuleTable>,
  regime: Regime,
  split: Split,
): Record<RuleGroup, RuleTable> {
  const limited = { ...tables };
  for (const group of Object.keys(regime) as RuleGroup[]) {
    const trained = regime[group] ?? RULE_NAMES;
    const wanted = split === 'test' ? otherRules(trained) : trained;
    const { rules } = tables[group];
    const fitting = rules.filter(({ rule }) => wanted.includes(rule.name));
    if (fitting.length > 0) limited[group] = ruleTable(fitting);
  }
  return limited;
}
