/**
 * Selection accuracy as cards have it: of a measurement where there is one of this very model, else the
 * figures that its export measured and wrote into the manifest.
 */
import { VARIANTS, type Configuration, type Variant } from '../../matrix/index.js';
import type { BundleManifest } from '../../solver/index.js';
import { manifestHash } from '../conditions.js';
import type { Measured } from '../evaluation.js';
import { PAPER_ACCURACY, PAPER_CONFIGURATIONS } from '../report/paper.js';
import type { MeasuredModel } from '../results/index.js';
import { shortenedTraining } from './training-facts.js';

export interface AccuracyRow {
  /** Where the problems are from. */
  readonly data: string;
  /** How the wrong candidates were made, where that is known. */
  readonly variant: Variant | null;
  readonly count: number;
  /** Fractions, by the model's own distance and by plain L2. */
  readonly sa: Share;
  readonly saL2: Share;
}

/** A share, with its interval where one was measured. */
export type Share = Pick<Measured, 'value'> & Partial<Measured>;

/**
 * Whether a measurement is of this model. A bundle that was exported anew from another run leaves the
 * measurement of the one before beside it until somebody measures again.
 */
export function isMeasurementOf(measured: MeasuredModel, manifest: BundleManifest): boolean {
  const told = measured.conditions?.bundle;
  if (typeof told === 'string') return told === manifestHash(manifest);
  // Measurements from before bundles were told by their hash.
  const { name, sizes, training } = manifest;
  const shape = ({ concepts, conceptSize, ruleSize }: typeof sizes): string =>
    [concepts, conceptSize, ruleSize].join();
  return (
    measured.name === name &&
    shape(measured.sizes) === shape(sizes) &&
    shortenedTraining(measured.training) === shortenedTraining(training)
  );
}

function exportedRows({ accuracy }: BundleManifest): AccuracyRow[] {
  if (accuracy === null) return [];
  const { sa, saL2, problems } = accuracy;
  return VARIANTS.flatMap((variant) =>
    variant in sa && variant in saL2
      ? [
          {
            data: 'fresh problems',
            variant,
            count: problems,
            sa: { value: sa[variant] },
            saL2: { value: saL2[variant] },
          },
        ]
      : [],
  );
}

/** What is known of a model's accuracy, one row for each set of problems. */
export function accuracyRows(
  manifest: BundleManifest,
  measured: MeasuredModel | null,
): readonly AccuracyRow[] {
  const selection = measured?.selection ?? [];
  return selection.length > 0 ? selection : exportedRows(manifest);
}

/** The row on most problems of a variant. */
export const largestRow = (
  rows: readonly AccuracyRow[],
  variant: Variant,
): AccuracyRow | undefined =>
  rows.filter((row) => row.variant === variant).sort((a, b) => b.count - a.count)[0];

/** CRAB's cell of the paper's Table 1, a fraction; null for noisy grids, which it leaves out. */
export function paperAccuracy(
  { configuration, noisy }: { readonly configuration: Configuration; readonly noisy: boolean },
  variant: Variant,
): number | null {
  if (noisy) return null;
  const row = PAPER_ACCURACY.find(({ name }) => name === 'CRAB');
  const cell = row?.cells[1 + PAPER_CONFIGURATIONS.indexOf(configuration)];
  const printed = cell?.replaceAll('*', '').split('/')[VARIANTS.indexOf(variant)];
  return printed === undefined ? null : Number(printed) / 100;
}
