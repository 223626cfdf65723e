/**
 * Selection accuracy as cards have it: of a measurement where there is one of this very model, else the
 * figures that its export measured and wrote into the manifest.
 */
import { VARIANTS, type Variant } from '../../matrix/index.js';
import type { BundleManifest } from '../../solver/index.js';
import { manifestHash } from '../conditions.js';
import type { Measured } from '../evaluation.js';
import { paperRows, paperShare } from '../report/paper.js';
import type { MeasuredModel } from '../results/index.js';

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
export const isMeasurementOf = (measured: MeasuredModel, manifest: BundleManifest): boolean =>
  measured.conditions.bundle === manifestHash(manifest);

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
  const selection = (measured?.selection ?? []).flatMap(({ saL2, ...row }) =>
    saL2 === undefined ? [] : [{ ...row, saL2 }],
  );
  return selection.length > 0 ? selection : exportedRows(manifest);
}

/** The row on most problems of a variant. */
export const largestRow = (
  rows: readonly AccuracyRow[],
  variant: Variant,
): AccuracyRow | undefined =>
  rows.filter((row) => row.variant === variant).sort((a, b) => b.count - a.count)[0];

/** CRAB's cell of the paper's Table 1, a fraction; null for noisy grids, which it leaves out. */
export const paperAccuracy = (
  { configuration, noisy }: Pick<BundleManifest, 'configuration' | 'noisy'>,
  variant: Variant,
): number | null => (noisy ? null : paperShare(paperRows('crab').at(0), configuration, variant));
