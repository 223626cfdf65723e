/** Charts of a graded test: scores, items by difficulty and discrimination, attributes got wrong. */
import * as Plot from '@observablehq/plot';
import { chart, gridX, gridY } from './chart.js';
import { figure, textWidth, type Figure } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

const MOST_BARS = 40;

export interface ScoresData {
  /** Right answers of each respondent. */
  readonly scores: readonly number[];
  readonly items: number;
  /** The model's score as if it had answered all items; null without one. */
  readonly model: number | null;
}

/** Scores of the test at which bars begin and end: one bar a score, wider ones for long tests. */
function barsOf({ scores, items }: ScoresData): { from: number; to: number; count: number }[] {
  const width = Math.max(1, Math.ceil((items + 1) / MOST_BARS));
  return Array.from({ length: Math.ceil((items + 1) / width) }, (_, i) => {
    const from = i * width - 0.5;
    const to = from + width;
    return { from, to, count: scores.filter((score) => score > from && score < to).length };
  });
}

/** Whole numbers from 0 that are at most about so many: nobody answers half an item. */
function wholeTicks(last: number, most: number): number[] {
  const steps = [1, 2, 5].flatMap((step) => [step, 10 * step, 100 * step, 1000 * step]);
  const step =
    steps.sort((a, b) => a - b).find((each) => last / each <= most) ?? Math.ceil(last / most);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}

/** x: right answers; y: respondents. */
export function scoresFigure(data: ScoresData): Figure {
  const { items, scores, model } = data;
  const bars = barsOf(data);
  const highest = Math.max(1, ...bars.map(({ count }) => count));
  const counts = wholeTicks(highest, 5);
  const drawing = chart({
    width: 620,
    height: 210,
    marginLeft: 40,
    marginBottom: 38,
    marginTop: 22,
    x: {
      domain: [-0.5, items + 0.5],
      label: 'right answers',
      ticks: wholeTicks(items, 12),
      tickFormat: 'd',
    },
    y: { domain: [0, highest], label: 'respondents', ticks: counts, tickFormat: 'd' },
    marks: [
      Plot.gridY(counts, { stroke: colour('grid'), strokeOpacity: 1 }),
      Plot.rect(bars, {
        x1: 'from',
        x2: 'to',
        y1: 0,
        y2: 'count',
        fill: colour('series-1'),
        insetLeft: 1,
        insetRight: 1,
      }),
      Plot.ruleY([0], { stroke: colour('muted') }),
      ...(model === null
        ? []
        : [
            Plot.ruleX([model], { stroke: colour('series-2'), strokeWidth: 2 }),
            Plot.text([model], {
              x: (score: number) => score,
              frameAnchor: 'top',
              dy: -10,
              text: (score: number) => `the model: ${score.toFixed(1).replace('.0', '')}`,
              // Near the right end the text would leave the chart.
              textAnchor: model > 0.8 * items ? 'end' : 'middle',
              fill: colour('series-2'),
              fontSize: SMALL_FONT_SIZE,
            }),
          ]),
    ],
  });
  return figure(`Scores of ${scores.length} respondents on ${items} items`, drawing);
}

export interface ItemPoint {
  readonly id: string;
  /** Share of right answers. */
  readonly difficulty: number;
  readonly discrimination: number;
}

/** Discrimination below which test theory doubts an item. */
export const DOUBTFUL = 0.2;
/** Items with names on the map: more would cover each other. */
const MOST_NAMES = 12;

const MAP_WIDTH = 720;
const MAP_HEIGHT = 320;
const MAP_MARGINS = { marginLeft: 44, marginRight: 120, marginTop: 22, marginBottom: 38 } as const;
const LINE = 13;

/** Names to the right of their points, moved apart so that none lies over another. */
function besidePoints(named: readonly ItemPoint[], floor: number) {
  const height = MAP_HEIGHT - MAP_MARGINS.marginTop - MAP_MARGINS.marginBottom;
  const unit = (LINE / height) * (1 - floor);
  const shift = 14 / (MAP_WIDTH - MAP_MARGINS.marginLeft - MAP_MARGINS.marginRight);
  const sorted = [...named].sort((a, b) => b.discrimination - a.discrimination);
  const heights = sorted.map(({ discrimination }) => discrimination);
  // Down from the highest, then up again if that went below the chart.
  for (let i = 1; i < heights.length; i++) {
    heights[i] = Math.min(heights[i], heights[i - 1] - unit);
  }
  for (let i = heights.length - 1; i >= 0; i--) {
    const least = i === heights.length - 1 ? floor : heights[i + 1] + unit;
    heights[i] = Math.max(heights[i], least);
  }
  return sorted.map((point, i) => ({ ...point, x: point.difficulty + shift, y: heights[i] }));
}

/** x: share of right answers; y: discrimination; doubtful items are named. */
export function itemMapFigure(points: readonly ItemPoint[]): Figure {
  const doubtful = points.filter(({ discrimination }) => discrimination < DOUBTFUL);
  const named = [...doubtful]
    .sort((a, b) => a.discrimination - b.discrimination)
    .slice(0, MOST_NAMES);
  const lowest = Math.min(0, ...points.map(({ discrimination }) => discrimination));
  const floor = Math.floor(10 * lowest) / 10;
  const labels = besidePoints(named, floor);
  const drawing = chart({
    width: MAP_WIDTH,
    height: MAP_HEIGHT,
    ...MAP_MARGINS,
    x: { domain: [0, 1], label: 'share of right answers', tickFormat: '.0%', ticks: 6 },
    y: { domain: [floor, 1], label: 'discrimination', ticks: 6 },
    marks: [
      gridX(6),
      gridY(6),
      Plot.ruleY([DOUBTFUL], { stroke: colour('warm'), strokeDasharray: '3,3' }),
      Plot.dot(points, {
        x: 'difficulty',
        y: 'discrimination',
        r: 4,
        fill: (point: ItemPoint) =>
          point.discrimination < DOUBTFUL ? colour('series-2') : colour('series-1'),
        fillOpacity: 0.8,
      }),
      Plot.link(labels, {
        x1: 'difficulty',
        y1: 'discrimination',
        x2: 'x',
        y2: 'y',
        stroke: colour('muted'),
        strokeWidth: 0.8,
      }),
      Plot.text(labels, {
        x: 'x',
        y: 'y',
        text: 'id',
        textAnchor: 'start',
        dx: 3,
        fontSize: SMALL_FONT_SIZE,
        fill: colour('muted'),
        stroke: colour('paper'),
        strokeWidth: 3,
      }),
    ],
  });
  return figure(`${points.length} items by difficulty and discrimination`, drawing);
}

export interface AttributeBar {
  readonly attribute: string;
  readonly share: number;
  readonly expected: number;
}

/** Bars: how many wrong choices violate an attribute; ticks: how many would at random. */
export function attributesFigure(bars: readonly AttributeBar[]): Figure {
  const left = 14 + Math.max(...bars.map(({ attribute }) => textWidth(attribute)));
  const drawing = chart({
    width: 620,
    height: 44 + 30 * bars.length,
    marginLeft: left,
    marginBottom: 36,
    marginTop: 6,
    marginRight: 30,
    x: { domain: [0, 1], label: 'share of wrong choices', tickFormat: '.0%', ticks: 6 },
    y: { domain: bars.map(({ attribute }) => attribute), label: null, tickSize: 0, padding: 0.3 },
    marks: [
      gridX(6),
      Plot.barX(bars, { x: 'share', y: 'attribute', fill: colour('series-1') }),
      Plot.tickX(bars, {
        x: 'expected',
        y: 'attribute',
        stroke: colour('series-2'),
        strokeWidth: 3,
        insetTop: -3,
        insetBottom: -3,
      }),
    ],
  });
  return figure('Attributes that wrong choices violate', drawing);
}
