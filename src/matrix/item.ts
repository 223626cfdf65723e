/**
 * Names of problems, and what a test maker keeps of each: the rules in words, the answer, and what
 * every wrong candidate gets wrong.
 */
import { describeChange, describeRules } from './describe.js';
import { findLayout, layoutOf, layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import { CANDIDATES, type Problem } from './problem.js';
import { alsoRight } from './symbolic.js';

/** The configuration's name with `-noisy` for a noisy one and `-mesh` for one with a mesh; bundles and items are named so. */
export const layoutName = ({
  configuration,
  noisy,
  mesh = false,
}: Pick<ConfigurationLayout, 'configuration' | 'noisy'> & { readonly mesh?: boolean }): string =>
  `${configuration}${noisy ? '-noisy' : ''}${mesh ? '-mesh' : ''}`;

/** The layout of such a name. */
export function layoutNamed(name: string): ConfigurationLayout {
  const { configuration, noisy } = findLayout(name.replace(/-mesh$/, ''));
  return layoutOf(configuration, noisy, name.endsWith('-mesh'));
}

const INDEX_DIGITS = 5;

/** The name of a problem made from a seed, e.g. `center-00042`. */
export const itemName = (layout: ConfigurationLayout, index: number): string =>
  `${layoutName(layout)}-${String(index).padStart(INDEX_DIGITS, '0')}`;

/** Other candidates that are right by other rules, with spaces between; empty for nearly every item. */
export const ALSO_RIGHT_COLUMN = 'also_right';

export const ANSWER_COLUMNS = [
  'item',
  'configuration',
  'variant',
  'seed',
  'index',
  'answer',
  ALSO_RIGHT_COLUMN,
  'rules',
  ...Array.from({ length: CANDIDATES }, (_, i) => `candidate_${i + 1}`),
] as const;

/** A problem's line in an answer file; candidates are counted from 1, as people see them. */
export function answerRow(problem: Problem, seed: number, index: number): string[] {
  const layout = layoutOfProblem(problem);
  return [
    itemName(layout, index),
    layoutName(layout),
    problem.variant,
    String(seed),
    String(index),
    String(problem.target + 1),
    alsoRight(problem)
      .map((candidate) => candidate + 1)
      .join(' '),
    describeRules(problem).join('; '),
    ...problem.candidates.map((candidate, i) =>
      i === problem.target
        ? 'answer'
        : candidate.changes.map((change) => describeChange(layout, change)).join(', '),
    ),
  ];
}

/** One line of a CSV file (RFC 4180), without its end. */
export const csvLine = (fields: readonly string[]): string =>
  fields
    .map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
