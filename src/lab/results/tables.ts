/** Tables of results in Markdown, from measured models; the paper's rows stand beside ours. */
import { ALL_LAYOUTS, layoutName, paperName, type Variant } from '../../matrix/index.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import { METRIC_NAMES, VARIANT_NAMES } from '../evaluation.js';
import type { AriTable, Measured, SelectionResult } from '../evaluation.js';
import { NOTHING, percent, table, type Cell } from '../markdown.js';
import { meanOf } from '../numbers.js';
import { PAPER_ACCURACY, PAPER_ARI, PAPER_CONFIGURATIONS } from '../report/paper.js';
import type { MeasuredModel } from './measured.js';

export const NOT_MEASURED = 'Not measured yet.';

/** A table of what was measured; words where that is nothing. */
const measuredTable = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  rows.length === 0 ? NOT_MEASURED : table(head, rows);

const withInterval = ({ value, low, high }: Measured): string =>
  `${percent(value)} [${percent(low)}, ${percent(high)}]`;

/** Display name of a bundle, e.g. `2x2Grid` or `2x2Grid, noisy`. */
const nameOf = ({ configuration, noisy }: MeasuredModel): string =>
  noisy ? `${paperName(configuration)}, noisy` : paperName(configuration);

/** Models in the order of the configurations, the noisy ones last. */
export function inOrder(models: readonly MeasuredModel[]): MeasuredModel[] {
  const names = [...ALL_LAYOUTS]
    .sort((a, b) => Number(a.noisy) - Number(b.noisy))
    .map((layout) => layoutName(layout));
  const place = (model: MeasuredModel): number => names.indexOf(layoutName(model));
  return [...models].sort((a, b) => place(a) - place(b));
}

/** Which results a table is of: those on fresh problems, or on data that were given. */
type Which = (result: SelectionResult) => boolean;

const isFresh: Which = ({ seed }) => seed !== undefined;
const isGiven: Which = (result) => !isFresh(result);

/** Fresh problems where a model was measured on some, else what it was measured on. */
const freshOrGiven = (models: readonly (MeasuredModel | undefined)[]): Which =>
  models.some((model) => model?.selection?.some(isFresh)) ? isFresh : isGiven;

/** The result on most problems of a variant. */
function largest(
  model: MeasuredModel | undefined,
  variant: Variant,
  which: Which,
): SelectionResult | undefined {
  return [...(model?.selection ?? [])]
    .filter((each) => each.variant === variant && which(each))
    .sort((a, b) => b.count - a.count)[0];
}

const noiseFree = (models: readonly MeasuredModel[]) =>
  PAPER_CONFIGURATIONS.map((configuration) =>
    models.find((model) => model.configuration === configuration && !model.noisy),
  );

function accuracyRow(
  name: string,
  models: readonly (MeasuredModel | undefined)[],
  which: Which,
  value: (result: SelectionResult) => number,
): Cell[] {
  const shares = models.map((model) =>
    (['raven', 'i-raven'] as const).map((variant) => {
      const result = largest(model, variant, which);
      return result === undefined ? null : value(result);
    }),
  );
  const shown = (share: number | null): string => (share === null ? NOTHING : percent(share));
  const average = [0, 1].map((v) => {
    const known = shares.map((pair) => pair[v]).filter((share) => share !== null);
    return known.length === models.length ? percent(meanOf(known)) : NOTHING;
  });
  return [name, average.join(' / '), ...shares.map((pair) => pair.map(shown).join(' / '))];
}

const printed = (cell: string): string => cell.replaceAll('*', '').replace('/', ' / ');

/** SA beside the paper's row of CRAB; percent, RAVEN / I-RAVEN. */
function selectionTable(
  models: readonly MeasuredModel[],
  which = freshOrGiven(noiseFree(models)),
): string {
  const columns = noiseFree(models);
  const paper = PAPER_ACCURACY.find(({ name }) => name === 'CRAB');
  return measuredTable(
    ['percent, RAVEN / I-RAVEN', 'average', ...PAPER_CONFIGURATIONS.map(paperName)],
    [
      accuracyRow('ours, own distance', columns, which, ({ sa }) => sa.value),
      accuracyRow('ours, plain L2', columns, which, ({ saL2 }) => saL2.value),
      ['the paper', ...(paper?.cells ?? []).map(printed)],
    ],
  );
}

/** The same on data that were given beside fresh problems. */
function givenTable(models: readonly MeasuredModel[]): string {
  const isMeasured = models.some(({ selection }) => selection?.some(isGiven));
  return isMeasured ? selectionTable(models, isGiven) : NOT_MEASURED;
}

/** The command that measures all of this again. */
function commandText(models: readonly MeasuredModel[]): string {
  const [first] = models;
  const { conditions, selection } = first;
  if (conditions === undefined) return 'Measured by an earlier version of `crab report --zoo`.';
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
function selectionDetailTable(models: readonly MeasuredModel[]): string {
  const rows = inOrder(models).flatMap((model) =>
    (model.selection ?? []).map(({ data, variant, count, sa, saL2 }) => [
      nameOf(model),
      variant === null ? data : `${data}, ${VARIANT_NAMES[variant]}`,
      count.toLocaleString('en-US'),
      withInterval(sa),
      withInterval(saL2),
    ]),
  );
  return measuredTable(['model', 'problems', 'count', 'own distance', 'plain L2'], rows);
}

function gsaTable(
  models: readonly MeasuredModel[],
  value: (point: NonNullable<MeasuredModel['gsa']>['points'][number]) => Measured,
): string {
  const measured = inOrder(models).filter(({ gsa }) => gsa !== null);
  const points = measured.at(0)?.gsa?.points ?? [];
  const head = points.map(({ targets, candidates }) => `${targets} of ${candidates}`);
  return measuredTable(
    ['missing of candidates', ...head],
    measured.map((model) => [
      nameOf(model),
      ...(model.gsa?.points ?? []).map((point) => percent(value(point).value)),
    ]),
  );
}

const decimals = (value: number | null | undefined): string =>
  value === null || value === undefined ? NOTHING : value.toFixed(3);

const groupsOf = ({ byGroup }: AriTable) => [
  byGroup.Type,
  byGroup.Size,
  byGroup.Color,
  byGroup['Num/Pos'],
];

/** ARI beside the paper's table. */
function ariTableText(models: readonly MeasuredModel[]): string {
  const rows = inOrder(models).flatMap((model) => {
    if (model.ari === null) return [];
    const { matrix, authors, context } = model.ari;
    const paper = model.noisy
      ? undefined
      : PAPER_ARI.find(({ name }) => name === paperName(model.configuration));
    return [
      {
        name: nameOf(model),
        values: [
          matrix.average,
          ...groupsOf(matrix),
          matrix.averageOneToOne,
          authors.average,
          context.average,
          paper?.average ?? null,
        ],
      },
    ];
  });
  const average = (at: number): number | null => {
    const known = rows.map(({ values }) => values[at]).filter((value) => value !== null);
    return known.length === 0 ? null : meanOf(known);
  };
  const head = ['average', 'Type', 'Size', 'Color', 'Num/Pos'];
  return measuredTable(
    ['', ...head, 'one-to-one', "authors' labels", 'from contexts', 'the paper'],
    [
      ...rows.map(({ name, values }) => [name, ...values.map(decimals)]),
      ...(rows.length < 2
        ? []
        : [['average', ...rows[0].values.map((_, at) => decimals(average(at)))]]),
    ],
  );
}

/** What each concept is. */
function conceptsTable(models: readonly MeasuredModel[]): string {
  const rows = inOrder(models).flatMap((model) =>
    model.vd === null
      ? []
      : [
          [
            nameOf(model),
            model.vd.names.map(({ name, score }) => `${name} ${score.toFixed(2)}`).join(', '),
          ],
        ],
  );
  return measuredTable(['model', 'concepts 1 to M with their largest variance decline'], rows);
}

/** Whether imagined panels obey the rules. */
function readbackTable(models: readonly MeasuredModel[]): string {
  const rows = inOrder(models).flatMap((model) =>
    model.readback === null
      ? []
      : [
          [
            nameOf(model),
            withInterval(model.readback.obeys),
            withInterval(model.readback.agrees),
            withInterval(model.readback.unreadable),
            withInterval(model.readback.reconstructedObeys),
          ],
        ],
  );
  const head = ['obey the rules', 'agree with the symbolic solver', 'unreadable'];
  return measuredTable(
    ['percent of imagined panels', ...head, 'true answers, reconstructed'],
    rows,
  );
}

/** Errors in pixels. */
function errorsTable(models: readonly MeasuredModel[]): string {
  const rows = inOrder(models).flatMap((model) =>
    model.errors === null
      ? []
      : [
          [
            nameOf(model),
            ...[
              model.errors.reconstruction,
              model.errors.prediction,
              model.errors.predictionAnywhere,
            ].map(({ meanSquared }) => meanSquared.value.toPrecision(2)),
          ],
        ],
  );
  return measuredTable(
    ['mean squared error', 'reconstruction', 'panel 9', 'a panel anywhere'],
    rows,
  );
}

/** Sections by name. */
export const SECTIONS: Readonly<Record<string, (models: readonly MeasuredModel[]) => string>> = {
  command: commandText,
  selection: (models) => selectionTable(models),
  'selection-given': givenTable,
  'selection-detail': selectionDetailTable,
  gsa: (models) => gsaTable(models, ({ accuracy }) => accuracy),
  'gsa-l2': (models) => gsaTable(models, ({ accuracyL2 }) => accuracyL2),
  'gsa-each': (models) => gsaTable(models, ({ each }) => each),
  ari: ariTableText,
  concepts: conceptsTable,
  readback: readbackTable,
  errors: errorsTable,
};
