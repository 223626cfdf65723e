/**
 * Items to print: a PDF with one problem a page, A4, vector graphics, and no answers in it (those go
 * to the answer file). Built page by page into a temporary file, so its length does not matter.
 */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import PDFDocument from 'pdfkit';
import { answerRow, csvLine, itemName } from '../item.js';
import { layoutOfProblem, type ConfigurationLayout } from '../layouts.js';
import type { Panel, Problem } from '../problem.js';
import { IMAGE_SIZE } from '../render-entity.js';
import { layOutItem, type PlacedPanel, type PlacedText } from '../svg-item.js';
import { OUTLINE_WIDTH, panelShapes, type PanelShape } from '../svg-shapes.js';
import { PendingFile } from '../../base/node.js';
import { makeFolderOf } from '../../base/node.js';
import type { GenerateOptions } from './generate.js';
import type { GenerateResult } from './generate-worker.js';
import { problemMaker } from './problem-maker.js';
import type { OutputPlace } from '../../base/node.js';

type Pdf = InstanceType<typeof PDFDocument>;

/** Points; the page is A4 upright. */
const PAGE = { width: 595.28, height: 841.89 };
const MARGIN = 40;
const INKS = { ink: '#222222', muted: '#808080', accent: '#007a5e' } as const;
const HAIRLINE = '#b4b4b4';

/** Writes all problems of a request as one PDF. */
export async function writePdf(
  options: GenerateOptions,
  place: OutputPlace,
  onProblem: (result: GenerateResult) => void,
): Promise<void> {
  await makeFolderOf(place.path);
  const pending = await PendingFile.create(place);
  const document = new PDFDocument({
    autoFirstPage: false,
    size: 'A4',
    info: { Title: 'Matrices' },
  });
  const stream = createWriteStream(pending.temporary, { flags: 'r+' });
  const written = finished(stream);
  // A failure is reported where it is awaited below; without a listener it would end the process.
  written.catch(() => {});
  document.pipe(stream);
  try {
    for (const layout of options.layouts) {
      await addPages(document, options, layout, stream, onProblem);
    }
    document.end();
    await written;
    await pending.commit();
  } catch (error) {
    stream.destroy();
    await pending.abandon();
    throw error;
  }
}

async function addPages(
  document: Pdf,
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
    addPage(document, problem, itemName(layout, index));
    onProblem({ count: 1, kept: 0, repaired: 0, rows: [csvLine(answerRow(problem, seed, index))] });
    // Lets the file be written and Ctrl-C be noticed between pages.
    await new Promise(setImmediate);
  }
}

/** One item, as large as the margins allow, in the middle of its page. */
function addPage(document: Pdf, problem: Problem, title: string): void {
  const layout = layoutOfProblem(problem);
  const item = layOutItem(problem, { title });
  const scale = Math.min(
    (PAGE.width - 2 * MARGIN) / item.width,
    (PAGE.height - 2 * MARGIN) / item.height,
  );
  document.addPage({ size: 'A4', margin: 0 });
  document.translate(
    (PAGE.width - scale * item.width) / 2,
    (PAGE.height - scale * item.height) / 2,
  );
  document.scale(scale);
  for (const place of item.panels) drawPlace(document, layout, place);
  for (const text of item.texts) drawText(document, text);
}

function drawText(document: Pdf, { x, y, size, text, colour, anchor, bold }: PlacedText): void {
  document
    .font(bold ? 'Helvetica-Bold' : 'Helvetica')
    .fontSize(size)
    .fillColor(INKS[colour]);
  const left = anchor === 'middle' ? x - document.widthOfString(text) / 2 : x;
  document.text(text, left, y, { baseline: 'alphabetic', lineBreak: false });
}

function drawPlace(
  document: Pdf,
  layout: ConfigurationLayout,
  { x, y, size, panel }: PlacedPanel,
): void {
  if (panel) drawPanel(document, layout, panel, x, y, size);
  document.rect(x, y, size, size).lineWidth(1).stroke(HAIRLINE);
}

function drawPanel(
  document: Pdf,
  layout: ConfigurationLayout,
  panel: Panel,
  x: number,
  y: number,
  size: number,
): void {
  document.save();
  document.rect(x, y, size, size).clip();
  document.translate(x, y).scale(size / IMAGE_SIZE);
  for (const shape of panelShapes(layout, panel)) drawShape(document, shape);
  document.restore();
}

function drawShape(document: Pdf, shape: PanelShape): void {
  if (shape.kind === 'line') {
    document.moveTo(...shape.from).lineTo(...shape.to);
    document.lineWidth(shape.width).stroke('black');
    return;
  }
  if (shape.kind === 'circle') document.circle(...shape.centre, shape.radius);
  else document.polygon(...shape.vertices.map(([x, y]) => [x, y]));
  document.lineWidth(OUTLINE_WIDTH).lineJoin('round');
  if (shape.fill === null) document.stroke('black');
  else document.fillAndStroke(`#${shape.fill.toString(16).padStart(2, '0').repeat(3)}`, 'black');
}
