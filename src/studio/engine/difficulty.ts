/** Difficulties as constraints on the rules: one attribute changes, whatever the data sets draw, or all. */
import {
  freePlan,
  parseConstraints,
  Random,
  RULE_GROUPS,
  type ConfigurationLayout,
  type Plan,
} from '../../matrix/index.js';
import type { Difficulty } from './protocol.js';

/** The stream of random numbers that decides what changes; far from those of sampling. */
const STREAM = 0x5afe_0001;

type RuleWords = Record<string, string[]>;
/** Number and Position share one rule; a matrix changes one of them. */
type PlaceKey = 'number' | 'position';

/** For each group with its key: names of the rules, other than Constant, that are possible in it. */
function changing(
  layout: ConfigurationLayout,
  component: number,
  place: PlaceKey,
): { key: string; names: string[] }[] {
  const attributes = [place === 'number' ? 'Number' : 'Position', 'Type', 'Size', 'Color'];
  const { tables } = freePlan(layout).components[component];
  return RULE_GROUPS.map((group, i) => {
    const names = tables[group].rules
      .filter(({ rule }) => rule.name !== 'Constant' && rule.attribute === attributes[i])
      .map(({ rule }) => rule.name);
    return { key: attributes[i].toLowerCase(), names: [...new Set(names)] };
  });
}

/** One attribute of one component follows a rule, a progression where it can; all else is constant. */
function gentleRules(layout: ConfigurationLayout, random: Random, place: PlaceKey): RuleWords[] {
  const groups = layout.components.map((_, component) => changing(layout, component, place));
  const chosen = random.pick(groups.flat().filter(({ names }) => names.length > 0));
  const easiest = chosen.names.includes('Progression') ? ['Progression'] : chosen.names;
  return groups.map((ofComponent) =>
    Object.fromEntries(
      ofComponent.map((group) => [group.key, group === chosen ? easiest : ['Constant']]),
    ),
  );
}

/** Everything changes that can. */
function hardRules(layout: ConfigurationLayout, place: PlaceKey): RuleWords[] {
  return layout.components.map((_, component) =>
    Object.fromEntries(
      changing(layout, component, place)
        .filter(({ names }) => names.length > 0)
        .map(({ key, names }) => [key, names]),
    ),
  );
}

/** The plan of a difficulty; undefined where the data sets' own is meant. */
export function planOf(
  layout: ConfigurationLayout,
  difficulty: Difficulty,
  seed: number,
  index: number,
): Plan | undefined {
  const random = new Random(seed, index, STREAM);
  const place = random.pick(['number', 'position'] as const);
  switch (difficulty) {
    case 'standard':
      return undefined;
    case 'gentle':
      return parseConstraints({ rules: gentleRules(layout, random, place) }, layout);
    case 'hard':
      return parseConstraints({ rules: hardRules(layout, place) }, layout);
  }
}
