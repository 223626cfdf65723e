/** Answers at any position: whole matrices above the same matrices with imagined panels framed. */
import { inWords } from '../numbers.js';
import type { Panel } from '../../solver/index.js';
import { at, matrixDrawing, figure, text, type Drawing, type Figure } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

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

const completed = (panels: readonly Panel[], { missing, images }: Completion): readonly Panel[] =>
  panels.map((panel, i) => (missing.includes(i + 1) ? images[missing.indexOf(i + 1)] : panel));

function rowTitle(first: string, second: string, height: number): string {
  const middle = height / 2;
  return (
    text(0, middle - 2, first, { bold: true }) +
    text(0, middle + 12, second, { size: SMALL_FONT_SIZE, fill: colour('muted') })
  );
}

/** Columns are problems; the first row shows them whole, each further row one way to complete them. */
export function arbitraryPositionsFigure(examples: readonly CompletedExample[]): Figure {
  const [first] = examples;
  const rows: (readonly Drawing[])[] = [
    examples.map(({ panels }) => matrixDrawing(panels, { cell: CELL })),
    ...first.completions.map((_, row) =>
      examples.map(({ panels, completions }) =>
        matrixDrawing(completed(panels, completions[row]), {
          cell: CELL,
          framed: completions[row].missing,
        }),
      ),
    ),
  ];
  const side = rows[0][0].width;
  const titles = [
    ['problem', 'all nine panels'],
    ...first.completions.map(({ missing }) => ['imagined', `${inWords(missing.length)} missing`]),
  ];
  const body = rows.map((row, r) => {
    const y = r * (side + GAP);
    const heading = at(0, y, { body: rowTitle(titles[r][0], titles[r][1], side) });
    return heading + row.map((drawing, c) => at(HEAD + c * (side + GAP), y, drawing)).join('');
  });
  const width = HEAD + examples.length * (side + GAP) - GAP;
  const height = rows.length * (side + GAP) - GAP;
  const label = `${examples.length} problems, complete and with panels imagined by the model in frames`;
  return figure(label, { width, height, body: body.join('') });
}
