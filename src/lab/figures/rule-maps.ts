/**
 * How the rules of a model took shape: what it parsed from fixed problems at moments of its training,
 * one row for each concept, coloured by the true rule on the attribute that the concept stands for.
 */
import { whole } from '../numbers.js';
import * as Plot from '@observablehq/plot';
import { chart, dots } from './chart.js';
import {
  at,
  figure,
  heading,
  shortened,
  SMALL_PRINT,
  text,
  type Drawing,
  type Figure,
} from './drawing.js';
import { ruleColour, ruleLegend, type TrueRule } from './rules.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

export type Point = readonly [x: number, y: number];

export interface RuleMapRow {
  /** 1..M */
  readonly concept: number;
  readonly name: string;
  /** The attribute whose true rules give the colours. */
  readonly attribute: string;
  /** True rule of each problem. */
  readonly truth: readonly TrueRule[];
  /** For each moment, the parsed rule of each problem. */
  readonly moments: readonly (readonly Point[])[];
}

export interface RuleMapsData {
  /** Steps of training of each moment. */
  readonly steps: readonly number[];
  readonly rows: readonly RuleMapRow[];
}

const MAP = 128;
const GAP = 12;
const HEAD = 118;
const TOP = 48;
/** Stray points on each side that may lie at the frame, so that the others fill it. */
const OUTERMOST = 0.004;

/** Ends that hold all but an outermost share of values on each side, with some room. */
export function domainOf(values: readonly number[], outermost = 0): [number, number] {
  const sorted = [...values].sort((a, b) => a - b);
  const cut = Math.floor(sorted.length * outermost);
  const [low, high] = [sorted[cut], sorted[sorted.length - 1 - cut]];
  const room = high > low ? 0.08 * (high - low) : 0.5;
  return [low - room, high + room];
}

function map(points: readonly Point[], truth: readonly TrueRule[], all: readonly Point[]): Drawing {
  const marks = points.map(([x, y], n) => ({ x, y, rule: truth[n] }));
  return chart({
    width: MAP,
    height: MAP,
    margin: 3,
    x: {
      domain: domainOf(
        all.map(([x]) => x),
        OUTERMOST,
      ),
      axis: null,
      clamp: true,
    },
    y: {
      domain: domainOf(
        all.map(([, y]) => y),
        OUTERMOST,
      ),
      axis: null,
      clamp: true,
    },
    marks: [
      Plot.frame({ stroke: colour('faint') }),
      dots(marks, {
        x: 'x',
        y: 'y',
        stroke: (mark: { rule: TrueRule }) => ruleColour(mark.rule),
      }),
    ],
  });
}

const stepTitle = (step: number): string =>
  step === 0 ? 'before training' : `step ${whole(step)}`;

function rowHeading({ concept, name, attribute }: RuleMapRow): string {
  const middle = MAP / 2;
  const head = heading(middle - 8, shortened(name, HEAD - 6), `concept ${concept}`);
  if (name === attribute) return head;
  const rule = shortened(`rule on ${attribute}`, HEAD, SMALL_FONT_SIZE);
  return head + text(0, middle + 20, rule, SMALL_PRINT);
}

/** Rows are concepts, columns moments; both axes are the two numbers of a rule. */
export function ruleMapsFigure({ steps, rows }: RuleMapsData): Figure {
  const legend = ruleLegend();
  const titles = steps.map((step, i) =>
    text(HEAD + i * (MAP + GAP) + MAP / 2, TOP - 8, stepTitle(step), {
      anchor: 'middle',
      ...SMALL_PRINT,
    }),
  );
  const body = rows.map((row, r) => {
    const all = row.moments.flat();
    const maps = row.moments.map((points, i) =>
      at(HEAD + i * (MAP + GAP), 0, map(points, row.truth, all)),
    );
    return at(0, TOP + r * (MAP + GAP), { body: rowHeading(row) + maps.join('') });
  });
  const width = Math.max(HEAD + steps.length * (MAP + GAP) - GAP, HEAD + legend.width);
  const height = TOP + rows.length * (MAP + GAP) - GAP;
  return figure(`Parsed rules of ${rows.length} concepts at ${steps.length} moments of training`, {
    width,
    height,
    body: at(HEAD, 0, legend) + titles.join('') + body.join(''),
  });
}
