/**
 * The one vocabulary of the page: what attributes, rules and concepts are called wherever a person meets
 * them. Attributes are Shape, Size, Colour, Number and Position (the data sets' Type, Size, Color, Number,
 * Position); rules are constant, progression +1, arithmetic −, distribute three.
 */
import {
  findLayout,
  levelWords,
  RULE_GROUPS,
  ruleKind,
  ruleTables,
  type AttributeChange,
  type Configuration,
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

/** What people call the configurations. */
export const CONFIGURATION_NAMES: Readonly<Record<Configuration, string>> = {
  center: 'Center',
  'left-right': 'Left-right',
  'up-down': 'Up-down',
  'out-in-center': 'Out-in',
  'out-in-grid': 'Out-in grid',
  'grid-2x2': '2×2 grid',
  'grid-3x3': '3×3 grid',
};

/** What a layout is called: "2×2 grid". */
export function titleOfLayout(layout: string): string {
  const { configuration, noisy } = findLayout(layout);
  return `${CONFIGURATION_NAMES[configuration]}${noisy ? ' with noise' : ''}`;
}

/** Words in a row: "a, b and c". */
export const inList = (words: readonly string[]): string =>
  [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' and ');

/** What arithmetic on sizes and colours is about. */
export const LEVELS =
  'Arithmetic counts in levels, sizes from 1 to 6, colours from 0 (white) to 9 (black).';

/** A value by these levels, if the data sets have another number for it: size "4", "grey 3", "circle". */
export function valueWords(attribute: RuleAttribute, level: number): string {
  if (attribute === 'Size') return String(level + 1);
  const words = levelWords(attribute, level);
  return attribute === 'Color' && words.startsWith('grey') ? `grey ${level}` : words;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const attributeWords = (attribute: RuleAttribute): string => capital(ATTRIBUTES[attribute]);

const componentWords = ({ components }: ConfigurationLayout, component: number): string =>
  COMPONENTS[components[component].name] ?? components[component].name;

/** A layout whose parts have the page's names, for descriptions: "Outer: white square". */
export const inPageWords = (layout: ConfigurationLayout): ConfigurationLayout => ({
  ...layout,
  components: layout.components.map((each, component) => ({
    ...each,
    name: componentWords(layout, component),
  })),
});

/** "Size", or "Left size" where there is more than one component. */
export function named(
  layout: ConfigurationLayout,
  component: number,
  attribute: RuleAttribute,
): string {
  const { components } = layout;
  if (components.length === 1) return attributeWords(attribute);
  return `${componentWords(layout, component)} ${ATTRIBUTES[attribute]}`;
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

const CHANGES: Readonly<Record<RuleGroup, string>> = {
  'Number/Position': 'number or place',
  Type: 'shape',
  Size: 'size',
  Color: 'colour',
};

/** What can change along a row: "shape, size and colour each follow a rule of their own". */
export function changingWords(layout: ConfigurationLayout): string {
  const groups = RULE_GROUPS.filter((each) =>
    subjectsOf(layout).some(({ group }) => group === each),
  );
  const listed = inList(groups.map((group) => CHANGES[group]));
  const parts = layout.components.length > 1 ? ' in each of the two parts' : '';
  return `${listed} each follow a rule of their own${parts}`;
}

/** "progression +1"; of the two attributes that share a rule also which one: "number progression +1". */
export function ruleWords(rule: Rule): string {
  const isShared = rule.attribute === 'Number' || rule.attribute === 'Position';
  return isShared ? `${ATTRIBUTES[rule.attribute]} ${ruleKind(rule)}` : ruleKind(rule);
}

/** Two rules in the words of one name, without saying twice what both begin with: "progression −2 or +2". */
export function eitherRule(first: string, second: string): string {
  const [words, others] = [first.split(' '), second.split(' ')];
  const apart = others.findIndex((word, i) => word !== words[i]);
  return `${first} or ${others.slice(Math.max(0, apart)).join(' ')}`;
}

/** What each kind of rule does, whatever it is about. */
export const RULE_KINDS: Readonly<Record<string, string>> = {
  constant: 'The same in all three panels of a row.',
  'progression +1': 'One step up from each panel of a row to the next.',
  'progression +2': 'Two steps up from each panel of a row to the next.',
  'progression −1': 'One step down from each panel of a row to the next.',
  'progression −2': 'Two steps down from each panel of a row to the next.',
  'arithmetic +': 'The third panel of a row is the first plus the second.',
  'arithmetic −': 'The third panel of a row is the first minus the second.',
  'distribute three': 'Every row has the same three values, each time in another order.',
};

/** What a rule does, in a sentence or two; `meaning`: what it does to its attribute. */
export function explainRule(rule: string, meaning = ''): string {
  const kind = Object.keys(RULE_KINDS).find((each) => rule.endsWith(each)) ?? '';
  const sentence = RULE_KINDS[kind] ?? '';
  // Only steps, and places that are added up, mean something else for each attribute.
  const isSpecial = kind.startsWith('progression') || rule.startsWith('position arithmetic');
  return isSpecial && meaning !== '' ? `${sentence} Here: ${meaning}.` : sentence;
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

/** A title for narrow places: "Inner num/pos 1". */
export const shortTitle = (title: string): string => title.replace('umber/position', 'um/pos');

/** What a concept is called, and what that means. */
interface ConceptWords {
  /** Short, and different from all others: "Colour", "Left size", "Mixed 4". */
  readonly title: string;
  /** A sentence without its end: "follows Colour most". */
  readonly about: string;
  /** The attribute it is named after; null where it is mixed, unused or has no name. */
  readonly subject: Subject | null;
}

/** Attributes as the names in bundles have them. */
const BUNDLE_ATTRIBUTES: Readonly<Record<string, RuleGroup | 'Rotation'>> = {
  'Num/Pos': 'Number/Position',
  Type: 'Type',
  Size: 'Size',
  Color: 'Color',
  Rotation: 'Rotation',
};

/** Bundles count concepts of the same attribute with letters: `Type a`, `Type b`. */
const BEFORE_A = 'a'.charCodeAt(0) - 1;

/** One attribute of a name in a bundle, such as `Type Out`. */
interface NamedPart {
  readonly attribute: RuleGroup | 'Rotation';
  readonly component: number;
}

function namedPart(layout: ConfigurationLayout, text: string): NamedPart | null {
  const [name, place] = text.split(' ');
  const attribute = BUNDLE_ATTRIBUTES[name];
  const component = layout.components.findIndex(
    (each) => place === undefined || each.name === place,
  );
  return attribute === undefined || component < 0 ? null : { attribute, component };
}

/** "Outer shape + size". */
function partWords(layout: ConfigurationLayout, parts: readonly NamedPart[]): string {
  const isElsewhere = parts.some(({ component }) => component !== parts[0].component);
  const words = parts.map(({ attribute, component }, i) => {
    const plain = attribute === 'Rotation' ? 'rotation' : ATTRIBUTES[attribute];
    const isTold = layout.components.length > 1 && (i === 0 || isElsewhere);
    return isTold ? `${componentWords(layout, component)} ${plain}` : plain;
  });
  return capital(words.join(' + ').toLowerCase());
}

/** Reads names as bundles have them: `Size`, `Type Out`, `Num/Pos In b`, `Type In + Size In`, `mixed`, `unused`. */
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
  const [, told, letter] = /^(.*?)(?: ([a-z]))?$/.exec(name ?? '') ?? [];
  const parts = told.split(' + ').flatMap((part) => namedPart(layout, part) ?? []);
  if (parts.length === 0) {
    return { title: name ?? `Concept ${concept}`, about: 'has no name', subject: null };
  }
  const words = partWords(layout, parts);
  const [{ attribute, component }] = parts;
  const isTurn = attribute === 'Rotation';
  const about = `follows ${words.toLowerCase().replace(' + ', ' and ')} most`;
  const isOnlyTurn = isTurn && parts.length === 1;
  return {
    title: letter === undefined ? words : `${words} ${letter.charCodeAt(0) - BEFORE_A}`,
    about: isOnlyTurn ? `${about}: figures are turned by chance, by no rule` : about,
    subject: parts.length > 1 || isTurn ? null : { component, group: attribute },
  };
}

/** Words for all concepts; a title that would stand for several gets its number. */
export function wordsForConcepts(
  layout: ConfigurationLayout,
  names: readonly (string | null)[],
): ConceptWords[] {
  const all = names.map((name, m) => conceptWords(layout, name, m + 1));
  const titled = all.map((words, m) => {
    const isShared = all.filter(({ title }) => title === words.title).length > 1;
    return isShared ? { ...words, title: `${words.title} ${m + 1}` } : words;
  });
  // Who meets "Shape 1" is told of "Shape 2".
  return titled.map((words) => {
    const key = words.subject && subjectKey(words.subject);
    const twins = titled.filter(
      (each) => each !== words && each.subject && subjectKey(each.subject) === key,
    );
    if (twins.length === 0) return words;
    const others = twins.length === 1 ? `${twins[0].title} does` : `${twins.length} others do`;
    return { ...words, about: `${words.about}, as ${others}` };
  });
}
