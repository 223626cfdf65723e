/**
 * How rules look on maps and in legends: a colour for each rule, so that no two of an attribute share one,
 * and a form for the attribute where two share a map (Number and Position). Colours read on light and dark;
 * steps up are green, steps down blue, and the larger step is the darker.
 */
import type { RuleClass } from '../engine/protocol.js';

export interface RuleLook {
  readonly colour: string;
  readonly form: 'circle' | 'triangle';
}

/** By the words that end a rule's name. */
const COLOURS: Readonly<Record<string, string>> = {
  constant: '#8a8f98',
  'distribute three': '#8c62c4',
  'arithmetic +': '#e0a020',
  'arithmetic −': '#a8501c',
  'progression +1': '#4cc0a4',
  'progression +2': '#0b7a66',
  'progression −1': '#6aa8ee',
  'progression −2': '#2f62c0',
};
/** Kinds of rules, whatever they are about. */
export const KINDS = Object.keys(COLOURS);
/** Of what has no rule. */
export const UNKNOWN_LOOK: RuleLook = { colour: '#d0568f', form: 'circle' };

/** Of a rule in words, whatever stands before them: `Left: Position: progression +1`. */
export function lookOfWords(words: string): RuleLook {
  const kind = KINDS.find((each) => words.endsWith(each));
  return {
    colour: kind === undefined ? UNKNOWN_LOOK.colour : COLOURS[kind],
    form: /\bposition\b.*[ :]/i.test(words) && kind !== 'constant' ? 'triangle' : 'circle',
  };
}

export const lookOf = ({ attribute, rule }: Pick<RuleClass, 'attribute' | 'rule'>): RuleLook =>
  lookOfWords(`${attribute}: ${rule}`);
