/** Two values of a concept far apart: those at the ends of the direction in which it varies most. */

const ROUNDS = 60;
/** Share of the values beyond the ends, so that a stray one does not decide. */
const BEYOND = 0.03;

/** The direction of largest variance of rows, by power iteration; zeros if nothing varies. */
export function mainDirection(rows: readonly ArrayLike<number>[]): Float64Array {
  const size = rows[0].length;
  const mean = new Float64Array(size);
  for (const row of rows) for (let k = 0; k < size; k++) mean[k] += row[k] / rows.length;
  let direction = Float64Array.from({ length: size }, (_, k) => 1 + (k % 3) / 7);
  for (let round = 0; round < ROUNDS; round++) {
    const next = new Float64Array(size);
    for (const row of rows) {
      let along = 0;
      for (let k = 0; k < size; k++) along += (row[k] - mean[k]) * direction[k];
      for (let k = 0; k < size; k++) next[k] += along * (row[k] - mean[k]);
    }
    const length = Math.hypot(...next);
    if (length < 1e-12) return new Float64Array(size);
    direction = next.map((value) => value / length);
  }
  return direction;
}

/** The rows near the two ends of the main direction. */
export function extremes<Row extends ArrayLike<number>>(rows: readonly Row[]): readonly [Row, Row] {
  const direction = mainDirection(rows);
  const along = (row: Row): number => direction.reduce((sum, value, k) => sum + value * row[k], 0);
  const sorted = [...rows].sort((a, b) => along(a) - along(b));
  const cut = Math.floor(rows.length * BEYOND);
  return [sorted[cut], sorted[sorted.length - 1 - cut]];
}
