/**
 * How a concept mostly varies: the first principal direction of its values over many panels, and the
 * range they span. A slider moves along it.
 */
import type { ConceptMeans } from '../../solver/index.js';

export interface ConceptRange {
  readonly mean: Float64Array;
  /** Unit vector. */
  readonly direction: Float64Array;
  readonly min: number;
  readonly max: number;
}

const ITERATIONS = 60;

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};

/** Where values stand along a range. */
export function placeOn({ mean, direction }: ConceptRange, values: ArrayLike<number>): number {
  return dot(
    Float64Array.from(values, (value, i) => value - mean[i]),
    direction,
  );
}

/** The range of concept `m` (from 0) over panels. */
export function conceptRange(panels: readonly ConceptMeans[], m: number): ConceptRange {
  const rows = panels.map((panel) => panel[m]);
  const size = rows[0].length;
  const mean = new Float64Array(size);
  for (const row of rows) for (let i = 0; i < size; i++) mean[i] += row[i] / rows.length;
  const centred = rows.map((row) => Float64Array.from(row, (value, i) => value - mean[i]));
  // Power iteration from the panel furthest from the mean, which is never at a right angle to the answer.
  let direction = centred.reduce((a, b) => (dot(b, b) > dot(a, a) ? b : a)).slice();
  for (let n = 0; n < ITERATIONS; n++) {
    const next = new Float64Array(size);
    for (const row of centred) {
      const along = dot(row, direction);
      for (let i = 0; i < size; i++) next[i] += along * row[i];
    }
    const length = Math.sqrt(dot(next, next));
    if (length < 1e-12) break;
    direction = next.map((value) => value / length);
  }
  const places = centred.map((row) => dot(row, direction));
  return { mean, direction, min: Math.min(...places), max: Math.max(...places) };
}
