/** Selection accuracy of several systems over the configurations, one row each. */
import * as Plot from '@observablehq/plot';
import { CHANCE, CHANCE_LINE, chart, gridX } from './chart.js';
import { at, figure, textWidth, type Figure } from './drawing.js';
import { seriesLegend, seriesShape } from './legend.js';
import { colour, seriesColour } from './theme.js';

export interface AccuracySeries {
  readonly name: string;
  /** Share right by the name of a configuration; absent if not known. */
  readonly values: ReadonlyMap<string, number>;
  /** 95% intervals, if measured here. */
  readonly intervals?: ReadonlyMap<string, readonly [number, number]>;
}

const ROW = 44;
const LANE = 7;
const HEAD = 26;

/** A lane for each series below those before: equal values would hide each other. */
function laneMarks(series: readonly AccuracySeries[]): Plot.Markish[] {
  return series.flatMap(({ values, intervals }, i) => {
    const marks = [...values].map(([configuration, value]) => ({ configuration, value }));
    const bars = [...(intervals ?? [])].map(([configuration, [low, high]]) => ({
      configuration,
      low,
      high,
    }));
    const place = { y: 'configuration', dy: (i - (series.length - 1) / 2) * LANE };
    const shade = (): string => seriesColour(i);
    return [
      Plot.ruleY(bars, { ...place, x1: 'low', x2: 'high', stroke: shade, strokeWidth: 2 }),
      Plot.dot(marks, { ...place, x: 'value', symbol: seriesShape(i), fill: shade, r: 4 }),
    ];
  });
}

/** x: share of problems solved; rows: configurations, one lane a system in each. */
export function accuracyFigure(
  configurations: readonly string[],
  series: readonly AccuracySeries[],
): Figure {
  const left = 14 + Math.max(...configurations.map((name) => textWidth(name)));
  const drawing = chart({
    width: 640,
    height: ROW * configurations.length + 40,
    marginLeft: left,
    marginRight: 16,
    marginTop: 6,
    marginBottom: 34,
    x: { domain: [0, 1], tickFormat: '.0%', ticks: 6, label: 'problems solved' },
    y: { type: 'point', domain: [...configurations], label: null, tickSize: 0, padding: 0.5 },
    marks: [
      gridX(6),
      Plot.ruleY(configurations.slice(1), {
        y: (name: string) => name,
        dy: -ROW / 2,
        stroke: colour('grid'),
      }),
      Plot.ruleX([CHANCE], CHANCE_LINE),
      ...laneMarks(series),
    ],
  });
  const key = seriesLegend(series);
  return figure(`Selection accuracy of ${series.map(({ name }) => name).join(', ')}`, {
    width: Math.max(640, left + key.width),
    height: drawing.height + HEAD,
    body: at(left - 6, 0, key) + at(0, HEAD, drawing),
  });
}
