/** How a training went: accuracies on one chart, and each term of the objective on its own. */
import * as Plot from '@observablehq/plot';
import type { HistoryCurve } from '../../solver/index.js';
import { chart, gridY } from './chart.js';
import { at, below, figure, headed, inRows, text, type Drawing, type Figure } from './drawing.js';
import { legend } from './legend.js';
import { colour, seriesColour } from './theme.js';

const WIDTH = 216;
const HEIGHT = 150;
const PER_ROW = 3;

const isAccuracy = ({ name }: HistoryCurve): boolean => /^(sa|gsa)\b/.test(name);

const curveTitle = (name: string): string =>
  name
    .replace(/^sa i-raven\b/, 'SA on I-RAVEN')
    .replace(/^sa raven\b/, 'SA on RAVEN')
    .replace(/^sa\b/, 'SA')
    .replace(/^gsa\b/, 'GSA')
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .replace(/^([a-z])/, (letter) => letter.toUpperCase());

const pointsOf = (curve: HistoryCurve): { step: number; value: number }[] =>
  curve.steps.map((step, i) => ({ step, value: curve.values[i] }));

/** Steps as 20k rather than 20,000. */
export const stepTick = (step: number): string =>
  step >= 1_000_000 ? `${step / 1_000_000}M` : step >= 1000 ? `${step / 1000}k` : String(step);

const axes = { marginLeft: 46, marginRight: 12, marginTop: 8, marginBottom: 30 } as const;
const stepsAxis = { label: null, ticks: 4, tickFormat: stepTick, nice: false } as const;

function accuracyChart(curves: readonly HistoryCurve[]): Drawing {
  const marks = curves.flatMap((curve, i) =>
    pointsOf(curve).map((point) => ({ ...point, series: i })),
  );
  const width = PER_ROW * WIDTH + (PER_ROW - 1) * 14;
  const key = legend(
    curves.map(({ name }, i) => ({
      name: curveTitle(name),
      colour: seriesColour(i),
      shape: 'line' as const,
    })),
  );
  const drawing = chart({
    width,
    height: 200,
    ...axes,
    x: stepsAxis,
    y: { domain: [0, 1], label: null, tickFormat: '.0%', ticks: 5 },
    marks: [
      gridY(5),
      Plot.line(marks, {
        x: 'step',
        y: 'value',
        z: 'series',
        stroke: (mark: { series: number }) => seriesColour(mark.series),
      }),
    ],
  });
  return headed(at(axes.marginLeft, 0, key), 20, drawing);
}

function termChart(curve: HistoryCurve): Drawing {
  const drawing = chart({
    width: WIDTH,
    height: HEIGHT,
    ...axes,
    x: stepsAxis,
    y: { label: null, ticks: 4, tickFormat: '~s', nice: true },
    marks: [
      gridY(4),
      Plot.line(pointsOf(curve), { x: 'step', y: 'value', stroke: colour('series-1') }),
    ],
  });
  const title = text(axes.marginLeft, 11, curveTitle(curve.name), { bold: true, size: 10 });
  return headed(title, 16, drawing);
}

/** x: steps of training. */
export function trainingFigure(history: readonly HistoryCurve[]): Figure {
  const curves = history.filter(({ steps }) => steps.length > 0);
  const accuracies = curves.filter(isAccuracy);
  const terms = curves.filter((curve) => !isAccuracy(curve));
  const top = accuracies.length > 0 ? accuracyChart(accuracies) : undefined;
  const rows = inRows(terms.map(termChart), PER_ROW, 14);
  return figure(
    `Training curves: ${curves.map(({ name }) => curveTitle(name)).join(', ')}`,
    below([...(top === undefined ? [] : [top]), rows], 14),
  );
}
