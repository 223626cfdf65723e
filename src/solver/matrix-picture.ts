/**
 * One picture of a whole 3x3 matrix, and of its candidates if it shows them: finds the cells and the
 * blank one by itself. Cells are found as rectangles that stand out from the page by their frames or
 * their paper; a grid of lines is cut at its lines; a square without either is cut into nine equal
 * parts if nothing but paper lies where it is cut. Any other picture shows no matrix. A cell that is empty, or holds nothing but a question mark's worth of ink, is the blank.
 */
import { FormatError } from '../base/index.js';
import { type GreyImage } from '../matrix/index.js';
import { borderShade, greyToPanel, onWhitePaper, type Panel } from './panels.js';
import { isQuestionMark } from './question-mark.js';

export interface MatrixPicture {
  /** The nine panels, row by row; null where the cell is blank. */
  readonly panels: readonly (Panel | null)[];
  /** Positions 1..9 of blank cells. */
  readonly missing: readonly number[];
  /** Further cells of the same size, in reading order. */
  readonly candidates: readonly Panel[];
}

interface Box {
  readonly left: number;
  readonly top: number;
  /** Exclusive. */
  readonly right: number;
  readonly bottom: number;
}

const SMALLEST_CELL = 16;
/** How much a pixel differs from the page to stand out. */
const CONTRAST = 0.05;
/** Share of a rectangle's outline that must stand out. */
const OUTLINE = 0.93;
const INK = 0.15;
/** Share of paper along a cut between panels; lines of their structure may cross it. */
const CLEAR_CUT = 0.95;

const widthOf = (box: Box): number => box.right - box.left;
const heightOf = (box: Box): number => box.bottom - box.top;

/** Reads a picture; FormatError where no 3x3 matrix can be made out. */
export function readMatrixPicture(picture: GreyImage): MatrixPicture {
  if (Math.min(picture.width, picture.height) < 3 * SMALLEST_CELL) {
    throw new FormatError(
      `a picture of ${picture.width}x${picture.height} is too small for a 3x3 matrix`,
    );
  }
  const page = pageShade(picture);
  const image = page < 0.5 ? onWhitePaper(picture, page) : picture;
  const shade = page < 0.5 ? 1 : page;
  const { cells, others } = findCells(image, shade);
  const panels = cells.map((cell) => (cell === null ? null : cellPanel(image, cell)));
  const marked = withoutBlanks(panels);
  const missing = marked.flatMap((panel, i) => (panel === null ? [i + 1] : []));
  if (missing.length === 9) throw new FormatError('all cells of the picture are blank');
  const candidates = others.map((cell) => cellPanel(image, cell)).filter((p) => p !== null);
  return { panels: marked, missing, candidates };
}

/** The shade of the page: that of the border, unless a frame runs along it. */
function pageShade(picture: GreyImage): number {
  const border = borderShade(picture);
  if (border >= 0.5) return border;
  const all = picture.data.slice().sort();
  const middle = all[all.length >> 1];
  return middle >= 0.5 ? middle : border;
}

/** Rectangles of the page, as components of what stands out from it. */
function outlinedBoxes(image: GreyImage, page: number): Box[] {
  const { width, height, data } = image;
  const stands = Uint8Array.from(data, (value) => (Math.abs(value - page) > CONTRAST ? 1 : 0));
  const boxes: Box[] = [];
  const stack: number[] = [];
  for (let start = 0; start < stands.length; start++) {
    if (stands[start] !== 1) continue;
    let [left, top, right, bottom] = [width, height, 0, 0];
    stack.push(start);
    stands[start] = 2;
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const x = at % width;
      const y = (at - x) / width;
      [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
      [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
      for (const next of [
        x > 0 ? at - 1 : -1,
        x + 1 < width ? at + 1 : -1,
        at - width,
        at + width,
      ]) {
        if (stands[next] !== 1) continue;
        stands[next] = 2;
        stack.push(next);
      }
    }
    const box = { left, top, right, bottom };
    if (Math.min(widthOf(box), heightOf(box)) < SMALLEST_CELL) continue;
    if (outlineShare(stands, width, box) >= OUTLINE) boxes.push(box);
  }
  return boxes;
}

function outlineShare(stands: Uint8Array, width: number, box: Box): number {
  let found = 0;
  for (let x = box.left; x < box.right; x++) {
    found += Number(stands[box.top * width + x] > 0);
    found += Number(stands[(box.bottom - 1) * width + x] > 0);
  }
  for (let y = box.top; y < box.bottom; y++) {
    found += Number(stands[y * width + box.left] > 0);
    found += Number(stands[y * width + box.right - 1] > 0);
  }
  return found / (2 * (widthOf(box) + heightOf(box)));
}

interface Cells {
  /** Nine, row by row; null where nothing stands on the page. */
  readonly cells: readonly (Box | null)[];
  readonly others: readonly Box[];
}

function findCells(image: GreyImage, page: number): Cells {
  const boxes = outlinedBoxes(image, page);
  const grid = gridOf(boxes);
  if (grid !== null) return grid;
  const largest = boxes.sort((a, b) => widthOf(b) - widthOf(a)).at(0);
  const whole: Box = { left: 0, top: 0, right: image.width, bottom: image.height };
  const isFrame =
    largest !== undefined && widthOf(largest) > 0.5 * image.width && nearlySquare(largest);
  const cells = cutAtLines(image, page, isFrame ? largest : whole);
  if (cells === null) {
    throw new FormatError('no matrix of 3 x 3 panels was found in the picture');
  }
  return { cells, others: [] };
}

const nearlySquare = (box: Box): boolean =>
  Math.abs(widthOf(box) - heightOf(box)) <= 0.2 * Math.max(widthOf(box), heightOf(box));

const alike = (a: number, b: number, tolerance: number): boolean => Math.abs(a - b) <= tolerance;

/** A 3x3 grid among boxes of one size; the largest boxes that form one are the cells. */
function gridOf(boxes: readonly Box[]): Cells | null {
  const sizes = distinct(boxes.map(widthOf), 1).reverse();
  for (const size of sizes) {
    const tolerance = Math.max(2, 0.06 * size);
    const alikes = boxes.filter(
      (box) => alike(widthOf(box), size, tolerance) && alike(heightOf(box), size, tolerance),
    );
    const grid = alikes.length < 8 ? null : gridOfSize(alikes, tolerance);
    if (grid !== null) return grid;
  }
  return null;
}

/**
 * A corner and two equal steps from it with at least eight boxes in place. Of several the one furthest
 * to the upper left is the matrix; the other boxes are candidates.
 */
function gridOfSize(cells: readonly Box[], tolerance: number): Cells | null {
  const columns = distinct(
    cells.map((box) => box.left),
    tolerance,
  );
  const rows = distinct(
    cells.map((box) => box.top),
    tolerance,
  );
  const find = (x: number, y: number): Box | null =>
    cells.find((box) => alike(box.left, x, tolerance) && alike(box.top, y, tolerance)) ?? null;
  for (const xs of triples(columns, tolerance)) {
    for (const ys of triples(rows, tolerance)) {
      const found = ys.flatMap((y) => xs.map((x) => find(x, y)));
      if (found.filter((box) => box !== null).length < 8) continue;
      const others = cells.filter((box) => !found.includes(box)).sort(readingOrder(tolerance));
      return { cells: found, others };
    }
  }
  return null;
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

/** Three values with equal steps, from the smallest on, with the smallest steps first. */
function triples(values: readonly number[], tolerance: number): number[][] {
  const found: number[][] = [];
  values.forEach((first, i) => {
    for (const second of values.slice(i + 1)) {
      const third = values.find((value) => alike(value - second, second - first, tolerance));
      if (third !== undefined && third > second) found.push([first, second, third]);
    }
  });
  return found;
}

/** A region cut into nine at its lines, or into equal parts with paper between; null where neither is. */
function cutAtLines(image: GreyImage, page: number, region: Box): Box[] | null {
  const across = linesOf(image, page, region, true);
  const down = linesOf(image, page, region, false);
  if (across === null || down === null) return null;
  return down.flatMap(([top, bottom]) =>
    across.map(([left, right]) => ({ left, top, right, bottom })),
  );
}

/** Three spans of a region along one axis: between dark lines near the thirds, else the thirds. */
function linesOf(
  image: GreyImage,
  page: number,
  region: Box,
  across: boolean,
): [number, number][] | null {
  const [from, to] = across ? [region.left, region.right] : [region.top, region.bottom];
  const third = (to - from) / 3;
  const reach = Math.ceil(0.2 * third);
  const edges = [from, from + third, from + 2 * third, to].map((ideal, i) => {
    const around = Array.from(
      { length: 2 * reach + 1 },
      (_, k) => Math.round(ideal) + k - reach,
    ).filter((at) => at >= from && at < to);
    const shares = around.map((at) => lineShare(image, region, at, across));
    const near = around.filter((_, k) => shares[k] > 0.9);
    const isInner = i === 1 || i === 2;
    // Where all is dark, as in noise, nothing is a line.
    const hasLine = near.length > 0 && (!isInner || Math.min(...shares) < 0.5);
    if (!hasLine) {
      const at = Math.round(ideal);
      const clear =
        !isInner || (nearlySquare(region) && isClearCut(image, page, region, at, across));
      return clear ? { low: at, high: at } : null;
    }
    // Outer edges keep the run of lines that touches the region's end only.
    const low = i === 0 ? from : Math.min(...near);
    const high = i === 3 ? to : Math.max(...near) + 1;
    return { low, high };
  });
  const found = edges.filter((edge) => edge !== null);
  if (found.length < edges.length) return null;
  return [0, 1, 2].map((i) => [found[i].high, found[i + 1].low]);
}

/** Whether hardly anything but paper lies on both sides of a cut. */
function isClearCut(
  { width, data }: GreyImage,
  page: number,
  region: Box,
  at: number,
  across: boolean,
): boolean {
  const [from, to] = across ? [region.top, region.bottom] : [region.left, region.right];
  return [at - 1, at].every((line) => {
    let paper = 0;
    for (let i = from; i < to; i++) {
      const value = data[across ? i * width + line : line * width + i];
      paper += Number(Math.abs(value - page) <= CONTRAST);
    }
    return paper >= CLEAR_CUT * (to - from);
  });
}

/** Share of dark pixels of one row or column of a region. */
function lineShare({ width, data }: GreyImage, region: Box, at: number, across: boolean): number {
  const [from, to] = across ? [region.top, region.bottom] : [region.left, region.right];
  let dark = 0;
  for (let i = from; i < to; i++) {
    dark += Number(data[across ? i * width + at : at * width + i] < 1 - INK);
  }
  return dark / (to - from);
}

/** The box without the frame around it. */
function withoutFrame(image: GreyImage, box: Box): Box {
  let { left, top, right, bottom } = box;
  const framed = (at: number, across: boolean): boolean =>
    lineShare(image, { left, top, right, bottom }, at, across) > 0.85;
  const most = Math.ceil(0.08 * widthOf(box));
  for (let i = 0; i < most && framed(left, true); i++) left++;
  for (let i = 0; i < most && framed(right - 1, true); i++) right--;
  for (let i = 0; i < most && framed(top, false); i++) top++;
  for (let i = 0; i < most && framed(bottom - 1, false); i++) bottom--;
  return { left, top, right, bottom };
}

/** A cell as a panel, or null where it is of one shade. */
function cellPanel(image: GreyImage, box: Box): Panel | null {
  const { left, top, right, bottom } = withoutFrame(image, box);
  const [width, height] = [right - left, bottom - top];
  if (Math.min(width, height) < SMALLEST_CELL / 2) return null;
  const data = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const from = (top + y) * image.width + left;
    data.set(image.data.subarray(from, from + width), y * width);
  }
  let [least, most] = [1, 0];
  for (const value of data) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return most - least < CONTRAST ? null : greyToPanel({ width, height, data });
}

/** Where no cell is empty: the cell that shows a question mark, if there is just one. */
function withoutBlanks(panels: readonly (Panel | null)[]): (Panel | null)[] {
  if (panels.includes(null)) return [...panels];
  const marks = panels.flatMap((panel, i) => (panel !== null && isQuestionMark(panel) ? [i] : []));
  return panels.map((panel, i) => (marks.length === 1 && marks[0] === i ? null : panel));
}
