/**
 * Charts by Observable Plot on a document of linkedom: Plot decides on scales, ticks and axes, and the
 * SVG it draws becomes a piece of a figure. Colours and fonts are those of the theme.
 */
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { Drawing } from './drawing.js';
import { SERIES_SHAPES } from './legend.js';
import { colour, FONT_FAMILY, FONT_SIZE } from './theme.js';

/** What is used of an element of Plot's drawing. */
interface DrawnElement {
  readonly innerHTML: string;
  querySelectorAll(selector: string): Iterable<{ remove(): void }>;
}

const EMPTY_PAGE = '<!doctype html><html><body></body></html>';
/** Labels of Plot's groups: a figure is one image with a label of its own. */
const GROUP_LABEL = / aria-(?:label|description|hidden)="[^"]*"/g;
const LONG_NUMBER = /-?\d+\.\d{2,}/g;

/** Coordinates with one decimal: a tenth of a pixel is not seen, and pages stay small. */
const shortNumbers = (svg: string): string =>
  svg.replace(/ (?:d|transform|cx|cy|x|y|x1|x2|y1|y2|width|height)="[^"]*"/g, (attribute) =>
    attribute.replace(LONG_NUMBER, (value) => String(Math.round(Number(value) * 10) / 10)),
  );

type ChartOptions = Omit<Plot.PlotOptions, 'document' | 'className' | 'style'> & {
  readonly width: number;
  readonly height: number;
};

const SYMBOLS = [...SERIES_SHAPES, 'times'];
/** Marks name their colours, opacities and symbols themselves. */
const AS_NAMED = {
  color: { type: 'identity' },
  opacity: { type: 'identity' },
  symbol: { type: 'ordinal', domain: SYMBOLS, range: SYMBOLS },
} as const;

/** Draws a chart. */
export function chart(options: ChartOptions): Drawing {
  const { document } = parseHTML(EMPTY_PAGE) as unknown as { readonly document: unknown };
  const drawn: unknown = Plot.plot({ ...AS_NAMED, ...options, document, className: 'chart' });
  const element = drawn as DrawnElement;
  for (const style of element.querySelectorAll('style')) style.remove();
  const inner = shortNumbers(element.innerHTML.replace(GROUP_LABEL, ''));
  // Plot draws with the current colour; a group of its own keeps the theme's ink and letters.
  const body =
    `<g font-family="${FONT_FAMILY}" font-size="${FONT_SIZE}" text-anchor="middle" ` +
    `fill="${colour('ink')}" color="${colour('ink')}">${inner}</g>`;
  return { width: options.width, height: options.height, body };
}

/** A hairline grid and no frame: the data come first. */
export const gridX = (ticks: number): Plot.Markish =>
  Plot.gridX({ stroke: colour('grid'), strokeOpacity: 1, ticks });
export const gridY = (ticks: number): Plot.Markish =>
  Plot.gridY({ stroke: colour('grid'), strokeOpacity: 1, ticks });

/** What guessing among eight candidates reaches, and how charts show it. */
export const CHANCE = 1 / 8;
export const CHANCE_LINE = { stroke: colour('muted'), strokeDasharray: '2,3' } as const;

/** What a mark of Plot is given to draw itself. */
interface DrawnValues {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
  readonly stroke: ArrayLike<string>;
}

interface SvgNode {
  setAttribute(name: string, value: string): void;
  append(child: SvgNode): void;
}

interface SvgDocument {
  createElementNS(namespace: string, name: string): SvgNode;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Many dots as one path for each colour: a tenth of the bytes of as many circles. */
function drawDots(
  index: ArrayLike<number>,
  _scales: unknown,
  values: DrawnValues,
  _dimensions: unknown,
  context: { readonly document: SvgDocument },
): SvgNode {
  const paths = new Map<string, string[]>();
  for (const i of Array.from(index)) {
    const path = paths.get(values.stroke[i]) ?? [];
    paths.set(values.stroke[i], path);
    path.push(`M${values.x[i].toFixed(1)},${values.y[i].toFixed(1)}h0`);
  }
  const group = context.document.createElementNS(SVG, 'g');
  for (const [stroke, moves] of paths) {
    const path = context.document.createElementNS(SVG, 'path');
    path.setAttribute('d', moves.join(''));
    path.setAttribute('stroke', stroke);
    path.setAttribute('stroke-width', '3.2');
    path.setAttribute('stroke-linecap', 'round');
    path.setAttribute('stroke-opacity', '0.75');
    group.append(path);
  }
  return group;
}

/** A dot mark for thousands of points, with a colour of their own each. */
export const dots = (
  data: Plot.Data,
  options: Pick<Plot.DotOptions, 'x' | 'y' | 'stroke'>,
): Plot.Markish =>
  Plot.dot(data, { ...options, render: drawDots as unknown as Plot.RenderFunction });
