/** A set of points as one flat array, checked once so that the learners may run plain loops. */
import { ModelError } from '../errors.js';

export interface Points {
  /** Row by row: [count, dimension]. */
  readonly values: Float64Array;
  readonly count: number;
  readonly dimension: number;
}

/** Points from any numeric array of `count * dimension` finite values. */
export function pointsOf(values: ArrayLike<number>, dimension: number): Points {
  if (!Number.isInteger(dimension) || dimension < 1) {
    throw new ModelError(`points: dimension ${dimension} is not a positive integer`);
  }
  if (values.length === 0 || values.length % dimension !== 0) {
    throw new ModelError(`points: ${values.length} values are not rows of ${dimension}`);
  }
  const copy = Float64Array.from(values);
  const wrong = copy.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) {
    throw new ModelError(
      `points: value ${copy[wrong]} of row ${Math.floor(wrong / dimension) + 1}`,
    );
  }
  return { values: copy, count: copy.length / dimension, dimension };
}
