/**
 * Whether pictures are of the kind a model was trained on. A model redraws its own panels from their
 * concepts almost exactly; what it has never seen comes out as something else, and then its answer means
 * nothing, however sure it is.
 */
import { layoutOf, renderPanel64, samplePanels } from '../matrix/index.js';
import { bytesToPanel, type Panel } from './panels.js';
import type { Cancellable, ConceptMeans } from './questions.js';
import type { SolverCore } from './solver.js';

/** Panels that stand for what a model knows: this many matrices of nine. */
const OWN_MATRICES = 10;
const OWN_SEED = 20_250_101;
/** How much worse than the worst of its own panels a picture must be redrawn to count as unknown. */
const TIMES_OWN = 10;
/** Below this mean squared error a picture is well redrawn, however exact the model is on its own. */
const SMALL_ERROR = 0.004;

/** Every panel of a matrix has a figure, and every figure an outline darker than the paper by more than this. */
const LEAST_CONTRAST = 0.25;

/** Panels of the kind a model was trained on, with their concepts. */
export interface OwnPanels {
  readonly panels: readonly Panel[];
  readonly concepts: readonly ConceptMeans[];
}

/** How the pictures of a matrix look to a model. */
export interface Fit {
  /** Positions, from 1 on, of those that the model does not know. */
  readonly unknown: readonly number[];
  /** All as the model redraws them from their concepts; null if blank. */
  readonly redrawn: readonly (Panel | null)[];
}

/** Mean squared difference of two panels. */
export function redrawingError(panel: Panel, redrawn: Panel): number {
  let sum = 0;
  for (let i = 0; i < panel.length; i++) sum += (panel[i] - redrawn[i]) ** 2;
  return sum / panel.length;
}

/** Whether nothing is drawn on a panel: a model redraws paper well without knowing such matrices. */
export function isEmptyPanel(panel: Panel): boolean {
  let [least, most] = [Infinity, -Infinity];
  for (const value of panel) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return most - least < LEAST_CONTRAST;
}

/** A panel, or null if nothing is drawn on it: white, grey or black all over, it stands for a blank. */
export const drawnPanel = (panel: Panel): Panel | null => (isEmptyPanel(panel) ? null : panel);

/** The error from which on a model does not know a picture, by its errors on panels of its own. */
export const mostError = (own: readonly number[]): number =>
  Math.max(SMALL_ERROR, TIMES_OWN * Math.max(...own));

/** What a model knows; its own panels are drawn and encoded once, when first asked for. */
export class Familiarity {
  readonly #solver: SolverCore;
  #own: Promise<OwnPanels> | null = null;
  #mostError: Promise<number> | null = null;

  constructor(solver: SolverCore) {
    this.#solver = solver;
  }

  ownPanels(): Promise<OwnPanels> {
    this.#own ??= this.#makeOwnPanels();
    return this.#own;
  }

  async #makeOwnPanels(): Promise<OwnPanels> {
    const { configuration, noisy } = this.#solver.manifest;
    const layout = layoutOf(configuration, noisy);
    const panels = Array.from({ length: OWN_MATRICES }, (_, index) =>
      samplePanels({ configuration, noisy, seed: OWN_SEED, index }).panels.map((panel) =>
        bytesToPanel(renderPanel64(layout, panel)),
      ),
    ).flat();
    return { panels, concepts: await this.#solver.encode(panels) };
  }

  async #worstOwnError(): Promise<number> {
    const { panels, concepts } = await this.ownPanels();
    const redrawn = await this.#solver.decode(concepts);
    return mostError(panels.map((panel, i) => redrawingError(panel, redrawn[i])));
  }

  /** Which errors are those of pictures the model does not know. Its own panels are needed for large ones only. */
  async #tooLarge(errors: readonly number[]): Promise<boolean[]> {
    if (errors.every((error) => error <= SMALL_ERROR)) return errors.map(() => false);
    this.#mostError ??= this.#worstOwnError();
    const most = await this.#mostError;
    return errors.map((error) => error > most);
  }

  /** Which pictures the model does not know; null stands for a blank cell. */
  async judge(panels: readonly (Panel | null)[], options: Cancellable = {}): Promise<Fit> {
    const given = panels.filter((panel) => panel !== null);
    const concepts = await this.#solver.encode(given, options);
    const redrawn = await this.#solver.decode(concepts, options);
    const unknown = await this.#tooLarge(
      given.map((panel, i) => redrawingError(panel, redrawn[i])),
    );
    let next = 0;
    const indices = panels.map((panel) => (panel === null ? -1 : next++));
    return {
      redrawn: indices.map((i) => (i < 0 ? null : redrawn[i])),
      unknown: indices.flatMap((i, at) =>
        i >= 0 && (unknown[i] || isEmptyPanel(given[i])) ? [at + 1] : [],
      ),
    };
  }
}
