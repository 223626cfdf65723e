/**
 * Why a candidate is chosen: the matrix with its imagined panel, and the candidates over the shares
 * that each concept has in their distance from it.
 */
import * as Plot from '@observablehq/plot';
import type { Panel } from '../../solver/index.js';
import { COLUMN, mistakeLines, mistakeMarks, pictureMarks } from './candidate-marks.js';
import { chart } from './chart.js';
import {
  at,
  matrixDrawing,
  figure,
  text,
  textWidth,
  type Drawing,
  type Figure,
} from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

export interface SelectionExample {
  /** Eight context panels and the ninth: imagined, or the chosen candidate if the model draws nothing. */
  readonly panels: readonly Panel[];
  readonly imagined: boolean;
  readonly candidates: readonly SelectionCandidate[];
  /** Indices of candidates, from 0. */
  readonly answer: number;
  readonly chosen: number;
  /** What the concepts are called, in the order of the shares. */
  readonly concepts: readonly string[];
  readonly distance: 'l2' | 'calibrated' | 'score';
}

export interface SelectionCandidate {
  readonly panel: Panel;
  /** Share of each concept in the distance. */
  readonly shares: readonly number[];
  /** What painting added to the distance, of one that was painted to break a tie. */
  readonly painted?: number;
  readonly probability: number;
  /** What it truly gets wrong, in words, at most three are shown; undefined if not known. */
  readonly wrong?: readonly string[];
}

const ROW = 24;
const PICTURE = 54;
const TOP = PICTURE + 30;

interface Cell {
  readonly candidate: number;
  readonly row: string;
  readonly value: number;
  readonly strength: number;
}

const brief = (value: number): string =>
  Math.abs(value) >= 99.5 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 9.95 ? 0 : 1);

/** Concepts by number and name, since several may be called the same. */
const rowNames = ({ concepts, candidates }: SelectionExample): string[] => [
  ...concepts.map((name, m) => (name === `concept ${m + 1}` ? name : `${m + 1} ${name}`)),
  ...(candidates.some(({ painted }) => painted !== undefined) ? ['painting'] : []),
];

function cellsOf(example: SelectionExample): Cell[] {
  const rows = rowNames(example);
  const parts = example.candidates.map(({ shares, painted }) => [
    ...shares,
    ...(painted === undefined ? [] : [painted]),
  ]);
  const largest = Math.max(1e-9, ...parts.flat());
  return parts.flatMap((values, candidate) =>
    values.map((value, m) => ({
      candidate: candidate + 1,
      row: rows[m],
      value,
      // The square root keeps small but telling distances visible beside large ones.
      strength: Math.sqrt(Math.max(0, value) / largest),
    })),
  );
}

/** The title of a row of texts below the chart. */
const rowTitle = (title: string, dy: number): Plot.Markish =>
  Plot.text([title], {
    frameAnchor: 'bottom-left',
    dx: -9,
    dy,
    textAnchor: 'end',
    text: (each: string) => each,
    fill: colour('muted'),
    fontSize: SMALL_FONT_SIZE,
  });

const percent = (share: number): string =>
  share > 0.995 ? '100%' : share < 0.0005 ? '0%' : `${(100 * share).toFixed(1)}%`;

/** Each candidate's picture with its number above and its probability below. */
function candidateMarks({ candidates, answer, chosen }: SelectionExample): Plot.Markish[] {
  const marked = (i: number): string =>
    i === answer ? colour('accent') : i === chosen ? colour('warm') : colour('faint');
  const place = (_: SelectionCandidate, i: number): number => i + 1;
  return [
    ...pictureMarks(
      candidates.map(({ panel }) => panel),
      { side: PICTURE, dy: -PICTURE / 2 - 8, stroke: marked, strokeWidth: 2 },
    ),
    Plot.text(candidates, {
      x: place,
      frameAnchor: 'top',
      dy: -PICTURE - 20,
      text: (_: SelectionCandidate, i: number) =>
        i === chosen ? `${i + 1} chosen` : i === answer ? `${i + 1} answer` : `${i + 1}`,
      fill: (_: SelectionCandidate, i: number) =>
        i === chosen || i === answer ? marked(i) : colour('muted'),
      fontSize: SMALL_FONT_SIZE,
    }),
    Plot.text(candidates, {
      x: place,
      frameAnchor: 'bottom',
      dy: 14,
      text: (candidate: SelectionCandidate) => percent(candidate.probability),
      fontSize: SMALL_FONT_SIZE,
    }),
  ];
}

function heatmap(example: SelectionExample): Drawing {
  const { candidates } = example;
  const numbers = candidates.map((_, i) => i + 1);
  const rows = rowNames(example);
  const left = 12 + Math.min(150, Math.max(60, ...rows.map((row) => textWidth(row, 10.5))));
  const mistakes = candidates.map(({ wrong }) => wrong);
  const lines = mistakeLines(mistakes);
  const bottom = 20 + 12 * lines;
  const cells = cellsOf(example);
  return chart({
    width: left + numbers.length * COLUMN + 4,
    height: TOP + rows.length * ROW + bottom,
    marginTop: TOP,
    marginLeft: left,
    marginRight: 4,
    marginBottom: bottom,
    padding: 0.08,
    x: { type: 'band', domain: numbers, axis: null },
    y: { type: 'band', domain: rows, label: null, tickSize: 0 },
    marks: [
      Plot.cell(cells, {
        x: 'candidate',
        y: 'row',
        fill: colour('series-2'),
        fillOpacity: (cell: Cell) => 0.05 + 0.85 * cell.strength,
      }),
      Plot.text(cells, {
        x: 'candidate',
        y: 'row',
        text: (cell: Cell) => brief(cell.value),
        fill: (cell: Cell) => (cell.strength > 0.7 ? colour('paper') : colour('ink')),
        fontSize: SMALL_FONT_SIZE,
      }),
      ...candidateMarks(example),
      mistakeMarks(mistakes, COLUMN + 2, 22),
      ...(lines > 0 ? ['probability', 'differs in'] : ['probability']).map((title, i) =>
        rowTitle(title, 14 + 14 * i),
      ),
    ],
  });
}

/** Left the matrix with the imagined panel framed, right the candidates and their distances. */
export function answerSelectionFigure(example: SelectionExample): Figure {
  const matrix = matrixDrawing(example.panels, { cell: 46, framed: [9] });
  const distances = heatmap(example);
  const gap = 22;
  const right = example.chosen === example.answer;
  const body =
    at(0, 20, matrix) +
    text(0, 10, right ? 'solved' : 'wrong', {
      bold: true,
      fill: right ? colour('accent') : colour('warm'),
    }) +
    at(matrix.width + gap, 0, distances);
  const ninth = example.imagined ? 'imagined' : 'chosen';
  return figure(
    `A matrix with its ${ninth} ninth panel; candidate ${example.chosen + 1} is chosen and ${example.answer + 1} is right; distances by concept`,
    {
      width: matrix.width + gap + distances.width,
      height: Math.max(matrix.height + 22, distances.height),
      body,
    },
  );
}
