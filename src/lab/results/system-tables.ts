/** Tables that compare all systems, in Markdown, from measured trainings. What is not measured is a dash. */
import { CONFIGURATIONS, PAPER_VARIANTS, paperName, VARIANT_NAMES } from '../../matrix/index.js';
import { SYSTEMS, type System } from '../../models/index.js';
import { isGiven, pairCell, type AccuracyRow, type Pair } from '../compare.js';
import { NOTHING, percentage, table, tableOf, type Cell, type Column } from '../markdown.js';
import { GSA_CANDIDATES, GSA_TARGETS } from '../metrics/gsa-judge.js';
import { whole } from '../numbers.js';
import {
  paperRows,
  paperShare,
  paperSystemName,
  plainCell,
  REPOSITORY_AVERAGES,
} from '../paper.js';
import {
  anywhereGroups,
  BLIND,
  endlessTrainings,
  inConfiguration,
  meanOverTrainings,
  ON_I_RAVEN,
  presetTitle,
  printedRow,
  publishedPreset,
  publishedTrainings,
  shownGroups,
  trainingGroups,
  trainingGsa,
  trainingRow,
  trainingShare,
  trainingsOf,
  type TrainingGroup,
  type Trainings,
} from './systems.js';
import type { MeasuredTraining } from './training.js';

export const NO_TRAININGS = 'Not trained yet.';

const measuredTable = (
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  textColumns = 1,
): string => (rows.length === 0 ? NO_TRAININGS : table(head, rows, textColumns));

/** A row for each group of trainings; the first two columns are text. */
const groupsTable = (
  groups: readonly TrainingGroup[],
  columns: readonly Column<TrainingGroup>[],
): string => (groups.length === 0 ? NO_TRAININGS : tableOf(groups, columns, 2));

const pairOrNothing = (pair: Pair): string =>
  pair.every((share) => share === null) ? NOTHING : pairCell(pair);

const share = (value: number | null): string => (value === null ? NOTHING : percentage(value));

/** The paper's pair of a system, by its first row: its configurations in order, or the average. */
const paperPair = (system: string, of: (typeof CONFIGURATIONS)[number] | 'average'): Pair => {
  const row = paperRows(system).at(0);
  return PAPER_VARIANTS.map((variant) => paperShare(row, of, variant));
};

/** Ours less the paper's in points: `+1.2 / -3.4`. */
function differenceCell(ours: Pair, paper: Pair): string {
  const points = ours.map((value, v) => {
    const printed = paper[v];
    if (value === null || printed === null) return NOTHING;
    const gap = (100 * (value - printed)).toFixed(1);
    return Number(gap) > 0 ? `+${gap}` : gap.replace('-0.0', '0.0');
  });
  return points.every((each) => each === NOTHING) ? NOTHING : points.join(' / ');
}

/** `1,200`, or `1,200 to 3,400` if trainings differ. */
function spread(
  trainings: Trainings,
  valueOf: (training: MeasuredTraining) => number,
  format = whole,
): string {
  const values = trainings.map(valueOf);
  if (values.length === 0) return NOTHING;
  const [low, high] = [format(Math.min(...values)), format(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
}

/** Steps of trainings, and how many of these were stopped before their end. */
function stepsCell(trainings: Trainings): string {
  const cut = trainings.filter(({ planned }) => planned !== undefined).length;
  const steps = spread(trainings, (each) => each.steps);
  return cut === 0 ? steps : `${steps} (${cut} cut short)`;
}

const minutes = (seconds: number): string => (seconds / 60).toFixed(1);
/** Parameters in millions. */
const millions = (count: number): string => (count / 1e6).toFixed(count < 1e6 ? 2 : 1);

const NO_AVERAGE: Pair = [null, null];

/** Averages over the seven configurations, the paper's beside ours. */
function averagesTable(trainings: Trainings): string {
  const rows = SYSTEMS.map(({ name }) => {
    const published = publishedTrainings(trainings, name);
    const endless = endlessTrainings(trainings, name);
    const ours = printedRow(published)?.average ?? NO_AVERAGE;
    return { name, published, endless, ours, paper: paperPair(name, 'average') };
  });
  return tableOf(rows, [
    ['percent, RAVEN / I-RAVEN', ({ name }) => paperSystemName(name)],
    ['the paper', ({ paper }) => pairOrNothing(paper)],
    ['ours, as published', ({ ours }) => pairOrNothing(ours)],
    ['difference', ({ ours, paper }) => differenceCell(ours, paper)],
    [
      'ours, endless problems',
      ({ endless }) => pairOrNothing(printedRow(endless)?.average ?? NO_AVERAGE),
    ],
    [
      'million parameters',
      ({ published, endless }) =>
        spread(published.length > 0 ? published : endless, (each) => each.parameters, millions),
    ],
    ['steps', ({ published }) => stepsCell(published)],
    ['minutes', ({ published }) => spread(published, ({ seconds }) => seconds, minutes)],
  ]);
}

const rowCells = ({ average, cells }: AccuracyRow): string[] =>
  [average, ...cells].map(pairOrNothing);

/** A system's rows of Table 1: the paper's, and ours; as published even if there is no training. */
function systemRows(trainings: Trainings, system: System): Cell[][] {
  const title = paperSystemName(system.name);
  const paper = paperRows(system.name).map(({ aux, cells }) => [
    title,
    aux === '-' ? 'the paper' : `the paper (${aux})`,
    ...cells.map(plainCell),
  ]);
  const ours = shownGroups(trainings, system).flatMap((group): Cell[][] => {
    const preset = presetTitle(group);
    const [l2, sa] = (['saL2', 'sa'] as const).map((way) => trainingRow(group.trainings, way));
    if (l2 !== null && sa !== null) {
      return [
        [title, `${preset}, plain L2`, ...rowCells(l2)],
        [title, `${preset}, own distance`, ...rowCells(sa)],
      ];
    }
    if (sa !== null) return [[title, preset, ...rowCells(sa)]];
    const dashes = Array.from({ length: CONFIGURATIONS.length + 1 }, () => NOTHING);
    return group.preset === publishedPreset(system.name) ? [[title, preset, ...dashes]] : [];
  });
  return [...paper, ...ours];
}

const configurationHead = ['average', ...CONFIGURATIONS.map(paperName)];

const configurationsTable = (trainings: Trainings): string =>
  table(
    ['RAVEN / I-RAVEN', 'preset', ...configurationHead],
    SYSTEMS.flatMap((system) => systemRows(trainings, system)),
    2,
  );

/** On data that were given beside fresh problems, such as the published sets. */
function givenTable(trainings: Trainings): string {
  const given = trainings.filter(({ evaluation }) => evaluation.selection?.some(isGiven));
  const rows = trainingGroups(given).flatMap(({ system, preset, trainings: own }) => {
    const row = printedRow(own, isGiven);
    return row === null ? [] : [[paperSystemName(system), `\`${preset}\``, ...rowCells(row)]];
  });
  return measuredTable(['RAVEN / I-RAVEN', 'preset', ...configurationHead], rows, 2);
}

/** How long each was trained, on what. */
function trainingTable(trainings: Trainings): string {
  const each = (text: (training: MeasuredTraining) => string) => (group: TrainingGroup) =>
    [...new Set(group.trainings.map(text))].join(', ');
  return groupsTable(trainingGroups(trainings), [
    ['system', ({ system }) => paperSystemName(system)],
    ['preset', presetTitle],
    ['trainings', ({ trainings: own }) => own.length],
    ['problems', each(({ problems }) => (problems === null ? 'endless' : whole(problems)))],
    ['steps', ({ trainings: own }) => stepsCell(own)],
    ['weights of step', ({ trainings: own }) => spread(own, ({ bestStep }) => bestStep)],
    ['minutes', ({ trainings: own }) => spread(own, ({ seconds }) => seconds, minutes)],
    ['trainings beside it', ({ trainings: own }) => spread(own, ({ beside }) => beside)],
    ['on', each(({ device }) => device)],
  ]);
}

/** Joint trainings beside the averages that the released repositories print. */
function jointTable(trainings: Trainings): string {
  const rows = SYSTEMS.filter(({ presets }) => presets.includes('joint')).flatMap(({ name }) =>
    PAPER_VARIANTS.flatMap((variant): Cell[][] => {
      const own = trainingsOf(trainings, name, 'joint', variant === 'raven' ? null : ON_I_RAVEN);
      const printed = (REPOSITORY_AVERAGES as Partial<typeof REPOSITORY_AVERAGES>)[name]?.[variant];
      const row = printedRow(own);
      if (row === null && (printed ?? null) === null) return [];
      return [
        [
          paperSystemName(name),
          VARIANT_NAMES[variant],
          printed?.toFixed(1) ?? NOTHING,
          ...(row === null ? configurationHead.map(() => NOTHING) : rowCells(row)),
        ],
      ];
    }),
  );
  return table(['RAVEN / I-RAVEN', 'trained on', 'the repository', ...configurationHead], rows, 2);
}

/** Blind trainings beside those that see the context. */
function blindTable(trainings: Trainings): string {
  const pair = (training: MeasuredTraining | undefined): Pair =>
    PAPER_VARIANTS.map((variant) => training && trainingShare(training, variant)).map(
      (found) => found ?? null,
    );
  const rows = trainingGroups(trainings)
    .filter(({ tag }) => tag === BLIND)
    .flatMap(({ system, preset, trainings: blind }) => {
      const sighted = trainingsOf(trainings, system, preset);
      return CONFIGURATIONS.flatMap((configuration) => {
        const own = inConfiguration(blind, configuration);
        if (own === undefined) return [];
        const other = inConfiguration(sighted, configuration);
        return [
          [
            paperSystemName(system),
            paperName(configuration),
            pairOrNothing(pair(other)),
            pairOrNothing(pair(own)),
          ],
        ];
      });
    });
  return measuredTable(['RAVEN / I-RAVEN', '', 'sees the context', 'blind'], rows, 2);
}

/** A table of the systems that answer anywhere: means over the configurations that were trained. */
const anywhereTable = (
  trainings: Trainings,
  title: string,
  columns: readonly Column<Trainings>[],
): string =>
  groupsTable(anywhereGroups(trainings), [
    [title, ({ system }) => paperSystemName(system)],
    ['preset', presetTitle],
    ['configurations', ({ trainings: own }) => own.length],
    ...columns.map(([head, cell]): Column<TrainingGroup> => [
      head,
      ({ trainings: own }) => cell(own),
    ]),
  ]);

const GSA_POINTS = GSA_TARGETS.flatMap((targets) =>
  GSA_CANDIDATES.map((candidates) => ({ targets, candidates })),
);

const gsaTable = (trainings: Trainings): string =>
  anywhereTable(
    trainings,
    'missing of candidates',
    GSA_POINTS.map((point) => [
      `${point.targets} of ${point.candidates}`,
      (own) => share(meanOverTrainings(own, (each) => trainingGsa(each, point))),
    ]),
  );

type ErrorKind = 'reconstruction' | 'predictionAnywhere';

/** An error beside that of the mean panel; null if one of them was not measured. */
const errorShare = (
  { evaluation: { errors } }: MeasuredTraining,
  kind: ErrorKind,
): number | null => {
  const [own, mean] = [errors?.[kind]?.meanSquared.value, errors?.meanPanel?.meanSquared.value];
  return own === undefined || mean === undefined ? null : own / mean;
};

/** Signs that a system learned, in its worst configuration. */
function learnedTable(trainings: Trainings): string {
  const worst = (
    own: Trainings,
    value: (training: MeasuredTraining) => number | null,
    pick: (...values: number[]) => number,
  ): number | null => {
    const known = own.map(value).filter((each) => each !== null);
    return known.length === 0 || known.length < own.length ? null : pick(...known);
  };
  const times = (value: number | null): string => value?.toFixed(3) ?? NOTHING;
  const error = (kind: ErrorKind) => (own: Trainings) =>
    times(worst(own, (each) => errorShare(each, kind), Math.max));
  const gsa = (training: MeasuredTraining) => trainingGsa(training, { targets: 1, candidates: 8 });
  return anywhereTable(trainings, 'in the worst configuration', [
    ["reconstruction error / the mean panel's", error('reconstruction')],
    ["predicted panel anywhere / the mean panel's", error('predictionAnywhere')],
    ['GSA, 1 of 8', (own) => share(worst(own, gsa, Math.min))],
  ]);
}

/** Imagined panels read back against the rules: means over configurations. */
function readbackTable(trainings: Trainings): string {
  type Readback = NonNullable<MeasuredTraining['evaluation']['readback']>;
  const mean =
    (value: (found: Readback) => number | undefined) =>
    (own: Trainings): string =>
      share(meanOverTrainings(own, ({ evaluation: { readback } }) => readback && value(readback)));
  const anywhere = (targets: number) =>
    mean(({ missing }) => missing?.find((each) => each.targets === targets)?.obeys.value);
  return anywhereTable(trainings, 'percent of imagined panels that obey the rules', [
    ['panel 9', mean(({ obeys }) => obeys.value)],
    ['one anywhere', anywhere(1)],
    ['2 anywhere', anywhere(2)],
    ['3 anywhere', anywhere(3)],
    ['unreadable', mean(({ unreadable }) => unreadable.value)],
    ['true answers, reconstructed', mean(({ reconstructedObeys }) => reconstructedObeys?.value)],
  ]);
}

/** Sections by name, which are written even if nothing is trained: rows of the paper stay. */
export const SYSTEM_SECTIONS: Readonly<Record<string, (trainings: Trainings) => string>> = {
  systems: averagesTable,
  'systems-configurations': configurationsTable,
  'systems-given': givenTable,
  'systems-training': trainingTable,
  'systems-joint': jointTable,
  'systems-blind': blindTable,
  'systems-gsa': gsaTable,
  'systems-learned': learnedTable,
  'systems-readback': readbackTable,
};
