/** Legends: names beside the marks that stand for them, on one line. */
import { number, text, textWidth, type Drawing } from './drawing.js';
import { seriesColour, SMALL_FONT_SIZE } from './theme.js';

/** Outlines of Plot's symbols, about 10 units wide. */
const SHAPES = {
  circle: 'M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z',
  triangle: 'M0,-5L5,4L-5,4Z',
  square: 'M-4,-4H4V4H-4Z',
  diamond: 'M0,-5.5L4.5,0L0,5.5L-4.5,0Z',
  star: 'M0,-5.5L1.3,-1.7L5.2,-1.7L2.1,0.7L3.2,4.4L0,2.2L-3.2,4.4L-2.1,0.7L-5.2,-1.7L-1.3,-1.7Z',
  cross: 'M-1.5,-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z',
  line: 'M-7,-1.5H7V1.5H-7Z',
} as const;
export type Shape = keyof typeof SHAPES;

/** Shapes for the n-th of several things. */
export const SERIES_SHAPES = ['circle', 'triangle', 'square', 'diamond', 'star', 'cross'] as const;

export const seriesShape = (n: number): Shape => SERIES_SHAPES[n % SERIES_SHAPES.length];

interface LegendEntry {
  readonly name: string;
  readonly colour: string;
  readonly shape: Shape;
}

export function legend(entries: readonly LegendEntry[]): Drawing {
  let x = 7;
  const body = entries.map(({ name, colour, shape }) => {
    const mark = `<path d="${SHAPES[shape]}" transform="translate(${number(x)},7)" fill="${colour}"/>`;
    const entry = mark + text(x + 11, 11, name, { size: SMALL_FONT_SIZE });
    x += 32 + textWidth(name, SMALL_FONT_SIZE);
    return entry;
  });
  return { width: x, height: 18, body: body.join('') };
}

/** A legend of several things of the same kind, each in a colour and a shape of its own. */
export const seriesLegend = (series: readonly { readonly name: string }[]): Drawing =>
  legend(series.map(({ name }, i) => ({ name, colour: seriesColour(i), shape: seriesShape(i) })));
