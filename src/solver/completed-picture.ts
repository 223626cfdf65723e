/** A completed matrix as one picture: nine panels on a page, the imagined ones framed in colour. */
import { ArgumentError } from '../base/index.js';
import { greyByte, SHEET_COLOURS, SMALL_SIZE, type Picture, type Rgb } from '../matrix/index.js';
import type { Panel } from './panels.js';

const PAGE: Rgb = [255, 255, 255];
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
  const data = new Uint8Array(side * side * 3);
  const fill = (left: number, top: number, size: number, [red, green, blue]: Rgb): void => {
    for (let y = top; y < top + size; y++) {
      for (let x = left; x < left + size; x++) data.set([red, green, blue], 3 * (y * side + x));
    }
  };
  fill(0, 0, side, PAGE);
  panels.forEach((panel, i) => {
    const left = gap + (i % 3) * (cell + gap);
    const top = gap + Math.floor(i / 3) * (cell + gap);
    const isFramed = framed.includes(i + 1);
    const border = isFramed ? FRAME : 1;
    fill(
      left - border,
      top - border,
      cell + 2 * border,
      isFramed ? SHEET_COLOURS.accent : SHEET_COLOURS.hairline,
    );
    for (let y = 0; y < cell; y++) {
      for (let x = 0; x < cell; x++) {
        const value = panel[Math.floor(y / scale) * SMALL_SIZE + Math.floor(x / scale)];
        const grey = greyByte(value);
        data.fill(grey, 3 * ((top + y) * side + left + x), 3 * ((top + y) * side + left + x) + 3);
      }
    }
  });
  return { width: side, height: side, channels: 3, data };
}
