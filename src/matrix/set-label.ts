/**
 * The label of a problem in a set: its rules as JSON text, for each component a list of
 * [attribute, rule, value], exactly as the reference sets have it. What was read from files that do
 * not tell everything (RAVEN's arrays without XML, the authors' caches) may lack values or rules.
 */
import { FormatError } from '../base/index.js';
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

const MAX_LABEL_LENGTH = 4096;
const MAX_COMPONENTS = 3;
const MAX_RULES = 4;
const LARGEST_VALUE = 2;

export function formatLabel(label: Label | readonly ComponentRules[]): string {
  const components = label.map((rules) => {
    const entries = rules.map(
      ({ attribute, name, value }) => `["${attribute}", "${name}", ${value}]`,
    );
    return `[${entries.join(', ')}]`;
  });
  return `[${components.join(', ')}]`;
}

/** Reads a label; an empty text means that nothing is known. */
export function parseLabel(text: string): Label {
  if (text === '') return [];
  const wrong = (): FormatError =>
    new FormatError(`unreadable label ${JSON.stringify(text.slice(0, 100))}`);
  if (text.length > MAX_LABEL_LENGTH) throw wrong();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong();
  }
  if (!Array.isArray(value) || value.length > MAX_COMPONENTS) throw wrong();
  return value.map((component: unknown) => {
    if (!Array.isArray(component) || component.length > MAX_RULES) throw wrong();
    return component.map((entry: unknown) => {
      const rule = parseLabelRule(entry);
      if (!rule) throw wrong();
      return rule;
    });
  });
}

function parseLabelRule(entry: unknown): LabelRule | undefined {
  if (!Array.isArray(entry) || entry.length !== 3) return undefined;
  const [first, second, value] = entry as unknown[];
  const attribute = RULE_ATTRIBUTES.find((known) => known === first);
  const name = RULE_NAMES.find((known) => known === second);
  if (!attribute || !name) return undefined;
  if (value === null) return { name, attribute, value };
  const known =
    typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= LARGEST_VALUE;
  return known ? { name, attribute, value } : undefined;
}

/** Whether a label has the four rules of every component, with their values. */
export const isComplete = (label: Label): boolean =>
  label.length > 0 &&
  label.every((rules) => rules.length === MAX_RULES && rules.every(({ value }) => value !== null));
