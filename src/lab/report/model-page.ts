/** The page of one model: what was measured on it, in the order a reader asks. */
import { percent } from '../../base/index.js';
import type { Variant } from '../../matrix/index.js';
import { VARIANT_NAMES } from '../../matrix/index.js';
import { modelTitle } from '../compare.js';
import { gsaPointAt } from '../evaluation.js';
import { whole } from '../numbers.js';
import { problemsText } from '../problems-text.js';
import type { AriTable, Measured, ModelEvaluation, PixelError } from '../evaluation.js';
import {
  columns,
  figureMarkup,
  headlines,
  markup,
  percentInterval,
  smallInterval,
  table,
  type Content,
  type Headline,
  type Markup,
  type ReportFigure,
  type Section,
} from './markup.js';
import { MODEL_MARK } from './marks.js';
import type { ModelFigures } from './model-figures.js';
import { pageText } from './page.js';
import { conceptNames } from './rule-data.js';

const figures = (list: readonly ReportFigure[]): Markup[] => list.map(figureMarkup);

const variantTitle = (variant: Variant | null): string =>
  variant === null ? 'unknown' : VARIANT_NAMES[variant];

function headlinesOf(evaluation: ModelEvaluation): Markup {
  const { selection, gsa, ari, readback } = evaluation;
  const list: Headline[] = [];
  for (const { variant, sa, count } of selection ?? []) {
    list.push({
      value: percent(sa.value),
      meaning: `chosen right${variant === null ? '' : `, ${variantTitle(variant)} candidates`}`,
      detail: `of ${whole(count)} problems`,
    });
  }
  const point = gsaPointAt(gsa?.points ?? [], 1, 8);
  if (point !== undefined) {
    list.push({
      value: percent(point.accuracy.value),
      meaning: 'chosen right at any position',
      detail: 'one missing, eight candidates',
    });
  }
  if (readback !== null) {
    list.push({
      value: percent(readback.obeys.value),
      meaning: 'imagined panels obey the rules',
      detail: `${percent(readback.unreadable.value)} cannot be read`,
    });
  }
  if (ari !== null) {
    list.push({
      value: ari.matrix.average.toFixed(2),
      meaning: 'agreement of rules (ARI)',
      detail: 'found without labels',
    });
  }
  return headlines(list);
}

function selectionSection(evaluation: ModelEvaluation, shown: ModelFigures): Section {
  const selection = evaluation.selection ?? [];
  const hasL2 = selection.some(({ saL2 }) => saL2 !== undefined);
  const rows = selection.map(({ data, variant, count, sa, saL2 }) => ({
    cells: [
      data,
      variantTitle(variant),
      whole(count),
      percentInterval(sa),
      ...(saL2 === undefined ? [] : [percentInterval(saL2)]),
    ],
  }));
  const head = columns('problems', 'candidates', '#count', '#SA', ...(hasL2 ? ['#SA by L2'] : []));
  const how =
    evaluation.sizes === null
      ? 'The model scores the candidates for the ninth panel and takes the best. Selection accuracy (SA) is the share of problems where that is the answer.'
      : "The model imagines the ninth panel from the eight others and takes the candidate nearest to it in the space of concepts. Selection accuracy (SA) is the share of problems where that is the answer; by the model's own distance, and by plain L2 as in the paper.";
  return {
    id: 'selection',
    title: 'Choosing the answer',
    content: [
      markup`<p>${how} Intervals hold 95%.</p>`,
      rows.length > 0 ? table(head, rows) : markup`<p>Not measured.</p>`,
      figures(shown.selection),
    ],
  };
}

/** Rows of a table of what a model has; what it cannot have is left out. */
const rowsOf = <T>(
  list: readonly (readonly [string, T | undefined])[],
  cells: (found: T) => readonly Content[],
) =>
  list.flatMap(([title, found]) =>
    found === undefined ? [] : [{ cells: [title, ...cells(found)] }],
  );

function errorsTable(evaluation: ModelEvaluation): Content {
  const { errors } = evaluation;
  if (errors === null) return [];
  const kinds: [string, PixelError | undefined][] = [
    ['drawn from their own concepts', errors.reconstruction],
    ['panel 9, imagined', errors.prediction],
    ['any one panel, imagined', errors.predictionAnywhere],
  ];
  return [
    markup`<h3>Error in pixels</h3><p>Mean difference between imagined and true panels, pixels from 0 (black) to 1 (paper), on ${problemsText(evaluation, errors.problems)}.</p>`,
    table(
      columns('panels', '#squared', '#absolute'),
      rowsOf(kinds, ({ meanSquared, meanAbsolute }) =>
        [meanSquared, meanAbsolute].map(smallInterval),
      ),
    ),
  ];
}

function readbackTable({ readback }: ModelEvaluation): Content {
  if (readback === null) return [];
  const shares: [string, Measured | undefined][] = [
    ['imagined: obey the rules of the problem', readback.obeys],
    ['imagined: agree with what the context alone tells', readback.agrees],
    ['imagined: like no panel of this configuration', readback.unreadable],
    ['drawn from their own concepts: obey the rules', readback.reconstructedObeys],
    ['drawn from their own concepts: cannot be read', readback.reconstructedUnreadable],
  ];
  return [
    markup`<h3>Do imagined panels obey the rules?</h3><p>Each imagined ninth panel of ${whole(readback.problems)} fresh problems (seed ${readback.seed}) is read back as attributes and checked by the symbolic solver; no candidates are involved. The same for true answers drawn from their own concepts tells the best that the decoder could show.</p>`,
    table(columns('panels', '#share'), [
      ...rowsOf(shares, (share) => [percentInterval(share)]),
      ...readback.byAttribute.map(({ attribute, share }) => ({
        cells: [`imagined and readable: ${attribute.name} right`, percent(share)],
      })),
    ]),
  ];
}

function ariTable(evaluation: ModelEvaluation): Content {
  const { ari } = evaluation;
  if (ari === null) return [];
  const names = conceptNames(evaluation);
  const concept = (index: number | null): string =>
    index === null ? 'none' : `${index} ${names[index - 1]}`;
  const best = ari.matrix.best.map((assignment, v) => {
    const single = ari.matrix.oneToOne[v];
    return {
      cells: [
        assignment.attribute,
        assignment.ari.toFixed(3),
        concept(assignment.concept),
        single.ari.toFixed(3),
        concept(single.concept),
      ],
    };
  });
  const line = (title: string, { average, averageOneToOne }: AriTable) => ({
    cells: [title, average.toFixed(3), '', averageOneToOne.toFixed(3), ''],
    marked: title === 'average',
  });
  return [
    markup`<h3>Agreement with the true rules</h3><p>For each attribute the concept whose rule categories agree best with its true rules, as in the paper, and the same where each concept may stand for one attribute only; on ${problemsText(evaluation, ari.problems)}.</p>`,
    table(columns('attribute', '#best ARI', 'concept', '#one to one', 'concept'), [
      ...best,
      line('average', ari.matrix),
      line("average, authors' labels", ari.authors),
      line('average, rules from the context alone', ari.context),
      ...(ari.oneReading ? [line('average, read in one direction', ari.oneReading)] : []),
      ...(ari.plain ? [line('average, plain mixture as in the paper', ari.plain)] : []),
      ...(ari.groups ? [line('average, groups of concepts', ari.groups)] : []),
    ]),
  ];
}

function factsOf(evaluation: ModelEvaluation): Markup {
  const { sizes, training, seconds, model, system, preset, data: sets } = evaluation;
  const described =
    sizes && `${sizes.concepts} of ${sizes.conceptSize} values; rules of ${sizes.ruleSize}`;
  const facts: [string, string][] = [
    ['model', model],
    ['system', `${system}, preset ${preset}`],
    ...sets.map(({ data, variant, count }): [string, string] => [
      'measured on',
      `${data}${variant === null ? '' : `, ${variantTitle(variant)} candidates`}, ${whole(count)} problems`,
    ]),
    ...(described === null ? [] : [['concepts', described] as [string, string]]),
    ...Object.entries(training)
      .filter(([key]) => key !== 'config' && key !== 'preset') // for programs, and told above
      .map(([key, value]): [string, string] => [
        key,
        typeof value === 'number' ? whole(value) : value,
      ]),
    ...Object.entries(seconds).map(([metric, time]): [string, string] => [
      `seconds for ${metric}`,
      time.toFixed(1),
    ]),
  ];
  return markup`<dl class="facts">${facts.map(([key, value]) => markup`<dt>${key}</dt><dd>${value}</dd>`)}</dl>`;
}

/** The sections of a model's report; those of what it cannot do are left out. */
function modelSections(evaluation: ModelEvaluation, shown: ModelFigures): Section[] {
  const { errors, readback, sizes } = evaluation;
  const draws = shown.positions.length > 0 || errors !== null || readback !== null;
  return [
    selectionSection(evaluation, shown),
    ...(draws
      ? [
          {
            id: 'positions',
            title: 'Imagining any panel',
            content: [figures(shown.positions), errorsTable(evaluation), readbackTable(evaluation)],
          },
        ]
      : []),
    ...(sizes === null
      ? []
      : [{ id: 'concepts', title: 'Concepts it formed', content: figures(shown.concepts) }]),
    ...(sizes === null || sizes.ruleSize === 0
      ? []
      : [
          {
            id: 'rules',
            title: 'Rules it abstracted',
            content: [
              shown.rules.length === 0
                ? markup`<p>The bundle holds no map of rules.</p>`
                : figures(shown.rules),
              ariTable(evaluation),
            ],
          },
        ]),
    {
      id: 'training',
      title: 'How it was trained and measured',
      content: [figures(shown.training), markup`<h3>Facts</h3>`, factsOf(evaluation)],
    },
  ];
}

/** The whole page of one model. */
export function modelPage(evaluation: ModelEvaluation, shown: ModelFigures): string {
  const { system } = evaluation;
  const lead =
    system === 'crab'
      ? 'What a model has learned about these matrices without any label: how often it finds the answer, what it imagines at any position, which concepts it formed and which rules it abstracted.'
      : 'What a model has learned about these matrices: how often it finds the answer, and what else it can do.';
  return pageText({
    title: `${system === 'crab' ? 'CRAB on ' : ''}${modelTitle(evaluation)}`,
    lead,
    top: headlinesOf(evaluation),
    sections: modelSections(evaluation, shown),
    footer: `${MODEL_MARK}; every number is measured, every figure drawn from the model.`,
  });
}
