/**
 * Whether an item has one right answer, and how that is told. Panels changed by hand may break the rules;
 * then the symbolic solver says which candidates the panels still allow. It also finds the few items of
 * the data sets whose panels allow a second candidate by rules other than their own.
 */
import {
  alsoRight,
  brokenRules,
  groupOf,
  layoutOfProblem,
  solveSymbolically,
} from '../../matrix/index.js';
import type { ConfigurationLayout, Problem, Rule } from '../../matrix/index.js';
import { inList, ruleWords, subjectKey, subjectWords } from './words.js';

interface Soundness {
  /** Index of the one right candidate; null if none is, or several are. */
  readonly answer: number | null;
  /** Indices of all candidates that are right: the answer, and others that other rules lead to. */
  readonly right: readonly number[];
  /** Keys of what the broken rules are about, as `TrueRule` has them. */
  readonly broken: readonly string[];
  /** What is wrong with the item, for its maker; null if nothing is. Who solves it is not told. */
  readonly fault: string | null;
}

/** What a rule is about: "Left size". */
export const nameOf = (
  layout: ConfigurationLayout,
  component: number,
  { attribute }: Rule,
): string => subjectWords(layout, { component, group: groupOf(attribute) });

const numbered = (indices: readonly number[]): string =>
  `${indices.length === 1 ? 'candidate' : 'candidates'} ${inList(indices.map((i) => String(i + 1)))}`;

/** Of panels that break their rules. */
function brokenWords(rules: readonly string[], fitting: readonly number[]): string {
  const lead = `The changed panels break ${inList(rules)}.`;
  if (fitting.length === 0) return `${lead} No candidate is right any more.`;
  if (fitting.length === 1)
    return `${lead} By the rules they follow now, ${numbered(fitting)} is right.`;
  return `${lead} There is no one right answer: ${numbered(fitting)} fit the rules they follow now.`;
}

export function soundnessOf(problem: Problem): Soundness {
  const layout = layoutOfProblem(problem);
  const broken = brokenRules(problem);
  const keys = broken.map(({ component, rule }) =>
    subjectKey({ component, group: groupOf(rule.attribute) }),
  );
  if (broken.length > 0) {
    const rules = broken.map(
      ({ component, rule }) => `${nameOf(layout, component, rule)}: ${ruleWords(rule)}`,
    );
    const fitting = solveSymbolically(problem);
    const answer = fitting.length === 1 ? fitting[0] : null;
    return {
      answer,
      right: answer === null ? [] : [answer],
      broken: keys,
      fault: brokenWords(rules, fitting),
    };
  }
  const others = alsoRight(problem);
  const also = `${numbered(others)} ${others.length === 1 ? 'fits' : 'fit'}`;
  return {
    answer: problem.target,
    right: [problem.target, ...others],
    broken: keys,
    fault:
      others.length > 0
        ? `By the rules here ${numbered([problem.target])} is right, but ${also} as well, by other rules.`
        : null,
  };
}
