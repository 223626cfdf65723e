/**
 * One picture of a whole 3x3 matrix, and of its candidates if it shows them: finds the cells and the
 * blank one by itself. Cells are found as rectangles that stand out from the page by their frames or
 * their paper; a grid of lines is cut at its lines; a square without either is cut into nine equal
 * parts if nothing but paper lies where it is cut. A picture without any of these is turned upright, if it
 * was turned by a few degrees, and tried again. Any other picture shows no matrix. A cell of one shade, be it
 * white, grey or black, or with nothing but a question mark's worth of ink, is the blank.
 */
import { FormatError } from '../base/index.js';
import { type GreyImage } from '../matrix/index.js';
import { gridOf, heightOf, nearlySquare, widthOf, type Box, type Cells } from './cell-grid.js';
import { borderShade, greyToPanel, onWhitePaper, type Panel } from './panels.js';
import { isQuestionMark } from './question-mark.js';
import { straightened } from './straighten.js';

export interface MatrixPicture {
  /** The nine panels, row by row; null if the cell is blank. */
  readonly panels: readonly (Panel | null)[];
  /** Positions 1..9 of blank cells. */
  readonly missing: readonly number[];
  /** Further cells of the same size, in reading order. */
  readonly candidates: readonly Panel[];
}

const SMALLEST_CELL = 16;
/**
 * How much a pixel differs from the page to stand out. Faint frames need little; in the blocks of a JPEG
 * paper itself differs that much around lines, so more is tried if no matrix is found.
 */
const CONTRASTS = [0.05, 0.12, 0.25] as const;
/** Share of a rectangle's outline that must stand out. */
const OUTLINE = 0.93;
/** Of so many pixels of a side one may lie between a box's edge and its line. */
const WAVER = 64;
const waverOf = (box: Box): number => Math.floor(widthOf(box) / WAVER);
const INK = 0.15;
/** Pixels of a cell along each axis that tell the shade of its paper. */
const SAMPLED_SIDE = 64;
/** Ink of a frame, which a scan may have spread over several rows. */
const FRAME_INK = 0.06;
/** Rows without a line that may lie outside of a frame or between its two lines. */
const FRAME_GAP = 2;
/** Share of paper along a cut between panels; lines of their structure may cross it. */
const CLEAR_CUT = 0.95;

/** Reads a picture; FormatError if no 3x3 matrix can be made out. */
export function readMatrixPicture(picture: GreyImage): MatrixPicture {
  if (Math.min(picture.width, picture.height) < 3 * SMALLEST_CELL) {
    throw new FormatError(
      `a picture of ${picture.width}x${picture.height} is too small for a 3x3 matrix`,
    );
  }
  const page = pageShade(picture);
  const given = page < 0.5 ? onWhitePaper(picture, page) : picture;
  const shade = page < 0.5 ? 1 : page;
  const { cells, others, image, contrast } = findCells(given, shade);
  const panels = cells.map((cell) => cellPanel(image, cell, contrast));
  const marked = withoutBlanks(panels);
  const missing = marked.flatMap((panel, i) => (panel === null ? [i + 1] : []));
  if (missing.length === 9) throw new FormatError('all cells of the picture are blank');
  const candidates = others
    .map((cell) => cellPanel(image, cell, contrast))
    .filter((p) => p !== null);
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

/** 1 for each pixel that stands out from the page. */
function standingOut({ data }: GreyImage, page: number, contrast: number): Uint8Array {
  // A plain loop: `from` with a function takes ten times as long, and a picture has a million pixels.
  const stands = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i++) stands[i] = Math.abs(data[i] - page) > contrast ? 1 : 0;
  return stands;
}

/** Rectangles of the page, as components of what stands out from it. */
function outlinedBoxes(image: GreyImage, page: number, contrast: number): Box[] {
  const { width, height } = image;
  const stands = standingOut(image, page, contrast);
  const boxes: Box[] = [];
  const stack: number[] = [];
  const visit = (next: number): void => {
    if (stands[next] !== 1) return;
    stands[next] = 2;
    stack.push(next);
  };
  for (let start = 0; start < stands.length; start++) {
    if (stands[start] !== 1) continue;
    let [left, top, right, bottom] = [width, height, 0, 0];
    stack.push(start);
    stands[start] = 2;
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const x = at % width;
      const y = (at - x) / width;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
      if (x > 0) visit(at - 1);
      if (x + 1 < width) visit(at + 1);
      visit(at - width);
      visit(at + width);
    }
    const box = { left, top, right, bottom };
    if (Math.min(widthOf(box), heightOf(box)) < SMALLEST_CELL) continue;
    if (outlineShare(stands, width, box, waverOf(box)) >= OUTLINE) boxes.push(box);
  }
  return boxes;
}

/** Share of a box's outline that stands out, at its edge or `depth` inside: scanned lines waver. */
function outlineShare(stands: Uint8Array, width: number, box: Box, depth: number): number {
  const hasLine = (at: number, inwards: number): boolean => {
    for (let i = 0; i <= depth; i++) if (stands[at + i * inwards] > 0) return true;
    return false;
  };
  let found = 0;
  for (let x = box.left; x < box.right; x++) {
    found += Number(hasLine(box.top * width + x, width));
    found += Number(hasLine((box.bottom - 1) * width + x, -width));
  }
  for (let y = box.top; y < box.bottom; y++) {
    found += Number(hasLine(y * width + box.left, 1));
    found += Number(hasLine(y * width + box.right - 1, -1));
  }
  return found / (2 * (widthOf(box) + heightOf(box)));
}

/** The cells, the picture they are in, upright, and the contrast they were found with. */
interface FoundCells extends Cells {
  readonly image: GreyImage;
  readonly contrast: number;
}

function findCells(picture: GreyImage, page: number): FoundCells {
  const found = cellsIn(picture, page);
  if (found !== null && !areTurned(found, page)) return found;
  // Cells turned by half a degree are found, but their figures may look like others.
  const upright = cellsIn(straightened(picture, page), page) ?? found;
  if (upright !== null) return upright;
  throw new FormatError('no matrix of 3 x 3 panels was found in the picture');
}

function cellsIn(image: GreyImage | null, page: number): FoundCells | null {
  if (image === null) return null;
  for (const contrast of CONTRASTS) {
    const found = cellsAt(image, page, contrast);
    if (found !== null) return { ...found, image, contrast };
  }
  return null;
}

/** Whether most cells have frames that waver, and no edges along rows and columns of pixels. */
function areTurned({ cells, image, contrast }: FoundCells, page: number): boolean {
  const stands = standingOut(image, page, contrast);
  const outlined = (cell: Box, depth: number): boolean =>
    outlineShare(stands, image.width, cell, depth) >= OUTLINE;
  const turned = cells.filter((cell) => !outlined(cell, 0) && outlined(cell, waverOf(cell)));
  return turned.length > cells.length / 2;
}

function cellsAt(image: GreyImage, page: number, contrast: number): Cells | null {
  const boxes = outlinedBoxes(image, page, contrast);
  const grid = gridOf(boxes);
  if (grid !== null) return grid;
  const largest = boxes.sort((a, b) => widthOf(b) - widthOf(a)).at(0);
  const whole: Box = { left: 0, top: 0, right: image.width, bottom: image.height };
  const isFrame =
    largest !== undefined && widthOf(largest) > 0.5 * image.width && nearlySquare(largest);
  const cells = cutAtLines({ image, page, contrast }, isFrame ? largest : whole);
  return cells === null ? null : { cells, others: [] };
}

/** A picture, the shade of its page, and how much stands out from it. */
interface Sheet {
  readonly image: GreyImage;
  readonly page: number;
  readonly contrast: number;
}

/** A region cut into nine at its lines, or into equal parts with paper between; null if neither is. */
function cutAtLines(sheet: Sheet, region: Box): Box[] | null {
  const across = linesOf(sheet, region, true);
  const down = linesOf(sheet, region, false);
  if (across === null || down === null) return null;
  return down.flatMap(([top, bottom]) =>
    across.map(([left, right]) => ({ left, top, right, bottom })),
  );
}

/** Three spans of a region along one axis: between dark lines near the thirds, else the thirds. */
function linesOf(sheet: Sheet, region: Box, across: boolean): [number, number][] | null {
  const { image } = sheet;
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
      const clear = !isInner || (nearlySquare(region) && isClearCut(sheet, region, at, across));
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

/** Whether hardly anything but paper, or a cell of one shade, lies on both sides of a cut. */
function isClearCut(
  { image: { width, data }, page, contrast }: Sheet,
  region: Box,
  at: number,
  across: boolean,
): boolean {
  const [from, to] = across ? [region.top, region.bottom] : [region.left, region.right];
  const third = (to - from) / 3;
  return [at - 1, at].every((line) => {
    let clear = 0;
    for (let cell = 0; cell < 3; cell++) {
      const first = Math.round(from + cell * third);
      const values = Array.from(
        { length: Math.round(from + (cell + 1) * third) - first },
        (_, i) => data[across ? (first + i) * width + line : line * width + first + i],
      );
      const paper = values.filter((value) => Math.abs(value - page) <= contrast).length;
      const isShaded = values.every((value) => Math.abs(value - values[0]) <= contrast);
      clear += isShaded ? values.length : paper;
    }
    return clear >= CLEAR_CUT * (to - from);
  });
}

/** Share of pixels of one row or column of a region that are darker than a shade. */
function lineShare(
  { width, data }: GreyImage,
  region: Box,
  at: number,
  across: boolean,
  shade = 1 - INK,
): number {
  const [from, to] = across ? [region.top, region.bottom] : [region.left, region.right];
  let dark = 0;
  for (let i = from; i < to; i++) {
    dark += Number(data[across ? i * width + at : at * width + i] < shade);
  }
  return dark / (to - from);
}

/** The shade of the paper of a cell: nearly the lightest, of which there is much. */
function paperOf({ width, data }: GreyImage, box: Box): number {
  const step = Math.ceil(widthOf(box) / SAMPLED_SIDE);
  const values: number[] = [];
  for (let y = box.top; y < box.bottom; y += step) {
    for (let x = box.left; x < box.right; x += step) values.push(data[y * width + x]);
  }
  return values.sort((a, b) => a - b)[Math.floor(0.9 * values.length)];
}

/** The box without the frame around it. */
function withoutFrame(image: GreyImage, box: Box): Box {
  const most = Math.ceil(0.08 * widthOf(box));
  // A cell that is dark all over has no paper: there the frame may be lighter.
  const shade = Math.max(0.5, paperOf(image, box)) - FRAME_INK;
  /** Rows or columns from an edge inwards that belong to the frame. */
  const depth = (edge: number, inwards: 1 | -1, across: boolean): number => {
    let framed = 0;
    for (let i = 0; i < most && i <= framed + FRAME_GAP; i++) {
      if (lineShare(image, box, edge + i * inwards, across, shade) > 0.85) framed = i + 1;
    }
    return framed;
  };
  return {
    left: box.left + depth(box.left, 1, true),
    right: box.right - depth(box.right - 1, -1, true),
    top: box.top + depth(box.top, 1, false),
    bottom: box.bottom - depth(box.bottom - 1, -1, false),
  };
}

/** A cell as a panel, or null if it is of one shade. */
function cellPanel(image: GreyImage, box: Box, contrast: number): Panel | null {
  const { left, top, right, bottom } = withoutFrame(image, box);
  const [width, height] = [right - left, bottom - top];
  if (Math.min(width, height) < SMALLEST_CELL / 2) return null;
  const data = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    const from = (top + y) * image.width + left;
    data.set(image.data.subarray(from, from + width), y * width);
  }
  let [least, most] = [1, 0];
  for (const value of data) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return most - least < contrast ? null : greyToPanel({ width, height, data });
}

/** Where no cell is empty: the cell that shows a question mark, if there is just one. */
function withoutBlanks(panels: readonly (Panel | null)[]): (Panel | null)[] {
  if (panels.includes(null)) return [...panels];
  const marks = panels.flatMap((panel, i) => (panel !== null && isQuestionMark(panel) ? [i] : []));
  return panels.map((panel, i) => (marks.length === 1 && marks[0] === i ? null : panel));
}
