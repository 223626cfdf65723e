/**
 * Pieces of SVG put together: a drawing has a size and a body, and can be placed on a larger one. Only
 * what is not a chart is laid out here (pictures of panels, titles, rows); axes are `chart.ts`'s.
 */
import {
  Board,
  encodePng,
  escapeXml,
  greyByte,
  greySquare,
  SMALL_SIZE,
  type Picture,
} from '../../matrix/index.js';
import type { Panel } from '../../solver/index.js';
import { colour, FIGURE_SCALE, FONT_FAMILY, FONT_SIZE, SMALL_FONT_SIZE } from './theme.js';

/** Some SVG elements in a box of this size, its corner at 0, 0. */
export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly body: string;
}

/** A complete figure. */
export interface Figure extends Drawing {
  /** What a screen reader says. */
  readonly label: string;
}

/** At most two decimals. */
export const number = (value: number): string => String(Math.round(value * 100) / 100 + 0);

/** A drawing moved to a place. */
export const at = (x: number, y: number, { body }: Pick<Drawing, 'body'>): string =>
  body === '' ? '' : `<g transform="translate(${number(x)},${number(y)})">${body}</g>`;

interface TextOptions {
  readonly size?: number;
  readonly fill?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly bold?: boolean;
  /** Whether lines that cross the text stop short of its letters. */
  readonly halo?: boolean;
}

/** One line of text; `y` is its baseline. */
export function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { size = FONT_SIZE, fill = colour('ink'), anchor = 'start', bold = false } = options;
  const weight = bold ? ' font-weight="bold"' : '';
  const halo = options.halo
    ? ` stroke="${colour('paper')}" stroke-width="3" stroke-linejoin="round" paint-order="stroke"`
    : '';
  return (
    `<text x="${number(x)}" y="${number(y)}" font-size="${number(size)}" fill="${fill}" ` +
    `text-anchor="${anchor}"${weight}${halo}>${escapeXml(content)}</text>`
  );
}

/** How small print looks. */
export const SMALL_PRINT = { size: SMALL_FONT_SIZE, fill: colour('muted') } as const;

/** A bold line, and small print below it; `y` is the baseline of the first. */
export const heading = (y: number, title: string, below: string): string =>
  text(0, y, title, { bold: true }) + text(0, y + 14, below, SMALL_PRINT);

/** Average width of a letter, in parts of its size. */
const LETTER = 0.6;

/** About how wide a text is; DejaVu's letters are wide, others' are narrower. */
export const textWidth = (content: string, size = FONT_SIZE): number =>
  content.length * size * LETTER;

/** A text that ends in an ellipsis if it would be wider than allowed. */
export function shortened(content: string, width: number, size = FONT_SIZE): string {
  const most = Math.max(1, Math.floor(width / (size * LETTER)));
  return content.length <= most ? content : `${content.slice(0, most - 1)}…`;
}

/** Grey of the gaps in pictures of whole matrices; visible on light and dark pages. */
const PICTURE_GAP = 205;

const pngAddress = (picture: Picture): string =>
  `data:image/png;base64,${Buffer.from(encodePng(picture)).toString('base64')}`;

/** A panel as the address of a PNG. */
export const panelAddress = (panel: Panel): string => pngAddress(panelPicture(panel));

const panelPicture = (panel: Panel): Picture => greySquare(Uint8Array.from(panel, greyByte));

interface FrameOptions {
  readonly stroke?: string;
  readonly strokeWidth?: number;
}

/** A panel's picture in a frame. */
export function panelDrawing(panel: Panel, size: number, frame: FrameOptions = {}): Drawing {
  const picture =
    `<image href="${panelAddress(panel)}" width="${number(size)}" height="${number(size)}" ` +
    `preserveAspectRatio="none"/>`;
  return { width: size, height: size, body: picture + frameOf(size, frame) };
}

function frameOf(size: number, options: FrameOptions): string {
  const { stroke = colour('faint'), strokeWidth = 1 } = options;
  const out = strokeWidth / 2;
  const side = number(size + strokeWidth);
  return (
    `<rect x="${number(-out)}" y="${number(-out)}" width="${side}" height="${side}" fill="none" ` +
    `stroke="${stroke}" stroke-width="${number(strokeWidth)}"/>`
  );
}

/** Nine panels as a matrix; framed positions (1..9) stand out. */
export function matrixDrawing(
  panels: readonly Panel[],
  options: { readonly cell: number; readonly framed?: readonly number[]; readonly stroke?: string },
): Drawing {
  const { cell, framed = [], stroke = colour('series-1') } = options;
  const gap = Math.max(2, cell * 0.08);
  const step = cell + gap;
  const place = (i: number): string => {
    const marked = framed.includes(i + 1);
    const frame = marked ? { stroke, strokeWidth: Math.max(1.6, cell / 20) } : {};
    const drawing = panelDrawing(panels[i], cell, frame);
    return at((i % 3) * step, Math.floor(i / 3) * step, drawing);
  };
  // Marked ones last: their frames lie over the neighbours'.
  const order = panels
    .map((_, i) => i)
    .sort((a, b) => Number(framed.includes(a + 1)) - Number(framed.includes(b + 1)));
  const side = 3 * cell + 2 * gap;
  return { width: side, height: side, body: order.map(place).join('') };
}

/** A matrix with imagined panels, framed, in the places (1..9) of missing ones. */
export function completedMatrix(
  panels: readonly Panel[],
  missing: readonly number[],
  images: readonly Panel[],
  options: { readonly cell: number; readonly stroke?: string },
): Drawing {
  const completed = [...panels];
  missing.forEach((position, i) => (completed[position - 1] = images[i]));
  return matrixDrawing(completed, { ...options, framed: missing });
}

/** Nine panels as one picture: small in a page, for matrices of which no panel stands out. */
export function matrixPicture(panels: readonly Panel[], cell: number): Drawing {
  const gap = 5;
  const side = 3 * SMALL_SIZE + 4 * gap;
  const board = new Board(side, side, 1);
  board.fill(0, 0, side, side, [PICTURE_GAP]);
  panels.forEach((panel, i) => {
    const left = gap + (i % 3) * (SMALL_SIZE + gap);
    const top = gap + Math.floor(i / 3) * (SMALL_SIZE + gap);
    board.paste(panelPicture(panel), left, top);
  });
  const shown = (cell * side) / SMALL_SIZE;
  const address = pngAddress(board);
  const body = `<image href="${address}" width="${number(shown)}" height="${number(shown)}"/>`;
  return { width: shown, height: shown, body };
}

/** Drawings beside each other, tops aligned. */
export function beside(drawings: readonly Drawing[], gap: number): Drawing {
  let x = 0;
  const placed = drawings.map((drawing) => {
    const body = at(x, 0, drawing);
    x += drawing.width + gap;
    return body;
  });
  return {
    width: Math.max(0, x - gap),
    height: Math.max(0, ...drawings.map(({ height }) => height)),
    body: placed.join(''),
  };
}

/** Drawings below each other, left sides aligned. */
export function below(drawings: readonly Drawing[], gap: number): Drawing {
  let y = 0;
  const placed = drawings.map((drawing) => {
    const body = at(0, y, drawing);
    y += drawing.height + gap;
    return body;
  });
  return {
    width: Math.max(0, ...drawings.map(({ width }) => width)),
    height: Math.max(0, y - gap),
    body: placed.join(''),
  };
}

/** A drawing below a head of so much height. */
export const headed = (head: string, height: number, drawing: Drawing): Drawing => ({
  width: drawing.width,
  height: drawing.height + height,
  body: head + at(0, height, drawing),
});

/** Drawings in rows of equal cells. */
export function inRows(drawings: readonly Drawing[], perRow: number, gap: number): Drawing {
  const rows = Array.from({ length: Math.ceil(drawings.length / perRow) }, (_, r) =>
    beside(drawings.slice(r * perRow, (r + 1) * perRow), gap),
  );
  return below(rows, gap);
}

/** Room around a figure. */
const ROOM = 6;

/** A drawing as a figure, with room around it. */
export const figure = (label: string, drawing: Drawing): Figure => ({
  width: drawing.width + 2 * ROOM,
  height: drawing.height + 2 * ROOM,
  body: at(ROOM, ROOM, drawing),
  label,
});

/** A figure as a complete SVG document, colours as CSS variables of the page (see `theme.ts`). */
export function toSvg({ width, height, body, label }: Figure): string {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const [shownWidth, shownHeight] = [Math.round(w * FIGURE_SCALE), Math.round(h * FIGURE_SCALE)];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${shownWidth}" height="${shownHeight}" viewBox="0 0 ${w} ${h}" ` +
    `role="img" aria-label="${escapeXml(label)}" ${LETTERING} fill="${colour('ink')}">${body}</svg>`
  );
}

const LETTERING = `font-family="${FONT_FAMILY}" font-size="${FONT_SIZE}"`;

/** Whether a text is an SVG that `toSvg` made. */
export const isFigure = (text: string): boolean =>
  text.startsWith('<svg ') && text.includes(LETTERING);
