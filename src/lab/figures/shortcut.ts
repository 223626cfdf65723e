/**
 * Accuracy on RAVEN against accuracy on I-RAVEN, one dot a system. Who finds RAVEN's answers in the candidates
 * alone falls to chance on I-RAVEN. The control beside it shows systems that never saw a context.
 */
import * as Plot from '@observablehq/plot';
import { CHANCE, CHANCE_LINE, chart, gridX, gridY } from './chart.js';
import {
  at,
  beside,
  figure,
  headed,
  number,
  text,
  textWidth,
  type Drawing,
  type Figure,
} from './drawing.js';
import { legend } from './legend.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

/** Accuracies as fractions. */
interface Spot {
  readonly raven: number;
  readonly iRaven: number;
}

export interface SystemSpot extends Spot {
  readonly name: string;
  /** Whether it is trained with candidates and their answer. */
  readonly selective: boolean;
}

export interface BlindSpot {
  readonly name: string;
  readonly blind: Spot;
  /** The same system that sees the context, on the same configurations; null if it was not trained. */
  readonly sighted: Spot | null;
}

const SIDE = 340;
const MARGINS = { marginLeft: 44, marginRight: 14, marginTop: 10, marginBottom: 40 };
const LINE = 11.5;
/** Height of a chart's title and legend. */
const HEAD = 56;
const DOT = 4.5;

const xOf = ({ raven }: Spot): number => MARGINS.marginLeft + raven * SIDE;
const yOf = ({ iRaven }: Spot): number => MARGINS.marginTop + (1 - iRaven) * SIDE;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Room to the left and right of a name. */
const GAP = 3;

const overlaps = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width + GAP && b.x < a.x + a.width + GAP && Math.abs(a.y - b.y) < LINE;

/** Names beside their dots, moved up until they hide neither each other nor a dot, with a line to the dot. */
function names(spots: readonly (Spot & { readonly name: string })[]): string {
  const dots = spots.map((spot): Box => ({ x: xOf(spot) - DOT, y: yOf(spot), width: 2 * DOT }));
  const placed: Box[] = [];
  const rising = [...spots].sort((a, b) => yOf(b) - yOf(a) || xOf(a) - xOf(b));
  const lines: string[] = [];
  const written = rising.map((spot) => {
    const width = textWidth(spot.name, SMALL_FONT_SIZE);
    // Near the right edge a name stands to the left of its dot.
    const right =
      xOf(spot) + DOT + GAP + 1 + width <= MARGINS.marginLeft + SIDE + MARGINS.marginRight;
    const x = right ? xOf(spot) + DOT + GAP + 1 : xOf(spot) - DOT - GAP - 1 - width;
    let y = yOf(spot);
    const isFree = (): boolean =>
      [...placed, ...dots].every((other) => !overlaps({ x, y, width }, other));
    while (!isFree() && y > MARGINS.marginTop) y -= 1;
    placed.push({ x, y, width });
    if (yOf(spot) - y >= LINE) {
      const from = `M${number(xOf(spot))},${number(yOf(spot))}`;
      const line = `${from}L${number(right ? x - 1 : x + width + 1)},${number(y)}`;
      lines.push(`<path d="${line}" stroke="${colour('faint')}" fill="none"/>`);
    }
    return text(x, y + 3.5, spot.name, { size: SMALL_FONT_SIZE, halo: true });
  });
  return [...lines, ...written].join('');
}

const KINDS = [
  { name: 'trained with candidates', colour: colour('series-2'), shape: 'square', selective: true },
  { name: 'answers anywhere', colour: colour('series-1'), shape: 'circle', selective: false },
] as const;

const SHARE_AXIS = { domain: [0, 1], tickFormat: '.0%', ticks: 5, label: null };
const RAVEN_AXIS = {
  ...SHARE_AXIS,
  label: 'right on RAVEN',
  labelAnchor: 'center',
  labelArrow: 'none',
} as const;

/** Dots over a grid, with chance on both axes and the line of equal accuracies. */
function spotChart(spots: readonly SystemSpot[]): Drawing {
  const shade = ({ selective }: SystemSpot): string => KINDS[selective ? 0 : 1].colour;
  return chart({
    width: SIDE + MARGINS.marginLeft + MARGINS.marginRight,
    height: SIDE + MARGINS.marginTop + MARGINS.marginBottom,
    ...MARGINS,
    x: RAVEN_AXIS,
    y: SHARE_AXIS,
    marks: [
      gridX(5),
      gridY(5),
      Plot.line([0, 1], {
        x: (end: number) => end,
        y: (end: number) => end,
        stroke: colour('faint'),
      }),
      Plot.ruleX([CHANCE], CHANCE_LINE),
      Plot.ruleY([CHANCE], CHANCE_LINE),
      Plot.dot(spots, {
        ...{ x: 'raven', y: 'iRaven', r: DOT, fill: shade },
        symbol: ({ selective }: SystemSpot) => KINDS[selective ? 0 : 1].shape,
      }),
    ],
  });
}

function systemsPart(spots: readonly SystemSpot[]): Drawing {
  const key = legend(
    KINDS.filter((kind) => spots.some(({ selective }) => selective === kind.selective)),
  );
  const head =
    text(MARGINS.marginLeft, 12, 'Mean over the configurations', { bold: true }) +
    at(MARGINS.marginLeft - 4, 20, key) +
    text(MARGINS.marginLeft, 52, 'right on I-RAVEN', { size: SMALL_FONT_SIZE });
  const drawing = spotChart(spots);
  return headed(head, HEAD, { ...drawing, body: drawing.body + names(spots) });
}

const BLIND_KEY = [
  { name: 'sees the context', colour: colour('series-2'), shape: 'square' },
  { name: 'blind', colour: colour('series-3'), shape: 'diamond' },
] as const;
const ROW = 22;

/** A row a system: how much of its accuracy on RAVEN is left without the context. */
function blindPart(spots: readonly BlindSpot[], configurations: string): Drawing {
  const falling = [...spots].sort((a, b) => b.blind.raven - a.blind.raven);
  const marks = falling.flatMap(({ name, blind, sighted }) => [
    ...(sighted === null ? [] : [{ name, raven: sighted.raven, kind: 0 }]),
    { name, raven: blind.raven, kind: 1 },
  ]);
  const links = falling.flatMap(({ name, blind, sighted }) =>
    sighted === null ? [] : [{ name, from: sighted.raven, to: blind.raven }],
  );
  const left = 12 + Math.max(...falling.map(({ name }) => textWidth(name)));
  const drawing = chart({
    width: left + 250,
    height: MARGINS.marginTop + MARGINS.marginBottom + ROW * falling.length,
    ...MARGINS,
    marginLeft: left,
    x: RAVEN_AXIS,
    y: {
      type: 'point',
      domain: falling.map(({ name }) => name),
      label: null,
      tickSize: 0,
      padding: 0.5,
    },
    marks: [
      gridX(5),
      Plot.ruleX([CHANCE], CHANCE_LINE),
      Plot.link(links, { x1: 'from', x2: 'to', y1: 'name', y2: 'name', stroke: colour('faint') }),
      Plot.dot(marks, {
        ...{ x: 'raven', y: 'name', r: DOT },
        fill: ({ kind }: { kind: number }) => BLIND_KEY[kind].colour,
        symbol: ({ kind }: { kind: number }) => BLIND_KEY[kind].shape,
      }),
    ],
  });
  const title = text(left, 12, configurations, { bold: true });
  return headed(title + at(left - 4, 20, legend(BLIND_KEY)), HEAD, drawing);
}

/**
 * x: accuracy on RAVEN; y: on I-RAVEN; dashed: chance. Beside it the control, in some configurations, if there
 * is one.
 */
export function shortcutFigure(
  systems: readonly SystemSpot[],
  blind: readonly BlindSpot[] = [],
  configurations = '',
): Figure {
  const parts = [
    ...(systems.length === 0 ? [] : [systemsPart(systems)]),
    ...(blind.length === 0 ? [] : [blindPart(blind, configurations)]),
  ];
  const named = systems.map(({ name }) => name).join(', ');
  return figure(`Accuracy on RAVEN against I-RAVEN: ${named}`, beside(parts, 20));
}
