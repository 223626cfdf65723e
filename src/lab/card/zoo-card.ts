/** `README.md` of a zoo: all of its models in one table, with the way to their cards. */
import {
  CONFIGURATIONS,
  paperName,
  VARIANTS,
  type Configuration,
  type Variant,
} from '../../matrix/index.js';
import type { BundleManifest } from '../../solver/index.js';
import { bundleBytes, CARD_FILE } from '../../solver/node.js';
import { escaped, megabytes, NOTHING, percent, table, type Cell } from '../markdown.js';
import { whole } from '../numbers.js';
import { meanOf, sumOf } from '../statistics.js';
import type { MeasuredModel } from '../results/index.js';
import {
  accuracyRows,
  isMeasurementOf,
  largestRow,
  paperAccuracy,
  type AccuracyRow,
} from './accuracy.js';
import { CARD_NOTE } from './model-card.js';
import { secondsOf } from './training-facts.js';

/** A bundle and what was measured on models of its name. */
export interface ZooModel {
  /** Name of its folder. */
  readonly folder: string;
  readonly manifest: BundleManifest;
  readonly measured: MeasuredModel | null;
}

/** In the order of the configurations, the noisy ones last. */
const place = ({ manifest: { configuration, noisy } }: ZooModel): number =>
  (noisy ? CONFIGURATIONS.length : 0) + CONFIGURATIONS.indexOf(configuration);

type Of = (row: AccuracyRow) => number;
const own: Of = ({ sa }) => sa.value;
const l2: Of = ({ saL2 }) => saL2.value;

interface Line {
  readonly model: ZooModel;
  readonly rows: readonly AccuracyRow[];
}

const shareOf = (rows: readonly AccuracyRow[], variant: Variant, of: Of): number | null => {
  const row = largestRow(rows, variant);
  return row === undefined ? null : of(row);
};

const pair = (shares: readonly (number | null)[]): string =>
  shares.map((share) => (share === null ? NOTHING : percent(share))).join(' / ');

/** The folder as a link has it. */
const linkOf = (folder: string): string => `${encodeURIComponent(folder)}/${CARD_FILE}`;

function lineOf({ model, rows }: Line): Cell[] {
  const { folder, manifest } = model;
  const { configuration, noisy, training } = manifest;
  const seconds = secondsOf(training);
  const counts = VARIANTS.map((variant) => largestRow(rows, variant)?.count ?? 0);
  const fewest = Math.min(...counts.filter((count) => count > 0));
  return [
    `[${escaped(folder)}](${linkOf(folder)})`,
    noisy ? `${paperName(configuration)}, noisy` : paperName(configuration),
    megabytes(bundleBytes(manifest)),
    pair(VARIANTS.map((variant) => shareOf(rows, variant, own))),
    pair(VARIANTS.map((variant) => shareOf(rows, variant, l2))),
    pair(VARIANTS.map((variant) => paperAccuracy(manifest, variant))),
    Number.isFinite(fewest) ? whole(fewest) : NOTHING,
    typeof training.steps === 'number' ? whole(training.steps) : NOTHING,
    seconds === null ? NOTHING : (seconds / 60).toFixed(1),
  ];
}

/** Means over the seven, where there is one model of each and all of it is known. */
function averageLine(lines: readonly Line[]): Cell[][] {
  const of = (configuration: Configuration): Line[] =>
    lines.filter(({ model: { manifest } }) => {
      return manifest.configuration === configuration && !manifest.noisy;
    });
  const seven = CONFIGURATIONS.map(of);
  if (seven.some((found) => found.length !== 1)) return [];
  const chosen = seven.flat();
  const average = (share: (line: Line, variant: Variant) => number | null): string =>
    pair(
      VARIANTS.map((variant) => {
        const known = chosen.map((line) => share(line, variant)).filter((each) => each !== null);
        return known.length === chosen.length ? meanOf(known) : null;
      }),
    );
  const bytes = sumOf(chosen.map(({ model }) => bundleBytes(model.manifest)));
  return [
    [
      'the seven',
      '',
      `${megabytes(bytes)} in all`,
      average(({ rows }, variant) => shareOf(rows, variant, own)),
      average(({ rows }, variant) => shareOf(rows, variant, l2)),
      average(({ model }, variant) => paperAccuracy(model.manifest, variant)),
      '',
      '',
      '',
    ],
  ];
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
  const lines = [...models]
    .sort((a, b) => place(a) - place(b))
    .map((model): Line => {
      const { manifest, measured } = model;
      const known = measured !== null && isMeasurementOf(measured, manifest) ? measured : null;
      return { model, rows: accuracyRows(manifest, known) };
    });
  const parts = [
    CARD_NOTE,
    '# Trained models',
    'Each folder is a bundle: networks as ONNX, the statistics it chooses by, its rules and the curves of its training, with a manifest that holds the SHA-256 of every file. `crab solve` and `crab evaluate` take them by name, `crab studio` loads them, `Solver.load` opens them in Node and in a browser. The card of each model tells how it was made and what it is weak at.',
    'Accuracy is the percentage of problems solved with RAVEN / I-RAVEN candidates, on as many problems of each as given: by the calibrated distance a model brings along, and by plain L2 on concepts as in the paper.',
    table(HEAD, [...lines.map(lineOf), ...averageLine(lines)], 2),
  ];
  return `${parts.join('\n\n')}\n`;
}
