/**
 * Panels and whole problems as SVG text, for documents and pages. Nothing carries an id, so that any
 * number of them can stand on one page; every text from outside is escaped.
 */
import { hexOf, SHEET_COLOURS } from './colours.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import type { Panel, Problem } from './problem.js';
import type { Point } from './raster.js';
import { IMAGE_SIZE } from './render-entity.js';
import { layOutItem, type ItemOptions, type PlacedPanel, type PlacedText } from './svg-item.js';
import {
  OUTLINE_WIDTH,
  panelShapes,
  type CircleShape,
  type PanelShape,
  type PolygonShape,
} from './svg-shapes.js';

const NAMESPACE = 'http://www.w3.org/2000/svg';
const FONT = 'Helvetica, Arial, sans-serif';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for element content and attribute values; characters XML cannot hold are left out. */
export function escapeXml(text: string): string {
  return Array.from(text)
    .filter((character) => isXmlCharacter(character.codePointAt(0) ?? 0))
    .map((character) => ENTITIES[character] ?? character)
    .join('');
}

const isXmlCharacter = (code: number): boolean =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  code >= 0x10000;

/** At most three decimals, no trailing zeros, no negative zero. */
const number = (value: number): string => String(Math.round(value * 1000) / 1000 + 0);

type AttributeValue = string | number | undefined;

const attributes = (values: Readonly<Record<string, AttributeValue>>): string =>
  Object.entries(values)
    .filter((entry): entry is [string, string | number] => entry[1] !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'number' ? number(value) : escapeXml(value);
      return ` ${name}="${text}"`;
    })
    .join('');

const element = (
  name: string,
  values: Readonly<Record<string, AttributeValue>>,
  content = '',
): string =>
  content === ''
    ? `<${name}${attributes(values)}/>`
    : `<${name}${attributes(values)}>${content}</${name}>`;

const greyOf = (value: number): string => hexOf([value, value, value]);

const pointList = (points: readonly Point[]): string =>
  points.map(([x, y]) => `${number(x)},${number(y)}`).join(' ');

/** SVG turns clockwise where the data sets turn counter-clockwise. */
function rotation({ degrees, centre }: PolygonShape | CircleShape): string | undefined {
  if (degrees === 0) return undefined;
  return `rotate(${number(-degrees)} ${number(centre[0])} ${number(centre[1])})`;
}

function shapeElement(shape: PanelShape): string {
  if (shape.kind === 'line') {
    const [from, to] = [shape.from, shape.to];
    const ends = { x1: from[0], y1: from[1], x2: to[0], y2: to[1] };
    return element('line', { ...ends, 'stroke-width': shape.width });
  }
  const common = {
    fill: shape.fill === null ? 'none' : greyOf(shape.fill),
    transform: rotation(shape),
    'data-component': shape.component,
    'data-slot': shape.entity.slot,
  };
  if (shape.kind === 'circle') {
    const [cx, cy] = shape.centre;
    return element('circle', { cx, cy, r: shape.radius, ...common });
  }
  return element('polygon', { points: pointList(shape.upright), ...common });
}

/** A panel's shapes as one `<g>`, in coordinates of 160x160, without paper or frame. */
export function panelSvgGroup(
  layout: ConfigurationLayout,
  panel: Panel,
  transform?: string,
): string {
  const style = {
    fill: 'none',
    stroke: '#000000',
    'stroke-width': OUTLINE_WIDTH,
    'stroke-linejoin': 'round',
    transform,
  };
  return element('g', style, panelShapes(layout, panel).map(shapeElement).join(''));
}

export interface SvgOptions {
  /** Side on the page in CSS pixels; 160 unless told. */
  readonly size?: number;
  /** What a screen reader says. */
  readonly label?: string;
}

const root = (width: number, height: number, box: string, label: string, content: string): string =>
  element(
    'svg',
    { xmlns: NAMESPACE, width, height, viewBox: box, role: 'img', 'aria-label': label },
    content,
  );

/** A panel as a complete SVG document on white paper. */
export function renderSvg(
  layout: ConfigurationLayout,
  panel: Panel,
  options: SvgOptions = {},
): string {
  const { size = IMAGE_SIZE, label = 'Panel' } = options;
  const paper = element('rect', { width: IMAGE_SIZE, height: IMAGE_SIZE, fill: '#ffffff' });
  const box = `0 0 ${IMAGE_SIZE} ${IMAGE_SIZE}`;
  return root(size, size, box, label, paper + panelSvgGroup(layout, panel));
}

function placedPanel(layout: ConfigurationLayout, placed: PlacedPanel, frameWidth: number): string {
  const { x, y, size, panel, answer } = placed;
  const frame = element('rect', {
    x,
    y,
    width: size,
    height: size,
    fill: '#ffffff',
    stroke: hexOf(answer ? SHEET_COLOURS.accent : SHEET_COLOURS.hairline),
    'stroke-width': answer ? 3 : frameWidth,
    'shape-rendering': 'crispEdges',
  });
  if (panel === null) return frame;
  const place = `translate(${number(x)} ${number(y)}) scale(${number(size / IMAGE_SIZE)})`;
  return frame + panelSvgGroup(layout, panel, place);
}

const TEXT_COLOURS = {
  ink: hexOf(SHEET_COLOURS.ink),
  muted: hexOf(SHEET_COLOURS.muted),
  accent: hexOf(SHEET_COLOURS.accent),
} as const;

function placedText({ x, y, size, text, colour, anchor, bold }: PlacedText): string {
  const style = {
    x,
    y,
    'font-size': size,
    fill: TEXT_COLOURS[colour],
    'text-anchor': anchor === 'middle' ? 'middle' : undefined,
    'font-weight': bold ? 'bold' : undefined,
  };
  return element('text', style, escapeXml(text));
}

/** A problem as a complete SVG document: the matrix, then the candidates, then any text. */
export function problemToSvg(problem: Problem, options: ItemOptions = {}): string {
  const layout = layoutOfProblem(problem);
  const item = layOutItem(problem, options);
  const { width, height } = item;
  const content = [
    element('rect', { width, height, fill: '#ffffff' }),
    ...item.panels.map((placed) => placedPanel(layout, placed, options.frameWidth ?? 1)),
    element('g', { 'font-family': FONT }, item.texts.map(placedText).join('')),
  ].join('');
  const label = options.title ?? "Raven's matrix with eight candidates";
  return root(width, height, `0 0 ${number(width)} ${number(height)}`, label, content);
}
