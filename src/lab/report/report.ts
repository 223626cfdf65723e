/** Writes reports: one page for a model, and its figures as files. */
import path from 'node:path';
import {
  makeFolder,
  outputPlace,
  writeFileAtomically,
  writeOutput,
  type OutputPlace,
} from '../../base/node.js';
import { Solver } from '../../solver/node.js';
import type { ModelEvaluation } from '../evaluation.js';
import { rasterize, toSvg, withTheme } from '../figures/index.js';
import type { ReportFigure } from './markup.js';
import { allFigures, modelFigures, type ModelFigures } from './model-figures.js';
import { modelPage } from './model-page.js';
import { takePictures, type Pictured } from './pictures.js';
import { conceptNames } from './rule-data.js';

export interface ReportOptions {
  /** The model itself, or where its bundle is; by default what the evaluation names. */
  readonly model?: Pictured | string;
  /** Also write every figure as SVG and PNG into this folder. */
  readonly figures?: string;
  readonly signal?: AbortSignal;
}

/** The figures of a model: it is asked to complete, to draw and to choose. */
export async function drawModel(
  evaluation: ModelEvaluation,
  { model = evaluation.model, signal }: ReportOptions = {},
): Promise<ModelFigures> {
  const loaded = typeof model === 'string' ? await Solver.load(model, { signal }) : null;
  const solver = loaded ?? (model as Pictured);
  try {
    const pictures = await takePictures(solver, evaluation, conceptNames(evaluation), signal);
    return modelFigures(evaluation, pictures, solver.ruleMap);
  } finally {
    await loaded?.dispose();
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
