/** Writes reports: one page for a model, and its figures as files. */
import path from 'node:path';
import {
  makeFolder,
  outputPlace,
  writeFileAtomically,
  writeOutput,
  type OutputPlace,
} from '../../base/node.js';
import type { ModelEvaluation } from '../evaluation.js';
import { openSubject } from '../open-subject.js';
import type { Subject } from '../subject.js';
import { rasterize, toSvg, withTheme } from '../figures/index.js';
import type { ReportFigure } from './markup.js';
import { allFigures, modelFigures, type ModelFigures } from './model-figures.js';
import { modelPage } from './model-page.js';
import { takePictures } from './pictures.js';
import { conceptNames } from './rule-data.js';

export interface ReportOptions {
  /** The model itself, or where its bundle or run is; by default what the evaluation names. */
  readonly model?: Subject | string;
  /** Also write every figure as SVG and PNG into this folder. */
  readonly figures?: string;
  readonly signal?: AbortSignal;
}

/** The figures of a model: it is asked to complete, to draw and to choose. */
export async function drawModel(
  evaluation: ModelEvaluation,
  { model = evaluation.model, signal }: ReportOptions = {},
): Promise<ModelFigures> {
  const subject = typeof model === 'string' ? await openSubject(model, { signal }) : model;
  try {
    const pictures = await takePictures(subject, evaluation, conceptNames(evaluation), signal);
    return modelFigures(evaluation, pictures, subject.ruleMap);
  } finally {
    if (subject !== model) await subject.dispose();
  }
}

/** Writes figures as `<id>.svg` and `<id>.png`. */
export async function writeFigures(
  figures: readonly ReportFigure[],
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await makeFolder(folder);
  for (const { id, figure } of figures) {
    signal?.throwIfAborted();
    const svg = withTheme(toSvg(figure), 'light');
    await writeFileAtomically(path.join(folder, `${id}.svg`), svg, { sync: false });
    await writeFileAtomically(path.join(folder, `${id}.png`), await rasterize(svg), {
      sync: false,
    });
  }
}

/** Writes the report of one model: one self-contained page. */
export async function writeReport(
  evaluation: ModelEvaluation,
  file: string | OutputPlace,
  options: ReportOptions = {},
): Promise<void> {
  const place = typeof file === 'string' ? outputPlace(file) : file;
  const figures = await drawModel(evaluation, options);
  await writeOutput(place, modelPage(evaluation, figures));
  if (options.figures !== undefined) {
    await writeFigures(allFigures(figures), options.figures, options.signal);
  }
}
