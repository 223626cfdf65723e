/**
 * The words of a constraints file: rules as "progression -1", values as "circle" or 0.4, slots counted
 * from 1. Turns them into rules and levels of a component, or fails with one sentence.
 */
import { integer, isRecord, shown, type Given } from '../base/index.js';
import { ANGLES, COLORS, SIZES, TYPES, type LevelRange } from './attributes.js';
import { ruleWords } from './describe.js';
import type { ComponentLayout } from './layouts.js';
import { RULE_NAMES, type Rule, type RuleAttribute, type RuleName } from './problem.js';
import { originalRange, ruleExists, rulesNamed, startRange } from './rules.js';

const COUNTED: Record<RuleAttribute, readonly [string, string]> = {
  'Number/Position': ['slot', 'slots'],
  Number: ['slot', 'slots'],
  Position: ['slot', 'slots'],
  Type: ['type', 'types'],
  Size: ['size', 'sizes'],
  Color: ['color', 'colors'],
};

function onlySoMany(layout: ComponentLayout, attribute: RuleAttribute): string {
  const { min, max } = originalRange(layout, attribute);
  const count = max - min + 1;
  return `only ${count} ${COUNTED[attribute][count === 1 ? 0 : 1]}`;
}

/** A rule's name and, for progression and arithmetic, perhaps its value. */
interface RuleWords {
  readonly name: RuleName;
  readonly value?: number;
}

const signed = (value: number): string => (value > 0 ? `+${value}` : String(value));

export function findRuleName(reading: Given, text: string): RuleName {
  const normal = text.toLowerCase().replace(/[ -]/g, '_');
  const name = RULE_NAMES.find((known) => known.toLowerCase() === normal);
  if (!name) {
    const known = RULE_NAMES.map(ruleWords).join(', ');
    reading.fail(`unknown rule ${shown(reading.value)}: expected ${known}`);
  }
  return name;
}

function readRuleText(reading: Given, text: string): RuleWords {
  const match = /^([a-z][a-z _-]*?)(?:\s*([+-]\d?|\d))?$/i.exec(text.trim());
  if (!match) return { name: findRuleName(reading, text) };
  const [, words, parameter] = match;
  const name = findRuleName(reading, words);
  if (parameter === undefined) return { name };
  return { name, value: /\d/.test(parameter) ? Number(parameter) : Number(`${parameter}1`) };
}

function readRuleWords(reading: Given): RuleWords {
  if (typeof reading.value === 'string') return readRuleText(reading, reading.value);
  if (!isRecord(reading.value)) {
    reading.fail(`expected a rule such as "progression +1", found ${shown(reading.value)}`);
  }
  const { name, value } = reading.members(['name', 'value']);
  if (typeof name.value !== 'string') {
    return name.fail(`expected a rule's name, found ${shown(name.value)}`);
  }
  const found = findRuleName(name, name.value);
  return value.value === undefined
    ? { name: found }
    : { name: found, value: integer({ min: -2, max: 2 })(value) };
}

/** The rules that one choice of a constraints file allows, all possible in the component. */
function readRuleChoice(
  reading: Given,
  layout: ComponentLayout,
  attribute: Exclude<RuleAttribute, 'Number/Position'>,
): Rule[] {
  const { name, value } = readRuleWords(reading);
  // Number and Position stay constant together.
  const inGroup = attribute === 'Number' || attribute === 'Position';
  const target = inGroup && name === 'Constant' ? 'Number/Position' : attribute;
  if (!ruleExists(name, target)) reading.fail(`there is no ${ruleWords(name)} of ${attribute}`);
  const named = rulesNamed(name, target);
  const wanted = named.filter((rule) => value === undefined || rule.value === value);
  if (wanted.length === 0) {
    const values = named.map((rule) => signed(rule.value)).join(', ');
    reading.fail(
      name === 'Progression' || name === 'Arithmetic'
        ? `${ruleWords(name)} takes ${values}, not ${String(value)}`
        : `${ruleWords(name)} takes no value`,
    );
  }
  const possible = wanted.filter((rule) => startRange(layout, rule));
  if (possible.length === 0) {
    const shown = value === undefined ? ruleWords(name) : `${ruleWords(name)} ${signed(value)}`;
    reading.fail(`${shown} is impossible for ${layout.name}: ${onlySoMany(layout, attribute)}`);
  }
  return possible;
}

/** The rules that a constraints file allows on an attribute: one choice, or an array of them. */
export function readRuleChoices(
  reading: Given,
  layout: ComponentLayout,
  attribute: Exclude<RuleAttribute, 'Number/Position'>,
): Rule[] {
  if (!Array.isArray(reading.value)) return readRuleChoice(reading, layout, attribute);
  return reading.items(1, 16).flatMap((choice) => readRuleChoice(choice, layout, attribute));
}

/** A value of a table by what it stands for, found at a level. */
function possible(
  reading: Given,
  layout: ComponentLayout,
  range: LevelRange,
  names: readonly (string | number)[],
  found: number,
): number {
  if (found >= range.min && found <= range.max) return found;
  const expected = names.slice(range.min, range.max + 1).join(', ');
  return reading.fail(
    found < 0
      ? `unknown value ${shown(reading.value)}: expected ${expected}`
      : `${shown(reading.value)} is not possible for ${layout.name}: expected ${expected}`,
  );
}

/** An integer that is a level of the table, else -1. */
const asLevel = (value: unknown, count: number): number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < count
    ? (value as number)
    : -1;

/** A value of a table, or its level. */
const readLevel =
  (attribute: 'type' | 'size', names: readonly (string | number)[]) =>
  (reading: Given, layout: ComponentLayout): number => {
    const named = names.findIndex((name) => name === reading.value);
    const found = named >= 0 ? named : asLevel(reading.value, names.length);
    return possible(reading, layout, layout[attribute], names, found);
  };

/** "circle", or the level 5. */
export const readType = readLevel('type', TYPES);

/** 0.4, or the level 0. */
export const readSize = readLevel('size', SIZES);

/** "white", "black", a grey value such as 224, or a level; 0 is the level 0, which is white. */
export function readColor(reading: Given, layout: ComponentLayout): number {
  const { value } = reading;
  const names = ['white', ...COLORS.slice(1, -1), 'black'];
  const named = [names.indexOf(value as string), value === 0 ? -1 : COLORS.indexOf(value as 255)];
  const found = Math.max(...named, asLevel(value, COLORS.length));
  return possible(reading, layout, layout.color, names, found);
}

/** Degrees. */
export function readAngle(reading: Given, layout: ComponentLayout): number {
  const found = ANGLES.findIndex((angle) => angle === reading.value);
  return possible(reading, layout, layout.angle, ANGLES, found);
}

/** How many entities; returned as a level. */
export function readNumber(reading: Given, layout: ComponentLayout): number {
  return integer({ min: layout.number.min + 1, max: layout.number.max + 1 })(reading) - 1;
}

/** Slots counted from 1, row by row; returned from 0, in the order given. */
export function readSlots(reading: Given, layout: ComponentLayout): number[] {
  const count = layout.slots.length;
  const slots = reading.items(1, count).map((item) => integer({ min: 1, max: count })(item) - 1);
  if (new Set(slots).size < slots.length) reading.fail('the same slot is given twice');
  return slots;
}
