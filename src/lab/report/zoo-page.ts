/** The page of a whole zoo: its models beside the systems of the paper. */
import {
  CONFIGURATIONS,
  HUMAN_ACCURACY,
  paperName,
  type Configuration,
  type Variant,
} from '../../matrix/index.js';
import { measuredData, VARIANT_NAMES } from '../evaluation.js';
import { meanOf, percent, whole } from '../numbers.js';
import { problemsText } from '../problems-text.js';
import type { AttributeGroup, ModelEvaluation, SelectionResult } from '../evaluation.js';
import {
  accuracyFigure,
  gsaFigure,
  type AccuracySeries,
  type GsaSeries,
} from '../figures/index.js';
import {
  figureMarkup,
  headlines,
  markup,
  table,
  type Content,
  type Headline,
  type Markup,
  type ReportFigure,
  type Section,
  type TableRow,
} from './markup.js';
import { modelTitle } from './model-page.js';
import { percentInterval } from './numbers.js';
import { pageText } from './page.js';
import { HUMAN_NOTE, PAPER_ACCURACY, PAPER_ARI, PAPER_CONFIGURATIONS } from './paper.js';
import { ZOO_MARK } from './marks.js';

/** Which of the two accuracies. */
type Distance = 'sa' | 'saL2';

const resultOf = (
  evaluation: ModelEvaluation | undefined,
  variant: Variant,
): SelectionResult | undefined =>
  evaluation?.selection?.find((result) => result.variant === variant);

/** Models of the paper's configurations: its grids have no noise. */
const byConfiguration = (
  evaluations: readonly ModelEvaluation[],
): ReadonlyMap<Configuration, ModelEvaluation> =>
  new Map(evaluations.filter(({ noisy }) => !noisy).map((each) => [each.configuration, each]));

const points = (share: number | undefined): string =>
  share === undefined ? '--' : (100 * share).toFixed(1);

/** A row of our own in the paper's Table 1; the average only where all seven are measured. */
function ownRow(
  models: ReadonlyMap<Configuration, ModelEvaluation>,
  distance: Distance,
  name: string,
): TableRow {
  const shares = (['raven', 'i-raven'] as const).map((variant) =>
    PAPER_CONFIGURATIONS.map(
      (configuration) => resultOf(models.get(configuration), variant)?.[distance].value,
    ),
  );
  const averages = shares.map((list) => {
    const known = list.filter((share) => share !== undefined);
    return known.length === list.length ? meanOf(known) : undefined;
  });
  const cells = PAPER_CONFIGURATIONS.map(
    (_, i) => `${points(shares[0][i])}/${points(shares[1][i])}`,
  );
  return {
    cells: [name, '-', `${points(averages[0])}/${points(averages[1])}`, ...cells],
    marked: true,
  };
}

/** A cell as printed, with the bold parts that stars mark. */
const printed = (cell: string): Markup =>
  markup`${cell.split('/').map((part, i) => {
    const slash = i > 0 ? '/' : '';
    const bold = /^\*(.*)\*$/.exec(part);
    return bold === null ? `${slash}${part}` : markup`${slash}<b>${bold[1]}</b>`;
  })}`;

function accuracyTable(models: ReadonlyMap<Configuration, ModelEvaluation>): Markup {
  const columns = [
    { title: 'solver' },
    { title: 'aux' },
    { title: 'Average', numeric: true },
    ...PAPER_CONFIGURATIONS.map((name) => ({ title: paperName(name), numeric: true })),
  ];
  const rows = PAPER_ACCURACY.map(({ name, aux, cells, kind }, i): TableRow => ({
    cells: [name, aux, ...cells.map(printed)],
    parted: i > 0 && PAPER_ACCURACY[i - 1].kind !== kind,
  }));
  const own = [
    { ...ownRow(models, 'saL2', 'ours, L2 as in the paper'), parted: true },
    ownRow(models, 'sa', 'ours, calibrated'),
  ];
  return table(columns, [...rows, ...own]);
}

/** Shares of one of the paper's rows, by our variant. */
function paperSeries(row: string, variant: Variant): ReadonlyMap<string, number> {
  const found = PAPER_ACCURACY.find(({ name, aux }) => name === row && aux === '-');
  return new Map(
    PAPER_CONFIGURATIONS.flatMap((configuration, i): [string, number][] => {
      const parts = found?.cells[i + 1].replaceAll('*', '').split('/') ?? [];
      const value = Number(parts.at(variant === 'i-raven' ? 1 : 0));
      return Number.isFinite(value) ? [[paperName(configuration), value / 100]] : [];
    }),
  );
}

/** People by configuration, which the paper's own row is not: see `HUMAN_NOTE`. */
const people = (): ReadonlyMap<string, number> =>
  new Map(CONFIGURATIONS.map((name) => [paperName(name), HUMAN_ACCURACY[name] / 100]));

function ownSeries(
  models: ReadonlyMap<Configuration, ModelEvaluation>,
  variant: Variant,
  distance: Distance,
  name: string,
): AccuracySeries {
  const found = [...models].flatMap(([configuration, evaluation]) => {
    const result = resultOf(evaluation, variant);
    return result === undefined ? [] : [[paperName(configuration), result[distance]] as const];
  });
  return {
    name,
    values: new Map(found.map(([configuration, { value }]) => [configuration, value])),
    intervals: new Map(found.map(([configuration, { low, high }]) => [configuration, [low, high]])),
  };
}

function accuracyFigures(models: ReadonlyMap<Configuration, ModelEvaluation>): ReportFigure[] {
  const rows = CONFIGURATIONS.map(paperName);
  return (['raven', 'i-raven'] as const).map((variant) => ({
    id: `accuracy-${variant}`,
    figure: accuracyFigure(rows, [
      ownSeries(models, variant, 'sa', 'ours, calibrated'),
      ownSeries(models, variant, 'saL2', 'ours, L2'),
      { name: "the paper's CRAB", values: paperSeries('CRAB', variant) },
      { name: 'Transformer, without labels', values: paperSeries('Transformer', variant) },
      { name: 'people', values: people() },
    ]),
    caption: `Selection accuracy on ${VARIANT_NAMES[variant]} candidates. Within a row one lane for each system. Bars through our marks: 95% intervals. Dashed: chance. Systems of the paper as it prints them; people on RAVEN's candidates, as RAVEN's authors print it.`,
  }));
}

const GROUPS = [
  ['Type', 'type'],
  ['Size', 'size'],
  ['Color', 'color'],
  ['Num/Pos', 'numPos'],
] as const satisfies readonly (readonly [Exclude<AttributeGroup, 'Rotation'>, string])[];

/** The paper's table of adjusted Rand indices with ours beside each number. */
function ariTable(models: ReadonlyMap<Configuration, ModelEvaluation>): Markup {
  const both = (paper: number | null, ours: number | null | undefined): Content =>
    markup`${paper === null ? '–' : paper.toFixed(3)} <strong>${ours === null || ours === undefined ? '–' : ours.toFixed(3)}</strong>`;
  const found = PAPER_CONFIGURATIONS.map((configuration) => models.get(configuration)?.ari?.matrix);
  const averaged = (pick: (i: number) => number | null | undefined): number | null => {
    const values = found.map((_, i) => pick(i)).filter((value) => typeof value === 'number');
    const complete = found.every((ari) => ari !== undefined);
    return complete && values.length > 0 ? meanOf(values) : null;
  };
  const rows = PAPER_ARI.map((paper, i): TableRow => {
    const ours = found.at(i);
    const isAverage = i === found.length;
    const cell = (group: (typeof GROUPS)[number][0]): number | null | undefined =>
      isAverage ? averaged((k) => found[k]?.byGroup[group]) : ours?.byGroup[group];
    const average = isAverage ? averaged((k) => found[k]?.average) : ours?.average;
    return {
      cells: [
        paper.name,
        both(paper.average, average),
        ...GROUPS.map(([group, key]) => both(paper[key], cell(group))),
      ],
      parted: isAverage,
    };
  });
  return table(
    [
      { title: 'configuration' },
      { title: 'Average', numeric: true },
      ...GROUPS.map(([group]) => ({ title: group, numeric: true })),
    ],
    rows,
  );
}

function gsaSeries(
  evaluations: readonly ModelEvaluation[],
  key: 'accuracy' | 'accuracyL2',
): GsaSeries[] {
  return evaluations.flatMap((evaluation) =>
    evaluation.gsa === null
      ? []
      : [
          {
            name: modelTitle(evaluation),
            points: evaluation.gsa.points.map((point) => ({
              targets: point.targets,
              candidates: point.candidates,
              accuracy: point[key],
            })),
          },
        ],
  );
}

function gsaSection(evaluations: readonly ModelEvaluation[]): Section[] {
  const calibrated = gsaSeries(evaluations, 'accuracy');
  if (calibrated.length === 0) return [];
  const about =
    'One curve a configuration. x: candidates offered; y: how often all missing panels together are chosen right; bars: 95% intervals; dashed: chance, where the scale reaches down to it. Curves are drawn a little apart, so that equal ones can be told.';
  return [
    {
      id: 'gsa',
      title: 'Any position, several missing',
      content: [
        markup`<p>Global selection accuracy: panels are missing at random positions, and distractors come from the same positions of other problems. The paper shows these curves without their numbers.${studiedText(evaluations, 'gsa')}</p>`,
        figureMarkup({
          id: 'gsa-calibrated',
          figure: gsaFigure(calibrated),
          caption: `By the models' own distance. ${about}`,
        }),
        figureMarkup({
          id: 'gsa-l2',
          figure: gsaFigure(gsaSeries(evaluations, 'accuracyL2')),
          caption: `By plain L2, as in the paper. ${about}`,
        }),
      ],
    },
  ];
}

function modelsTable(evaluations: readonly ModelEvaluation[]): Markup {
  const rows = evaluations.map((evaluation) => {
    const { name, readback, ari, vd } = evaluation;
    const [raven, iraven] = (['raven', 'i-raven'] as const).map((variant) =>
      resultOf(evaluation, variant),
    );
    const named = vd?.names.filter((concept) => !['mixed', 'unused'].includes(concept.name));
    return {
      cells: [
        markup`<a href="${encodeURIComponent(name)}.html">${modelTitle(evaluation)}</a>`,
        raven === undefined ? '–' : percentInterval(raven.sa),
        iraven === undefined ? '–' : percentInterval(iraven.sa),
        readback === null ? '–' : percent(readback.obeys.value),
        ari === null ? '–' : ari.matrix.average.toFixed(3),
        vd === null ? '–' : `${named?.length ?? 0} of ${vd.names.length}`,
      ],
    };
  });
  return table(
    [
      { title: 'model' },
      { title: 'RAVEN', numeric: true },
      { title: 'I-RAVEN', numeric: true },
      { title: 'obey the rules', numeric: true },
      { title: 'ARI', numeric: true },
      { title: 'concepts named', numeric: true },
    ],
    rows,
  );
}

/** Which problems the numbers are of: a row for each set, with the models measured on it. */
function dataTable(evaluations: readonly ModelEvaluation[]): Content {
  const sets = new Map<string, { readonly cells: readonly string[]; readonly models: string[] }>();
  for (const evaluation of evaluations) {
    for (const { data, variant, count } of measuredData(evaluation)) {
      const cells = [data, variant === null ? 'unknown' : VARIANT_NAMES[variant], whole(count)];
      const key = JSON.stringify(cells);
      const set = sets.get(key) ?? { cells, models: [] };
      sets.set(key, set);
      set.models.push(modelTitle(evaluation));
    }
  }
  const columns = [
    { title: 'problems' },
    { title: 'candidates' },
    { title: 'count for each model', numeric: true },
    { title: 'models' },
  ];
  const rows = [...sets.values()].map(({ cells, models }) => ({
    cells: [...cells, models.join(', ')],
  }));
  return rows.length === 0 ? [] : [markup`<h3>Data</h3>`, table(columns, rows)];
}

/** The problems of a metric that adds fresh ones; told once where all models have the same. */
function studiedText(evaluations: readonly ModelEvaluation[], metric: 'gsa' | 'ari'): string {
  const texts = evaluations.flatMap((each) => {
    const problems = each[metric]?.problems;
    return problems === undefined
      ? []
      : [[modelTitle(each), problemsText(each, problems)] as const];
  });
  const different = new Set(texts.map(([, text]) => text));
  if (different.size === 0) return '';
  if (different.size === 1) return ` Each model: ${texts[0][1]}.`;
  return ` ${texts.map(([title, text]) => `${title}: ${text}`).join('; ')}.`;
}

function headlinesOf(evaluations: readonly ModelEvaluation[]): Markup {
  const list: Headline[] = (['raven', 'i-raven'] as const).flatMap((variant) => {
    const results = evaluations
      .filter(({ noisy }) => !noisy)
      .flatMap((each) => resultOf(each, variant) ?? []);
    if (results.length === 0) return [];
    const count = results.reduce((sum, result) => sum + result.count, 0);
    return [
      {
        value: percent(meanOf(results.map(({ sa }) => sa.value))),
        meaning: `of ${VARIANT_NAMES[variant]} solved`,
        detail: `mean of ${results.length} configurations, ${whole(count)} problems`,
      },
    ];
  });
  return headlines(list);
}

/** The page; the models' own pages lie beside it. */
export function zooPage(evaluations: readonly ModelEvaluation[]): string {
  const models = byConfiguration(evaluations);
  const sections: Section[] = [
    {
      id: 'models',
      title: 'Models',
      content: [
        markup`<p>Each model has a page of its own with everything measured on it and what it imagines. RAVEN and I-RAVEN: selection accuracy on these candidates, with 95% intervals. Obey the rules: imagined panels that, read back, follow the rules of their problem. ARI: agreement of the rules found with the true ones, 1 at best. Concepts named: those that stand for one attribute.</p>`,
        modelsTable(evaluations),
        dataTable(evaluations),
        accuracyFigures(models).map(figureMarkup),
      ],
    },
    {
      id: 'table-1',
      title: "The paper's Table 1, with ours",
      content: [
        markup`<p>Accuracy in percent of choosing the ninth panel on RAVEN/I-RAVEN. Aux: what training was told beyond the matrices, D the distractors, R the rules. Peers' rows as printed. Bold: best of its group as the paper marks it.</p>`,
        accuracyTable(models),
        markup`<p>${HUMAN_NOTE}</p>`,
      ],
    },
    {
      id: 'ari',
      title: 'Rules found without labels',
      content: [
        markup`<p>Adjusted Rand index between rule categories and true rules, the best concept for each attribute: as the paper prints it, and in bold ours.${studiedText(evaluations, 'ari')}</p>`,
        ariTable(models),
      ],
    },
    ...gsaSection(evaluations),
  ];
  return pageText({
    title: 'Models of the zoo',
    lead: 'What the published models can do, measured on this machine, beside what the paper prints for CRAB and its peers.',
    top: headlinesOf(evaluations),
    sections,
    footer: `${ZOO_MARK} --zoo.`,
  });
}
