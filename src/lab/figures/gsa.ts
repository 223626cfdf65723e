/** Global selection accuracy: one small chart for each number of missing panels. */
import { inWords, rising } from '../numbers.js';
import * as Plot from '@observablehq/plot';
import type { GsaPoint, Measured } from '../evaluation.js';
import { chart, CHANCE_LINE, gridY } from './chart.js';
import { at, figure, text, type Drawing, type Figure } from './drawing.js';
import { seriesLegend, seriesShape } from './legend.js';
import { seriesColour } from './theme.js';

/** Curves of one model or of one way to measure. */
export interface GsaSeries {
  readonly name: string;
  readonly points: readonly {
    readonly targets: number;
    readonly candidates: number;
    readonly accuracy: Measured;
  }[];
}

const CHART = 210;
const HEIGHT = 220;

/** The four ways a model's GSA is measured, as series. */
export const gsaWays = (points: readonly GsaPoint[]): GsaSeries[] =>
  (
    [
      ['all together', 'accuracy'],
      ['all together, L2', 'accuracyL2'],
      ['each by itself', 'each'],
      ['each by itself, L2', 'eachL2'],
    ] as const
  ).flatMap(([name, key]) => {
    const own = points.flatMap(({ targets, candidates, [key]: accuracy }) =>
      accuracy === undefined ? [] : [{ targets, candidates, accuracy }],
    );
    return own.length === 0 ? [] : [{ name, points: own }];
  });

interface Mark {
  readonly candidates: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly series: number;
}

function gsaChart(series: readonly GsaSeries[], targets: number, floor: number): Drawing {
  const marks = series.flatMap(({ points }, i): Mark[] =>
    points
      .filter((point) => point.targets === targets)
      .map(({ candidates, accuracy }) => ({ candidates, ...accuracy, series: i })),
  );
  const counts = rising(marks.map(({ candidates }) => candidates));
  const chance = counts
    .map((candidates) => ({ candidates, value: 1 / candidates }))
    .filter(({ value }) => value >= floor);
  const shade = (mark: Mark): string => seriesColour(mark.series);
  return chart({
    width: CHART,
    height: HEIGHT,
    marginLeft: 40,
    marginRight: 8,
    marginTop: 12,
    marginBottom: 38,
    x: { type: 'point', domain: counts, label: 'candidates', padding: 0.3 },
    y: { domain: [floor, 1], label: null, tickFormat: '.0%', ticks: 5, clamp: true },
    marks: [
      gridY(5),
      Plot.line(chance, { x: 'candidates', y: 'value', ...CHANCE_LINE }),
      ...series.flatMap((_, i) => {
        const own = marks.filter((mark) => mark.series === i);
        // Beside each other: where all is right, curves would hide each other.
        const dx = (i - (series.length - 1) / 2) * Math.min(4, 20 / series.length);
        const place = { x: 'candidates', dx } as const;
        return [
          Plot.ruleX(own, { ...place, y1: 'low', y2: 'high', stroke: shade, strokeWidth: 1.2 }),
          Plot.line(own, { ...place, y: 'value', stroke: shade }),
          Plot.dot(own, { ...place, y: 'value', fill: shade, symbol: seriesShape(i), r: 3 }),
        ];
      }),
    ],
  });
}

/** The lowest tick that shows every curve; zero if chance is near. */
function floorOf(series: readonly GsaSeries[]): number {
  const lowest = Math.min(1, ...series.flatMap(({ points }) => points.map((p) => p.accuracy.low)));
  return lowest > 0.85 ? 0.8 : lowest > 0.55 ? 0.5 : 0;
}

/** x: candidates offered; y: accuracy with its interval; dashed: chance. */
export function gsaFigure(series: readonly GsaSeries[]): Figure {
  const counts = rising(series.flatMap(({ points }) => points.map((p) => p.targets)));
  const floor = floorOf(series);
  const key = seriesLegend(series);
  const charts = counts.map((targets, i) => {
    const x = i * (CHART + 10);
    const title = `${inWords(targets)} missing panel${targets === 1 ? '' : 's'}`;
    return text(x + 40, 36, title, { bold: true }) + at(x, 42, gsaChart(series, targets, floor));
  });
  const width = Math.max(counts.length * (CHART + 10) - 10, key.width + 40);
  return figure(
    `Global selection accuracy of ${series.length} curves for ${counts.join(', ')} missing panels`,
    { width, height: HEIGHT + 42, body: at(36, 0, key) + charts.join('') },
  );
}
