/**
 * The folder of a zoo's report, kept consistent: everything in it was measured under the conditions of the
 * report that is being written. Matching results are used again, so an interrupted report goes on where it
 * stopped; others are removed before anything is measured. Only files that a report wrote are ever replaced
 * or removed; if somebody else's file is in the way, the report refuses to start.
 */
import { rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, FormatError } from '../../base/index.js';
import {
  ifMissing,
  makeFolder,
  namesIn,
  readSmallFile,
  writeFileAtomically,
} from '../../base/node.js';
import { parseEvaluation, type ModelEvaluation } from '../evaluation.js';
import { figuresOn, isEvaluationOf, isMarked, MODEL_MARK, ZOO_MARK } from './marks.js';
import { FIGURE_ID } from './model-figures.js';

const INDEX = 'index.html';
const FIGURES = 'figures';
const LARGEST_FILE = 64 << 20;
const FIGURE_FILE = /\.(?:svg|png)$/;

export class ReportFolder {
  constructor(readonly folder: string) {}

  /** The text of a file of the folder; null if there is none. */
  async #text(file: string): Promise<string | null> {
    const bytes = await readSmallFile(path.join(this.folder, file), LARGEST_FILE).catch(
      ifMissing(null),
    );
    return bytes === null ? null : new TextDecoder().decode(bytes);
  }

  #refuse(file: string): never {
    throw new ArgumentError(
      `--out ${this.folder}: it holds ${file}, which is no report of ours and would be overwritten; name another folder, or move the file`,
    );
  }

  /** Refuses a folder that is something else; changes nothing. */
  async checkIndex(): Promise<void> {
    const page = await this.#text(INDEX);
    if (page !== null && !isMarked(page, ZOO_MARK)) this.#refuse(INDEX);
  }

  /** Refuses files of somebody else where those of a model will be; changes nothing. */
  async checkModel(name: string): Promise<void> {
    const page = await this.#text(`${name}.html`);
    if (page !== null && !isMarked(page, MODEL_MARK)) this.#refuse(`${name}.html`);
    const numbers = await this.#text(`${name}.json`);
    if (numbers !== null && !isEvaluationOf(numbers, name)) this.#refuse(`${name}.json`);
    const own = page === null ? [] : figuresOn(page);
    for (const file of await namesIn(this.figuresOf(name))) {
      const id = file.replace(FIGURE_FILE, '');
      if (id === file || own.includes(id) || !FIGURE_ID.test(id)) continue;
      this.#refuse(path.join(FIGURES, name, file));
    }
  }

  /** The evaluation of a model as it was saved; null if there is none that can be read. */
  async saved(name: string): Promise<ModelEvaluation | null> {
    const file = `${name}.json`;
    const text = await this.#text(file);
    try {
      return text === null ? null : parseEvaluation(text, path.join(this.folder, file));
    } catch (error) {
      if (error instanceof FormatError) return null;
      throw error;
    }
  }

  /**
   * Removes what a report wrote earlier, but for the models named, and the page of all. A report leaves
   * the numbers of a model under the model's own name: whatever has none beside it is not a report's.
   */
  async keepOnly(names: readonly string[]): Promise<void> {
    for (const file of await namesIn(this.folder)) {
      const name = path.basename(file, '.json');
      if (name === file || names.includes(name)) continue;
      const numbers = await this.#text(file);
      if (numbers === null || !isEvaluationOf(numbers, name)) continue;
      await this.#keepFigures(name, []);
      if ((await this.#pageOf(name)) !== null) await rm(path.join(this.folder, `${name}.html`));
      // Last, since it tells what the others are.
      await rm(path.join(this.folder, file));
    }
    await rm(path.join(this.folder, INDEX), { force: true });
  }

  figuresOf(name: string): string {
    return path.join(this.folder, FIGURES, name);
  }

  /** The page of a model, if it is one of ours. */
  async #pageOf(name: string): Promise<string | null> {
    const page = await this.#text(`${name}.html`);
    return page !== null && isMarked(page, MODEL_MARK) ? page : null;
  }

  /** Removes figures of a model's page that are not among these, and their folder if it is empty then. */
  async #keepFigures(name: string, ids: readonly string[]): Promise<void> {
    const folder = this.figuresOf(name);
    const shown = figuresOn((await this.#pageOf(name)) ?? '');
    for (const id of shown.filter((each) => FIGURE_ID.test(each) && !ids.includes(each))) {
      for (const ending of ['svg', 'png']) {
        await rm(path.join(folder, `${id}.${ending}`), { force: true });
      }
    }
    await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code ?? '')) throw error;
    });
  }

  /** Writes page and numbers; figures of an earlier page that this one does not show are removed. */
  async writeModel(evaluation: ModelEvaluation, page: string): Promise<void> {
    const { name } = evaluation;
    await makeFolder(this.folder);
    await this.#keepFigures(name, figuresOn(page));
    await writeFileAtomically(path.join(this.folder, `${name}.html`), page);
    await writeFileAtomically(
      path.join(this.folder, `${name}.json`),
      `${JSON.stringify(evaluation)}\n`,
    );
  }

  /** Writes the page of all models and gives its name. */
  async writeIndex(page: string): Promise<string> {
    const file = path.join(this.folder, INDEX);
    await writeFileAtomically(file, page);
    return file;
  }
}
