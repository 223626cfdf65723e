/** Pictures on which nothing is drawn: a model redraws paper well without knowing such matrices. */
import type { Panel } from '../../solver/index.js';

/** Every panel of a matrix has a figure, and every figure an outline darker than the paper by more than this. */
const LEAST_CONTRAST = 0.25;

/** Whether a panel is of one tone, or nearly. */
export function isEmptyPanel(panel: Panel): boolean {
  let [least, most] = [Infinity, -Infinity];
  for (const value of panel) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return most - least < LEAST_CONTRAST;
}
