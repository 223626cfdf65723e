/**
 * Curves of a training in units that people can read. Its history keeps the terms of the objective, sums over
 * pixels or concepts in nats; each is turned into what one panel shows:
 * - how far off it draws a panel that it sees. The reconstruction term is log p(x|z) of its targets, Gaussian
 *   in the pixels, with sigma_x; turned back it is the error of a pixel: the root of the mean square, 0..1,
 *   where 1 is black in place of white.
 * - how much a missing panel surprises it. R_t is the KL divergence of what it sees in the targets once they
 *   are shown, q(z_T|x_T), from what it expected, p(z_T|r, z_C): divided by ln 2 it is in bits.
 */
import {
  ArgumentError,
  integer,
  number,
  objectWith,
  parseJson,
  read,
  withDefault,
} from '../../base/index.js';
import { PANEL_PIXELS, type HistoryCurve } from '../../solver/index.js';

/** The curves as the page has them. */
export const DRAWING_ERROR = 'drawingError';
export const SURPRISE = 'surprise';

const facts = objectWith({
  objective: objectWith({ sigmaX: number({ above: 0 }) }),
  targets: objectWith({
    min: integer({ min: 1 }),
    max: integer({ min: 1 }),
    setsPerProblem: integer({ min: 1 }),
    smallestSets: withDefault(integer({ min: 0 }), 0),
  }),
});

/** What the terms are sums over. */
interface Conditions {
  readonly sigmaX: number;
  /** Panels that it drew, on average. */
  readonly drawn: number;
  /** Panels that were missing, on average over all sets of targets. */
  readonly missing: number;
}

/** Null if the bundle does not tell. */
function conditionsOf(config: unknown): Conditions | null {
  if (typeof config !== 'string') return null;
  try {
    const json = parseJson(config, ArgumentError, 'config');
    const { objective, targets } = read(facts, json, ArgumentError, 'config');
    const { min, max, setsPerProblem, smallestSets } = targets;
    const usual = (min + max) / 2;
    const smallest = Math.min(1, smallestSets / setsPerProblem);
    return {
      sigmaX: objective.sigmaX,
      // The first set is what it draws; sets of the smallest size come first.
      drawn: smallestSets > 0 ? min : usual,
      missing: smallest * min + (1 - smallest) * usual,
    };
  } catch (error) {
    // Other systems have other configurations.
    if (error instanceof ArgumentError) return null;
    throw error;
  }
}

function pixelError(log: number, { sigmaX, drawn }: Conditions): number {
  const variance = sigmaX ** 2;
  const square = Math.log(2 * Math.PI * variance) + (2 * log) / (drawn * PANEL_PIXELS);
  return Math.sqrt(Math.max(0, -variance * square));
}

/** Both curves, from the history and the configuration of a training; none of what either does not tell. */
export function readableCurves(history: readonly HistoryCurve[], config: unknown): HistoryCurve[] {
  const conditions = conditionsOf(config);
  if (conditions === null) return [];
  const turned = (
    from: string,
    name: string,
    valueOf: (value: number) => number,
  ): HistoryCurve[] => {
    const curve = history.find((each) => each.name === from);
    return curve === undefined
      ? []
      : [{ name, steps: curve.steps, values: curve.values.map(valueOf) }];
  };
  return [
    ...turned('reconstruction', DRAWING_ERROR, (log) => pixelError(log, conditions)),
    ...turned('targetRegularizer', SURPRISE, (nats) => nats / Math.LN2 / conditions.missing),
  ];
}
