/**
 * Report pages: one model, and all of a zoo beside the paper's tables. What draws them is large and
 * loaded only when something is drawn: commands that draw nothing start without it.
 */
export { GRADE_MARK, isMarked, isOfFormat, MODEL_MARK } from './marks.js';
export type { ReportFigure } from './markup.js';
export type { ModelFigures } from './model-figures.js';
export type { ReportOptions } from './report.js';
export type { BrokenBundle, ZooOptions, ZooReport } from './zoo.js';

/** A function whose module is loaded when it is first called. */
const lazily =
  <A extends unknown[], R>(load: () => Promise<(...given: A) => Promise<R>>) =>
  async (...given: A): Promise<R> =>
    (await load())(...given);

/** Writes the report of one model: one self-contained page. */
export const writeReport = lazily(async () => (await import('./report.js')).writeReport);

/** The figures of a model: it is asked to complete, to draw and to choose. */
export const drawModel = lazily(async () => (await import('./report.js')).drawModel);

/** Draws what several systems paint at arbitrary positions. */
export const writeSystemAnswers = lazily(
  async () => (await import('./system-answers.js')).writeSystemAnswers,
);

/** The files it writes; refused if one is there that we did not draw. */
export const systemAnswersFiles = lazily(
  async () => (await import('./system-answers.js')).systemAnswersFiles,
);

/** Writes the report of a zoo: `index.html`, and a page, numbers and figures of every model. */
export const reportZoo = lazily(async () => (await import('./zoo.js')).reportZoo);
