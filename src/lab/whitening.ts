/**
 * Concepts in coordinates in which a calibrated distance is plain Euclidean: y = L^-1 x for C = L L'.
 * One pass over the panels then serves any number of candidates.
 */
import { choleskyInverse } from '../base/index.js';
import type { CovarianceForm } from '../solver/index.js';
import type { Targets } from './calibration-choice.js';

/** [problem][panel or target] vectors. */
export interface Whitened {
  readonly encoded: readonly (readonly Float64Array[])[];
  readonly predicted: readonly (readonly Float64Array[])[];
}

/** How wide the band of values is that a form lets depend on each other. */
export const bandOf = (form: CovarianceForm, size: number, conceptSize: number): number =>
  form === 'full' ? size : form === 'blocks' ? conceptSize : 1;

/** Whitens rows by blocks [band, band] along the diagonal of a covariance. */
export function blockWhitener(
  blocks: readonly Float64Array[],
  band: number,
): (row: Float64Array) => Float64Array {
  const factors = blocks.map((block) => choleskyInverse(block, band));
  return (row) => {
    const out = new Float64Array(blocks.length * band);
    factors.forEach((factor, b) => {
      const first = b * band;
      for (let i = 0; i < band; i++) {
        let sum = 0;
        for (let j = 0, at = i * band; j <= i; j++, at++) sum += factor[at] * row[first + j];
        out[first + i] = sum;
      }
    });
    return out;
  };
}

/** Whitens encoded concepts, and predicted ones shifted by the mean residual. */
export function whitened(
  covariance: Float64Array,
  form: CovarianceForm,
  mean: Float64Array,
  { encoded, predicted }: Targets,
  conceptSize: number,
): Whitened {
  const size = mean.length;
  const band = bandOf(form, size, conceptSize);
  const blocks = Array.from({ length: size / band }, (_, b) => {
    const block = new Float64Array(band * band);
    for (let i = 0; i < band; i++) {
      const from = (b * band + i) * size + b * band;
      block.set(covariance.subarray(from, from + band), i * band);
    }
    return block;
  });
  const apply = blockWhitener(blocks, band);
  const shifted = (x: Float64Array): Float64Array => x.map((value, i) => value + mean[i]);
  return {
    encoded: encoded.map((panels) => panels.map(apply)),
    predicted: predicted.map((targets) => targets.map((target) => apply(shifted(target)))),
  };
}
