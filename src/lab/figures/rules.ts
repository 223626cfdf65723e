/** True rules in figures: their names for people, their colours and symbols, and a legend of them. */
import { RULE_NAMES, type Label, type RuleName } from '../../matrix/index.js';
import type { AttributeColumn } from '../evaluation.js';
import { text, textWidth, type Drawing } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

/** A true rule, or null where the attribute has none or it is not known. */
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
} as const satisfies Record<RuleName, string>;

export const ruleSymbol = (rule: TrueRule): string => (rule === null ? 'times' : SYMBOLS[rule]);

/** The true rule on an attribute, from a problem's label. */
export function trueRule(label: Label, { component, group }: AttributeColumn): TrueRule {
  const rules = label.at(component) ?? [];
  const found = rules.find(({ attribute }) =>
    group === 'Num/Pos'
      ? attribute === 'Number' || attribute === 'Position' || attribute === 'Number/Position'
      : attribute === group,
  );
  return found?.name ?? null;
}

const MARK_PATHS: Readonly<Record<RuleName, string>> = {
  Constant: 'M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z',
  Progression: 'M0,-5L5,4L-5,4Z',
  Arithmetic: 'M-4,-4H4V4H-4Z',
  Distribute_Three: 'M0,-5.5L4.5,0L0,5.5L-4.5,0Z',
};

/** A legend of the four rules on one line. */
export function ruleLegend(): Drawing {
  let x = 6;
  const body = RULE_NAMES.map((rule) => {
    const title = ruleTitle(rule);
    const mark = `<path d="${MARK_PATHS[rule]}" transform="translate(${x},7)" fill="${ruleColour(rule)}"/>`;
    const entry = mark + text(x + 10, 11, title, { size: SMALL_FONT_SIZE });
    x += 30 + textWidth(title, SMALL_FONT_SIZE);
    return entry;
  });
  return { width: x, height: 18, body: body.join('') };
}
