/** A problem as pictures: what a solver asks for, and a page shows. */
import { ArgumentError } from '../base/index.js';
import { layoutOfProblem } from './layouts.js';
import { MATRIX_PANELS, type Panel, type Problem } from './problem.js';
import { renderPanel64 } from './render-panel.js';
import { validateProblem } from './validation.js';

export interface ProblemPanels {
  /** Nine, row by row, each u8 [64, 64] with 255 = white; the last is null, for it is asked for. */
  readonly panels: readonly (Uint8Array | null)[];
  /** Positions 1..9 without a panel. */
  readonly missing: readonly number[];
  /** Eight, like the panels. */
  readonly candidates: readonly Uint8Array[];
  /** The right candidate, counted from 0. */
  readonly answer: number;
}

/** Draws the panels and candidates of a problem, ready for `Solver.solve` and `Solver.choose`. */
export function panelsOf(problem: Problem): ProblemPanels {
  const { context, candidates, rules } = (problem as Partial<Problem> | null | undefined) ?? {};
  if (![context, candidates, rules].every(Array.isArray)) {
    throw new ArgumentError('panelsOf: expected a problem, such as sampleProblem gives');
  }
  validateProblem(problem);
  const layout = layoutOfProblem(problem);
  const draw = (panel: Panel): Uint8Array => renderPanel64(layout, panel);
  return {
    panels: [...problem.context.map(draw), null],
    missing: [MATRIX_PANELS],
    candidates: problem.candidates.map(({ panel }) => draw(panel)),
    answer: problem.target,
  };
}
