/** An evaluation in short: the JSON that `crab evaluate --json` prints, and lines for people. */
import path from 'node:path';
import { counted, percent } from '../base/index.js';
import type { Variant } from '../matrix/index.js';
import { VARIANT_NAMES } from '../matrix/index.js';
import { problemsText } from './problems-text.js';
import { meanOf } from './statistics.js';
import type {
  AriTable,
  Measured,
  MeasuredData,
  MeasuredProblems,
  ModelEvaluation,
} from './evaluation.js';

/** The JSON of `crab evaluate`: what most scripts want on top, details below it; shares are fractions. */
export interface EvaluationSummary {
  readonly model: string;
  readonly system: string;
  readonly preset: string;
  /** The first set of problems, null if no metric was measured on one; `sets` has all of them. */
  readonly data: string | null;
  readonly count: number | null;
  readonly sets: readonly MeasuredData[];
  /** The bundle's hash and all counts. */
  readonly conditions: ModelEvaluation['conditions'];
  readonly sa?: number;
  readonly saL2?: number;
  readonly selection?: ModelEvaluation['selection'];
  readonly gsa?: readonly {
    readonly targets: number;
    readonly candidates: number;
    readonly accuracy: number;
    readonly low: number;
    readonly high: number;
    readonly accuracyL2?: number;
    readonly each?: number;
    readonly eachL2?: number;
  }[];
  /** The problems that GSA was measured on. */
  readonly gsaProblems?: MeasuredProblems & { readonly repeats: number };
  readonly errors?: ModelEvaluation['errors'];
  readonly ari?: ModelEvaluation['ari'];
  readonly vd?: ModelEvaluation['vd'];
  readonly readback?: ModelEvaluation['readback'];
  readonly rules?: ModelEvaluation['rules'];
  readonly seconds: ModelEvaluation['seconds'];
}

/** An object without what a model was not measured on. */
const known = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<T>;

/** Accuracy on the first set; the mean over the configurations if it is one of several. */
function firstAccuracy(selection: ModelEvaluation['selection']) {
  const alike = (selection ?? []).filter(({ variant }) => variant === selection?.[0].variant);
  const sets = alike[0]?.configuration === undefined ? alike.slice(0, 1) : alike;
  if (sets.length === 0) return undefined;
  const l2 = sets.flatMap(({ saL2 }) => (saL2 === undefined ? [] : [saL2.value]));
  return {
    sa: meanOf(sets.map(({ sa }) => sa.value)),
    saL2: l2.length === 0 ? undefined : meanOf(l2),
  };
}

export function summaryJson(evaluation: ModelEvaluation): EvaluationSummary {
  const { selection, gsa, seconds, data: sets, conditions, errors, vd } = evaluation;
  const { readback, rules } = evaluation;
  const first = firstAccuracy(selection);
  return {
    model: evaluation.model,
    system: evaluation.system,
    preset: evaluation.preset,
    data: sets.at(0)?.data ?? null,
    count: sets.at(0)?.count ?? null,
    sets,
    conditions,
    ...(first === undefined ? {} : { ...known(first), selection }),
    ...(gsa === null
      ? {}
      : {
          gsa: gsa.points.map((point) => ({
            targets: point.targets,
            candidates: point.candidates,
            accuracy: point.accuracy.value,
            low: point.accuracy.low,
            high: point.accuracy.high,
            ...known({
              accuracyL2: point.accuracyL2?.value,
              each: point.each?.value,
              eachL2: point.eachL2?.value,
            }),
          })),
          gsaProblems: { ...gsa.problems, repeats: gsa.repeats },
        }),
    ...('ari' in seconds ? { ari: evaluation.ari } : {}),
    ...known({ errors, vd, readback, rules }),
    seconds,
  };
}

/** What kind of candidates a path tells of: `iraven_center.npz`, `I-RAVEN/…`, `raven-fair_…`; else null. */
export function variantOf(location: string): Variant | null {
  const near = path.resolve(location).split(path.sep).slice(-2).reverse();
  const told = near.find((name) => /(^|[^a-z])i?-?raven([^a-z]|$)/i.test(name));
  if (told === undefined) return null;
  // RAVEN-F is the folder that RAVEN-FAIR's own program writes.
  if (/raven[-_](f|fair)([^a-z]|$)/i.test(told)) return 'raven-fair';
  if (/raven[-_]unique([^a-z]|$)/i.test(told)) return 'raven-unique';
  return /(^|[^a-z])i-?raven([^a-z]|$)/i.test(told) ? 'i-raven' : 'raven';
}

const interval = ({ low, high }: Measured): string =>
  `[${(100 * low).toFixed(2)}, ${(100 * high).toFixed(2)}]`;

const problemsOf = (count: number): string => counted(count, 'problem');

/** What a set is: its name, its candidates if known, and how many problems. */
const dataText = ({ data, variant, configuration, count }: MeasuredData): string =>
  [
    ...(configuration === undefined ? [] : [configuration]),
    data,
    ...(variant === null ? [] : [`${VARIANT_NAMES[variant]} candidates`]),
    problemsOf(count),
  ].join(', ');

/** The data, if no line of selection accuracy names them. */
const dataLines = ({ selection, data }: ModelEvaluation): string[] =>
  selection === null ? data.map((set) => `Data: ${dataText(set)}`) : [];

const shareText = (share: Measured): string => `${percent(share.value, 2)} ${interval(share)}`;

/** `, L2 99.10%`; nothing for a model without. */
const alsoText = (name: string, share: Measured | undefined): string =>
  share === undefined ? '' : `, ${name} ${percent(share.value, 2)}`;

/** `; after second thoughts: 99.10%`; nothing for a model without. */
const furtherText = (name: string, share: Measured | undefined, end = ''): string =>
  share === undefined ? '' : `; ${name}: ${percent(share.value, 2)}${end}`;

function selectionLines({ selection }: ModelEvaluation): string[] {
  return (selection ?? []).map(({ sa, saL2, ...set }) => {
    const l2 = saL2 === undefined ? '' : `, by plain L2 ${shareText(saL2)}`;
    return `${dataText(set)}: SA ${shareText(sa)}${l2}`;
  });
}

function gsaLines(evaluation: ModelEvaluation): string[] {
  const { gsa } = evaluation;
  if (gsa === null) return [];
  const lines = gsa.points.map(
    ({ targets, candidates, accuracy, accuracyL2, each }) =>
      `  |T| = ${targets}, ${String(candidates).padStart(2)} candidates: ${shareText(accuracy)}${alsoText('L2', accuracyL2)}${alsoText('each alone', each)}`,
  );
  return [
    `GSA, ${problemsText(evaluation, gsa.problems)}, ${counted(gsa.repeats, 'repeat')}:`,
    ...lines,
  ];
}

function errorLines(evaluation: ModelEvaluation): string[] {
  const { errors } = evaluation;
  if (errors === null) return [];
  const { problems, reconstruction, prediction, predictionAnywhere, meanPanel } = errors;
  const told = [
    ['reconstructed', reconstruction],
    ['panel 9 predicted', prediction],
    ['a panel anywhere predicted', predictionAnywhere],
    ['the mean of all panels', meanPanel],
  ] as const;
  const shown = told.flatMap(([name, error]) =>
    error === undefined ? [] : [`${error.meanSquared.value.toPrecision(3)} ${name}`],
  );
  return [`Mean squared error a pixel, ${problemsText(evaluation, problems)}: ${shown.join(', ')}`];
}

const ariLine = (
  name: string,
  table: AriTable,
  problems: string,
  unit: 'concept' | 'group' = 'concept',
): string => {
  const { average, averageInterval, averageOneToOne, best } = table;
  const range =
    averageInterval === undefined
      ? ''
      : ` [${averageInterval.low.toFixed(3)}, ${averageInterval.high.toFixed(3)}]`;
  const each = best.map(
    ({ attribute, concept, ari }) => `${attribute} ${ari.toFixed(3)} ${unit} ${concept ?? '–'}`,
  );
  return `ARI ${name}, ${problems}: ${average.toFixed(3)}${range}, one-to-one ${averageOneToOne.toFixed(3)} (${each.join(', ')})`;
};

function ariLines(evaluation: ModelEvaluation): string[] {
  const { ari, seconds } = evaluation;
  if (ari === null) {
    return 'ari' in seconds ? ['ARI: the bundle has no rule prior, or the data no rules'] : [];
  }
  const problems = problemsText(evaluation, ari.problems);
  return [
    ariLine('of rules of whole matrices', ari.matrix, problems),
    ariLine("with the authors' labels", ari.authors, problems),
    ariLine('of rules of contexts', ari.context, problems),
    ...(ari.oneReading
      ? [ariLine('of matrices read in one direction', ari.oneReading, problems)]
      : []),
    ...(ari.plain ? [ariLine('of a plain mixture', ari.plain, problems)] : []),
    ...(ari.groups ? [ariLine('of groups of concepts', ari.groups, problems, 'group')] : []),
  ];
}

function conceptLines({ vd }: ModelEvaluation): string[] {
  if (vd === null) return [];
  const groups = (vd.groups ?? []).map(
    ({ concepts, entries, determines }, g) =>
      `Group ${g + 1}, concepts ${concepts.join(' ')}: ${determines.join(', ') || 'no attribute'} (${entries} values)`,
  );
  const lines = vd.names.map(({ concept, name }, m) => {
    const row = vd.attributes.map(
      (attribute, v) => `${attribute.name} ${vd.decline[m][v].toFixed(2)}`,
    );
    return `Concept ${concept}: ${name} (variance decline ${row.join(', ')})`;
  });
  return [...lines, ...groups];
}

function readbackLines(evaluation: ModelEvaluation): string[] {
  const { readback } = evaluation;
  if (readback === null) return [];
  const { problems, seed, obeys, agrees, unreadable, reconstructedObeys } = readback;
  const further = [
    furtherText('true answers drawn from their concepts', reconstructedObeys, ' obey'),
    furtherText('painted as the mean of what is possible', readback.meanObeys),
    furtherText('after second thoughts', readback.carefulObeys),
  ];
  const anywhere = (readback.missing ?? []).map(
    (each) =>
      `  ${each.targets} missing at random positions, ${problemsOf(each.problems)}: ${shareText(each.obeys)} obey the rules${alsoText('carefully', each.carefulObeys)}${alsoText('as means', each.meanObeys)}`,
  );
  return [
    `Imagined panels read back, ${problemsText(evaluation, { fromData: 0, generated: problems, seed })}: ${shareText(obeys)} obey the rules, ${percent(agrees.value, 2)} agree with the symbolic solver, ${percent(unreadable.value, 2)} unreadable${further.join('')}`,
    ...anywhere,
  ];
}

function namedRuleLines(evaluation: ModelEvaluation): string[] {
  // Evaluations of before there were vocabularies do not have it.
  const rules = evaluation.rules as ModelEvaluation['rules'] | undefined;
  if (rules === null || rules === undefined) return [];
  const { problems, seed, right, byAttribute, calibration, several } = rules;
  const each = byAttribute.map(
    ({ attribute, right: share }) => `${attribute.name} ${percent(share, 2)}`,
  );
  const bins = calibration.map(
    ({ confidence, right: share, count }) =>
      `${percent(confidence)} sure: ${percent(share)} of ${count}`,
  );
  return [
    `Rules named, ${problemsText(evaluation, { fromData: 0, generated: problems, seed })}: ${shareText(right)} right (${each.join(', ')})`,
    `  right by confidence: ${bins.join('; ')}`,
    ...(several === null
      ? []
      : [
          `  ${problemsOf(several.problems)} with several right answers: of the likeliest ones, as many as are right but ${several.asked} at most, ${percent(several.right, 2)} are`,
        ]),
  ];
}

/** Lines for people. */
export const summaryText = (evaluation: ModelEvaluation): string =>
  [
    dataLines,
    selectionLines,
    gsaLines,
    errorLines,
    ariLines,
    conceptLines,
    readbackLines,
    namedRuleLines,
  ]
    .flatMap((lines) => lines(evaluation))
    .map((line) => `${line}\n`)
    .join('');
