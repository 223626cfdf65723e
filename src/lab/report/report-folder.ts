/**
 * The folder of a zoo's report, kept consistent: whatever lies there was measured under the conditions
 * of the report that is being written. What does match is used again, so an interrupted report goes on
 * where it stopped; what does not is removed before anything is measured. Files of others stay.
 */
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, FormatError } from '../../matrix/index.js';
import { makeFolder, readSmallFile, writeFileAtomically } from '../../matrix/node.js';
import { parseEvaluation, type ModelEvaluation } from '../evaluation.js';

const INDEX = 'index.html';
const FIGURES = 'figures';
const LARGEST_FILE = 64 << 20;
const FIGURE_FILE = /\.(?:svg|png)$/;
/** Stands in every page of a zoo: a page without it is not ours to replace. */
export const PAGE_MARK = 'Written by crab report';

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export class ReportFolder {
  constructor(readonly folder: string) {}

  /** Refuses a folder that is something else; changes nothing. */
  async check(): Promise<void> {
    const found = await readSmallFile(path.join(this.folder, INDEX), LARGEST_FILE).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      },
    );
    if (found === null || decode(found).includes(PAGE_MARK)) return;
    throw new ArgumentError(
      `--out ${this.folder}: it holds an ${INDEX} that is no report of ours; name another folder`,
    );
  }

  /** The evaluation of a model as it was saved; null where there is none that can be read. */
  async saved(name: string): Promise<ModelEvaluation | null> {
    const file = path.join(this.folder, `${name}.json`);
    try {
      return parseEvaluation(decode(await readSmallFile(file, LARGEST_FILE)), file);
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (isAbsent || error instanceof FormatError) return null;
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
      if ((await this.saved(name))?.name !== name) continue;
      await this.keepFigures(name, []);
      await rm(path.join(this.folder, `${name}.html`), { force: true });
      // Last, since it tells what the others are.
      await rm(path.join(this.folder, file));
    }
    await rm(path.join(this.folder, INDEX), { force: true });
  }

  figuresOf(name: string): string {
    return path.join(this.folder, FIGURES, name);
  }

  /** Removes figures of a model that are not among these, and its folder where nothing is left. */
  async keepFigures(name: string, ids: readonly string[]): Promise<void> {
    const folder = this.figuresOf(name);
    const files = await readdir(folder).catch(() => []);
    const stale = files.filter(
      (file) => FIGURE_FILE.test(file) && !ids.includes(file.replace(FIGURE_FILE, '')),
    );
    for (const file of stale) await rm(path.join(folder, file));
    if (files.length > 0 && stale.length === files.length) await rm(folder, { recursive: true });
  }

  async writeModel(evaluation: ModelEvaluation, page: string): Promise<void> {
    await makeFolder(this.folder);
    const file = (ending: string): string => path.join(this.folder, `${evaluation.name}.${ending}`);
    await writeFileAtomically(file('html'), page);
    await writeFileAtomically(file('json'), `${JSON.stringify(evaluation)}\n`);
  }

  /** Writes the page of all models and gives its name. */
  async writeIndex(page: string): Promise<string> {
    const file = path.join(this.folder, INDEX);
    await writeFileAtomically(file, page);
    return file;
  }
}
