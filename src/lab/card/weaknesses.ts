/**
 * What a model is weak at, as far as its numbers tell: its lowest accuracy, concepts that stand for
 * nothing, attributes without a concept, rules that run together, panels it draws wrong. What was not
 * measured is named too, so that silence is no praise.
 */
import { attributeColumns, hasGrid, layoutOf, VARIANT_NAMES } from '../../matrix/index.js';
import { hasRules, type BundleManifest } from '../../solver/index.js';
import { lackFor } from '../conditions.js';
import type { GsaPoint, MetricName } from '../evaluation.js';
import { listed, percentage } from '../markdown.js';
import { NAME_MIXED, NAME_UNUSED } from '../metrics/variance-decline.js';
import { bundleFacts } from '../open-subject.js';
import { paperAri } from '../paper.js';
import type { MeasuredModel } from '../results/index.js';
import { paperAccuracy, type AccuracyRow } from './accuracy.js';

/** Adjusted Rand index under which rules of an attribute are said to run together. */
const RULES_APART_FROM = 0.5;

interface Figure {
  readonly value: number;
  readonly distance: 'its own distance' | 'plain L2';
  readonly row: AccuracyRow;
}

const figuresOf = (rows: readonly AccuracyRow[]): Figure[] =>
  rows.flatMap((row) => [
    { value: row.sa.value, distance: 'its own distance', row },
    { value: row.saL2.value, distance: 'plain L2', row },
  ]);

/** Whether one share is printed lower than another. */
const isLower = (value: number, other: number): boolean =>
  Number(percentage(value)) < Number(percentage(other));

const candidatesOf = ({ variant }: AccuracyRow): string =>
  variant === null ? 'its candidates' : `${VARIANT_NAMES[variant]} candidates`;

function accuracyItems(manifest: BundleManifest, rows: readonly AccuracyRow[]): string[] {
  const figures = figuresOf(rows);
  if (figures.length === 0) return ['Its accuracy has not been measured.'];
  const lowest = figures.reduce((least, each) => (each.value < least.value ? each : least));
  const below = figures.flatMap(({ value, distance, row }) => {
    const paper = row.variant === null ? null : paperAccuracy(manifest, row.variant);
    return paper !== null && isLower(value, paper)
      ? [
          `${percentage(value)} instead of ${percentage(paper)} on ${candidatesOf(row)} by ${distance} (${row.data})`,
        ]
      : [];
  });
  const worseOwn = rows.filter(({ sa, saL2 }) => isLower(sa.value, saL2.value));
  return [
    `Lowest accuracy: ${percentage(lowest.value)}% on ${candidatesOf(lowest.row)} by ${lowest.distance}.`,
    ...(below.length === 0 ? [] : [`Below the paper: ${below.join('; ')}.`]),
    ...worseOwn.map(
      (row) =>
        `Its own distance chooses worse than plain L2 on ${candidatesOf(row)}: ${percentage(row.sa.value)}% instead of ${percentage(row.saL2.value)}%.`,
    ),
  ];
}

/** The attribute of a concept's name: those that share one have letters. */
const attributeOfName = (name: string): string => name.replace(/ [a-z]$/, '');

const numbered = (numbers: readonly number[]): string =>
  `${numbers.length === 1 ? 'Concept' : 'Concepts'} ${listed(numbers.map(String))}`;

function conceptItems({ conceptNames, configuration, noisy }: BundleManifest): string[] {
  const called = (wanted: string | undefined): number[] =>
    conceptNames.flatMap((found, m) => (found?.name === wanted ? [m + 1] : []));
  const unused = called(NAME_UNUSED);
  const mixed = called(NAME_MIXED);
  const unnamed = called(undefined);
  const names = new Set(conceptNames.map((found) => attributeOfName(found?.name ?? '')));
  const alone = attributeColumns(layoutOf(configuration, noisy)).filter(
    ({ name }) => !names.has(name),
  );
  const is = (numbers: readonly number[]): string => (numbers.length === 1 ? 'is' : 'are');
  return [
    ...(unused.length === 0 ? [] : [`${numbered(unused)} ${is(unused)} unused.`]),
    ...(mixed.length === 0
      ? []
      : [`${numbered(mixed)} ${is(mixed)} mixed: no single attribute explains what is in there.`]),
    ...(unnamed.length === 0 ? [] : [`${numbered(unnamed)} ${is(unnamed)} not named.`]),
    ...(alone.length === 0 || unnamed.length === conceptNames.length
      ? []
      : [`No concept stands for ${listed(alone.map(({ name }) => name))} alone.`]),
  ];
}

function gsaItems({ gsa }: MeasuredModel): string[] {
  if (gsa === null || gsa.points.length === 0) return [];
  const hardest = (a: GsaPoint, b: GsaPoint): GsaPoint =>
    b.accuracy.value < a.accuracy.value ? b : a;
  const { targets, candidates, accuracy, accuracyL2 } = gsa.points.reduce(hardest);
  const panels = targets === 1 ? 'one panel' : `${targets} panels`;
  return [
    `Arbitrary positions: least right with ${panels} missing among ${candidates} candidates, ${percentage(accuracy.value)}% (plain L2 ${percentage(accuracyL2?.value ?? 0)}%).`,
  ];
}

function errorItems({ errors }: MeasuredModel): string[] {
  if (errors === null) return [];
  const last = errors.prediction.meanSquared;
  const anywhere = errors.predictionAnywhere?.meanSquared;
  // Only if the intervals are apart: else it is chance which of the two is larger.
  if (anywhere === undefined || anywhere.low <= last.high) return [];
  return [
    `Panels at other positions than the last are drawn less exactly: mean squared error ${anywhere.value.toPrecision(2)} instead of ${last.value.toPrecision(2)}.`,
  ];
}

function ruleItems(measured: MeasuredModel): string[] {
  const { ari } = measured;
  if (ari === null) return [];
  const { average, best } = ari.matrix;
  const paper = paperAri(measured)?.average;
  const together = best.filter((each) => each.ari < RULES_APART_FROM);
  const told = together.map((each) => `${each.attribute} (${each.ari.toFixed(2)})`);
  return [
    ...(paper === undefined || Number(average.toFixed(2)) >= Number(paper.toFixed(2))
      ? []
      : [
          `Its categories of rules agree less with the true rules than the paper's: adjusted Rand index ${average.toFixed(2)} instead of ${paper.toFixed(2)}.`,
        ]),
    ...(told.length === 0
      ? []
      : [
          `Rules that its categories hardly tell apart (adjusted Rand index under ${RULES_APART_FROM}): ${listed(told)}.`,
        ]),
  ];
}

function readbackItems({ readback }: MeasuredModel): string[] {
  if (readback === null || readback.obeys.value >= 1) return [];
  const { obeys, unreadable, byAttribute } = readback;
  const [worst] = [...byAttribute].sort((a, b) => a.share - b.share);
  const attribute =
    worst === undefined || worst.share >= 1
      ? ''
      : `; most often wrong: ${worst.attribute.name}, right in ${percentage(worst.share)}% of readable ones`;
  return [
    `${percentage(1 - obeys.value)}% of the panels it imagines break a rule or cannot be read (${percentage(unreadable.value)}% unreadable)${attribute}.`,
  ];
}

const METRICS: readonly (readonly [keyof MeasuredModel & MetricName, string])[] = [
  ['gsa', 'arbitrary positions'],
  ['errors', 'errors in pixels'],
  ['ari', 'agreement of rules'],
  ['readback', 'whether imagined panels obey the rules'],
  ['rules', 'whether the rules it names are the true ones'],
];

function unmeasuredItems(manifest: BundleManifest, measured: MeasuredModel | null): string[] {
  const facts = bundleFacts(manifest);
  const absent = METRICS.filter(
    ([metric]) => (measured?.[metric] ?? null) === null && lackFor(facts, metric) === null,
  );
  return absent.length === 0 ? [] : [`Not measured: ${listed(absent.map(([, told]) => told))}.`];
}

function scopeItems({ configuration, noisy }: BundleManifest): string[] {
  const noise =
    hasGrid(configuration) && !noisy
      ? ["It has seen no noise: grids of RAVEN's original kind, whose figures differ, are foreign."]
      : [];
  return [
    'It knows one configuration, drawn as RAVEN draws it, at 64x64 pixels. Other configurations, line widths and figures are foreign to it: `crab solve` and the studio warn of pictures that it cannot redraw, `crab evaluate` and the class `Solver` answer without a word.',
    ...noise,
  ];
}

/** Everything to beware of, worst kind first. */
export function weaknessItems(
  manifest: BundleManifest,
  measured: MeasuredModel | null,
  rows: readonly AccuracyRow[],
): readonly string[] {
  return [
    ...accuracyItems(manifest, rows),
    ...(measured === null ? [] : [...gsaItems(measured), ...errorItems(measured)]),
    ...(hasRules(manifest) ? conceptItems(manifest) : []),
    ...(measured === null ? [] : [...ruleItems(measured), ...readbackItems(measured)]),
    ...scopeItems(manifest),
    ...unmeasuredItems(manifest, measured),
  ];
}
