/**
 * Whether pictures are of the kind a model was trained on. A model redraws its own panels from their
 * concepts almost exactly; what it has never seen comes out as something else, and then its answer means
 * nothing, however sure it is.
 */
import type { Panel } from '../../solver/index.js';

/** How much worse than the worst of its own panels a picture must be redrawn to count as unknown. */
const TIMES_OWN = 10;
/** Below this mean squared error a picture is well redrawn, however exact the model is on its own. */
const SMALL_ERROR = 0.004;

/** Mean squared difference of two panels. */
export function redrawingError(panel: Panel, redrawn: Panel): number {
  let sum = 0;
  for (let i = 0; i < panel.length; i++) sum += (panel[i] - redrawn[i]) ** 2;
  return sum / panel.length;
}

/** Which of some pictures a model does not know, by their errors and those on panels of its own. */
export function unknownPictures(errors: readonly number[], own: readonly number[]): boolean[] {
  const most = Math.max(SMALL_ERROR, TIMES_OWN * Math.max(...own));
  return errors.map((error) => error > most);
}
