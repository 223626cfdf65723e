/** Tables that compare all systems, in Markdown, from measured trainings. What is not measured is a dash. */
import { CONFIGURATIONS, PAPER_VARIANTS, paperName } from '../../matrix/index.js';
import { SYSTEMS, type System } from '../../models/index.js';
import { isGiven, pairCell, type AccuracyRow, type Pair } from '../compare.js';
import { VARIANT_NAMES } from '../evaluation.js';
import { NOTHING, percentage, table, type Cell } from '../markdown.js';
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
} from './systems.js';
import type { MeasuredTraining } from './training.js';

export const NO_TRAININGS = 'Not trained yet.';

type Trainings = readonly MeasuredTraining[];

const measuredTable = (
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  textColumns = 1,
): string => (rows.length === 0 ? NO_TRAININGS : table(head, rows, textColumns));

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
  const rows = SYSTEMS.map((system) => {
    const published = publishedTrainings(trainings, system.name);
    const endless = endlessTrainings(trainings, system.name);
    const paper = paperPair(system.name, 'average');
    const ours = printedRow(published)?.average ?? NO_AVERAGE;
    return [
      paperSystemName(system.name),
      pairOrNothing(paper),
      pairOrNothing(ours),
      differenceCell(ours, paper),
      pairOrNothing(printedRow(endless)?.average ?? NO_AVERAGE),
      spread(published.length > 0 ? published : endless, (each) => each.parameters, millions),
      stepsCell(published),
      spread(published, ({ seconds }) => seconds, minutes),
    ];
  });
  return table(
    [
      'percent, RAVEN / I-RAVEN',
      'the paper',
      'ours, as published',
      'difference',
      'ours, endless problems',
      'million parameters',
      'steps',
      'minutes',
    ],
    rows,
  );
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
  const rows = trainingGroups(trainings).map(({ system, preset, tag, trainings: own }) => {
    const problems = [...new Set(own.map((each) => each.problems))];
    return [
      paperSystemName(system),
      presetTitle({ preset, tag }),
      own.length,
      problems.map((each) => (each === null ? 'endless' : whole(each))).join(', '),
      stepsCell(own),
      spread(own, ({ bestStep }) => bestStep),
      spread(own, ({ seconds }) => seconds, minutes),
      spread(own, ({ beside }) => beside),
      [...new Set(own.map(({ device }) => device))].join(', '),
    ];
  });
  return measuredTable(
    [
      'system',
      'preset',
      'trainings',
      'problems',
      'steps',
      'weights of step',
      'minutes',
      'trainings beside it',
      'on',
    ],
    rows,
    2,
  );
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

/** Rows of the systems that answer anywhere: means over the configurations that were trained. */
const anywhereRows = (trainings: Trainings, cells: (own: Trainings) => readonly Cell[]): Cell[][] =>
  anywhereGroups(trainings).map((group) => [
    paperSystemName(group.system),
    presetTitle(group),
    group.trainings.length,
    ...cells(group.trainings),
  ]);

const GSA_POINTS = GSA_TARGETS.flatMap((targets) =>
  GSA_CANDIDATES.map((candidates) => ({ targets, candidates })),
);

const gsaTable = (trainings: Trainings): string =>
  measuredTable(
    [
      'missing of candidates',
      'preset',
      'configurations',
      ...GSA_POINTS.map(({ targets, candidates }) => `${targets} of ${candidates}`),
    ],
    anywhereRows(trainings, (own) =>
      GSA_POINTS.map((point) => share(meanOverTrainings(own, (each) => trainingGsa(each, point)))),
    ),
    2,
  );

/** An error beside that of the mean panel; null if one of them was not measured. */
const errorShare = (
  { evaluation: { errors } }: MeasuredTraining,
  kind: 'reconstruction' | 'prediction' | 'predictionAnywhere',
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
  return measuredTable(
    [
      'in the worst configuration',
      'preset',
      'configurations',
      "reconstruction error / the mean panel's",
      "predicted panel anywhere / the mean panel's",
      'GSA, 1 of 8',
    ],
    anywhereRows(trainings, (own) => [
      times(worst(own, (each) => errorShare(each, 'reconstruction'), Math.max)),
      times(worst(own, (each) => errorShare(each, 'predictionAnywhere'), Math.max)),
      share(worst(own, (each) => trainingGsa(each, { targets: 1, candidates: 8 }), Math.min)),
    ]),
    2,
  );
}

/** Imagined panels read back against the rules: means over configurations. */
function readbackTable(trainings: Trainings): string {
  type Readback = NonNullable<MeasuredTraining['evaluation']['readback']>;
  const columns: readonly [string, (found: Readback) => number | undefined][] = [
    ['panel 9', ({ obeys }) => obeys.value],
    ...[1, 2, 3].map((targets): [string, (found: Readback) => number | undefined] => [
      targets === 1 ? 'one anywhere' : `${targets} anywhere`,
      ({ missing }) => missing?.find((each) => each.targets === targets)?.obeys.value,
    ]),
    ['unreadable', ({ unreadable }) => unreadable.value],
    ['true answers, reconstructed', ({ reconstructedObeys }) => reconstructedObeys?.value],
  ];
  return measuredTable(
    [
      'percent of imagined panels that obey the rules',
      'preset',
      'configurations',
      ...columns.map(([name]) => name),
    ],
    anywhereRows(trainings, (own) =>
      columns.map(([, value]) =>
        share(
          meanOverTrainings(own, ({ evaluation: { readback } }) => readback && value(readback)),
        ),
      ),
    ),
    2,
  );
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
