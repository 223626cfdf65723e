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

interface Changing {
  readonly key: string;
  /** Names of the rules, other than Constant, that are possible. */
  readonly names: string[];
  /** Those that are seen best: progressions, of sizes and greys by two levels, as neighbours look alike. */
  readonly plain: string[];
}

function changing(layout: ConfigurationLayout, component: number, place: PlaceKey): Changing[] {
  const attributes = [place === 'number' ? 'Number' : 'Position', 'Type', 'Size', 'Color'];
  const { tables } = freePlan(layout).components[component];
  return RULE_GROUPS.map((group, i) => {
    const rules = tables[group].rules
      .map(({ rule }) => rule)
      .filter(({ name, attribute }) => name !== 'Constant' && attribute === attributes[i]);
    const isFine = group === 'Size' || group === 'Color';
    const seen = rules.filter(
      ({ name, value }) => name === 'Progression' && (!isFine || Math.abs(value) > 1),
    );
    return {
      key: attributes[i].toLowerCase(),
      names: [...new Set(rules.map(({ name }) => name))],
      plain: seen.map(({ name, value }) => `${name} ${value > 0 ? '+' : ''}${value}`),
    };
  });
}

/** One attribute of one component follows a progression in clear steps; all else is constant. */
function gentleRules(layout: ConfigurationLayout, random: Random, place: PlaceKey): RuleWords[] {
  const groups = layout.components.map((_, component) => changing(layout, component, place));
  const chosen = random.pick(groups.flat().filter(({ plain }) => plain.length > 0));
  return groups.map((ofComponent) =>
    Object.fromEntries(
      ofComponent.map((group) => [group.key, group === chosen ? group.plain : ['Constant']]),
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
