/** The page of all models of a folder: beside each other, and beside the systems of the paper. */
import { counted, percent } from '../../base/index.js';
import { NAME_MIXED, NAME_UNUSED } from '../metrics/variance-decline.js';
import {
  CONFIGURATIONS,
  HUMAN_ACCURACY,
  PAPER_VARIANTS,
  paperName,
  VARIANT_NAMES,
  type Variant,
} from '../../matrix/index.js';
import {
  accuracyRow,
  byConfiguration,
  freshOrGiven,
  groupsOf,
  modelTitle,
  pairText,
  resultOf,
  type Group,
} from '../compare.js';
import { type GsaPoint, type ModelEvaluation } from '../evaluation.js';
import { accuracyFigure, gsaFigure, type AccuracySeries } from '../figures/index.js';
import { whole } from '../numbers.js';
import { problemsText } from '../problems-text.js';
import { meanOf, sumOf } from '../statistics.js';
import {
  columns,
  figureMarkup,
  headlines,
  markup,
  percentInterval,
  table,
  type Content,
  type Markup,
  type ReportFigure,
  type Section,
  type TableRow,
} from './markup.js';
import { pageText } from './page.js';
import {
  HUMAN_NOTE,
  PAPER_ACCURACY,
  PAPER_ARI,
  paperRows,
  paperShare,
  type PaperAccuracyRow,
  type PaperAriRow,
} from '../paper.js';
import { ZOO_MARK } from './marks.js';

type Models = readonly ModelEvaluation[];
type Groups = readonly Group<ModelEvaluation>[];

const MEASURES = [
  ['saL2', 'L2 as in the paper', 'L2'],
  ['sa', 'calibrated', 'calibrated'],
] as const;

/** What a row of a group is called: those without concepts have one measure only. */
const rowName = ({ label, models }: Group, measure: string): string =>
  models.some(({ selection }) => selection?.some(({ saL2 }) => saL2 !== undefined))
    ? `${label}, ${measure}`
    : label;

/** A cell as printed, with the bold parts that stars mark. */
const printed = (cell: string): Markup =>
  markup`${cell.split('/').map((part, i) => {
    const slash = i > 0 ? '/' : '';
    const bold = /^\*(.*)\*$/.exec(part);
    return bold === null ? `${slash}${part}` : markup`${slash}<b>${bold[1]}</b>`;
  })}`;

function accuracyTable(groups: Groups): Markup {
  const rows = PAPER_ACCURACY.map(({ name, aux, cells, kind }, i): TableRow => ({
    cells: [name, aux, ...cells.map(printed)],
    parted: i > 0 && PAPER_ACCURACY[i - 1].kind !== kind,
  }));
  const own = groups.flatMap((group) =>
    MEASURES.flatMap(([measure, told]): TableRow[] => {
      const row = accuracyRow(group, measure);
      if (row === null) return [];
      const cells = [row.average, ...row.cells].map((pair) => pairText(pair, '--', '/'));
      const aux = paperRows(group.system).at(-1)?.aux ?? '-';
      return [{ cells: [rowName(group, told), aux, ...cells], marked: true }];
    }),
  );
  return table(
    columns('solver', 'aux', '#Average', ...CONFIGURATIONS.map((name) => `#${paperName(name)}`)),
    [...rows, ...own.map((row, i) => ({ ...row, parted: i === 0 }))],
  );
}

/** Shares of one of the paper's rows. */
const paperSeries = (row: PaperAccuracyRow | undefined, variant: Variant) =>
  new Map(
    CONFIGURATIONS.flatMap((configuration): [string, number][] => {
      const share = paperShare(row, configuration, variant);
      return share === null ? [] : [[paperName(configuration), share]];
    }),
  );

function ownSeries(groups: Groups, variant: Variant): AccuracySeries[] {
  return groups.flatMap((group) =>
    [...MEASURES].reverse().flatMap(([measure, , told]) => {
      const which = freshOrGiven(group.models);
      const found = [...byConfiguration(group.models)].flatMap(([configuration, model]) => {
        const share = resultOf(model, variant, which)?.[measure];
        return share === undefined ? [] : [[paperName(configuration), share] as const];
      });
      if (found.length === 0) return [];
      return [
        {
          name: rowName(group, told),
          values: new Map(found.map(([name, { value }]) => [name, value])),
          intervals: new Map(found.map(([name, { low, high }]) => [name, [low, high]])),
        },
      ];
    }),
  );
}

function accuracyFigures(groups: Groups): ReportFigure[] {
  // People by configuration, which the paper's own row is not: see `HUMAN_NOTE`.
  const people = new Map(
    CONFIGURATIONS.map((name) => [paperName(name), HUMAN_ACCURACY[name] / 100]),
  );
  return PAPER_VARIANTS.map((variant) => ({
    id: `accuracy-${variant}`,
    figure: accuracyFigure(CONFIGURATIONS.map(paperName), [
      ...ownSeries(groups, variant),
      { name: "the paper's CRAB", values: paperSeries(paperRows('crab').at(0), variant) },
      {
        name: 'Transformer, without labels',
        values: paperSeries(paperRows('transformer').at(0), variant),
      },
      { name: 'people', values: people },
    ]),
    caption: `Selection accuracy on ${VARIANT_NAMES[variant]} candidates. Within a row one lane for each system. Bars through our marks: 95% intervals. Dashed: chance. Systems of the paper as it prints them; people on RAVEN's candidates, as RAVEN's authors print it.`,
  }));
}

const ARI_COLUMNS = [
  ['average', 'Average'],
  ['type', 'Type'],
  ['size', 'Size'],
  ['color', 'Color'],
  ['numPos', 'Num/Pos'],
] as const satisfies readonly (readonly [keyof PaperAriRow, string])[];

/** The paper's table of adjusted Rand indices with those of a group beside each number. */
function ariTable({ models }: Group<ModelEvaluation>): Markup {
  const shown = (value: number | null | undefined): string => value?.toFixed(3) ?? '–';
  const own = byConfiguration(models);
  const ours = CONFIGURATIONS.map((name) => {
    const matrix = own.get(name)?.ari?.matrix;
    return ARI_COLUMNS.map(([, title]) =>
      title === 'Average' ? matrix?.average : matrix?.byGroup[title],
    );
  });
  const complete = ours.every(([average]) => average !== undefined);
  const averages = ARI_COLUMNS.map((_, c) => {
    const known = ours.map((row) => row[c]).filter((value) => typeof value === 'number');
    return complete && known.length > 0 ? meanOf(known) : null;
  });
  const rows = [...ours, averages].map((values, i) => ({
    cells: [
      PAPER_ARI[i].name,
      ...ARI_COLUMNS.map(
        ([key], c) => markup`${shown(PAPER_ARI[i][key])} <strong>${shown(values[c])}</strong>`,
      ),
    ],
    parted: i === ours.length,
  }));
  return table(columns('configuration', ...ARI_COLUMNS.map(([, title]) => `#${title}`)), rows);
}

function gsaSection(evaluations: Models): Section[] {
  const about =
    'One curve a model. x: candidates offered; y: how often all missing panels together are chosen right; bars: 95% intervals; dashed: chance, where the scale reaches down to it. Curves are drawn a little apart, so that equal ones can be told.';
  const figure = (id: string, key: 'accuracy' | 'accuracyL2', by: string): ReportFigure[] => {
    const series = evaluations.flatMap((evaluation) => {
      const points = (evaluation.gsa?.points ?? []).flatMap((point: GsaPoint) => {
        const { targets, candidates, [key]: accuracy } = point;
        return accuracy === undefined ? [] : [{ targets, candidates, accuracy }];
      });
      return points.length === 0 ? [] : [{ name: modelTitle(evaluation), points }];
    });
    return series.length === 0
      ? []
      : [{ id, figure: gsaFigure(series), caption: `${by} ${about}` }];
  };
  const figures = [
    ...figure('gsa-calibrated', 'accuracy', "By the models' own distance."),
    ...figure('gsa-l2', 'accuracyL2', 'By plain L2, as in the paper.'),
  ];
  if (figures.length === 0) return [];
  return [
    {
      id: 'gsa',
      title: 'Any position, several missing',
      content: [
        markup`<p>Global selection accuracy: panels are missing at random positions, and distractors come from the same positions of other problems. The paper shows these curves without their numbers.${studiedText(evaluations, 'gsa')}</p>`,
        figures.map(figureMarkup),
      ],
    },
  ];
}

function modelsTable(evaluations: Models): Markup {
  const rows = evaluations.map((evaluation) => {
    const { name, readback, ari, vd } = evaluation;
    const which = freshOrGiven([evaluation]);
    const named = vd?.names.filter((concept) => ![NAME_MIXED, NAME_UNUSED].includes(concept.name));
    return {
      cells: [
        markup`<a href="${encodeURIComponent(name)}.html">${modelTitle(evaluation)}</a>`,
        ...PAPER_VARIANTS.map((variant) => {
          const result = resultOf(evaluation, variant, which);
          return result === undefined ? '–' : percentInterval(result.sa);
        }),
        readback === null ? '–' : percent(readback.obeys.value),
        ari?.matrix.average.toFixed(3) ?? '–',
        vd === null ? '–' : `${named?.length ?? 0} of ${vd.names.length}`,
      ],
    };
  });
  const head = columns('model', '#RAVEN', '#I-RAVEN', '#obey the rules', '#ARI', '#concepts named');
  return table(head, rows);
}

/** Which problems the numbers are of: a row for each set, with the models measured on it. */
function dataTable(evaluations: Models): Content {
  const sets = new Map<string, { readonly cells: readonly string[]; readonly models: string[] }>();
  for (const evaluation of evaluations) {
    for (const { data, variant, count } of evaluation.data) {
      const cells = [data, variant === null ? 'unknown' : VARIANT_NAMES[variant], whole(count)];
      const key = JSON.stringify(cells);
      const set = sets.get(key) ?? { cells, models: [] };
      sets.set(key, set);
      set.models.push(modelTitle(evaluation));
    }
  }
  const rows = [...sets.values()].map(({ cells, models }) => ({
    cells: [...cells, models.join(', ')],
  }));
  const head = columns('problems', 'candidates', '#count for each model', 'models');
  return rows.length === 0 ? [] : [markup`<h3>Data</h3>`, table(head, rows)];
}

/** The problems of a metric that adds fresh ones; told once if all models have the same. */
function studiedText(evaluations: Models, metric: 'gsa' | 'ari'): string {
  const texts = evaluations.flatMap((each) => {
    const problems = each[metric]?.problems;
    return problems === undefined ? [] : [[modelTitle(each), problemsText(each, problems)]];
  });
  const different = new Set(texts.map(([, text]) => text));
  if (different.size === 0) return '';
  if (different.size === 1) return ` Each model: ${texts[0][1]}.`;
  return ` ${texts.map(([title, text]) => `${title}: ${text}`).join('; ')}.`;
}

const headlinesOf = (groups: Groups): Markup =>
  headlines(
    groups.flatMap(({ label, models }) =>
      PAPER_VARIANTS.flatMap((variant) => {
        const which = freshOrGiven(models);
        const results = models
          .filter(({ noisy }) => !noisy)
          .flatMap((each) => resultOf(each, variant, which) ?? []);
        if (results.length === 0) return [];
        const count = sumOf(results.map((result) => result.count));
        return [
          {
            value: percent(meanOf(results.map(({ sa }) => sa.value))),
            meaning: `of ${VARIANT_NAMES[variant]} solved${label === 'ours' ? '' : ` by ${label}`}`,
            detail: `mean of ${counted(results.length, 'configuration')}, ${whole(count)} problems`,
          },
        ];
      }),
    ),
  );

/** The page; the models' own pages lie beside it. */
export function zooPage(evaluations: Models): string {
  const groups = groupsOf(evaluations);
  const withRules = groups.filter(
    ({ models, system }) => system === 'crab' || models.some(({ ari }) => ari !== null),
  );
  const sections: Section[] = [
    {
      id: 'models',
      title: 'Models',
      content: [
        markup`<p>Each model has a page of its own with everything measured on it and what it imagines. RAVEN and I-RAVEN: selection accuracy on these candidates, with 95% intervals. Obey the rules: imagined panels that, read back, follow the rules of their problem. ARI: agreement of the rules found with the true ones, 1 at best. Concepts named: those that stand for one attribute.</p>`,
        modelsTable(evaluations),
        dataTable(evaluations),
        accuracyFigures(groups).map(figureMarkup),
      ],
    },
    {
      id: 'table-1',
      title: "The paper's Table 1, with ours",
      content: [
        markup`<p>Accuracy in percent of choosing the ninth panel on RAVEN/I-RAVEN. Aux: what training was told beyond the matrices, D the distractors, R the rules. Peers' rows as printed. Bold: best of its group as the paper marks it.</p>`,
        accuracyTable(groups),
        markup`<p>${HUMAN_NOTE}</p>`,
      ],
    },
    {
      id: 'ari',
      title: 'Rules found without labels',
      content: [
        markup`<p>Adjusted Rand index between rule categories and true rules, the best concept for each attribute: as the paper prints it, and in bold ours.${studiedText(evaluations, 'ari')}</p>`,
        withRules.flatMap((group) => [
          group.label === 'ours' ? [] : markup`<h3>${group.label}</h3>`,
          ariTable(group),
        ]),
      ],
    },
    ...gsaSection(evaluations),
  ];
  return pageText({
    title: 'Models of the zoo',
    lead: 'What the published models can do, measured on this machine, beside what the paper prints for CRAB and its peers.',
    top: headlinesOf(groups),
    sections,
    footer: `${ZOO_MARK} --zoo.`,
  });
}
