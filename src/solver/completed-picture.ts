/** A completed matrix as one picture: nine panels on a page, the imagined ones framed in colour. */
import { ArgumentError } from '../base/index.js';
import {
  Board,
  greyByte,
  greySquare,
  SHEET_COLOURS,
  SMALL_SIZE,
  type Picture,
} from '../matrix/index.js';
import type { Panel } from './panels.js';

const FRAME = 3;

export interface CompletedOptions {
  /** Positions 1..9 to frame. */
  readonly framed: readonly number[];
  /** Whole-number enlargement of the 64x64 panels, 1 to 8; 2 unless told. */
  readonly scale?: number;
}

/** Draws nine panels. */
export function completedPicture(panels: readonly Panel[], options: CompletedOptions): Picture {
  const { framed, scale = 2 } = options;
  if (panels.length !== 9) throw new ArgumentError(`${panels.length} panels: expected nine`);
  if (!Number.isInteger(scale) || scale < 1 || scale > 8) {
    throw new ArgumentError(`scale ${scale}: expected 1 to 8`);
  }
  const cell = SMALL_SIZE * scale;
  const gap = 6 * scale;
  const side = 3 * cell + 4 * gap;
  const board = new Board(side, side, 3);
  panels.forEach((panel, i) => {
    const left = gap + (i % 3) * (cell + gap);
    const top = gap + Math.floor(i / 3) * (cell + gap);
    if (framed.includes(i + 1)) board.frame(left, top, cell, FRAME, SHEET_COLOURS.accent);
    else board.frame(left, top, cell, 1, SHEET_COLOURS.hairline);
    board.paste(greySquare(Uint8Array.from(panel, greyByte)), left, top, scale);
  });
  return board;
}
