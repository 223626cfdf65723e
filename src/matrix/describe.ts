/**
 * Problems in words: one line for each rule, panel and change. For reports, contact sheets and alternative
 * texts; English only.
 */
import { ANGLES, COLORS, SIZES, TYPES } from './attributes.js';
import { layoutOfProblem, type ComponentLayout, type ConfigurationLayout } from './layouts.js';
import { MESH, MESH_SLOT_NAMES } from './mesh.js';
import type {
  AttributeChange,
  ComponentPanel,
  Entity,
  Panel,
  Problem,
  Rule,
  RuleAttribute,
  RuleName,
} from './problem.js';
import type { RuleGroup } from './rules.js';

const POSITION_ARITHMETIC = {
  sum: 'third = first and second together',
  difference: 'third = first without second',
} as const;

function progression(attribute: RuleAttribute, value: number): string {
  const step = Math.abs(value);
  const times = step === 1 ? '' : ` by ${step}`;
  const up = value > 0;
  switch (attribute) {
    case 'Number':
      return `${step} ${up ? 'more' : 'fewer'} in each column`;
    case 'Position':
      return `${step} ${step === 1 ? 'slot' : 'slots'} ${up ? 'forward' : 'back'} in each column`;
    case 'Type':
      return `${step} ${step === 1 ? 'shape' : 'shapes'} on in each column, ${up ? 'triangle to circle' : 'circle to triangle'}`;
    case 'Size':
      return `${up ? 'larger' : 'smaller'}${times} in each column`;
    case 'Color':
      return `${up ? 'darker' : 'lighter'}${times} in each column`;
    case 'Number/Position':
      return `by ${value} in each column`;
  }
}

function arithmetic({ attribute, value }: Rule): string {
  if (attribute === 'Position') {
    return value > 0 ? POSITION_ARITHMETIC.sum : POSITION_ARITHMETIC.difference;
  }
  return `third = first ${value > 0 ? '+' : '−'} second`;
}

/** What a rule is without its attribute, in two words: "progression +1", "arithmetic −". */
export function ruleKind({ name, value }: Pick<Rule, 'name' | 'value'>): string {
  const sign = value < 0 ? '−' : '+';
  switch (name) {
    case 'Constant':
      return 'constant';
    case 'Progression':
      return `progression ${sign}${Math.abs(value)}`;
    case 'Arithmetic':
      return `arithmetic ${sign}`;
    case 'Distribute_Three':
      return 'distribute three';
  }
}

/** What a rule does, for people: "larger by 2 in each column", "third = first − second". */
export function ruleMeaning(rule: Rule): string {
  switch (rule.name) {
    case 'Constant':
      return 'the same in each row';
    case 'Progression':
      return progression(rule.attribute, rule.value);
    case 'Arithmetic':
      return arithmetic(rule);
    case 'Distribute_Three':
      return 'the same three in each row';
  }
}

/** The name of a rule in words: "distribute three". */
export const ruleWords = (name: RuleName): string => name.toLowerCase().replace('_', ' ');

/**
 * A rule in one line: "Size: arithmetic, third = first + second". Such lines are kept in answer files and
 * compared when these are read again, so their minus stays the plain hyphen.
 */
export function describeRule(rule: Rule): string {
  const { name, attribute } = rule;
  if (name === 'Constant') return `${attribute}: constant in each row`;
  return `${attribute}: ${ruleWords(name)}, ${ruleMeaning(rule).replace('−', '-')}`;
}

const describeEach = (rules: readonly Rule[]): string[] => rules.map(describeRule);

/** Lines have no type, size or color; their positions make quarter turns. */
function describeMeshRules([rule]: readonly Rule[]): string[] {
  if (rule.name !== 'Progression' || rule.attribute !== 'Position') return [describeRule(rule)];
  const way = rule.value > 0 ? 'counter-clockwise' : 'clockwise';
  return [`Position: progression, a quarter turn ${way} in each column`];
}

/** "Left: " if there is more than one component, else nothing. */
const prefix = (layout: ConfigurationLayout, component: number): string =>
  layout.components.length > 1 ? `${layout.components[component].name}: ` : '';

/** The rules of a problem, one line each, with the component's name if there are two. */
export function describeRules(
  problem: Pick<Problem, 'configuration' | 'noisy' | 'mesh' | 'rules'>,
): string[] {
  const layout = layoutOfProblem(problem);
  return problem.rules.flatMap((rules, component) => {
    const words = layout.components[component] === MESH ? describeMeshRules : describeEach;
    return words(rules).map((line) => prefix(layout, component) + line);
  });
}

/** Names of the Color levels that people have a word for; the others are greys by their value. */
function colorName(level: number): string {
  if (level === 0) return 'white';
  if (level === COLORS.length - 1) return 'black';
  return `grey ${COLORS[level]}`;
}

/** What a level of an attribute is called: "0.7", "grey 140", "circle", "3". */
export function levelWords(attribute: RuleAttribute, level: number): string {
  switch (attribute) {
    case 'Type':
      return TYPES[level];
    case 'Size':
      return String(SIZES[level]);
    case 'Color':
      return colorName(level);
    case 'Number':
    case 'Position':
    case 'Number/Position':
      return String(level + 1);
  }
}

/** Names of slots, by how many there are. */
export const SLOT_NAMES: Readonly<Record<number, readonly string[]>> = {
  1: [''],
  4: ['top left', 'top right', 'bottom left', 'bottom right'],
  9: [
    'top left',
    'top',
    'top right',
    'left',
    'centre',
    'right',
    'bottom left',
    'bottom',
    'bottom right',
  ],
  12: MESH_SLOT_NAMES,
};

/** A level of an attribute in words; of Number/Position a set of slots as bits. */
export function describeLevel(layout: ComponentLayout, group: RuleGroup, level: number): string {
  switch (group) {
    case 'Type':
      return TYPES[level];
    case 'Size':
      return `size ${SIZES[level]}`;
    case 'Color':
      return colorName(level);
    case 'Number/Position':
      return SLOT_NAMES[layout.slots.length].filter((_, slot) => level & (1 << slot)).join(', ');
  }
}

function describeLook({ type, size, color, angle }: Entity, wordsOf: typeof levelWords): string {
  if (TYPES[type] === 'line') return 'line';
  const upright = ANGLES[angle] === 0 || TYPES[type] === 'circle';
  const turned = upright ? '' : `, turned by ${ANGLES[angle]} degrees`;
  return `${wordsOf('Color', color)} ${TYPES[type]} of size ${wordsOf('Size', size)}${turned}`;
}

function describeComponent(
  layout: ComponentLayout,
  panel: ComponentPanel,
  wordsOf: typeof levelWords,
): string {
  const names = SLOT_NAMES[layout.slots.length];
  const ordered = [...panel.entities].sort((a, b) => a.slot - b.slot);
  const places = new Map<string, string[]>();
  for (const entity of ordered) {
    const look = describeLook(entity, wordsOf);
    places.set(look, [...(places.get(look) ?? []), names[entity.slot]]);
  }
  return [...places]
    .map(([look, where]) => {
      const counted = where.length > 1 ? `${where.length} × ${look}` : look;
      return where[0] === '' ? counted : `${counted} (${where.join(', ')})`;
    })
    .join('; ');
}

/** What a panel shows, in one line: an alternative text for its image. `wordsOf`: what levels are called. */
export function describePanel(
  layout: ConfigurationLayout,
  panel: Panel,
  wordsOf = levelWords,
): string {
  return panel.components
    .map(
      (component, index) =>
        prefix(layout, index) + describeComponent(layout.components[index], component, wordsOf),
    )
    .join('. ');
}

/** One changed attribute of a candidate: "Size", or "Left: Size" if there are two components. */
export function describeChange(layout: ConfigurationLayout, change: AttributeChange): string {
  return prefix(layout, change.component) + change.attribute;
}
