/** One item of a test: its matrix, and how many people took each of its candidates. */
import { percent } from '../../base/index.js';
import * as Plot from '@observablehq/plot';
import type { Panel } from '../../solver/index.js';
import { COLUMN, mistakeLines, mistakeMarks, pictureMarks, place } from './candidate-marks.js';
import { chart } from './chart.js';
import { beside, figure, matrixPicture, type Drawing, type Figure } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

export interface ItemChoices {
  readonly id: string;
  readonly context: readonly Panel[];
  readonly candidates: readonly Panel[];
  /** 1..8 */
  readonly answer: number;
  /** Other candidates, 1..8, that count as right too. */
  readonly alsoRight: readonly number[];
  /** Share of people who took each. */
  readonly shares: readonly number[];
  /** What each gets wrong; null if not known. */
  readonly violates: readonly (readonly string[] | null)[];
  /** 1..8, or null. */
  readonly modelChoice: number | null;
}

const PICTURE = 52;
const BAR = 54;
const BLANK = new Float32Array(64 * 64).fill(1);

function candidateChart(item: ItemChoices): Drawing {
  const { candidates, answer, alsoRight, shares, violates, modelChoice } = item;
  const isRight = (number: number): boolean => number === answer || alsoRight.includes(number);
  const markOf = (number: number): string =>
    number === answer ? ' answer' : isRight(number) ? ' also right' : '';
  const numbers = candidates.map((_, i) => i + 1);
  const lines = Math.max(1, mistakeLines(violates));
  const top = PICTURE + 24;
  const small = { fontSize: SMALL_FONT_SIZE } as const;
  return chart({
    width: 8 * COLUMN,
    height: top + BAR + 20 + 12 * lines,
    marginTop: top,
    marginBottom: 20 + 12 * lines,
    marginLeft: 0,
    marginRight: 0,
    x: { type: 'band', domain: numbers, axis: null, padding: 0.2 },
    y: { domain: [0, Math.max(0.05, ...shares)], axis: null },
    marks: [
      Plot.barY(shares, {
        x: place,
        y: (share: number) => share,
        fill: (_: number, i: number) => (isRight(i + 1) ? colour('accent') : colour('series-7')),
      }),
      Plot.ruleY([0], { stroke: colour('muted') }),
      Plot.text(shares, {
        x: place,
        y: (share: number) => share,
        dy: -6,
        text: (share: number) => percent(share, 0),
        ...small,
      }),
      ...pictureMarks(candidates, {
        side: PICTURE,
        dy: -PICTURE / 2 - 18,
        stroke: (i) => (isRight(i + 1) ? colour('accent') : colour('faint')),
        strokeWidth: 1.5,
      }),
      Plot.text(numbers, {
        x: (number: number) => number,
        frameAnchor: 'bottom',
        dy: 10,
        text: (number: number) => `${number}${markOf(number)}${number === modelChoice ? ' ●' : ''}`,
        fill: (number: number) => (isRight(number) ? colour('accent') : colour('ink')),
        ...small,
      }),
      mistakeMarks(violates, COLUMN, 18),
    ],
  });
}

/** Left the matrix, right the candidates with the share of people below; a dot marks the model's. */
export function itemChoicesFigure(item: ItemChoices): Figure {
  const matrix = matrixPicture([...item.context, BLANK], 40);
  const choices = candidateChart(item);
  return figure(
    `Item ${item.id}: how many people took each candidate; ${[item.answer, ...item.alsoRight].join(' or ')} is right`,
    beside([matrix, choices], 20),
  );
}
