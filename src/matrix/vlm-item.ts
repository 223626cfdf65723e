/**
 * A problem as an item for a model that reads pictures and text: lettered options, the question, and in
 * words every panel, option and rule.
 */
import { describeChange, describePanel, describeRules } from './describe.js';
import { itemName, layoutName } from './item.js';
import { layoutOfProblem } from './layouts.js';
import type { AttributeChange, Problem } from './problem.js';
import { isSameChange } from './problem.js';
import { Random } from './random.js';
import { alsoRight } from './symbolic.js';

export const LETTERS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'] as const;
export type Letter = (typeof LETTERS)[number];

/** How many options an item may have. */
export const OPTION_COUNTS = [4, 8] as const;
export type OptionCount = (typeof OPTION_COUNTS)[number];

/** Far from the streams that sampling uses. */
const OPTIONS_STREAM = 0x40000001;

/** One line of `items.jsonl`. */
export interface VlmItem {
  readonly id: string;
  readonly question: string;
  /** The letter of the right option. */
  readonly answer: Letter;
  /** Letters of other options that are right by other rules; empty for nearly every item. */
  readonly also_right: readonly Letter[];
  /** Which of the problem's eight candidates each option is, from 0. */
  readonly candidates: readonly number[];
  /** What each option shows, in words. */
  readonly options: Readonly<Record<string, string>>;
  /** What each option gets wrong; empty for the answer. */
  readonly changes: Readonly<Record<string, readonly string[]>>;
  /** What each of the eight given panels shows, in words, row by row. */
  readonly panels: readonly string[];
  /** The rules in words. */
  readonly rules: readonly string[];
  /** The rules by component as [attribute, rule, value]. */
  readonly rule_list: readonly (readonly (readonly [string, string, number])[])[];
  readonly configuration: string;
  readonly variant: string;
  readonly seed: number;
  readonly index: number;
}

/**
 * The wrong candidates that stay if four options are wanted. I-RAVEN's eight are all combinations of three
 * changes; the four without one of the changes are again all combinations of two, so that no option stands
 * out. If no such four exist, any three stay.
 */
function threeDistractors(problem: Problem, random: Random): number[] {
  const wrong = problem.candidates.map((_, i) => i).filter((i) => i !== problem.target);
  const changes: AttributeChange[] = [];
  for (const change of wrong.flatMap((i) => problem.candidates[i].changes)) {
    if (!changes.some((other) => isSameChange(other, change))) changes.push(change);
  }
  const faces = changes
    .map((left) =>
      wrong.filter(
        (i) => !problem.candidates[i].changes.some((other) => isSameChange(left, other)),
      ),
    )
    .filter((face) => face.length === 3);
  if (problem.variant === 'i-raven' && faces.length > 0) return random.pick(faces);
  return random.subset(wrong.length, 3).map((i) => wrong[i]);
}

/** Which candidates of a problem are the options of its item, in their order. */
export function optionIndices(
  problem: Problem,
  count: OptionCount,
  seed: number,
  index: number,
): number[] {
  if (count === problem.candidates.length) return problem.candidates.map((_, i) => i);
  const random = new Random(seed, index, OPTIONS_STREAM);
  return [problem.target, ...threeDistractors(problem, random)].sort((a, b) => a - b);
}

/** The same problem with some of its candidates, the answer among them. */
export const withCandidates = (problem: Problem, kept: readonly number[]): Problem => ({
  ...problem,
  candidates: kept.map((i) => problem.candidates[i]),
  target: kept.indexOf(problem.target),
});

const NUMBER_WORDS: Readonly<Record<OptionCount, string>> = { 4: 'four', 8: 'eight' };

const questionOf = (count: OptionCount): string =>
  `The picture shows a matrix of three rows and three columns. The same rules hold in every row. ` +
  `The ninth panel is missing and marked with a question mark. ` +
  `Which of the ${NUMBER_WORDS[count]} options, A to ${LETTERS[count - 1]}, completes the matrix? ` +
  `Explain your reasoning first, and end with "Answer: " and the letter.`;

/** What is asked if only the options are shown: whoever does better than chance here needs no matrix. */
export const blindQuestion = (count: OptionCount): string =>
  `The picture shows ${NUMBER_WORDS[count]} options, A to ${LETTERS[count - 1]}, of a puzzle that is not shown. ` +
  `Which option is most likely the right one? End with "Answer: " and the letter.`;

/** An item with some candidates of a problem as its options. */
export function vlmItem(
  whole: Problem,
  kept: readonly number[],
  seed: number,
  index: number,
): VlmItem {
  const problem = withCandidates(whole, kept);
  const layout = layoutOfProblem(problem);
  const byLetter = <T>(of: (i: number) => T): Record<string, T> =>
    Object.fromEntries(problem.candidates.map((_, i) => [LETTERS[i], of(i)]));
  return {
    id: itemName(layout, index),
    question: questionOf(problem.candidates.length as OptionCount),
    answer: LETTERS[problem.target],
    also_right: alsoRight(problem).map((i) => LETTERS[i]),
    candidates: kept,
    options: byLetter((i) => describePanel(layout, problem.candidates[i].panel)),
    changes: byLetter((i) =>
      problem.candidates[i].changes.map((change) => describeChange(layout, change)),
    ),
    panels: problem.context.map((panel) => describePanel(layout, panel)),
    rules: describeRules(problem),
    rule_list: problem.rules.map((rules) =>
      rules.map(({ attribute, name, value }) => [attribute, name, value] as const),
    ),
    configuration: layoutName(layout),
    variant: problem.variant,
    seed,
    index,
  };
}

/** The columns of VLMEvalKit's tables of multiple-choice questions; the picture is in base64. */
export const tsvColumns = (count: OptionCount): string[] => [
  'index',
  'image',
  'question',
  ...LETTERS.slice(0, count),
  'answer',
  'category',
  'id',
];

/** A line of such a table. The options are pictures, so that their texts only name them. */
export function tsvLine(item: VlmItem, image: string): string {
  const letters = Object.keys(item.options);
  return [
    String(item.index),
    image,
    item.question,
    ...letters.map((letter) => `the option labelled ${letter} in the picture`),
    item.answer,
    item.configuration,
    item.id,
  ].join('\t');
}
