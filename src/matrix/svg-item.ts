/**
 * Where everything of a test item goes on a page: the 3x3 matrix, the numbered or lettered candidates
 * in rows of four below it, and lines of text. Upright like a sheet of paper; in CSS pixels, y down. SVG and
 * PDF draw the same places.
 */
import { ArgumentError } from '../base/index.js';
import { answerOf, type Panel, type Problem } from './problem.js';
import { IMAGE_SIZE } from './render-entity.js';
import { LETTERS } from './vlm-item.js';
import { wrapWords } from './wrap-words.js';

export interface ItemOptions {
  /** A line above the matrix. */
  readonly title?: string;
  /** Lines of text below, such as those of `describeRules`. */
  readonly rules?: readonly string[];
  /** Frame the right candidate; false unless told: an item to solve does not tell. */
  readonly markAnswer?: boolean;
  /** Show the answer in the ninth cell in place of the question mark. */
  readonly fillIn?: boolean;
  /** Leave the candidates out. */
  readonly withoutCandidates?: boolean;
  /** Leave the matrix out. */
  readonly withoutMatrix?: boolean;
  /** Letter the candidates instead of counting them from 1. */
  readonly letters?: boolean;
  /** Candidates as large as the panels of the matrix; smaller unless told. */
  readonly sameScale?: boolean;
  /** Width of the frames of panels; 1 unless told. */
  readonly frameWidth?: number;
}

/** A framed square with a panel, or empty. */
export interface PlacedPanel {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly panel: Panel | null;
  readonly answer: boolean;
}

export interface PlacedText {
  /** Start or middle of the text, at its base line. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly text: string;
  readonly colour: 'ink' | 'muted' | 'accent';
  readonly anchor: 'start' | 'middle';
  readonly bold: boolean;
}

export interface Item {
  readonly width: number;
  readonly height: number;
  readonly panels: readonly PlacedPanel[];
  readonly texts: readonly PlacedText[];
}

const MARGIN = 32;
const MATRIX_GAP = 8;
const MATRIX_PITCH = IMAGE_SIZE + MATRIX_GAP;
const INNER_WIDTH = 3 * MATRIX_PITCH - MATRIX_GAP;
const BLOCK_GAP = 36;
const CANDIDATE_GAP = 16;
const CANDIDATE_SIZE = (INNER_WIDTH - 3 * CANDIDATE_GAP) / 4;
const LABEL_SIZE = 14;
const LABEL_DROP = 18;
const QUESTION_SIZE = 72;
/** From the middle of a capital letter to its base line, in parts of the font size. */
const MIDDLE_TO_BASE = 0.36;
const TITLE_SIZE = 16;
const TITLE_HEIGHT = 28;
const TEXT_SIZE = 13;
const TEXT_LINE = 19;
/** Most characters of a line of text: what surely fits the width in a common sans-serif. */
const TEXT_COLUMNS = 76;
const MOST_LINES = 200;

/** A text in lines of at most so many characters; such lines fit an item unless told otherwise. */
export function wrapText(text: string, columns = TEXT_COLUMNS): string[] {
  const lines = wrapWords(text, (line) => line.length <= columns);
  return lines.length === 0 ? [''] : lines;
}

const text = (
  x: number,
  y: number,
  size: number,
  content: string,
  style: Partial<Pick<PlacedText, 'colour' | 'anchor' | 'bold'>> = {},
): PlacedText => ({
  x,
  y,
  size,
  text: content,
  colour: 'ink',
  anchor: 'start',
  bold: false,
  ...style,
});

function placeMatrix(
  problem: Problem,
  left: number,
  top: number,
  fillIn: boolean,
): Pick<Item, 'panels' | 'texts'> {
  const last = fillIn ? answerOf(problem) : null;
  const panels = [...problem.context, last].map((panel, cell) => ({
    x: left + (cell % 3) * MATRIX_PITCH,
    y: top + Math.floor(cell / 3) * MATRIX_PITCH,
    size: IMAGE_SIZE,
    panel,
    answer: false,
  }));
  if (fillIn) return { panels, texts: [] };
  const { x, y, size } = panels[8];
  const base = y + size / 2 + QUESTION_SIZE * MIDDLE_TO_BASE;
  const mark = text(x + size / 2, base, QUESTION_SIZE, '?', { colour: 'muted', anchor: 'middle' });
  return { panels, texts: [mark] };
}

/** From one row of candidates to the next, for candidates of a size. */
const candidatePitch = (size: number): number => size + LABEL_DROP + CANDIDATE_GAP;

function placeCandidates(
  problem: Problem,
  top: number,
  size: number,
  { markAnswer = false, letters = false }: ItemOptions,
): Pick<Item, 'panels' | 'texts'> {
  const panels = problem.candidates.map(({ panel }, index) => ({
    x: MARGIN + (index % 4) * (size + CANDIDATE_GAP),
    y: top + Math.floor(index / 4) * candidatePitch(size),
    size,
    panel,
    answer: markAnswer && index === problem.target,
  }));
  const texts = panels.map(({ x, y, size, answer }, index) =>
    text(
      x + size / 2,
      y + size + LABEL_DROP,
      LABEL_SIZE,
      letters ? LETTERS[index] : String(index + 1),
      {
        anchor: 'middle',
        colour: answer ? 'accent' : 'ink',
        bold: answer,
      },
    ),
  );
  return { panels, texts };
}

/** Lays out a problem as an item to print or show. */
export function layOutItem(problem: Problem, options: ItemOptions = {}): Item {
  const { title = '', rules = [], fillIn = false } = options;
  const size = options.sameScale ? IMAGE_SIZE : CANDIDATE_SIZE;
  const width = Math.max(INNER_WIDTH, 4 * (size + CANDIDATE_GAP) - CANDIDATE_GAP);
  const lines = rules.flatMap((line) => wrapText(line));
  if (lines.length > MOST_LINES) {
    throw new ArgumentError(
      `an item has room for ${MOST_LINES} lines of text, not ${lines.length}`,
    );
  }
  const top = MARGIN + (title === '' ? 0 : TITLE_HEIGHT);
  const parts: Pick<Item, 'panels' | 'texts'>[] = [];
  let bottom = top;
  if (!options.withoutMatrix) {
    parts.push(placeMatrix(problem, MARGIN + (width - INNER_WIDTH) / 2, top, fillIn));
    bottom += INNER_WIDTH;
  }
  if (!options.withoutCandidates) {
    if (!options.withoutMatrix) bottom += BLOCK_GAP;
    parts.push(placeCandidates(problem, bottom, size, options));
    const rows = Math.ceil(problem.candidates.length / 4);
    bottom += (rows - 1) * candidatePitch(size) + size + LABEL_DROP;
  }
  const heading = title === '' ? [] : [text(MARGIN, MARGIN + TITLE_SIZE * 0.75, TITLE_SIZE, title)];
  const textTop = bottom + BLOCK_GAP;
  const rows = lines.map((line, index) =>
    text(MARGIN, textTop + index * TEXT_LINE, TEXT_SIZE, line),
  );
  if (lines.length > 0) bottom = textTop + (lines.length - 1) * TEXT_LINE;
  return {
    width: width + 2 * MARGIN,
    height: bottom + MARGIN,
    panels: parts.flatMap(({ panels }) => panels),
    texts: [...heading, ...parts.flatMap(({ texts }) => texts), ...rows],
  };
}
