/** Fresh problems of our generator as data to measure on: both variants of the same matrices. */
import { VARIANTS } from '../matrix/index.js';
import type { BundleManifest } from '../solver/index.js';
import type { EvaluationData } from './evaluate.js';
import { generatedSource } from './metrics/generated-source.js';

/** No model was trained on problems of this seed. */
export const FRESH_SEED = 7_700_000_017;

/** Problems of each variant unless told: where one model is measured, and where all of a zoo are. */
export const FRESH_COUNTS = { model: 2000, zoo: 5000 } as const;

export const freshData = (
  { configuration, noisy }: Pick<BundleManifest, 'configuration' | 'noisy'>,
  count: number,
): EvaluationData[] =>
  VARIANTS.map((variant) => ({
    source: generatedSource({ configuration, noisy, variant, seed: FRESH_SEED }, count),
    name: `fresh problems of our generator, seed ${FRESH_SEED}`,
    variant,
    seed: FRESH_SEED,
  }));
