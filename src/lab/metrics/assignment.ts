/**
 * The best one-to-one assignment: for each row a column of its own, with the largest sum of scores. Rows
 * are the few attributes of a configuration, so every set of rows served so far can be gone through.
 */

/** More than all scores together: serving one more row is worth more than any sum. */
const SERVED = 1e6;

/**
 * Columns of the rows, -1 if there are more rows than columns and a row gets none.
 * @param scores [rows][columns], finite; at most about sixteen rows
 */
export function bestAssignment(scores: readonly (readonly number[])[]): number[] {
  const rows = scores.length;
  const columns = scores[0]?.length ?? 0;
  // By the set of rows served so far: the best sum, and the column of each row.
  let best = new Map([[0, { sum: 0, columnOf: scores.map(() => -1) }]]);
  for (let column = 0; column < columns; column++) {
    const next = new Map(best);
    for (const [served, { sum, columnOf }] of best) {
      for (let row = 0; row < rows; row++) {
        if ((served >> row) & 1) continue;
        const more = served | (1 << row);
        const total = sum + SERVED + scores[row][column];
        if (total <= (next.get(more)?.sum ?? -Infinity)) continue;
        next.set(more, { sum: total, columnOf: columnOf.with(row, column) });
      }
    }
    best = next;
  }
  return [...best.values()].reduce((a, b) => (b.sum > a.sum ? b : a)).columnOf;
}
