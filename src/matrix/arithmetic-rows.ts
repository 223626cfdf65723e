/**
 * Arithmetic on Size and Color is about levels, which no picture shows: what its rows add or take away, in
 * numbers. Sizes count from 1 (0.4) to 6 (0.9), colours from 0 (white) to 9 (black).
 */
import { layoutOfProblem } from './layouts.js';
import { matrixPanels, type Problem, type Rule } from './problem.js';
import { VALUE_KEYS } from './rules.js';

interface ArithmeticRows {
  readonly component: number;
  readonly rule: Rule;
  /** One for each row: "2 + 3 = 5". */
  readonly rows: readonly string[];
}

/** The number that arithmetic gives a level. */
const numberOf = (attribute: 'Size' | 'Color', level: number): number =>
  attribute === 'Size' ? level + 1 : level;

/** The rows of every rule of arithmetic on Size or Color. */
export function arithmeticRows(problem: Problem): ArithmeticRows[] {
  const panels = matrixPanels(problem);
  return layoutOfProblem(problem).components.flatMap((_, component) =>
    problem.rules[component].flatMap((rule) => {
      const { name, attribute, value } = rule;
      if (name !== 'Arithmetic' || (attribute !== 'Size' && attribute !== 'Color')) return [];
      const numbers = panels.map(({ components }) =>
        numberOf(attribute, components[component].entities[0][VALUE_KEYS[attribute]]),
      );
      const rows = [0, 3, 6].map(
        (at) => `${numbers[at]} ${value > 0 ? '+' : '−'} ${numbers[at + 1]} = ${numbers[at + 2]}`,
      );
      return [{ component, rule, rows }];
    }),
  );
}
