/** What charts with a column for each candidate share: the pictures on top, what is wrong with each below. */
import * as Plot from '@observablehq/plot';
import type { Panel } from '../../solver/index.js';
import { panelAddress, shortened } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

/** Width of a candidate's column. */
export const COLUMN = 66;
const MOST_LINES = 3;

/** The number of a candidate, from 1, which is its place on the x axis. */
export const place = (_: unknown, i: number): number => i + 1;

/** Pictures of candidates in frames, `dy` below the top of the chart. */
export const pictureMarks = (
  panels: readonly Panel[],
  options: {
    readonly side: number;
    readonly dy: number;
    readonly stroke: (i: number) => string;
    readonly strokeWidth: number;
  },
): Plot.Markish[] => {
  const { side, dy, stroke, strokeWidth } = options;
  const top = { x: place, frameAnchor: 'top', dy } as const;
  return [
    Plot.image(panels, { ...top, src: panelAddress, width: side, height: side }),
    Plot.dot(panels, {
      ...top,
      symbol: 'square',
      // Plot sizes symbols by the area of a circle: pi r^2 = side^2.
      r: (side + strokeWidth) / Math.sqrt(Math.PI),
      stroke: (_: Panel, i: number) => stroke(i),
      strokeWidth,
    }),
  ];
};

type Mistakes = readonly (readonly string[] | null | undefined)[];

/** How many lines the mistakes of candidates take. */
export const mistakeLines = (mistakes: Mistakes): number =>
  Math.max(0, ...mistakes.map((own) => Math.min(MOST_LINES, own?.length ?? 0)));

/** What each candidate gets wrong, a mistake a line, `dy` below the bottom of the chart. */
export const mistakeMarks = (mistakes: Mistakes, width: number, dy: number): Plot.Markish =>
  Plot.text(mistakes, {
    x: place,
    frameAnchor: 'bottom',
    dy,
    lineAnchor: 'top',
    lineHeight: 1.2,
    text: (own: Mistakes[number]) => {
      const all = own ?? [];
      const shown = all.length > MOST_LINES ? [...all.slice(0, MOST_LINES - 1), '…'] : all;
      return shown.map((line) => shortened(line, width, SMALL_FONT_SIZE)).join('\n');
    },
    fill: colour('muted'),
    fontSize: SMALL_FONT_SIZE,
  });
