/**
 * A contact sheet: one picture of a whole problem, the matrix on the left, the eight candidates on
 * the right, the rules in words below. For a person's eye; panels keep their 160x160 pixels.
 */
import { ArgumentError } from '../base/index.js';
import { Board, greySquare } from './board.js';
import { SHEET_COLOURS } from './colours.js';
import type { Picture } from './png.js';
import { CANDIDATES, CONTEXT_PANELS, MATRIX_PANELS, type Problem } from './problem.js';
import { CAPITAL_HEIGHT, GLYPH_HEIGHT, wrapText } from './raster-font.js';
import { IMAGE_SIZE } from './render-entity.js';
import { renderProblem } from './render-panel.js';
import { resize } from './resize.js';

export interface ContactSheetOptions {
  /** Frame the right candidate; true unless told. */
  readonly markAnswer?: boolean;
  /** Show the answer in the ninth cell in place of the question mark. */
  readonly fillIn?: boolean;
  /** A line above everything. */
  readonly title?: string;
  /** Lines of text below, such as those of `describeRules`. */
  readonly rules?: readonly string[];
  /** Whole-number enlargement, 1 to 8; 1 unless told. */
  readonly scale?: number;
}

const { ink: INK, muted: MUTED, hairline: HAIRLINE, accent: ACCENT } = SHEET_COLOURS;

const MARGIN = 32;
const GAP = 12;
const BLOCK_GAP = 48;
const ROW_GAP = 28;
const TEXT_SCALE = 2;
const LABEL_GAP = 10;
const LABEL_HEIGHT = CAPITAL_HEIGHT * TEXT_SCALE;
const LINE_HEIGHT = (GLYPH_HEIGHT + 2) * TEXT_SCALE;
const ANSWER_FRAME = 3;
const LARGEST_SCALE = 8;
const LONGEST_TITLE_LINES = 2;

const PITCH = IMAGE_SIZE + GAP;
const MATRIX_SIDE = 3 * PITCH - GAP;
const CANDIDATES_WIDTH = 4 * PITCH - GAP;
const CANDIDATE_HEIGHT = IMAGE_SIZE + LABEL_GAP + LABEL_HEIGHT;
const CANDIDATES_HEIGHT = 2 * CANDIDATE_HEIGHT + ROW_GAP;
const SHEET_WIDTH = MARGIN + MATRIX_SIDE + BLOCK_GAP + CANDIDATES_WIDTH + MARGIN;
const TEXT_WIDTH = SHEET_WIDTH - 2 * MARGIN;

const HALF_STROKE = 3.5;
const BOW_RADIUS = 14;
const BOW_MIDDLE = -13;
const STEM_END = 13;
const DOT_MIDDLE = 25;
const DOT_RADIUS = 4.5;

/**
 * How far a point lies from a question mark around (0, 0), negative inside it. The bow is three
 * quarters of a circle, from the left over the top to its lowest point; the stem hangs below it.
 */
function distanceToQuestionMark(x: number, y: number): number {
  const up = y - BOW_MIDDLE;
  const onBow = x > 0 || up < 0;
  const bow = onBow ? Math.abs(Math.hypot(x, up) - BOW_RADIUS) : Math.hypot(x + BOW_RADIUS, up);
  const stemStart = BOW_MIDDLE + BOW_RADIUS;
  const stem = Math.hypot(x, y - Math.min(Math.max(y, stemStart), STEM_END));
  const dot = Math.hypot(x, y - DOT_MIDDLE) - DOT_RADIUS;
  return Math.min(Math.min(bow, stem) - HALF_STROKE, dot);
}

/** A smooth question mark in the middle of a panel. */
function drawQuestionMark(board: Board, left: number, top: number): void {
  const middle = IMAGE_SIZE / 2;
  for (let row = 0; row < IMAGE_SIZE; row++) {
    for (let column = 0; column < IMAGE_SIZE; column++) {
      const distance = distanceToQuestionMark(column + 0.5 - middle, row + 0.5 - middle);
      const cover = Math.min(Math.max(0.5 - distance, 0), 1);
      const grey = Math.round(255 + (MUTED[0] - 255) * cover);
      if (cover > 0) board.fill(left + column, top + row, 1, 1, [grey, grey, grey]);
    }
  }
}

/** Enlarges a picture by repeating each pixel. */
function enlarge(picture: Picture, scale: number): Picture {
  const board = new Board(picture.width * scale, picture.height * scale, picture.channels);
  board.paste(picture, 0, 0, scale);
  return board;
}

/** A problem as pictures: the eight context panels, then the eight candidates. */
export interface ProblemPictures {
  /** Side of one picture: 160 or 64; small ones are enlarged smoothly to the sheet's cells. */
  readonly size: number;
  /** u8 [16, size, size], 255 = white paper. */
  readonly images: Uint8Array;
  /** Index of the answer among the candidates. */
  readonly target: number;
}

/** One picture of a problem, at the size of a cell. */
function cellPicture({ size, images }: ProblemPictures, index: number): Picture {
  const image = images.subarray(index * size * size, (index + 1) * size * size);
  return greySquare(size === IMAGE_SIZE ? image : resize(image, size, IMAGE_SIZE));
}

function drawMatrix(board: Board, top: number, pictures: ProblemPictures, fillIn: boolean): void {
  for (let cell = 0; cell < MATRIX_PANELS; cell++) {
    const x = MARGIN + (cell % 3) * PITCH;
    const y = top + Math.floor(cell / 3) * PITCH;
    board.frame(x, y, IMAGE_SIZE, 1, HAIRLINE);
    if (cell < CONTEXT_PANELS) board.paste(cellPicture(pictures, cell), x, y);
    else if (fillIn) board.paste(cellPicture(pictures, CONTEXT_PANELS + pictures.target), x, y);
    else drawQuestionMark(board, x, y);
  }
}

function drawCandidates(
  board: Board,
  top: number,
  pictures: ProblemPictures,
  markAnswer: boolean,
): void {
  const left = MARGIN + MATRIX_SIDE + BLOCK_GAP;
  for (let index = 0; index < CANDIDATES; index++) {
    const x = left + (index % 4) * PITCH;
    const y = top + Math.floor(index / 4) * (CANDIDATE_HEIGHT + ROW_GAP);
    const marked = markAnswer && index === pictures.target;
    board.paste(cellPicture(pictures, CONTEXT_PANELS + index), x, y);
    board.frame(x, y, IMAGE_SIZE, marked ? ANSWER_FRAME : 1, marked ? ACCENT : HAIRLINE);
    const label = marked ? `${index + 1} ✓` : String(index + 1);
    const labelTop = y + IMAGE_SIZE + LABEL_GAP;
    board.centredText(label, x + IMAGE_SIZE / 2, labelTop, TEXT_SCALE, marked ? ACCENT : INK);
  }
}

/** Lines of text in one column, or in two if there are more than four. */
function ruleColumns(rules: readonly string[]): string[][] {
  if (rules.length === 0) return [];
  if (rules.length <= 4) return [rules.flatMap((rule) => wrapText(rule, TEXT_WIDTH, TEXT_SCALE))];
  const width = (TEXT_WIDTH - BLOCK_GAP) / 2;
  const half = Math.ceil(rules.length / 2);
  return [rules.slice(0, half), rules.slice(half)].map((part) =>
    part.flatMap((rule) => wrapText(rule, width, TEXT_SCALE)),
  );
}

function assertScale(scale: number): void {
  if (Number.isInteger(scale) && scale >= 1 && scale <= LARGEST_SCALE) return;
  throw new ArgumentError(`scale must be a whole number from 1 to ${LARGEST_SCALE}, not ${scale}`);
}

/** Draws the contact sheet of a problem from its description. */
export function contactSheet(problem: Problem, options: ContactSheetOptions = {}): Picture {
  const { images } = renderProblem(problem);
  return contactSheetOfImages({ size: IMAGE_SIZE, images, target: problem.target }, options);
}

/** Draws the contact sheet of a problem that is there only as pictures. */
export function contactSheetOfImages(
  pictures: ProblemPictures,
  options: ContactSheetOptions = {},
): Picture {
  const { markAnswer = true, fillIn = false, title = '', rules = [], scale = 1 } = options;
  assertScale(scale);
  const titleLines = wrapText(title, TEXT_WIDTH, TEXT_SCALE).slice(0, LONGEST_TITLE_LINES);
  const columns = ruleColumns(rules);
  const lines = Math.max(0, ...columns.map((column) => column.length));
  const top = MARGIN + (titleLines.length > 0 ? titleLines.length * LINE_HEIGHT + GAP : 0);
  const textTop = top + MATRIX_SIDE + MARGIN;
  // The last line needs no room for the gap to a next one.
  const bottom = lines > 0 ? textTop + lines * LINE_HEIGHT - 2 * TEXT_SCALE : top + MATRIX_SIDE;
  const board = new Board(SHEET_WIDTH, bottom + MARGIN, 3);

  titleLines.forEach((line, index) => {
    board.text(line, MARGIN, MARGIN + index * LINE_HEIGHT, TEXT_SCALE, INK);
  });
  drawMatrix(board, top, pictures, fillIn);
  const candidatesTop = top + Math.floor((MATRIX_SIDE - CANDIDATES_HEIGHT) / 2);
  drawCandidates(board, candidatesTop, pictures, markAnswer);
  columns.forEach((column, index) => {
    const x = MARGIN + index * ((TEXT_WIDTH + BLOCK_GAP) / 2);
    column.forEach((line, row) => {
      board.text(line, x, textTop + row * LINE_HEIGHT, TEXT_SCALE, INK);
    });
  });
  return scale === 1 ? board : enlarge(board, scale);
}
