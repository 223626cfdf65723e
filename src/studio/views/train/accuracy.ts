/** How often a model chose right while it was trained: a share for each set of candidates, at some checks. */
import { percent } from '../../../base/index.js';
import type { ModelInfo } from '../../engine/protocol.js';

/** What the sets of candidates are called that choices are counted on. */
export const variantWords = (variant: string): string => variant.toUpperCase();

/** Accuracy by variant, a point for each check. */
export interface AccuracyPoint {
  readonly step: number;
  readonly variant: string;
  readonly value: number;
}

/** Curves of the bundle that are accuracies: `sa raven`, `sa i-raven`. */
const ACCURACY = /^sa (.+)$/;

export function recordedAccuracy({ history }: Pick<ModelInfo, 'history'>): AccuracyPoint[] {
  return history.flatMap(({ name, steps, values }) => {
    const variant = ACCURACY.exec(name)?.[1];
    if (variant === undefined) return [];
    return steps.map((step, i) => ({ step, variant: variantWords(variant), value: values[i] }));
  });
}

interface AccuracyAt {
  readonly variant: string;
  readonly value: number;
  /** Whether it was checked at this very step; else the value lies between those of the checks around it. */
  readonly isChecked: boolean;
}

/** What a line through the checks tells of a step: nothing before the first one. */
export function accuracyAt(points: readonly AccuracyPoint[], step: number): AccuracyAt[] {
  const variants = [...new Set(points.map(({ variant }) => variant))];
  return variants.flatMap((variant) => {
    const own = points.filter((point) => point.variant === variant);
    const before = own.filter((point) => point.step <= step).at(-1);
    if (before === undefined) return [];
    const after = own.find((point) => point.step >= step) ?? before;
    const way = after === before ? 0 : (step - before.step) / (after.step - before.step);
    const value = before.value + way * (after.value - before.value);
    return [{ variant, value, isChecked: before.step === step }];
  });
}

/** An accuracy in words: whole percent if it lies between checks, and never all of them if some were wrong. */
export function accuracyWords({ variant, value, isChecked }: AccuracyAt): string {
  const whole = value < 1 ? Math.min(99, Math.round(100 * value)) : 100;
  return `${isChecked ? percent(value) : `${whole}%`} of ${variant}`;
}
