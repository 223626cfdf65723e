/**
 * Items to print: a PDF with one problem a page, A4, vector graphics, and no answers in it (those go
 * to the answer file). Their order and numbers are those of the studio's test of the same items. Built page by
 * page into a temporary file, so its length does not matter.
 */
import { answerRow, csvLine, itemName } from '../item.js';
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
    for (const item of itemsOf(options)) {
      options.signal?.throwIfAborted();
      await put(writer.page(item.page));
      onProblem({ count: 1, kept: 0, repaired: 0, rows: [item.row] });
    }
    await put(writer.end());
  });
}

/** Each item's page and its line of the answer file: one of each configuration after the other. */
function* itemsOf({ layouts, variant, seed, rules, count }: GenerateOptions) {
  const makers = layouts.map((layout) => problemMaker({ ...layout, variant, seed, rules }));
  for (let index = 0; index < count; index++) {
    for (const [i, layout] of layouts.entries()) {
      const problem = makers[i](index);
      const number = index * layouts.length + i + 1;
      const title = `Item ${number} of ${count * layouts.length}, ${itemName(layout, index)}`;
      yield { page: itemPage(problem, title), row: csvLine(answerRow(problem, seed, index)) };
    }
  }
}
