/**
 * `docs/measured/<bundle>.json`: what of an evaluation is kept beside the documents, so that every table
 * of results has the measurement it was written from. Curves, examples and times are left out: they are
 * in the bundle, or not worth keeping. Reading one checks what tables need.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { FormatError } from '../../matrix/index.js';
import { writeFileAtomically } from '../../matrix/node.js';
import { EVALUATION_FORMAT, EVALUATION_VERSION, type ModelEvaluation } from '../evaluation.js';

/** An evaluation without what changes from machine to machine. */
export type MeasuredModel = Omit<ModelEvaluation, 'history' | 'examples' | 'seconds'>;

const LARGEST_FILE = 4 << 20;

/** Paths are kept by their last part: where a set lay on some machine is nobody's business. */
export function measuredOf(evaluation: ModelEvaluation): MeasuredModel {
  const { history: _history, examples: _examples, seconds: _seconds, ...kept } = evaluation;
  const selection =
    kept.selection?.map((each) => ({ ...each, data: path.basename(each.data) })) ?? null;
  return { ...kept, model: kept.name, selection };
}

/** Six digits: more than any interval is narrow. */
const shortened = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;

export const formatMeasured = (model: MeasuredModel): string =>
  `${JSON.stringify(model, shortened, 1)}\n`;

export function parseMeasured(text: string, file: string): MeasuredModel {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new FormatError(`${file}: not JSON`);
  }
  const model = value as Partial<MeasuredModel> | null;
  if (model?.format !== EVALUATION_FORMAT || model.version !== EVALUATION_VERSION) {
    throw new FormatError(`${file}: not an evaluation of version ${EVALUATION_VERSION}`);
  }
  if (typeof model.name !== 'string' || typeof model.configuration !== 'string') {
    throw new FormatError(`${file}: it does not say which model it is of`);
  }
  return model as MeasuredModel;
}

/** Writes what was measured on a model as `<bundle>.json` into a folder, and gives the file's name. */
export async function writeMeasured(folder: string, evaluation: ModelEvaluation): Promise<string> {
  const file = path.join(folder, `${evaluation.name}.json`);
  await writeFileAtomically(file, formatMeasured(measuredOf(evaluation)));
  return file;
}

/** All measured models of a folder, by name; none where there is no such folder. */
export async function readMeasured(folder: string): Promise<MeasuredModel[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const models: MeasuredModel[] = [];
  for (const name of names.filter((each) => each.endsWith('.json')).sort()) {
    const file = path.join(folder, name);
    const bytes = await readFile(file);
    if (bytes.length > LARGEST_FILE) throw new FormatError(`${file} is too large`);
    models.push(parseMeasured(bytes.toString('utf8'), file));
  }
  return models;
}
