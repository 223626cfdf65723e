/**
 * Measured figures in a document. The program writes what stands between `<!-- measured:NAME -->` and
 * `<!-- /measured -->`; everything else is prose and stays as it is.
 */
import path from 'node:path';
import { FormatError } from '../../base/index.js';
import { readSmallFile, writeFileAtomically } from '../../base/node.js';
import { readMeasured, type MeasuredModel } from './measured.js';
import { FIGURE_SECTIONS, writeSystemFigures } from './system-figures.js';
import { SYSTEM_SECTIONS } from './system-tables.js';
import { NOT_MEASURED, SECTIONS } from './tables.js';
import { readTrainings, type MeasuredTraining } from './training.js';

export { measuredOf, readMeasured, writeMeasured, type MeasuredModel } from './measured.js';

export { systemFigureFiles, writeSystemFigures } from './system-figures.js';
export * from './training.js';

const LARGEST_DOCUMENT = 16 << 20;
const MARK = /<!-- (measured:[a-z0-9-]+|\/measured) -->/g;

/** What documents are written from. */
export interface Measurements {
  readonly models: readonly MeasuredModel[];
  readonly trainings: readonly MeasuredTraining[];
}

/** What fills a section, and whether there is anything to fill it with. */
interface Rendered {
  readonly of: keyof Measurements;
  readonly render: (measured: Measurements) => string;
}

/** Every section by its name: those of the zoo's models, and those that compare systems. */
const RENDERED: Readonly<Record<string, Rendered>> = {
  ...mapped(SECTIONS, (render) => ({
    of: 'models' as const,
    render: ({ models }) => (models.length === 0 ? NOT_MEASURED : render(models)),
  })),
  ...mapped({ ...SYSTEM_SECTIONS, ...FIGURE_SECTIONS }, (render) => ({
    of: 'trainings' as const,
    render: ({ trainings }) => render(trainings),
  })),
};

function mapped<A, B>(
  values: Readonly<Record<string, A>>,
  change: (value: A) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** Names of the sections that can be written. */
export const RESULT_SECTIONS: readonly string[] = Object.keys(RENDERED);

/** A section anew. If nothing of its kind was measured, what it holds stays: the files may lie elsewhere. */
function section(name: string, held: string, measured: Measurements): string {
  const rendered = Object.hasOwn(RENDERED, name) ? RENDERED[name] : undefined;
  if (rendered === undefined) {
    throw new FormatError(
      `<!-- measured:${name} -->: expected one of ${RESULT_SECTIONS.join(', ')}`,
    );
  }
  const text = held.trim();
  return measured[rendered.of].length === 0 && text !== '' ? text : rendered.render(measured);
}

/** A document with its marked sections written anew. */
export function renderResults(document: string, measured: Measurements): string {
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
      out += `\n${section(open, document.slice(kept, index), measured)}\n${mark}`;
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

/** What a folder of documents keeps: `measured/*.json` of models, `measured/systems/*.json` of trainings. */
export async function readMeasurements(docs: string): Promise<Measurements> {
  const folder = path.join(docs, 'measured');
  return {
    models: await readMeasured(folder),
    trainings: await readTrainings(path.join(folder, 'systems')),
  };
}

/**
 * Writes `results.md` in a folder of documents and the figures of systems from what it keeps. Without any
 * trainings the tables and figures that compare systems stay as they are, and without models theirs.
 */
export async function updateResults(docs: string): Promise<{
  /** Whether `results.md` changed, and whether it has places for tables at all. */
  readonly changed: boolean;
  readonly hasPlaces: boolean;
  readonly figures: readonly string[];
  readonly trainings: number;
}> {
  const file = path.join(docs, 'results.md');
  const before = String(await readSmallFile(file, LARGEST_DOCUMENT));
  const measured = await readMeasurements(docs);
  const after = renderResults(before, measured);
  const { trainings } = measured;
  const figures = trainings.length === 0 ? [] : await writeSystemFigures(docs, trainings);
  const changed = after !== before;
  if (changed) await writeFileAtomically(file, after);
  const hasPlaces = before.search(MARK) >= 0;
  return { changed, hasPlaces, figures, trainings: trainings.length };
}
