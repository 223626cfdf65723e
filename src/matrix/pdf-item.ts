/** Items to print as pages of a PDF: one problem a page, A4, and a worksheet of several with its key. */
import { describeRules } from './describe.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import { joined, PDF_PAGE, PdfPage, pdfTextWidth, PdfWriter, type Ink } from './pdf.js';
import type { Panel, Problem } from './problem.js';
import { IMAGE_SIZE } from './render-entity.js';
import { layOutItem, wrapText, type PlacedPanel, type PlacedText } from './svg-item.js';
import { OUTLINE_WIDTH, panelShapes, type PanelShape } from './svg-shapes.js';

const MARGIN = 40;
const BLACK: Ink = [0, 0, 0];
const INKS = { ink: [34, 34, 34], muted: [128, 128, 128], accent: [0, 122, 94] } as const;
const HAIRLINE: Ink = [180, 180, 180];

function drawShape(page: PdfPage, shape: PanelShape): void {
  if (shape.kind === 'line') {
    page.line(shape.from, shape.to).paint(BLACK, shape.width);
    return;
  }
  if (shape.kind === 'circle') page.circle(shape.centre, shape.radius);
  else page.polygon(shape.vertices);
  page.paint(
    BLACK,
    OUTLINE_WIDTH,
    shape.fill === null ? null : [shape.fill, shape.fill, shape.fill],
  );
}

function drawPanel(
  page: PdfPage,
  layout: ConfigurationLayout,
  panel: Panel,
  { x, y, size }: PlacedPanel,
): void {
  page.within([x, y], size / IMAGE_SIZE, () => {
    page.clip(0, 0, IMAGE_SIZE, IMAGE_SIZE);
    for (const shape of panelShapes(layout, panel)) drawShape(page, shape);
  });
}

function drawText(page: PdfPage, { x, y, size, text, colour, anchor, bold }: PlacedText): void {
  const left = anchor === 'middle' ? x - pdfTextWidth(text, size) / 2 : x;
  page.text(text, [left, y], size, INKS[colour], bold);
}

/** One item, as large as the margins allow, in the middle of its page. */
export function itemPage(problem: Problem, title: string): PdfPage {
  const layout = layoutOfProblem(problem);
  const item = layOutItem(problem, { title });
  const scale = Math.min(
    (PDF_PAGE.width - 2 * MARGIN) / item.width,
    (PDF_PAGE.height - 2 * MARGIN) / item.height,
  );
  const left = (PDF_PAGE.width - scale * item.width) / 2;
  const top = (PDF_PAGE.height - scale * item.height) / 2;
  const page = new PdfPage();
  return page.within([left, top], scale, () => {
    for (const place of item.panels) {
      if (place.panel) drawPanel(page, layout, place.panel, place);
      page.rectangle(place.x, place.y, place.size, place.size).paint(HAIRLINE, 1);
    }
    for (const text of item.texts) drawText(page, text);
  });
}

export interface WorksheetItem {
  readonly title: string;
  readonly problem: Problem;
}

const KEY_SIZE = 10;
const KEY_LINE = 15;
const HEADING_SIZE = 18;
const KEY_LINES = Math.floor((PDF_PAGE.height - 2 * MARGIN - 2 * HEADING_SIZE) / KEY_LINE);

/** Lines of the key: the answer of each item, and its rules. */
const keyLines = (items: readonly WorksheetItem[]): { text: string; bold: boolean }[] =>
  items.flatMap(({ title, problem }) => [
    { text: `${title}: answer ${problem.target + 1}`, bold: true },
    ...wrapText(describeRules(problem).join('; ')).map((text) => ({ text, bold: false })),
  ]);

function keyPages(items: readonly WorksheetItem[]): PdfPage[] {
  const lines = keyLines(items);
  return Array.from({ length: Math.ceil(lines.length / KEY_LINES) }, (_, i) => {
    const page = new PdfPage();
    const top = MARGIN + HEADING_SIZE;
    page.text('Answer key', [MARGIN, top], HEADING_SIZE, INKS.ink, true);
    lines.slice(i * KEY_LINES, (i + 1) * KEY_LINES).forEach(({ text, bold }, n) => {
      const at = [MARGIN, top + HEADING_SIZE + n * KEY_LINE] as const;
      page.text(text, at, KEY_SIZE, bold ? INKS.ink : INKS.muted, bold);
    });
    return page;
  });
}

/** A whole PDF: a page for each item, and the key on pages of its own at the end. */
export function worksheetPdf(items: readonly WorksheetItem[]): Uint8Array {
  const writer = new PdfWriter();
  const start = writer.start();
  const pages = [
    ...items.map(({ title, problem }) => itemPage(problem, title)),
    ...keyPages(items),
  ];
  const body = pages.map((page) => writer.page(page));
  return joined([start, ...body, writer.end()]);
}
