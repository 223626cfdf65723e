/**
 * Which of the rectangles in a picture are the cells of a 3x3 matrix, and which are candidates beside it:
 * nine of one size in equal steps, and others of that size, or else several of one other size.
 */

/** Part of a picture; right and bottom are exclusive. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Least side of a candidate, as a share of a cell's. */
const SMALLEST_CANDIDATE = 0.4;

export const widthOf = (box: Box): number => box.right - box.left;
export const heightOf = (box: Box): number => box.bottom - box.top;

export interface Cells {
  /** Nine, row by row. */
  readonly cells: readonly Box[];
  readonly others: readonly Box[];
}

/** Whether a box is about as wide as high. */
export const nearlySquare = (box: Box): boolean =>
  Math.abs(widthOf(box) - heightOf(box)) <= 0.2 * Math.max(widthOf(box), heightOf(box));

/** More boxes of one size than these are no matrix with its candidates; looking at all would take for ever. */
const MOST_BOXES = 256;

const alike = (a: number, b: number, tolerance: number): boolean => Math.abs(a - b) <= tolerance;

/** A 3x3 grid among boxes of one size; the largest boxes that form one are the cells. */
export function gridOf(boxes: readonly Box[]): Cells | null {
  const sizes = distinct(boxes.map(widthOf), 1).reverse();
  for (const size of sizes) {
    const tolerance = Math.max(2, 0.06 * size);
    const alikes = boxes.filter(
      (box) => alike(widthOf(box), size, tolerance) && alike(heightOf(box), size, tolerance),
    );
    const isLikely = alikes.length >= 8 && alikes.length <= MOST_BOXES;
    const grid = isLikely ? gridOfSize(alikes, tolerance) : null;
    if (grid === null) continue;
    const { cells, others } = grid;
    return others.length > 0 ? grid : { cells, others: candidatesBeside(boxes, cells, size) };
  }
  return null;
}

const isWithin = (box: Box, other: Box): boolean =>
  box.left >= other.left &&
  box.top >= other.top &&
  box.right <= other.right &&
  box.bottom <= other.bottom;

const areApart = (box: Box, other: Box): boolean =>
  box.right <= other.left ||
  box.left >= other.right ||
  box.bottom <= other.top ||
  box.top >= other.bottom;

/** Candidates of another size than the cells: the most rectangles alike, two at least, off the matrix. */
function candidatesBeside(boxes: readonly Box[], cells: readonly Box[], size: number): Box[] {
  const apart = boxes.filter(
    (box) =>
      nearlySquare(box) &&
      widthOf(box) >= SMALLEST_CANDIDATE * size &&
      cells.every((cell) => areApart(box, cell)),
  );
  if (apart.length > MOST_BOXES) return [];
  // A square drawn in a candidate is none.
  const outer = apart.filter(
    (box) => !apart.some((other) => other !== box && isWithin(box, other)),
  );
  const tolerance = 0.06 * size;
  const groups = outer.map(({ right, left }) =>
    outer.filter((box) => alike(widthOf(box), right - left, tolerance)),
  );
  const most = groups.reduce((a, b) => (b.length > a.length ? b : a), []);
  return most.length < 2 ? [] : [...most].sort(readingOrder(tolerance));
}

/**
 * Three columns and three rows with equal steps, with at least eight boxes where they cross. Of several the
 * one furthest to the upper left is the matrix; the other boxes are candidates.
 */
function gridOfSize(boxes: readonly Box[], tolerance: number): Cells | null {
  const [lefts, tops] = [boxes.map(({ left }) => left), boxes.map(({ top }) => top)];
  const [columns, rows] = [distinct(lefts, tolerance), distinct(tops, tolerance)];
  // The first box at each crossing, row by row.
  const at = new Array<Box | undefined>(columns.length * rows.length);
  for (const box of boxes) {
    const near = placesNear(box.left, columns, tolerance);
    for (const row of placesNear(box.top, rows, tolerance)) {
      for (const column of near) at[row * columns.length + column] ??= box;
    }
  }
  const rowTriples = triples(rows, tolerance);
  for (const xs of triples(columns, tolerance)) {
    const inRows = rows.map((_, row) => xs.map((column) => at[row * columns.length + column]));
    const isFull = inRows.map((three) => three.filter((box) => box !== undefined).length >= 2);
    if (isFull.filter(Boolean).length < 3) continue;
    for (const ys of rowTriples.filter((three) => three.every((row) => isFull[row]))) {
      const found = ys.flatMap((row) => inRows[row]);
      if (found.filter((box) => box !== undefined).length < 8) continue;
      const others = boxes.filter((box) => !found.includes(box)).sort(readingOrder(tolerance));
      // The ninth has no frame, or noise hides it: its place is known from the others.
      const cells = found.map((box, i) => box ?? crossing(found, i));
      return { cells, others };
    }
  }
  return null;
}

/** Indices of the values that lie near one. */
const placesNear = (value: number, values: readonly number[], tolerance: number): number[] =>
  values.flatMap((each, i) => (alike(value, each, tolerance) ? [i] : []));

/** The place of the one cell that was not found, in the column and the row of its neighbours. */
function crossing(cells: readonly (Box | undefined)[], missing: number): Box {
  const [{ left, right }] = cells
    .filter((_, i) => i % 3 === missing % 3)
    .filter((box) => box !== undefined);
  const row = 3 * Math.floor(missing / 3);
  const [{ top, bottom }] = cells.slice(row, row + 3).filter((box) => box !== undefined);
  return { left, right, top, bottom };
}

const readingOrder =
  (tolerance: number) =>
  (a: Box, b: Box): number =>
    alike(a.top, b.top, tolerance) ? a.left - b.left : a.top - b.top;

/** Values that differ by more than a tolerance, rising. */
function distinct(values: readonly number[], tolerance: number): number[] {
  const found: number[] = [];
  for (const value of [...values].sort((a, b) => a - b)) {
    if (found.length === 0 || value - found[found.length - 1] > tolerance) found.push(value);
  }
  return found;
}

/** Indices of three values with equal steps, from the smallest on, with the smallest steps first. */
function triples(values: readonly number[], tolerance: number): number[][] {
  const found: number[][] = [];
  values.forEach((first, i) => {
    for (let j = i + 1; j < values.length; j++) {
      const step = values[j] - first;
      const k = values.findIndex((value) => alike(value - values[j], step, tolerance));
      if (k > j) found.push([i, j, k]);
    }
  });
  return found;
}
