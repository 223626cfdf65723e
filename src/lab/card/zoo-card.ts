/** `README.md` of a zoo: all of its models in one table, with the way to their cards. */
import { megabytes } from '../../base/index.js';
import { CONFIGURATIONS, PAPER_VARIANTS } from '../../matrix/index.js';
import { systemOf, type BundleManifest } from '../../solver/index.js';
import { bundleBytes, CARD_FILE } from '../../solver/node.js';
import {
  accuracyRow,
  byConfiguration,
  inOrder,
  modelTitle,
  pairCell,
  resultOf,
} from '../compare.js';
import { escaped, NOTHING, table, type Cell } from '../markdown.js';
import { whole } from '../numbers.js';
import { paperRows, paperShare } from '../paper.js';
import type { MeasuredModel } from '../results/index.js';
import { sumOf } from '../statistics.js';
import { comparedBundle, paperAccuracy } from './accuracy.js';
import { CARD_NOTE } from './model-card.js';
import { secondsOf } from './training-facts.js';

/** A bundle and what was measured on models of its name. */
export interface ZooModel {
  /** Name of its folder. */
  readonly folder: string;
  readonly manifest: BundleManifest;
  readonly measured: MeasuredModel | null;
}

type Line = ReturnType<typeof lineOf>;
const lineOf = ({ folder, manifest, measured }: ZooModel) => ({
  ...comparedBundle(manifest, measured),
  folder,
  manifest,
});

function cellsOf(line: Line): Cell[] {
  const { folder, manifest } = line;
  const { training } = manifest;
  const seconds = secondsOf(training);
  const results = PAPER_VARIANTS.map((variant) => resultOf(line, variant, () => true));
  const counts = results.flatMap((result) => result?.count ?? []);
  return [
    `[${escaped(folder)}](${encodeURIComponent(folder)}/${CARD_FILE})`,
    modelTitle(line),
    megabytes(bundleBytes(manifest)),
    pairCell(results.map((result) => result?.sa.value ?? null)),
    pairCell(results.map((result) => result?.saL2.value ?? null)),
    pairCell(PAPER_VARIANTS.map((variant) => paperAccuracy(manifest, variant))),
    counts.length === 0 ? NOTHING : whole(Math.min(...counts)),
    typeof training.steps === 'number' ? whole(training.steps) : NOTHING,
    seconds === null ? NOTHING : (seconds / 60).toFixed(1),
  ];
}

/** Means over the seven, if all of them are there. */
function averageCells(models: readonly Line[]): Cell[][] {
  const seven = [...byConfiguration(models).values()];
  if (seven.length < CONFIGURATIONS.length) return [];
  const bytes = sumOf(seven.map(({ manifest }) => bundleBytes(manifest)));
  const average = (measure: 'sa' | 'saL2'): string =>
    pairCell(accuracyRow({ models }, measure, () => true)?.average ?? [null, null]);
  const [row] = paperRows(systemOf(seven[0].manifest));
  const paper = PAPER_VARIANTS.map((variant) => paperShare(row, 'average', variant));
  const shares = [average('sa'), average('saL2'), pairCell(paper)];
  return [['the seven', '', `${megabytes(bytes)} in all`, ...shares, '', '', '']];
}

const HEAD = [
  'model',
  'the paper calls it',
  'MB',
  'own distance',
  'plain L2',
  'the paper',
  'problems',
  'steps',
  'minutes',
];

/** All models of a zoo in one table, in Markdown. */
export function renderZooCard(models: readonly ZooModel[]): string {
  const lines = inOrder(models.map(lineOf));
  const parts = [
    CARD_NOTE,
    '# Trained models',
    'Each folder is a bundle: networks as ONNX, the statistics it chooses by, its rules and the curves of its training, with a manifest that holds the SHA-256 of every file. `crab solve` and `crab evaluate` take them by name, `crab studio` loads them, `Solver.load` opens them in Node and in a browser. The card of each model tells how it was made and what it is weak at.',
    'Accuracy is the percentage of problems solved with RAVEN / I-RAVEN candidates, on as many problems of each as given: by the calibrated distance a model brings along, and by plain L2 on concepts as in the paper.',
    table(HEAD, [...lines.map(cellsOf), ...averageCells(lines)], 2),
  ];
  return `${parts.join('\n\n')}\n`;
}
