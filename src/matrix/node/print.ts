/**
 * Items to print: a PDF with one problem a page, A4, vector graphics, and no answers in it (those go
 * to the answer file). Built page by page into a temporary file, so its length does not matter.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { answerRow, csvLine, itemName } from '../item.js';
import type { ConfigurationLayout } from '../layouts.js';
import { PdfWriter } from '../pdf.js';
import { itemPage } from '../pdf-item.js';
import { PendingFile } from '../../base/node.js';
import { makeFolderOf } from '../../base/node.js';
import type { GenerateOptions } from './generate.js';
import type { GenerateResult } from './generate-worker.js';
import { problemMaker } from './problem-maker.js';
import type { OutputPlace } from '../../base/node.js';

/** Writes all problems of a request as one PDF. */
export async function writePdf(
  options: GenerateOptions,
  place: OutputPlace,
  onProblem: (result: GenerateResult) => void,
): Promise<void> {
  await makeFolderOf(place.path);
  const pending = await PendingFile.create(place);
  const writer = new PdfWriter();
  const stream = createWriteStream(pending.temporary, { flags: 'r+' });
  const written = finished(stream);
  // A failure is reported where it is awaited below; without a listener it would end the process.
  written.catch(() => {});
  try {
    stream.write(writer.start());
    for (const layout of options.layouts) {
      await addPages(writer, options, layout, stream, onProblem);
    }
    stream.end(writer.end());
    await written;
    await pending.commit();
  } catch (error) {
    stream.destroy();
    await pending.abandon();
    throw error;
  }
}

async function addPages(
  writer: PdfWriter,
  options: GenerateOptions,
  layout: ConfigurationLayout,
  stream: NodeJS.WritableStream & { errored: Error | null },
  onProblem: (result: GenerateResult) => void,
): Promise<void> {
  const { configuration, noisy, mesh } = layout;
  const { variant, seed, rules } = options;
  const make = problemMaker({ configuration, noisy, mesh, variant, seed, rules });
  for (let index = 0; index < options.count; index++) {
    options.signal?.throwIfAborted();
    if (stream.errored) throw stream.errored;
    const problem = make(index);
    stream.write(writer.page(itemPage(problem, itemName(layout, index))));
    onProblem({ count: 1, kept: 0, repaired: 0, rows: [csvLine(answerRow(problem, seed, index))] });
    // Lets the file be written and Ctrl-C be noticed between pages.
    await new Promise(setImmediate);
  }
}
