/**
 * Measured figures in a document. Between `<!-- measured:NAME -->` and `<!-- /measured -->` stands what
 * the measurements say, written by the program; everything else is prose and stays as it is.
 */
import path from 'node:path';
import { FormatError } from '../../base/index.js';
import { readSmallFile, writeFileAtomically } from '../../base/node.js';
import { readMeasured, type MeasuredModel } from './measured.js';
import { NOT_MEASURED, SECTIONS } from './tables.js';

export { measuredOf, readMeasured, writeMeasured, type MeasuredModel } from './measured.js';

export * from './training.js';

const LARGEST_DOCUMENT = 16 << 20;
const MARK = /<!-- (measured:[a-z0-9-]+|\/measured) -->/g;

/** Names of the sections that can be written. */
export const RESULT_SECTIONS: readonly string[] = Object.keys(SECTIONS);

function section(name: string, models: readonly MeasuredModel[]): string {
  const render = Object.hasOwn(SECTIONS, name) ? SECTIONS[name] : undefined;
  if (render === undefined) {
    throw new FormatError(
      `<!-- measured:${name} -->: expected one of ${RESULT_SECTIONS.join(', ')}`,
    );
  }
  return models.length === 0 ? NOT_MEASURED : render(models);
}

/** A document with its marked sections written anew. */
export function renderResults(document: string, models: readonly MeasuredModel[]): string {
  let out = '';
  let kept = 0;
  let open: string | null = null;
  for (const { 0: mark, 1: told, index } of document.matchAll(MARK)) {
    const closes = told === '/measured';
    if (closes !== (open !== null)) {
      throw new FormatError(
        closes ? `${mark} closes nothing` : `<!-- measured:${open ?? ''} --> is not closed`,
      );
    }
    if (closes && open !== null) {
      out += `\n${section(open, models)}\n${mark}`;
      open = null;
    } else {
      out += document.slice(kept, index) + mark;
      open = told.slice('measured:'.length);
    }
    kept = index + mark.length;
  }
  if (open !== null) throw new FormatError(`<!-- measured:${open} --> is not closed`);
  return out + document.slice(kept);
}

/** Writes `results.md` in a folder of documents from its `measured/*.json`; tells whether it changed. */
export async function updateResults(docs: string): Promise<boolean> {
  const file = path.join(docs, 'results.md');
  const before = String(await readSmallFile(file, LARGEST_DOCUMENT));
  const after = renderResults(before, await readMeasured(path.join(docs, 'measured')));
  if (after === before) return false;
  await writeFileAtomically(file, after);
  return true;
}
