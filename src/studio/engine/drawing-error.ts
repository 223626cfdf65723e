/**
 * How far off a model drew the panels that it saw while it was trained, in a form that people can read. Its
 * history keeps the reconstruction term of the objective: log p(x|z) of its targets, Gaussian in the pixels,
 * with sigma_x. That is thousands of nats, so it is turned back into the error of a pixel: the root of the
 * mean square, 0..1, where 1 is black in place of white.
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

/** The curve as the page has it. */
export const DRAWING_ERROR = 'drawingError';

const targets = objectWith({
  min: integer({ min: 1 }),
  max: integer({ min: 1 }),
  smallestSets: withDefault(integer({ min: 0 }), 0),
});
const facts = objectWith({ objective: objectWith({ sigmaX: number({ above: 0 }) }), targets });

/** Sigma_x and how many targets the term is of, on average; null if the bundle does not tell. */
function conditions(config: unknown): { readonly sigma: number; readonly panels: number } | null {
  if (typeof config !== 'string') return null;
  try {
    const json = parseJson(config, ArgumentError, 'config');
    const { objective, targets } = read(facts, json, ArgumentError, 'config');
    const { min, max, smallestSets } = targets;
    return { sigma: objective.sigmaX, panels: smallestSets > 0 ? min : (min + max) / 2 };
  } catch (error) {
    // Other systems have other configurations.
    if (error instanceof ArgumentError) return null;
    throw error;
  }
}

/** The curve of the error, from the history and the configuration of a training; none if either is absent. */
export function drawingErrors(history: readonly HistoryCurve[], config: unknown): HistoryCurve[] {
  const known = conditions(config);
  const curve = history.find(({ name }) => name === 'reconstruction');
  if (known === null || curve === undefined) return [];
  const variance = known.sigma ** 2;
  const errorOf = (log: number): number => {
    const square = Math.log(2 * Math.PI * variance) + (2 * log) / (known.panels * PANEL_PIXELS);
    return Math.sqrt(Math.max(0, -variance * square));
  };
  return [{ name: DRAWING_ERROR, steps: curve.steps, values: curve.values.map(errorOf) }];
}
