/**
 * The one vocabulary of the page: what attributes, rules and concepts are called wherever a person meets
 * them. Attributes are Shape, Size, Colour, Number and Position (the data sets' Type, Size, Color, Number,
 * Position); rules are constant, progression +1, arithmetic −, distribute three.
 */
import {
  RULE_GROUPS,
  ruleKind,
  ruleTables,
  type AttributeChange,
  type ConfigurationLayout,
  type Rule,
  type RuleAttribute,
  type RuleGroup,
} from '../../matrix/index.js';

/** What a rule is about: one group of attributes of one component. */
export interface Subject {
  readonly component: number;
  readonly group: RuleGroup;
}

/** Tells subjects apart. */
export const subjectKey = ({ component, group }: Subject): string => `${component} ${group}`;

const ATTRIBUTES: Readonly<Record<RuleAttribute, string>> = {
  'Number/Position': 'number/position',
  Number: 'number',
  Position: 'position',
  Type: 'shape',
  Size: 'size',
  Color: 'colour',
};

export const COMPONENTS: Readonly<Record<string, string>> = {
  Grid: 'Figures',
  Left: 'Left',
  Right: 'Right',
  Up: 'Upper',
  Down: 'Lower',
  Out: 'Outer',
  In: 'Inner',
};

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const attributeWords = (attribute: RuleAttribute): string => capital(ATTRIBUTES[attribute]);

/** "Size", or "Left size" where there is more than one component. */
export function named(
  layout: ConfigurationLayout,
  component: number,
  attribute: RuleAttribute,
): string {
  const { components } = layout;
  if (components.length === 1) return attributeWords(attribute);
  const { name } = components[component];
  return `${COMPONENTS[name] ?? name} ${ATTRIBUTES[attribute]}`;
}

export const subjectWords = (layout: ConfigurationLayout, { component, group }: Subject): string =>
  named(layout, component, group);

/** What can follow more than one rule in a layout; the rest is constant in every matrix. */
export function subjectsOf(layout: ConfigurationLayout): Subject[] {
  return layout.components.flatMap((each, component) =>
    RULE_GROUPS.filter((group) => ruleTables(each)[group].rules.length > 1).map((group) => ({
      component,
      group,
    })),
  );
}

/** "progression +1"; of the two attributes that share a rule also which one: "number progression +1". */
export function ruleWords(rule: Rule): string {
  const isShared = rule.attribute === 'Number' || rule.attribute === 'Position';
  return isShared ? `${ATTRIBUTES[rule.attribute]} ${ruleKind(rule)}` : ruleKind(rule);
}

/** How a candidate differs from the answer, in words. */
export function differenceWords(
  layout: ConfigurationLayout,
  changes: readonly AttributeChange[],
): string {
  if (changes.length === 0) return 'It is the answer.';
  const words = changes.map(({ component, attribute }) => named(layout, component, attribute));
  return `In truth it differs in ${words.map((each) => each.toLowerCase()).join(' and ')}.`;
}

/** What a concept is called, and what that means. */
export interface ConceptWords {
  /** Short, and different from all others: "Colour", "Left size", "Mixed 4". */
  readonly title: string;
  /** A sentence without its end: "follows Colour most". */
  readonly about: string;
  /** The attribute it is named after; null where it is mixed, unused or has no name. */
  readonly subject: Subject | null;
}

const GROUP_NAMES: Readonly<Record<string, RuleGroup>> = {
  'Num/Pos': 'Number/Position',
  Type: 'Type',
  Size: 'Size',
  Color: 'Color',
};

/** Reads names as bundles have them: `Size`, `Type Out`, `Num/Pos In b`, `mixed`, `unused`. */
function conceptWords(
  layout: ConfigurationLayout,
  name: string | null,
  concept: number,
): ConceptWords {
  if (name === 'mixed') {
    const about = 'carries several attributes at once';
    return { title: `Mixed ${concept}`, about, subject: null };
  }
  if (name === 'unused') {
    const about = 'hardly varies: the model does without it';
    return { title: `Unused ${concept}`, about, subject: null };
  }
  const [, attribute, place, letter] =
    /^(\S+)(?: ([A-Z][a-z]+))?(?: ([a-z]))?$/.exec(name ?? '') ?? [];
  const group = attribute === undefined ? undefined : GROUP_NAMES[attribute];
  const at = layout.components.findIndex((each) => place === undefined || each.name === place);
  if (group === undefined || at < 0) {
    return { title: name ?? `Concept ${concept}`, about: 'nobody has named it', subject: null };
  }
  const subject = { component: at, group };
  const words = subjectWords(layout, subject);
  return {
    title: letter === undefined ? words : `${words} ${letter}`,
    about: `follows ${words.toLowerCase()} most`,
    subject,
  };
}

/** Words for all concepts; a title that would stand for several gets its number. */
export function wordsForConcepts(
  layout: ConfigurationLayout,
  names: readonly (string | null)[],
): ConceptWords[] {
  const all = names.map((name, m) => conceptWords(layout, name, m + 1));
  return all.map((words, m) => {
    const isShared = all.filter(({ title }) => title === words.title).length > 1;
    return isShared ? { ...words, title: `${words.title} ${m + 1}` } : words;
  });
}
