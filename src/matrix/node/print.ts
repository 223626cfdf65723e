/**
 * Items to print: a PDF with one problem a page, A4, vector graphics, and no answers in it (those go
 * to the answer file). Built page by page into a temporary file, so its length does not matter.
 */
import { answerRow, csvLine, itemName } from '../item.js';
import type { ConfigurationLayout } from '../layouts.js';
import { PdfWriter } from '../pdf.js';
import { itemPage } from '../pdf-item.js';
import { makeFolderOf, PendingFile, type OutputPlace } from '../../base/node.js';
import type { GenerateOptions } from './generate.js';
import type { GenerateResult } from './generate-worker.js';
import { problemMaker } from './problem-maker.js';

/** Writes all problems of a request as one PDF. */
export async function writePdf(
  options: GenerateOptions,
  place: OutputPlace,
  onProblem: (result: GenerateResult) => void,
): Promise<void> {
  await makeFolderOf(place.path);
  const writer = new PdfWriter();
  await PendingFile.fill(place, async (file) => {
    let length = 0;
    const put = async (bytes: Uint8Array): Promise<void> => {
      await file.write(bytes, length);
      length += bytes.length;
    };
    await put(writer.start());
    for (const layout of options.layouts) await addPages(writer, options, layout, put, onProblem);
    await put(writer.end());
  });
}

async function addPages(
  writer: PdfWriter,
  options: GenerateOptions,
  layout: ConfigurationLayout,
  put: (bytes: Uint8Array) => Promise<void>,
  onProblem: (result: GenerateResult) => void,
): Promise<void> {
  const { configuration, noisy, mesh } = layout;
  const { variant, seed, rules } = options;
  const make = problemMaker({ configuration, noisy, mesh, variant, seed, rules });
  for (let index = 0; index < options.count; index++) {
    options.signal?.throwIfAborted();
    const problem = make(index);
    await put(writer.page(itemPage(problem, itemName(layout, index))));
    onProblem({ count: 1, kept: 0, repaired: 0, rows: [csvLine(answerRow(problem, seed, index))] });
  }
}
