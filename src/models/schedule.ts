/** How a weight or rate changes over training, as plain data: points joined by lines or cosines. */
import { list, number, object, oneOf, pair, type Read, type Reader } from '../base/index.js';

const fields = object({
  /** What the positions count: optimisation steps, or the fraction of the run that is done. */
  unit: oneOf(['steps', 'fraction']),
  /** How the value moves between two points. */
  shape: oneOf(['linear', 'cosine']),
  /** Positions and values, none below 0, positions rising; constant before the first and after the last. */
  points: list(pair(number({ min: 0 }), number({ min: 0 })), { min: 1, max: 100 }),
});
export type Schedule = Read<typeof fields>;

export const schedule: Reader<Schedule> = (given) => {
  const read = fields(given);
  read.points.forEach(([position], i) => {
    if (i > 0 && position <= read.points[i - 1][0]) {
      given.member('points').fail(`positions must rise, ${position} does not`);
    }
  });
  return read;
};

/** The same value throughout. */
export const constant = (value: number): Schedule => ({
  unit: 'steps',
  shape: 'linear',
  points: [[0, value]],
});

/** From 0 to `value` over the first `steps` steps. */
export const risingTo = (value: number, steps: number): Schedule => ({
  unit: 'steps',
  shape: 'linear',
  points: [
    [0, 0],
    [steps, value],
  ],
});

/** Smoothly through points given as fractions of the run. */
export const between = (...points: (readonly [fraction: number, value: number])[]): Schedule => ({
  unit: 'fraction',
  shape: 'cosine',
  points: points.map(([fraction, value]) => [fraction, value]),
});

/** The value at a step (from 0) of a run of `totalSteps`. */
export function valueAt(
  { unit, shape, points }: Schedule,
  step: number,
  totalSteps: number,
): number {
  const position = unit === 'steps' ? step : step / Math.max(1, totalSteps);
  const next = points.findIndex(([at]) => at > position);
  if (next === 0) return points[0][1];
  if (next < 0) return points[points.length - 1][1];
  const [from, low] = points[next - 1];
  const [to, high] = points[next];
  const way = (position - from) / (to - from);
  const share = shape === 'linear' ? way : 0.5 - 0.5 * Math.cos(Math.PI * way);
  return low + (high - low) * share;
}
