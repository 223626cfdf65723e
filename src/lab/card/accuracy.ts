/**
 * Selection accuracy as cards have it: of a measurement if there is one of this very model, else the
 * figures that its export measured and wrote into the manifest.
 */
import { VARIANTS, type Variant } from '../../matrix/index.js';
import { systemOf, type BundleManifest } from '../../solver/index.js';
import type { Compared, ComparedResult, Share } from '../compare.js';
import { manifestHash } from '../conditions.js';
import { bundleFacts } from '../open-subject.js';
import { paperRows, paperShare } from '../paper.js';
import type { MeasuredModel } from '../results/index.js';

/** Accuracy of a model with concepts on one set of problems. */
export interface AccuracyRow extends ComparedResult {
  readonly saL2: Share;
}

/**
 * Whether a measurement is of this model. A bundle that was exported anew from another run leaves the
 * measurement of the one before beside it until somebody measures again.
 */
export const isMeasurementOf = (measured: MeasuredModel, manifest: BundleManifest): boolean =>
  measured.conditions.bundle === manifestHash(manifest);

/** What the manifest tells of each way of making candidates. */
const exportedRows = ({ accuracy }: BundleManifest): AccuracyRow[] =>
  VARIANTS.flatMap((variant) => {
    const [own, l2] = [accuracy?.sa[variant], accuracy?.saL2[variant]];
    if (accuracy === null || own === undefined || l2 === undefined) return [];
    const [sa, saL2] = [{ value: own }, { value: l2 }];
    return [{ data: 'fresh problems', variant, count: accuracy.problems, sa, saL2 }];
  });

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

/** A bundle as tables compare it, with the measurement that is of it. */
export function comparedBundle(
  manifest: BundleManifest,
  measured: MeasuredModel | null,
): Compared & { readonly selection: readonly AccuracyRow[] } {
  const known = measured !== null && isMeasurementOf(measured, manifest) ? measured : null;
  return { ...bundleFacts(manifest), selection: accuracyRows(manifest, known) };
}

/** The system's cell of the paper's Table 1, a fraction; null for noisy grids, which it leaves out. */
export const paperAccuracy = (
  manifest: Pick<BundleManifest, 'configuration' | 'noisy' | 'system'>,
  variant: Variant,
): number | null =>
  manifest.noisy
    ? null
    : paperShare(paperRows(systemOf(manifest)).at(0), manifest.configuration, variant);
