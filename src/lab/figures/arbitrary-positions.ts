/** Answers at any position: whole matrices above the same matrices with imagined panels framed. */
import { inWords } from '../numbers.js';
import type { Panel } from '../../solver/index.js';
import {
  at,
  completedMatrix,
  figure,
  heading,
  matrixDrawing,
  type Drawing,
  type Figure,
} from './drawing.js';

/** One problem, and what the model imagined in it. */
export interface CompletedExample {
  /** The nine true panels. */
  readonly panels: readonly Panel[];
  readonly completions: readonly Completion[];
}

export interface Completion {
  /** Positions 1..9. */
  readonly missing: readonly number[];
  /** The imagined panels, one for each missing position. */
  readonly images: readonly Panel[];
}

const CELL = 40;
const GAP = 22;
const HEAD = 84;

/** Columns are problems; the first row shows them whole, each further row one way to complete them. */
export function arbitraryPositionsFigure(examples: readonly CompletedExample[]): Figure {
  const [first] = examples;
  const rows: (readonly Drawing[])[] = [
    examples.map(({ panels }) => matrixDrawing(panels, { cell: CELL })),
    ...first.completions.map((_, row) =>
      examples.map(({ panels, completions }) => {
        const { missing, images } = completions[row];
        return completedMatrix(panels, missing, images, { cell: CELL });
      }),
    ),
  ];
  const side = rows[0][0].width;
  const titles = [
    ['problem', 'all nine panels'],
    ...first.completions.map(({ missing }) => ['imagined', `${inWords(missing.length)} missing`]),
  ];
  const body = rows.map((row, r) => {
    const y = r * (side + GAP);
    const [title, below] = titles[r];
    const head = at(0, y, { body: heading(side / 2 - 2, title, below) });
    return head + row.map((drawing, c) => at(HEAD + c * (side + GAP), y, drawing)).join('');
  });
  const width = HEAD + examples.length * (side + GAP) - GAP;
  const height = rows.length * (side + GAP) - GAP;
  const label = `${examples.length} problems, complete and with panels imagined by the model in frames`;
  return figure(label, { width, height, body: body.join('') });
}
