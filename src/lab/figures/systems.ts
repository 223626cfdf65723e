/** Several systems beside each other: how each learned, and how well each answers anywhere. */
import { inWords, rising } from '../numbers.js';
import * as Plot from '@observablehq/plot';
import { CHANCE, CHANCE_LINE, chart, gridY } from './chart.js';
import {
  at,
  below,
  figure,
  headed,
  inRows,
  SMALL_PRINT,
  text,
  type Drawing,
  type Figure,
} from './drawing.js';
import { legend, seriesLegend, seriesShape } from './legend.js';
import { seriesColour, SMALL_FONT_SIZE } from './theme.js';
import { stepTick } from './training.js';

/** Accuracies of one training, by steps. */
interface LearningCurve {
  readonly points: readonly {
    readonly step: number;
    readonly raven: number | null;
    readonly iRaven: number | null;
  }[];
}

/** The trainings of a system, one for each configuration. */
export interface LearningSystem {
  readonly name: string;
  readonly curves: readonly LearningCurve[];
}

const PER_ROW = 4;
const WIDTH = 184;
const HEIGHT = 128;
/** Room for the numbers of a vertical axis. */
const TICKS = 42;

const LINES = [
  { name: 'RAVEN', key: 'raven', colour: seriesColour(0), shape: 'line' },
  { name: 'I-RAVEN', key: 'iRaven', colour: seriesColour(1), shape: 'line' },
] as const;

function learningChart({ name, curves }: LearningSystem): Drawing {
  const marks = LINES.flatMap(({ key, colour }) =>
    curves.flatMap(({ points }, curve) =>
      points.flatMap(({ step, [key]: value }) =>
        value === null ? [] : [{ step, value, colour, line: `${key} ${curve}` }],
      ),
    ),
  );
  const drawing = chart({
    ...{ width: WIDTH, height: HEIGHT },
    ...{ marginLeft: TICKS, marginRight: 12, marginTop: 6, marginBottom: 24 },
    x: { label: null, ticks: 3, tickFormat: stepTick, nice: false },
    y: { domain: [0, 1], label: null, tickFormat: '.0%', ticks: 3 },
    marks: [
      gridY(3),
      Plot.ruleY([CHANCE], CHANCE_LINE),
      Plot.line(marks, {
        ...{ x: 'step', y: 'value', z: 'line', stroke: 'colour' },
        ...{ strokeWidth: 1.2, strokeOpacity: 0.85 },
      }),
    ],
  });
  const title = text(TICKS, 11, name, { bold: true, size: SMALL_FONT_SIZE });
  return headed(title, 14, drawing);
}

/** x: steps; y: accuracy on validation problems, a line for each configuration; dashed: chance. */
export function learningFigure(systems: readonly LearningSystem[]): Figure {
  const key = legend(LINES);
  const charts = inRows(systems.map(learningChart), PER_ROW, 10);
  return figure(
    `Accuracy while training of ${systems.map(({ name }) => name).join(', ')}`,
    below([key, charts], 8),
  );
}

/** What a system reaches in one configuration with so many missing panels and candidates. */
interface SystemGsaPoint {
  readonly configuration: string;
  readonly targets: number;
  readonly candidates: number;
  readonly accuracy: number;
}

export interface SystemGsa {
  readonly name: string;
  readonly points: readonly SystemGsaPoint[];
}

const CELL = 92;
const CELL_HEIGHT = 108;
/** Between two cells. */
const GAP = 8;

/** Only the first cell of a row has numbers at its vertical axis. */
function gsaCell(
  systems: readonly SystemGsa[],
  configuration: string,
  targets: number,
  isFirst: boolean,
): Drawing {
  const lines = systems.map(({ points }) =>
    points.filter((each) => each.configuration === configuration && each.targets === targets),
  );
  const counts = rising(lines.flat().map(({ candidates }) => candidates));
  return chart({
    ...{ width: CELL + (isFirst ? TICKS : 0), height: CELL_HEIGHT },
    ...{ marginLeft: isFirst ? TICKS : 0, marginRight: 0, marginTop: 6, marginBottom: 22 },
    x: { type: 'point', domain: counts, label: null, padding: 0.3 },
    y: { domain: [0, 1], label: null, tickFormat: '.0%', ticks: 3, axis: isFirst ? 'left' : null },
    marks: [
      gridY(3),
      Plot.line(
        counts.map((candidates) => ({ candidates, chance: 1 / candidates })),
        { x: 'candidates', y: 'chance', ...CHANCE_LINE },
      ),
      ...lines.flatMap((own, i) => [
        Plot.line(own, { x: 'candidates', y: 'accuracy', stroke: seriesColour(i) }),
        Plot.dot(own, {
          ...{ x: 'candidates', y: 'accuracy', r: 2.4 },
          ...{ fill: seriesColour(i), symbol: seriesShape(i) },
        }),
      ]),
    ],
  });
}

/** Columns: configurations; rows: missing panels; x: candidates; y: GSA; dashed: chance. */
export function systemsGsaFigure(systems: readonly SystemGsa[]): Figure {
  const points = systems.flatMap((each) => each.points);
  const configurations = [...new Set(points.map(({ configuration }) => configuration))];
  const counts = rising(points.map(({ targets }) => targets));
  const key = seriesLegend(systems);
  const place = (column: number): number => TICKS + column * (CELL + GAP);
  const heads = configurations.map((name, c) =>
    text(place(c), 11, name, { bold: true, size: SMALL_FONT_SIZE }),
  );
  const rows = counts.flatMap((targets, r) => {
    const top = 30 + r * (CELL_HEIGHT + 18);
    const words = `${inWords(targets)} missing`;
    return [
      text(TICKS, top - 3, words, SMALL_PRINT),
      ...configurations.map((configuration, c) =>
        at(c === 0 ? 0 : place(c), top, gsaCell(systems, configuration, targets, c === 0)),
      ),
    ];
  });
  const charts = {
    width: place(configurations.length),
    height: 30 + counts.length * (CELL_HEIGHT + 18),
    body: [...heads, ...rows].join(''),
  };
  return figure(
    `Global selection accuracy of ${systems.map(({ name }) => name).join(', ')}`,
    below([key, charts], 10),
  );
}
