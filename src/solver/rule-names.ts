/**
 * Rules in people's words, from what the model computed: the symbols of all nine panels, given and
 * imagined, read as levels of attributes. The names of entries come from labels; nothing else does. A rule
 * is named if it holds for the nine levels. A missing panel has several possible entries: each set of names
 * is as likely as the entries that lead to it, and the likeliest set is told, with that probability. If
 * several names fit equally, all of them are in the set.
 */
import {
  attributeColumns,
  layoutOf,
  MATRIX_PANELS,
  ruleGroupOf,
  rulesOnValues,
  type ComponentLayout,
  type Rule,
  type RuleGroup,
} from '../matrix/index.js';
import type { BundleManifest } from './bundle.js';
import type { Answer } from './questions.js';
import type { NamedAttribute, Vocabulary } from './vocabulary.js';

/** The rule of one attribute, as far as the model tells. */
export interface NamedRule {
  /** As in tables: `Type`, `Num/Pos In`. */
  readonly attribute: string;
  readonly component: number;
  readonly group: RuleGroup;
  /** The group of concepts it was read from, counted from 1; null if none determines the attribute. */
  readonly conceptGroup: number | null;
  /** Every rule that fits; empty if none does. */
  readonly rules: readonly Rule[];
  /** How likely exactly these are right. */
  readonly confidence: number;
  /** Whether the panels that were painted obey them. */
  readonly obeyed: boolean;
}

/** Values of one panel, with the probability of each. */
type Options = readonly { readonly values: readonly number[]; readonly probability: number }[];

/** Entries of a missing panel that are looked at, and combinations over all missing panels. */
const MOST_OPTIONS = 32;
const MOST_COMBINATIONS = 1024;
/** Panels drawn alike can be read in several ways; more readings than these are not tried. */
const MOST_READINGS = 64;

/** Options of a panel by what people see: entries of the same levels count together. */
function merged(options: Options): Options {
  const byValues = new Map<string, { values: readonly number[]; probability: number }>();
  for (const { values, probability } of options) {
    const key = values.join();
    const known = byValues.get(key)?.probability ?? 0;
    byValues.set(key, { values, probability: known + probability });
  }
  return [...byValues.values()]
    .sort((a, b) => b.probability - a.probability)
    .slice(0, MOST_OPTIONS);
}

/** Every choice of one item from each list; if they are too many, those kept that are likeliest so far. */
function combinations<T>(
  lists: readonly (readonly T[])[],
  most: number,
  chance: (item: T) => number = () => 1,
): { readonly items: readonly T[]; readonly probability: number }[] {
  type Found = { readonly items: readonly T[]; readonly probability: number };
  return lists.reduce<Found[]>(
    (found, list) => {
      const longer = found.flatMap(({ items, probability }) =>
        list.map((item) => ({ items: [...items, item], probability: probability * chance(item) })),
      );
      if (longer.length <= most) return longer;
      return longer.sort((a, b) => b.probability - a.probability).slice(0, most);
    },
    [{ items: [], probability: 1 }],
  );
}

/** Rules that hold for some reading of nine panels, each of which may be read in several ways. */
function rulesOf(
  layout: ComponentLayout,
  group: RuleGroup,
  panels: readonly (readonly number[])[],
): Rule[] {
  const found = new Map<string, Rule>();
  for (const { items } of combinations(panels, MOST_READINGS)) {
    for (const rule of rulesOnValues(layout, group, items)) found.set(JSON.stringify(rule), rule);
  }
  return [...found.values()];
}

const keyOf = (rules: readonly Rule[]): string =>
  rules
    .map((rule) => JSON.stringify(rule))
    .sort()
    .join();

/** The likeliest set of rules on one attribute, given the possible values of all nine panels. */
function nameOne(layout: ComponentLayout, group: RuleGroup, panels: readonly Options[]) {
  const sets = new Map<string, { rules: Rule[]; probability: number }>();
  const chance = (option: Options[number]): number => option.probability;
  for (const { items, probability } of combinations(panels, MOST_COMBINATIONS, chance)) {
    const rules = rulesOf(
      layout,
      group,
      items.map(({ values }) => values),
    );
    if (rules.length === 0) continue;
    const key = keyOf(rules);
    sets.set(key, { rules, probability: (sets.get(key)?.probability ?? 0) + probability });
  }
  let whole = 0;
  let best: { rules: Rule[]; probability: number } = { rules: [], probability: 0 };
  for (const set of sets.values()) {
    whole += set.probability;
    if (set.probability > best.probability) best = set;
  }
  const confidence = whole === 0 ? 0 : best.probability / whole;
  const shown = rulesOf(
    layout,
    group,
    panels.map((options) => options[0].values),
  );
  const obeyed =
    best.rules.length > 0 && best.rules.every((rule) => keyOf(shown).includes(keyOf([rule])));
  return { rules: best.rules, confidence, obeyed };
}

/** Possible values of an attribute in all nine panels; null if a given panel shows no entry. */
function optionsOf(
  answer: Answer,
  attribute: NamedAttribute,
  conceptGroup: number,
): readonly Options[] | null {
  const found: Options[] = [];
  for (let i = 0; i < MATRIX_PANELS; i++) {
    const at = answer.missing.indexOf(i + 1);
    const foretold = answer.imagined?.[at]?.foretold[conceptGroup];
    if (at >= 0) {
      if (foretold?.known !== true) return null;
      const options = foretold.probabilities.map((probability, entry) => ({
        values: attribute.values[entry],
        probability,
      }));
      found.push(merged(options));
      continue;
    }
    const entry = answer.symbols?.[i][conceptGroup].entry ?? null;
    if (entry === null) return null;
    found.push([{ values: attribute.values[entry - 1], probability: 1 }]);
  }
  return found;
}

/** Names the rule of every attribute that has one. */
export function nameRules(
  vocabulary: Vocabulary,
  { configuration, noisy }: Pick<BundleManifest, 'configuration' | 'noisy'>,
  answer: Answer,
): NamedRule[] {
  const layout = layoutOf(configuration, noisy);
  const determined = vocabulary.groups.flatMap(({ attributes }, g) =>
    attributes.map((attribute) => ({ attribute, g })),
  );
  return attributeColumns(layout).map((column) => {
    const { name, component } = column;
    const group = ruleGroupOf(column);
    const found = determined.find(
      ({ attribute }) => attribute.component === component && attribute.group === group,
    );
    const options = found && optionsOf(answer, found.attribute, found.g);
    const named = options
      ? nameOne(layout.components[component], group, options)
      : { rules: [], confidence: 0, obeyed: false };
    return {
      attribute: name,
      component,
      group,
      conceptGroup: found ? found.g + 1 : null,
      ...named,
    };
  });
}
