/** Tables of results in Markdown, from measured models; the paper's rows stand beside ours. */
import { whole } from '../numbers.js';
import { CONFIGURATIONS, paperName, VARIANT_NAMES } from '../../matrix/index.js';
import {
  accuracyRow,
  groupsOf,
  inOrder,
  isFresh,
  isGiven,
  modelTitle,
  pairCell,
  type Which,
} from '../compare.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import { gsaPointAt, METRIC_NAMES } from '../evaluation.js';
import type {
  GsaPoint,
  GsaResult,
  Measured,
  NamedGroup,
  PixelError,
  ReadbackResult,
} from '../evaluation.js';
import { NOTHING, percentage, table, tableOf, type Cell, type Column } from '../markdown.js';
import { NAME_UNUSED } from '../metrics/variance-decline.js';
import { paperAri, paperRows, plainCell } from '../paper.js';
import { meanOf } from '../statistics.js';
import type { MeasuredModel } from './measured.js';

export const NOT_MEASURED = 'Not measured yet.';

type Models = readonly MeasuredModel[];

/** A table of what was measured; a sentence if nothing was. */
const measuredTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  rows.length === 0 ? NOT_MEASURED : table(head, rows);

/** A table of a metric, with a row for each model that it was measured on. */
function metricTable<T>(
  models: Models,
  title: string,
  metric: (model: MeasuredModel) => T | null,
  columns: readonly Column<T>[],
): string {
  const rows = inOrder(models).flatMap((model) => {
    const found = metric(model);
    return found === null ? [] : [{ model, found }];
  });
  if (rows.length === 0) return NOT_MEASURED;
  return tableOf(rows, [
    [title, ({ model }) => modelTitle(model)],
    ...columns.map(([head, cell]): Column<(typeof rows)[number]> => [
      head,
      ({ found }) => cell(found),
    ]),
  ]);
}

const shown = (value: Measured | undefined): string =>
  value === undefined
    ? NOTHING
    : `${percentage(value.value)} [${percentage(value.low)}, ${percentage(value.high)}]`;

/** SA of every system beside the paper's rows; percent, RAVEN / I-RAVEN. */
function selectionTable(models: Models, which?: Which): string {
  const rows = groupsOf(models).flatMap((group) => {
    const ours = (['sa', 'saL2'] as const).flatMap((measure) => {
      const row = accuracyRow(group, measure, which);
      const name = measure === 'sa' ? 'own distance' : 'plain L2';
      const label =
        measure === 'sa' && group.system !== 'crab' ? group.label : `${group.label}, ${name}`;
      return row === null ? [] : [[label, ...[row.average, ...row.cells].map(pairCell)]];
    });
    const paper = paperRows(group.system).map(({ name, aux, cells }) => [
      group.system === 'crab' ? 'the paper' : `the paper, ${name} (${aux})`,
      ...cells.map(plainCell),
    ]);
    return ours.length === 0 ? [] : [...ours, ...paper];
  });
  return measuredTable(
    ['percent, RAVEN / I-RAVEN', 'average', ...CONFIGURATIONS.map(paperName)],
    rows,
  );
}

/** The command that measures all of this again. */
function commandText(models: Models): string {
  const { conditions, selection } = models.find(({ system }) => system === 'crab') ?? models[0];
  const fresh = selection?.find(isFresh);
  const { metrics, problems, repeats } = conditions;
  const words = [
    'crab report --zoo --docs docs',
    ...(fresh === undefined ? [] : [`--count ${fresh.count}`]),
    ...(selection?.some(isGiven) ? ['--data SETS'] : []),
    ...(metrics.length === METRIC_NAMES.length ? [] : [`--metrics ${metrics.join(',')}`]),
    ...(problems === DEFAULT_COUNTS.problems ? [] : [`--problems ${problems}`]),
    ...(repeats === DEFAULT_COUNTS.repeats ? [] : [`--repeats ${repeats}`]),
  ];
  return `Measured by \`${words.join(' ')}\`.`;
}

/** Every measured SA with its interval. */
function selectionDetailTable(models: Models): string {
  const rows = inOrder(models).flatMap((model) =>
    (model.selection ?? []).map(({ data, variant, count, sa, saL2 }) => [
      modelTitle(model),
      variant === null ? data : `${data}, ${VARIANT_NAMES[variant]}`,
      whole(count),
      shown(sa),
      shown(saL2),
    ]),
  );
  return measuredTable(['model', 'problems', 'count', 'own distance', 'plain L2'], rows);
}

function gsaTable(models: Models, value: (point: GsaPoint) => Measured | undefined): string {
  const points = models.find(({ gsa }) => gsa !== null)?.gsa?.points ?? [];
  return metricTable(
    models,
    'missing of candidates',
    ({ gsa }) => gsa,
    points.map(({ targets, candidates }) => [
      `${targets} of ${candidates}`,
      ({ points: own }: GsaResult) => {
        const point = gsaPointAt(own, targets, candidates);
        const found = point && value(point);
        return found === undefined ? NOTHING : percentage(found.value);
      },
    ]),
  );
}

const decimals = (value: number | null | undefined): string => value?.toFixed(3) ?? NOTHING;

/** ARI beside the paper's table. */
function ariTable(models: Models): string {
  const found = inOrder(models).flatMap((model) => {
    if (model.ari === null) return [];
    const { matrix, authors, context, oneReading, plain, groups } = model.ari;
    const { Type, Size, Color, 'Num/Pos': numPos } = matrix.byGroup;
    const ours = [matrix.average, Type, Size, Color, numPos, matrix.averageOneToOne];
    const others = [groups, oneReading, plain, authors, context].map(
      (each) => each?.average ?? null,
    );
    const values = [...ours, ...others, paperAri(model)?.average ?? null];
    return [{ name: modelTitle(model), values }];
  });
  const average = (at: number): number | null => {
    const known = found.map(({ values }) => values[at]).filter((value) => value !== null);
    return known.length === 0 ? null : meanOf(known);
  };
  const rows = found.map(({ name, values }) => [name, ...values.map(decimals)]);
  const last = ['average', ...(found[0]?.values ?? []).map((_, at) => decimals(average(at)))];
  const head = ['', 'average', 'Type', 'Size', 'Color', 'Num/Pos', 'one-to-one'];
  return measuredTable(
    [
      ...head,
      'groups',
      'one reading',
      'plain mixture',
      "authors' labels",
      'from contexts',
      'the paper',
    ],
    found.length < 2 ? rows : [...rows, last],
  );
}

const groupText = ({ concepts, entries, determines }: NamedGroup): string =>
  `${concepts.join(' ')}: ${determines.join(', ') || 'nothing with a name'} (${entries})`;

const readbackAnywhere = ({ readback }: MeasuredModel) =>
  readback && { ...readback, anywhere: readback.missing?.find(({ targets }) => targets === 1) };

const squared = (error: PixelError | undefined): string =>
  error?.meanSquared.value.toPrecision(2) ?? NOTHING;

/** Sections by name. */
export const SECTIONS: Readonly<Record<string, (models: Models) => string>> = {
  command: commandText,
  selection: (models) => selectionTable(models),
  /** The same on data that were given beside fresh problems. */
  'selection-given': (models) => selectionTable(models, isGiven),
  'selection-detail': selectionDetailTable,
  gsa: (models) => gsaTable(models, ({ accuracy }) => accuracy),
  'gsa-l2': (models) => gsaTable(models, ({ accuracyL2 }) => accuracyL2),
  'gsa-each': (models) => gsaTable(models, ({ each }) => each),
  ari: ariTable,
  concepts: (models) =>
    metricTable(models, 'model', ({ vd }) => vd, [
      [
        'concepts 1 to M with their largest variance decline',
        ({ names }) =>
          names
            .map(({ name, score }) => (name === NAME_UNUSED ? name : `${name} ${score.toFixed(2)}`))
            .join(', '),
      ],
      [
        'groups of concepts: what they determine (values)',
        ({ groups }) => groups?.map(groupText).join('; ') ?? NOTHING,
      ],
    ]),
  readback: (models) =>
    metricTable(models, 'percent of imagined panels that obey the rules', readbackAnywhere, [
      ['panel 9', ({ obeys }) => shown(obeys)],
      ['painted carefully', ({ carefulObeys }) => shown(carefulObeys)],
      ['painted as the mean', ({ meanObeys }) => shown(meanObeys)],
      ['a panel anywhere', ({ anywhere }) => shown(anywhere?.obeys)],
      ['carefully', ({ anywhere }) => shown(anywhere?.carefulObeys)],
      ['as the mean', ({ anywhere }) => shown(anywhere?.meanObeys)],
      ['unreadable', ({ unreadable }) => shown(unreadable)],
      ['true answers, reconstructed', ({ reconstructedObeys }) => shown(reconstructedObeys)],
    ]),
  missing: (models) =>
    metricTable(
      models,
      'missing anywhere',
      ({ readback }) => readback?.missing ?? null,
      [2, 3, 4, 5, 6, 7, 8].map((targets) => [
        String(targets),
        (missing: NonNullable<ReadbackResult['missing']>) => {
          const found = missing.find((each) => each.targets === targets);
          return [found?.obeys, found?.meanObeys]
            .flatMap((share) => (share === undefined ? [] : [percentage(share.value)]))
            .join(' / ');
        },
      ]),
    ),
  rules: (models) =>
    metricTable(
      models,
      'percent of namings',
      // Measurements from before there were vocabularies do not have it.
      ({ rules }) => (rules as MeasuredModel['rules'] | undefined) ?? null,
      [
        ['right', ({ right }) => shown(right)],
        [
          'by attribute',
          ({ byAttribute }) =>
            byAttribute
              .map(({ attribute, right }) => `${attribute.name} ${percentage(right)}`)
              .join(', '),
        ],
        [
          'several right answers: right of those offered',
          ({ several }) => (several === null ? NOTHING : percentage(several.right)),
        ],
      ],
    ),
  errors: (models) =>
    metricTable(models, 'mean squared error', ({ errors }) => errors, [
      ['reconstruction', ({ reconstruction }) => squared(reconstruction)],
      ['panel 9', ({ prediction }) => squared(prediction)],
      ['a panel anywhere', ({ predictionAnywhere }) => squared(predictionAnywhere)],
    ]),
};
