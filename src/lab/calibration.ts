/**
 * Statistics for choosing by calibrated distance: mean and covariance of the residuals (encoded minus
 * predicted concepts of missing panels) over fresh problems. Its form and shrinkage are chosen on other
 * fresh problems, by the probability given to the true panel among panels of other problems: candidates
 * of the data sets are never looked at, they would be supervision.
 */
import { bandOf, blockWhitener, packTriangle } from '../solver/index.js';
import type {
  ConceptMeans,
  CovarianceForm,
  ResidualStatistics,
  SelectionStatistics,
  StatisticsKey,
} from '../solver/index.js';
import {
  bestTemperature,
  drawCandidates,
  inBatchDistances,
  type Targets,
} from './calibration-choice.js';
import { flat, type ConceptSubject } from './concept-subject.js';
import { encodedProblems, SLICE } from './metrics/generated-source.js';
import { missingFor, statisticsKeys } from './missing-sets.js';
import { rowAlgebra, type RowAlgebra } from './row-algebra.js';
import type { MetricOptions } from './subject.js';

export interface CalibrationOptions extends MetricOptions {
  /** Problems the statistics are from. */
  readonly problems?: number;
  /** Further problems that form and shrinkage are chosen on. */
  readonly validation?: number;
  /** Numbers of missing panels that get statistics of their own. */
  readonly targetCounts?: readonly number[];
}

export const CALIBRATION_DEFAULTS = {
  problems: 4096,
  targetCounts: [1, 2, 3],
  seed: 7_000_000_001,
};
/** Problems for validation, unless told: an eighth of the others. */
const VALIDATION_SHARE = 1 / 8;
const SHRINKAGES = [1e-3, 1e-2, 0.05, 0.2];

/** Concepts of all nine panels of problems. */
type Encoded = readonly (readonly ConceptMeans[])[];

/** What is missing in a problem, and the concepts that were predicted for it. */
interface Predicted {
  readonly missing: readonly number[];
  readonly guesses: readonly Float64Array[];
}

async function encodeProblems(
  subject: ConceptSubject,
  first: number,
  count: number,
  { seed = CALIBRATION_DEFAULTS.seed, signal }: CalibrationOptions,
  onSlice: () => void,
): Promise<Encoded> {
  const { configuration, noisy } = subject.facts;
  const encoded: (readonly ConceptMeans[])[] = [];
  const source = { configuration, noisy, seed };
  for await (const { concepts } of encodedProblems(subject, source, first, count, signal)) {
    encoded.push(...concepts);
    onSlice();
  }
  return encoded;
}

/** @param missingOf what is hidden of problem n of `encoded` */
async function predict(
  subject: ConceptSubject,
  encoded: Encoded,
  missingOf: (n: number) => readonly number[],
  signal?: AbortSignal,
): Promise<Predicted[]> {
  const predicted: Predicted[] = [];
  for (let from = 0; from < encoded.length; from += SLICE) {
    const asked = encoded
      .slice(from, from + SLICE)
      .map((panels, i) => ({ panels, missing: missingOf(from + i) }));
    const found = await subject.predict(asked, signal);
    asked.forEach(({ missing }, i) => predicted.push({ missing, guesses: found[i].map(flat) }));
  }
  return predicted;
}

const residualsOf = (encoded: Encoded, predicted: readonly Predicted[]): Float64Array[] =>
  predicted.flatMap(({ missing, guesses }, n) =>
    missing.map((position, t) =>
      flat(encoded[n][position - 1]).map((value, i) => value - guesses[t][i]),
    ),
  );

/** A covariance in a form, as blocks [band, band] along its diagonal, with part of the mean variance mixed in. */
function shaped(
  covariance: Float64Array,
  form: CovarianceForm,
  shrinkage: number,
  size: number,
  band: number,
): Float64Array[] {
  let variance = 0;
  for (let i = 0; i < size; i++) variance += covariance[i * (size + 1)] / size;
  variance = Math.max(variance, 1e-12);
  return Array.from({ length: size / band }, (_, b) => {
    const block = new Float64Array(band * band);
    for (let i = 0; i < band; i++) {
      const from = (b * band + i) * size + b * band;
      for (let j = 0; j < band; j++) {
        const kept = form === 'identity' ? 0 : (1 - shrinkage) * covariance[from + j];
        block[i * band + j] = kept;
      }
      block[i * (band + 1)] += (form === 'identity' ? 1 : shrinkage) * variance;
    }
    return block;
  });
}

/** What a form stores of its blocks. */
function stored(blocks: readonly Float64Array[], form: CovarianceForm, band: number): Float32Array {
  if (form === 'identity') return Float32Array.of(blocks[0][0]);
  if (form === 'full') return packTriangle(blocks[0], band);
  return Float32Array.from(blocks.flatMap((block) => Array.from(block)));
}

/** Forms and shrinkages to choose from. With one concept, blocks would be the full matrix. */
const choicesFor = (
  concepts: number,
): readonly { readonly form: CovarianceForm; readonly shrinkage: number }[] => [
  { form: 'identity', shrinkage: 0 },
  ...(['diagonal', ...(concepts > 1 ? ['blocks' as const] : []), 'full'] as const).flatMap((form) =>
    SHRINKAGES.map((shrinkage) => ({ form, shrinkage })),
  ),
];

/** Rows in groups, as many in each as in those given. */
function inGroups<T>(rows: readonly T[], groups: readonly (readonly unknown[])[]): T[][] {
  let at = 0;
  return groups.map(({ length }) => rows.slice(at, (at += length)));
}

function chooseStatistics(
  moments: { readonly mean: Float64Array; readonly covariance: Float64Array },
  targets: Targets,
  conceptSize: number,
  seed: number,
  algebra: RowAlgebra,
): ResidualStatistics {
  const offered = drawCandidates(targets, seed, algebra);
  const size = moments.mean.length;
  const predicted = targets.predicted.flatMap((rows) =>
    rows.map((row) => row.map((value, i) => value + moments.mean[i])),
  );
  let best: { loss: number; statistics: ResidualStatistics } | null = null;
  for (const { form, shrinkage } of choicesFor(size / conceptSize)) {
    const band = bandOf(form, size, conceptSize);
    const blocks = shaped(moments.covariance, form, shrinkage, size, band);
    const whiten = blockWhitener(blocks, band, algebra.lowerProducts);
    const white = {
      encoded: inGroups(whiten(targets.encoded.flat()), targets.encoded),
      predicted: inGroups(whiten(predicted), targets.predicted),
    };
    const { loss, temperature } = bestTemperature(inBatchDistances(white, offered));
    if (best !== null && loss >= best.loss) continue;
    best = {
      loss,
      statistics: {
        form,
        shrinkage,
        temperature,
        mean: Float32Array.from(moments.mean),
        covariance: stored(blocks, form, band),
      },
    };
  }
  if (best === null) throw new Error('calibration: no form of the covariance was tried');
  return best.statistics;
}

/** Works out the statistics of a model on fresh problems of its configuration. */
export async function calibrate(
  subject: ConceptSubject,
  options: CalibrationOptions = {},
): Promise<SelectionStatistics> {
  const { problems = CALIBRATION_DEFAULTS.problems, signal } = options;
  const { validation = Math.ceil(problems * VALIDATION_SHARE) } = options;
  const { targetCounts = CALIBRATION_DEFAULTS.targetCounts, seed = CALIBRATION_DEFAULTS.seed } =
    options;
  const { concepts, conceptSize } = subject.solver.manifest.sizes;
  const keys = statisticsKeys(targetCounts);
  const slices = Math.ceil(problems / SLICE) + Math.ceil(validation / SLICE);
  let done = 0;
  const step = (amount: number): void => options.onProgress?.(Math.min(1, (done += amount)));
  const onSlice = (): void => step(0.6 / slices);
  const encoded = await encodeProblems(subject, 0, problems, options, onSlice);
  const judged = await encodeProblems(subject, problems, validation, options, onSlice);
  const rows = judged.map((panels) => panels.map(flat));
  const algebra = rowAlgebra();
  const statistics = new Map<StatisticsKey, ResidualStatistics>();
  for (const key of keys) {
    const missingOf = (n: number): number[] => missingFor(key, seed, n);
    const predicted = await predict(subject, encoded, missingOf, signal);
    const residuals = residualsOf(encoded, predicted);
    const moments = algebra.momentsOf(residuals, concepts * conceptSize);
    const checks = await predict(subject, judged, (n) => missingOf(problems + n), signal);
    const targets: Targets = {
      positions: checks.map(({ missing }) => missing),
      encoded: rows,
      predicted: checks.map(({ guesses }) => guesses),
    };
    statistics.set(key, chooseStatistics(moments, targets, conceptSize, seed, algebra));
    step(0.4 / keys.length);
    await new Promise(setImmediate);
  }
  return statistics;
}
