/**
 * The label of a problem in a set: its rules as JSON text, for each component a list of
 * [attribute, rule, value], exactly as the reference sets have it. What was read from files that do
 * not tell everything (RAVEN's arrays without XML, the authors' caches) may lack values or rules.
 */
import {
  FormatError,
  Given,
  integer,
  list,
  nullable,
  oneOf,
  read,
  text,
  type Reader,
} from '../base/index.js';
import {
  RULE_ATTRIBUTES,
  RULE_NAMES,
  type ComponentRules,
  type RuleAttribute,
  type RuleName,
} from './problem.js';

export interface LabelRule {
  readonly name: RuleName;
  readonly attribute: RuleAttribute;
  /** Step or sign, 0 if the rule has none; null if the source does not tell. */
  readonly value: number | null;
}

/** Rules for each component; empty if nothing is known. */
export type Label = readonly (readonly LabelRule[])[];

/** Characters of a label; those of the data sets have a hundred or two. */
export const MAX_LABEL_LENGTH = 4096;
const RULES = 4;

export function formatLabel(label: Label | readonly ComponentRules[]): string {
  const components = label.map((rules) => {
    const entries = rules.map(
      ({ attribute, name, value }) => `["${attribute}", "${name}", ${value}]`,
    );
    return `[${entries.join(', ')}]`;
  });
  return `[${components.join(', ')}]`;
}

const rule: Reader<LabelRule> = (given) => {
  const [attribute, name, value] = given.items(3, 3);
  return {
    name: oneOf(RULE_NAMES)(name),
    attribute: oneOf(RULE_ATTRIBUTES)(attribute),
    value: nullable(integer({ min: -2, max: 2 }))(value),
  };
};
const label: Reader<Label> = list(list(rule, { max: RULES }), { max: 3 });

/** The text of a label; an empty one means that nothing is known. */
export const labelText: Reader<Label> = (given) => {
  const told = text(MAX_LABEL_LENGTH)(given);
  if (told === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(told);
  } catch {
    given.expected('a label in JSON');
  }
  return label(new Given(value, given.path));
};

/** Reads a label; an empty text means that nothing is known. */
export const parseLabel = (told: string): Label => read(labelText, told, FormatError, 'label');

/** Whether a label has the four rules of every component, with their values. */
export const isComplete = (label: Label): boolean =>
  label.length > 0 &&
  label.every((rules) => rules.length === RULES && rules.every(({ value }) => value !== null));
