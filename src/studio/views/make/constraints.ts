/**
 * Rules and first values of a matrix of one's own, as the JSON text that the matrix layer reads. Reading
 * it back for the form takes only what the form can show; the matrix layer checks the whole.
 */
import { isRecord } from '../../../base/index.js';
import {
  freePlan,
  levelsOf,
  ruleMeaning,
  startRefusal,
  VALUE_KEYS,
  type ConfigurationLayout,
  type PossibleRule,
  type Rule,
  type RuleGroup,
  type RowStart,
} from '../../../matrix/index.js';
import { ruleWords, valueWords } from '../../engine/words.js';

export type StartKey = 'number' | 'type' | 'size' | 'color';

type RuleEntry = Readonly<Record<string, { readonly name: string; readonly value: number }>>;
type StartEntry = Readonly<Partial<Record<StartKey, number>>>;

/** One entry for each component. */
export interface Draft {
  readonly rules: readonly RuleEntry[];
  readonly start: readonly StartEntry[];
}

export interface RuleOption extends PossibleRule {
  /** What the rule is called. */
  readonly label: string;
  /** What it does. */
  readonly meaning: string;
  /** Why the values of the first panel rule it out; null if they do not. */
  readonly refusal: string | null;
}

/** The key of a group's first value. */
export const startKeyOf = (group: RuleGroup): StartKey =>
  group === 'Number/Position' ? 'number' : VALUE_KEYS[group];

/** First values that a form can have set; levels, so that Number counts from 0. */
function startOf(entry: StartEntry): RowStart {
  const level = (key: StartKey): number | undefined =>
    Number.isInteger(entry[key]) ? entry[key] : undefined;
  const number = level('number');
  return {
    number: number === undefined ? undefined : number - 1,
    type: level('type'),
    size: level('size'),
    color: level('color'),
  };
}

/** The rules of a group of a component. */
export function ruleOptions(
  layout: ConfigurationLayout,
  draft: Draft,
  component: number,
  group: RuleGroup,
): RuleOption[] {
  const { rules } = freePlan(layout).components[component].tables[group];
  const start = startOf(draft.start[component]);
  return rules.map((possible) => ({
    ...possible,
    label: ruleWords(possible.rule),
    meaning: ruleMeaning(possible.rule),
    refusal: startRefusal(possible, layout.components[component], [start, {}, {}], valueWords),
  }));
}

export interface StartOption {
  /** As a draft has it. */
  readonly value: number;
  readonly label: string;
  /** Why the fixed rule rules it out; null if it does not. */
  readonly refusal: string | null;
}

/** Values that the first panel may have, given the rule that is fixed for their group. */
export function startOptions(
  layout: ConfigurationLayout,
  component: number,
  group: RuleGroup,
  fixed: RuleOption | undefined,
): StartOption[] {
  const own = layout.components[component];
  const key = startKeyOf(group);
  return levelsOf(own[key]).map((level) => ({
    value: key === 'number' ? level + 1 : level,
    label: valueWords(group, level),
    refusal:
      fixed === undefined ? null : startRefusal(fixed, own, [{ [key]: level }, {}, {}], valueWords),
  }));
}

const keyOf = ({ attribute }: Rule): string =>
  attribute === 'Number'
    ? 'number'
    : attribute === 'Number/Position'
      ? 'position'
      : attribute.toLowerCase();

const keysOf = (group: RuleGroup): readonly string[] =>
  group === 'Number/Position' ? ['number', 'position'] : [group.toLowerCase()];

const entries = (value: unknown, count: number): Record<string, unknown>[] =>
  Array.from({ length: count }, (_, i) => {
    const entry: unknown = Array.isArray(value) ? value[i] : undefined;
    return isRecord(entry) ? entry : {};
  });

export function readDraft(text: string, layout: ConfigurationLayout): Draft {
  let json: unknown = {};
  try {
    json = text === '' ? {} : JSON.parse(text);
  } catch {
    // A damaged link: the form starts empty, and the matrix says what is wrong.
  }
  const parts = isRecord(json) ? json : {};
  const count = layout.components.length;
  return {
    rules: entries(parts.rules, count) as unknown as RuleEntry[],
    start: entries(parts.start, count),
  };
}

/** The text of a draft; empty where nothing is fixed. */
export function writeDraft({ rules, start }: Draft): string {
  const has = (list: readonly object[]): boolean =>
    list.some((entry) => Object.keys(entry).length > 0);
  if (!has(rules) && !has(start)) return '';
  return JSON.stringify({ ...(has(rules) && { rules }), ...(has(start) && { start }) });
}

/** Index of the rule a draft fixes for a group among its options; -1 where any may come. */
export function fixedRule(draft: Draft, component: number, options: readonly RuleOption[]): number {
  const entry = draft.rules[component];
  return options.findIndex(({ rule }) => {
    const fixed = entry[keyOf(rule)];
    return isRecord(fixed) && fixed.name === rule.name && fixed.value === rule.value;
  });
}

const replaced = <T>(list: readonly T[], at: number, value: T): T[] =>
  list.map((old, i) => (i === at ? value : old));

export function withRule(
  draft: Draft,
  component: number,
  group: RuleGroup,
  rule: Rule | null,
): Draft {
  const keys = keysOf(group);
  const others = Object.entries(draft.rules[component]).filter(([key]) => !keys.includes(key));
  const entry: RuleEntry = {
    ...Object.fromEntries(others),
    ...(rule !== null && { [keyOf(rule)]: { name: rule.name, value: rule.value } }),
  };
  return { ...draft, rules: replaced(draft.rules, component, entry) };
}

export function withStart(
  draft: Draft,
  component: number,
  key: StartKey,
  value: number | null,
): Draft {
  const others = Object.entries(draft.start[component]).filter(([each]) => each !== key);
  const entry: StartEntry = {
    ...Object.fromEntries(others),
    ...(value !== null && { [key]: value }),
  };
  return { ...draft, start: replaced(draft.start, component, entry) };
}
