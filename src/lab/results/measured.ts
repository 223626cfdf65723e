/**
 * `docs/measured/<bundle>.json`: the part of an evaluation that is kept beside the documents, so that every
 * table of results can be traced to its measurement. Curves, examples and times are left out: they are in
 * the bundle, or not worth keeping. A file is checked for what tables need when it is read.
 */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, writeFileAtomically } from '../../base/node.js';
import { parseEvaluation, type MeasuredData, type ModelEvaluation } from '../evaluation.js';
import { readJsonFiles, sixDigits } from './files.js';

/** An evaluation without what changes from machine to machine. */
export type MeasuredModel = Omit<ModelEvaluation, 'history' | 'examples' | 'seconds'>;

/** Of paths only the last part is kept: the folders of some machine mean nothing to others. */
export function measuredOf(evaluation: ModelEvaluation): MeasuredModel {
  const { history: _history, examples: _examples, seconds: _seconds, ...kept } = evaluation;
  const bare = <Set extends MeasuredData>(sets: readonly Set[]): Set[] =>
    sets.map((set) => ({ ...set, data: path.basename(set.data) }));
  const { name, data, selection } = kept;
  return { ...kept, model: name, data: bare(data), selection: selection && bare(selection) };
}

const formatMeasured = (model: MeasuredModel): string => `${JSON.stringify(model, sixDigits, 1)}\n`;

/**
 * Writes what was measured on models as `<name>.json` into a folder. Tables have one cell for each system,
 * preset and configuration: files of the same three are replaced, whatever their name. All others stay.
 */
export async function writeMeasured(
  folder: string,
  evaluations: readonly ModelEvaluation[],
): Promise<void> {
  await makeFolder(folder);
  const key = ({ system, preset, configuration, noisy }: MeasuredModel): string =>
    `${system} ${preset} ${configuration} ${noisy}`;
  const keys = evaluations.map(key);
  for (const model of await readMeasured(folder)) {
    if (keys.includes(key(model)))
      await rm(path.join(folder, `${model.name}.json`), { force: true });
  }
  for (const evaluation of evaluations) {
    const file = path.join(folder, `${evaluation.name}.json`);
    await writeFileAtomically(file, formatMeasured(measuredOf(evaluation)));
  }
}

/** All measured models of a folder, by name; none if there is no such folder. */
export const readMeasured = (folder: string): Promise<MeasuredModel[]> =>
  readJsonFiles(folder, parseEvaluation);
