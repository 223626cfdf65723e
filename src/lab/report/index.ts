/**
 * Report pages: one model, and all of a zoo beside the paper's tables. What draws them is large and
 * loaded only when something is drawn: commands that draw nothing start without it.
 */
import type { OutputPlace } from '../../base/node.js';
import type { ModelEvaluation } from '../evaluation.js';
import type { ReportFigure } from './markup.js';
import type { ModelFigures } from './model-figures.js';
import type { ReportOptions } from './report.js';
import type { BrokenBundle, ZooOptions, ZooReport } from './zoo.js';

export { GRADE_MARK, isMarked, MODEL_MARK } from './marks.js';
export type { BrokenBundle, ModelFigures, ReportFigure, ReportOptions, ZooOptions, ZooReport };

/** Writes the report of one model: one self-contained page. */
export async function writeReport(
  evaluation: ModelEvaluation,
  file: string | OutputPlace,
  options: ReportOptions = {},
): Promise<void> {
  await (await import('./report.js')).writeReport(evaluation, file, options);
}

/** The figures of a model: it is asked to complete, to draw and to choose. */
export async function drawModel(
  evaluation: ModelEvaluation,
  options: ReportOptions = {},
): Promise<ModelFigures> {
  return (await import('./report.js')).drawModel(evaluation, options);
}

/** Writes figures as `<id>.svg` and `<id>.png`. */
export async function writeFigures(
  figures: readonly ReportFigure[],
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await (await import('./report.js')).writeFigures(figures, folder, signal);
}

/** Writes the report of a zoo: `index.html`, and a page, numbers and figures of every model. */
export async function reportZoo(options: ZooOptions): Promise<ZooReport> {
  return (await import('./zoo.js')).reportZoo(options);
}
