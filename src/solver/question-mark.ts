/** The question mark that stands in a blank cell of many printed matrices. */
import { SMALL_SIZE } from '../matrix/index.js';
import type { Box } from './cell-grid.js';
import type { Panel } from './panels.js';

/**
 * Whether a panel looks like a question mark: a figure of ink in the middle column, taller than wide, in
 * two parts of which the lower is a dot, small beside the upper, and the upper differs from its mirror
 * image. Figures one above the other, as grids have them, are alike in size or in their two halves.
 */
export function isQuestionMark(panel: Panel): boolean {
  const whole = inkWithin(panel, 0, SMALL_SIZE);
  if (whole === null) return false;
  const { left, right, top, bottom } = whole;
  const [width, height] = [right - left, bottom - top];
  const inMiddle = Math.abs((left + right) / 2 - SMALL_SIZE / 2) < 6 && width < 0.6 * SMALL_SIZE;
  if (!inMiddle || height <= 8 || height <= 1.2 * width) return false;
  const gap = emptyRowAbove(panel, bottom - 1, top);
  if (gap === null) return false;
  const [hook, dot] = [inkWithin(panel, top, gap), inkWithin(panel, gap, bottom)];
  if (hook === null || dot === null) return false;
  const isDot = dot.bottom - dot.top < 0.3 * height && dot.right - dot.left < 0.5 * width;
  return isDot && lopsidedness(panel, hook) > 0.1;
}

const isInk = (panel: Panel, x: number, y: number): boolean => panel[y * SMALL_SIZE + x] < 0.75;

/** What the ink of some rows spans, or null if there is none. */
function inkWithin(panel: Panel, from: number, to: number): Box | null {
  const box = { left: SMALL_SIZE, right: 0, top: to, bottom: 0 };
  for (let y = from; y < to; y++) {
    for (let x = 0; x < SMALL_SIZE; x++) {
      if (!isInk(panel, x, y)) continue;
      box.left = Math.min(box.left, x);
      box.right = Math.max(box.right, x + 1);
      box.top = Math.min(box.top, y);
      box.bottom = Math.max(box.bottom, y + 1);
    }
  }
  return box.right === 0 ? null : box;
}

/** The first row without ink from a row upwards, as far as `top`. */
function emptyRowAbove(panel: Panel, from: number, top: number): number | null {
  for (let y = from; y > top; y--) if (inkWithin(panel, y, y + 1) === null) return y;
  return null;
}

/** Share of a box's ink that has none at its mirrored place, left and right exchanged. */
function lopsidedness(panel: Panel, { left, right, top, bottom }: Box): number {
  let [ink, alone] = [0, 0];
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      if (!isInk(panel, x, y)) continue;
      ink++;
      alone += Number(!isInk(panel, left + right - 1 - x, y));
    }
  }
  return alone / ink;
}
