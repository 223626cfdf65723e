/**
 * The global rules of one concept: contours of the prior's log density over the parsed rules, and
 * matrices of each of its categories, so that one sees what the category stands for. A category may be
 * several clouds, each with its letter.
 */
import { percent } from '../../base/index.js';
import * as Plot from '@observablehq/plot';
import type { Panel } from '../../solver/index.js';
import { categoriesOf, RuleClassifier, type RuleMixture } from '../../solver/index.js';
import { chart } from './chart.js';
import {
  at,
  below,
  beside,
  matrixPicture,
  figure,
  SMALL_PRINT,
  text,
  type Drawing,
  type Figure,
} from './drawing.js';
import { placeLetters, type Place } from './letters.js';
import { domainOf, type Point } from './rule-maps.js';
import { ruleColour, ruleLegend, ruleSymbol, ruleTitle, type TrueRule } from './rules.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

/** A category of the prior and what was found in it. */
export interface RuleCluster {
  readonly category: number;
  /** Share of the problems assigned to it. */
  readonly share: number;
  /** The most frequent true rule in it, and how frequent that is. */
  readonly rule: TrueRule;
  readonly purity: number;
  /** The nine panels of some of its problems. */
  readonly examples: readonly (readonly Panel[])[];
}

export interface RulePriorData {
  /** 1..M */
  readonly concept: number;
  readonly name: string;
  readonly attribute: string;
  readonly mixture: RuleMixture;
  readonly points: readonly Point[];
  readonly truth: readonly TrueRule[];
  readonly clusters: readonly RuleCluster[];
}

const MAP = 330;
const MARGINS = { marginLeft: 48, marginRight: 8, marginTop: 20, marginBottom: 36 } as const;
const CELL = 24;
/** How far below its peak the log density is still drawn. */
const DEPTH = 14;
const LEVELS = 8;
/** Clouds with less of the rules get no letter. */
const LEAST_WEIGHT = 0.02;

export const clusterLetter = (i: number): string => String.fromCharCode(65 + (i % 26));

type Ends = readonly [number, number];

/** The middle of a cloud of rules, and the index of the cluster it belongs to. */
interface Cloud {
  readonly mean: Point;
  readonly cluster: number;
}

/** Clouds of the clusters shown; those of hardly any rule are left out. */
function cloudsOf({ mixture, clusters }: RulePriorData): Cloud[] {
  const categories = categoriesOf(mixture);
  return clusters.flatMap(({ category }, cluster) =>
    mixture.means.flatMap(([x, y], k): Cloud[] =>
      categories[k] === category && mixture.weights[k] >= LEAST_WEIGHT
        ? [{ mean: [x, y], cluster }]
        : [],
    ),
  );
}

/** The middles of clouds, and where their letters go: beside them, not over the points. */
function lettersOf(clouds: readonly Cloud[], points: readonly Point[], x: Ends, y: Ends) {
  const means = clouds.map(({ mean }) => mean);
  const width = MAP - MARGINS.marginLeft - MARGINS.marginRight;
  const height = MAP - MARGINS.marginTop - MARGINS.marginBottom;
  const toPixels = ([px, py]: Point): Place => ({
    x: ((px - x[0]) / (x[1] - x[0])) * width,
    y: ((y[1] - py) / (y[1] - y[0])) * height,
  });
  const places = placeLetters(means.map(toPixels), points.map(toPixels), { width, height });
  return places.map((place, i) => ({
    meanX: means[i][0],
    meanY: means[i][1],
    x: x[0] + (place.x / width) * (x[1] - x[0]),
    y: y[1] - (place.y / height) * (y[1] - y[0]),
    letter: clusterLetter(clouds[i].cluster),
  }));
}

type Domain = readonly [number, number];

/** Lines of equal density; `peak` is the largest logarithm of it. */
const contours = (
  logDensity: (x: number, y: number) => number,
  peak: number,
  [x1, x2]: Domain,
  [y1, y2]: Domain,
): Plot.Markish =>
  Plot.contour({
    fill: colour('muted'),
    fillOpacity: 0.07,
    stroke: colour('muted'),
    strokeOpacity: 0.35,
    strokeWidth: 0.6,
    value: logDensity,
    thresholds: Array.from({ length: LEVELS }, (_, i) => peak - DEPTH * (1 - (i + 0.5) / LEVELS)),
    ...{ x1, x2, y1, y2 },
    pixelSize: 3,
    blur: 0,
  });

/** The letter of each cluster, joined to its mean. */
const letterMarks = (letters: ReturnType<typeof lettersOf>): Plot.Markish[] => [
  Plot.link(letters, {
    ...{ x1: 'meanX', y1: 'meanY', x2: 'x', y2: 'y' },
    stroke: colour('ink'),
    strokeWidth: 1.2,
  }),
  Plot.dot(letters, {
    ...{ x: 'meanX', y: 'meanY', r: 3.4 },
    fill: colour('paper'),
    stroke: colour('ink'),
    strokeWidth: 1.4,
  }),
  Plot.text(letters, {
    ...{ x: 'x', y: 'y', text: 'letter' },
    fontSize: 15,
    fontWeight: 'bold',
    fill: colour('ink'),
    stroke: colour('paper'),
    strokeWidth: 4,
  }),
];

function densityMap(data: RulePriorData): Drawing {
  const { mixture, points, truth } = data;
  const clouds = cloudsOf(data);
  const classifier = new RuleClassifier(mixture);
  const logDensity = (x: number, y: number): number => classifier.classify([x, y]).logDensity;
  const shown = [...points, ...clouds.map(({ mean }) => mean)];
  const xDomain = domainOf(shown.map(([x]) => x));
  const yDomain = domainOf(shown.map(([, y]) => y));
  const peak = Math.max(...mixture.means.map(([x, y]) => logDensity(x, y)));
  const marks = points.map(([x, y], n) => ({ x, y, rule: truth[n] }));
  return chart({
    width: MAP,
    height: MAP,
    ...MARGINS,
    x: { domain: xDomain, label: 'r₁', clamp: true, ticks: 5 },
    y: { domain: yDomain, label: 'r₂', clamp: true, ticks: 5 },
    marks: [
      contours(logDensity, peak, xDomain, yDomain),
      Plot.frame({ stroke: colour('faint') }),
      Plot.dot(marks, {
        ...{ x: 'x', y: 'y', r: 2.3 },
        fill: (mark: { rule: TrueRule }) => ruleColour(mark.rule),
        symbol: (mark: { rule: TrueRule }) => ruleSymbol(mark.rule),
        fillOpacity: 0.8,
      }),
      ...letterMarks(lettersOf(clouds, points, xDomain, yDomain)),
    ],
  });
}

function clusterRow(cluster: RuleCluster, i: number): Drawing {
  const heading: Drawing = {
    width: 128,
    height: 3 * CELL + 6,
    body:
      text(0, 18, clusterLetter(i), { size: 15, bold: true }) +
      text(20, 12, `${percent(cluster.share, 0)} of problems`, { size: SMALL_FONT_SIZE }) +
      text(20, 26, ruleTitle(cluster.rule), {
        size: SMALL_FONT_SIZE,
        fill: ruleColour(cluster.rule),
        bold: true,
      }) +
      text(20, 40, `in ${percent(cluster.purity, 0)} of them`, SMALL_PRINT),
  };
  const matrices = cluster.examples.map((panels) => matrixPicture(panels, CELL));
  return beside([heading, ...matrices], 12);
}

/** Left the map with contours, right matrices of each cluster. */
export function rulePriorFigure(data: RulePriorData): Figure {
  const { concept, name, clusters } = data;
  const rows = below(clusters.map(clusterRow), 14);
  const legend = ruleLegend();
  const map = densityMap(data);
  const body = at(32, 0, legend) + at(0, 20, map) + at(MAP + 22, 28, rows);
  return figure(
    `Prior of the rules of concept ${concept}, ${name}, with ${clusters.length} clusters`,
    {
      width: Math.max(MAP + 22 + rows.width, 32 + legend.width),
      height: Math.max(MAP + 20, 28 + rows.height),
      body,
    },
  );
}
