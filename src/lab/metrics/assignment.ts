/**
 * The best one-to-one assignment (Hungarian method, by shortest augmenting paths after Jonker and
 * Volgenant): for each row a column of its own, with the largest sum of scores.
 */

/**
 * Columns of the rows, -1 where there are more rows than columns and a row gets none.
 * @param scores [rows][columns], finite
 */
export function bestAssignment(scores: readonly (readonly number[])[]): number[] {
  const rows = scores.length;
  const columns = rows === 0 ? 0 : scores[0].length;
  // With more rows than columns, columns choose among rows.
  if (rows > columns) {
    const flipped = Array.from({ length: columns }, (_, c) => scores.map((row) => row[c]));
    const rowOf = bestAssignment(flipped);
    const columnOf = Array.from({ length: rows }, () => -1);
    rowOf.forEach((row, column) => (columnOf[row] = column));
    return columnOf;
  }
  const rowPotential = new Float64Array(rows + 1);
  const columnPotential = new Float64Array(columns + 1);
  /** Row (from 1) of each column (from 1); 0 where it is free. Column 0 holds the row being placed. */
  const taken = new Int32Array(columns + 1);
  for (let row = 1; row <= rows; row++) {
    taken[0] = row;
    const way = shortestPath(scores, taken, rowPotential, columnPotential);
    for (let column = way.end; column !== 0;) {
      const before = way.before[column];
      taken[column] = taken[before];
      column = before;
    }
  }
  const columnOf = Array.from({ length: rows }, () => -1);
  taken.forEach((row, column) => {
    if (column > 0 && row > 0) columnOf[row - 1] = column - 1;
  });
  return columnOf;
}

/** The cheapest way from the row in column 0 to a free column, costs being negative scores. */
function shortestPath(
  scores: readonly (readonly number[])[],
  taken: Int32Array,
  rowPotential: Float64Array,
  columnPotential: Float64Array,
): { readonly end: number; readonly before: Int32Array } {
  const size = taken.length;
  const least = new Float64Array(size).fill(Infinity);
  const before = new Int32Array(size);
  const visited = new Uint8Array(size);
  let column = 0;
  do {
    visited[column] = 1;
    const row = taken[column];
    let step = Infinity;
    let next = 0;
    for (let c = 1; c < size; c++) {
      if (visited[c] === 1) continue;
      const cost = -scores[row - 1][c - 1] - rowPotential[row] - columnPotential[c];
      if (cost < least[c]) {
        least[c] = cost;
        before[c] = column;
      }
      if (least[c] < step) {
        step = least[c];
        next = c;
      }
    }
    for (let c = 0; c < size; c++) {
      if (visited[c] === 1) {
        rowPotential[taken[c]] += step;
        columnPotential[c] -= step;
      } else {
        least[c] -= step;
      }
    }
    column = next;
  } while (taken[column] !== 0);
  return { end: column, before };
}
