/** Answers of several systems: columns are problems, the first row shows them whole, each further row a system. */
import { inWords } from '../numbers.js';
import type { Panel } from '../../solver/index.js';
import {
  at,
  completedMatrix,
  figure,
  heading,
  matrixDrawing,
  SMALL_PRINT,
  text,
  type Figure,
} from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

export interface AnswersColumn {
  /** Such as the configuration. */
  readonly title: string;
  /** The nine true panels. */
  readonly panels: readonly Panel[];
  /** Positions 1..9. */
  readonly missing: readonly number[];
}

export interface AnswersRow {
  readonly system: string;
  readonly preset: string;
  /** For each column one panel for each missing position; null if there is no such model. */
  readonly answers: readonly (readonly Panel[] | null)[];
}

const CELL = 32;
const GAP = 16;
const HEAD = 88;
const TITLE = 16;

export function systemAnswersFigure(
  columns: readonly AnswersColumn[],
  rows: readonly AnswersRow[],
): Figure {
  const whole = columns.map(({ panels }) => matrixDrawing(panels, { cell: CELL }));
  const side = whole[0].width;
  const heads = [
    ['problem', 'all nine panels'],
    ...rows.map(({ system, preset }) => [system, `preset ${preset}`]),
  ];
  const drawings = [
    whole,
    ...rows.map(({ answers }) =>
      columns.map((column, c) => {
        const images = answers[c];
        if (images === null) return { width: side, height: side, body: absent(side) };
        const { panels, missing } = column;
        return completedMatrix(panels, missing, images, { cell: CELL, stroke: colour('warm') });
      }),
    ),
  ];
  const x = (c: number): number => HEAD + c * (side + GAP);
  const titles = columns.map(({ title }, c) => text(x(c), SMALL_FONT_SIZE, title)).join('');
  const body = drawings.map((row, r) => {
    const y = TITLE + r * (side + GAP);
    const [title, below] = heads[r];
    const head = heading(y + side / 2 - 2, title, below);
    return head + row.map((drawing, c) => at(x(c), y, drawing)).join('');
  });
  const missing = inWords(columns[0].missing.length);
  return figure(
    `${columns.length} problems, whole and with ${missing} missing each, imagined by ${rows.map(({ system }) => system).join(', ')}`,
    {
      width: x(columns.length) - GAP,
      height: TITLE + drawings.length * (side + GAP) - GAP,
      body: titles + body.join(''),
    },
  );
}

/** In place of a matrix that no model was there for. */
const absent = (side: number): string =>
  text(side / 2, side / 2 + 4, 'no model', {
    anchor: 'middle',
    ...SMALL_PRINT,
  });
