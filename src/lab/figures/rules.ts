/** True rules in figures: their names for people, their colours and symbols, and a legend of them. */
import { RULE_NAMES, type RuleName } from '../../matrix/index.js';
import type { Drawing } from './drawing.js';
import { legend, type Shape } from './legend.js';
import { colour } from './theme.js';

/** A true rule, or null if the attribute has none or it is not known. */
export type TrueRule = RuleName | null;

export const ruleTitle = (rule: TrueRule): string =>
  rule === null ? 'no rule' : rule.replace('_', ' ').replace('Three', 'three');

const COLOURS: Readonly<Record<RuleName, string>> = {
  Constant: colour('series-1'),
  Progression: colour('series-2'),
  Arithmetic: colour('series-3'),
  Distribute_Three: colour('series-4'),
};

export const ruleColour = (rule: TrueRule): string =>
  rule === null ? colour('series-7') : COLOURS[rule];

/** Shapes beside colours, so that a figure in grey can be read too. */
const SYMBOLS = {
  Constant: 'circle',
  Progression: 'triangle',
  Arithmetic: 'square',
  Distribute_Three: 'diamond',
} as const satisfies Record<RuleName, Shape>;

export const ruleSymbol = (rule: TrueRule): string => (rule === null ? 'times' : SYMBOLS[rule]);

/** A legend of the four rules on one line. */
export const ruleLegend = (): Drawing =>
  legend(
    RULE_NAMES.map((rule) => ({
      name: ruleTitle(rule),
      colour: ruleColour(rule),
      shape: SYMBOLS[rule],
    })),
  );
