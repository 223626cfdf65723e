/**
 * What RAVEN's files leave out and most projects work out again by script: the step or sign of a rule,
 * the direction of Distribute_Three, and the number of the rule in the tables of PrAE, ALANS, NVSA and
 * ARLC. A table lists the rules of one group, Constant first:
 *
 *     Type             Constant; Progression +1, -1, +2, -2; Distribute_Three left, right            7
 *     Size, Color      the same with Arithmetic +, - before Distribute_Three                         9
 *     Number/Position  Constant; Position: Progression +1, -1 (more than four slots: +2, -2),
 *                      Arithmetic +, -, Distribute_Three left, right; Number: the same       13, or 17
 */
import { layoutOfProblem, type ComponentLayout } from './layouts.js';
import { MESH } from './mesh.js';
import {
  matrixPanels,
  type ComponentPanel,
  type Panel,
  type Problem,
  type Rule,
} from './problem.js';
import { VALUE_KEYS } from './rules.js';
import { maskOf } from './slots.js';

/**
 * Where the first value of row 1 stands in row 2: last (left, the values move left), or second (right).
 * Null for rules other than Distribute_Three.
 */
export type Direction = 'left' | 'right' | null;

/** A rule with everything that can be said of it. */
export interface RuleParameters extends Rule {
  readonly direction: Direction;
  /** Its number in the table of its group, from 0. */
  readonly index: number;
  /** Whether it is a rule of a mesh; absent: of figures. */
  readonly mesh?: boolean;
}

/** A matrix, its answer filled in, with its rules. */
export interface RuledMatrix extends Pick<Problem, 'configuration' | 'noisy' | 'mesh' | 'rules'> {
  /** Panels 1..9. */
  readonly panels: readonly Panel[];
}

function valueIn({ attribute }: Rule, panel: ComponentPanel): number {
  switch (attribute) {
    case 'Number':
      return panel.entities.length;
    case 'Position':
    case 'Number/Position':
      return maskOf(panel);
    case 'Type':
    case 'Size':
    case 'Color':
      return panel.entities[0][VALUE_KEYS[attribute]];
  }
}

/** The direction that nine panels of one component show. */
function directionOf(rule: Rule, panels: readonly ComponentPanel[]): Direction {
  if (rule.name !== 'Distribute_Three') return null;
  return valueIn(rule, panels[5]) === valueIn(rule, panels[0]) ? 'left' : 'right';
}

const SMALL_STEPS = [1, -1] as const;
const ALL_STEPS = [1, -1, 2, -2] as const;
const MOST_SLOTS_OF_SMALL_STEPS = 4;

/** The rules of one attribute other than Constant, in the order of the tables. */
function entries(steps: readonly number[], arithmetic: boolean): string[] {
  return [
    ...steps.map((step) => `Progression ${step}`),
    ...(arithmetic ? ['Arithmetic 1', 'Arithmetic -1'] : []),
    'Distribute_Three left',
    'Distribute_Three right',
  ];
}

/** Made once: a set has many rules. */
const TYPE_TABLE = entries(ALL_STEPS, false);
const LARGE_TABLE = entries(ALL_STEPS, true);
const SMALL_TABLE = entries(SMALL_STEPS, true);

/** The number of a rule in the table of its group. */
export function ruleIndex(layout: ComponentLayout, rule: Rule, direction: Direction): number {
  const { name, attribute, value } = rule;
  if (name === 'Constant') return 0;
  const key = `${name} ${direction ?? value}`;
  if (attribute === 'Type') return 1 + TYPE_TABLE.indexOf(key);
  if (attribute === 'Size' || attribute === 'Color') return 1 + LARGE_TABLE.indexOf(key);
  const small = layout.slots.length <= MOST_SLOTS_OF_SMALL_STEPS;
  const own = small ? SMALL_TABLE : LARGE_TABLE;
  return 1 + own.indexOf(key) + (attribute === 'Number' ? own.length : 0);
}

/** The rules of a matrix, by component, with all their parameters. */
export function ruleParameters(matrix: RuledMatrix): RuleParameters[][] {
  const layout = layoutOfProblem(matrix);
  return matrix.rules.map((rules, component) => {
    const panels = matrix.panels.map(({ components }) => components[component]);
    return rules.map(({ name, attribute, value }) => {
      const rule = { name, attribute, value };
      const direction = directionOf(rule, panels);
      const index = ruleIndex(layout.components[component], rule, direction);
      const mesh = layout.components[component] === MESH;
      return { ...rule, direction, index, ...(mesh && { mesh }) };
    });
  });
}

/** The same of a problem. */
export const problemRuleParameters = (problem: Problem): RuleParameters[][] =>
  ruleParameters({ ...problem, panels: matrixPanels(problem) });

/** Rows of the arrays: two components of figures, and a mesh. */
const COMPONENTS = 3;
const GROUPS = 4;
const ABSENT = -1;

/** Shape of each array, for one problem. */
export const PARAMETER_SHAPE = [COMPONENTS, GROUPS] as const;
export const PARAMETER_ARRAYS = ['rule_value', 'rule_direction', 'rule_index'] as const;
export type ParameterArray = (typeof PARAMETER_ARRAYS)[number];

const CELL: Readonly<Record<ParameterArray, (rule: RuleParameters) => number>> = {
  rule_value: ({ value }) => value,
  rule_direction: ({ direction }) => (direction === null ? 0 : direction === 'left' ? -1 : 1),
  rule_index: ({ index }) => index,
};

/** An array of files, i32 [3, 4] a problem, one after the other; -1 in `rule_index` and 0 elsewhere if a component is absent. */
export function parameterArray(
  name: ParameterArray,
  problems: readonly (readonly (readonly RuleParameters[])[])[],
): Int32Array {
  const cells = new Int32Array(problems.length * COMPONENTS * GROUPS);
  if (name === 'rule_index') cells.fill(ABSENT);
  problems.forEach((components, problem) =>
    components.forEach((rules, component) =>
      rules.forEach((rule, group) => {
        const place = rule.mesh ? COMPONENTS - 1 : component;
        cells[(problem * COMPONENTS + place) * GROUPS + group] = CELL[name](rule);
      }),
    ),
  );
  return cells;
}
