/** Items to print as pages of a PDF, A4: one problem a page, or a worksheet of four a page with its key. */
import { concatenate } from '../base/index.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import { PDF_PAGE, PdfPage, pdfTextWidth, PdfWriter, type Ink } from './pdf.js';
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
  { x, y, size }: Pick<PlacedPanel, 'x' | 'y' | 'size'>,
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
  readonly problem: Problem;
  /** Index of the right candidate; null if there is no one right answer. */
  readonly answer: number | null;
  /** What the key says of it below the answer, such as its rules; each text begins a line. */
  readonly key: readonly string[];
}

const HEADING_SIZE = 17;
const TEXT_SIZE = 10;
const LINE = 15;
/** Height of the head of a page: title, instruction, and a line for name and date. */
const HEAD = 66;
const ITEMS_PER_PAGE = 4;
const PITCH = (PDF_PAGE.height - 2 * MARGIN - HEAD) / ITEMS_PER_PAGE;
/** Room for the number of an item, left of it. */
const NUMBER_WIDTH = 30;
const ROW_GAP = 20;
const GAP = 4;
const PANEL = (PITCH - ROW_GAP - 2 * GAP) / 3;
const CANDIDATES_LEFT = MARGIN + NUMBER_WIDTH + 3 * (PANEL + GAP) + 28;
const CANDIDATE_PITCH = { x: PANEL + 13, y: PANEL + 19 };

const TITLE = 'Which one completes the matrix?';
const INSTRUCTION =
  'Look along the rows. Circle the number of the one panel on the right that belongs in the empty place.';

/** Title, instruction and a line for name and date above; at the foot what these matrices are. */
function drawFrame(page: PdfPage, about: string): void {
  const { width, height } = PDF_PAGE;
  const top = MARGIN + 4;
  page.text(TITLE, [MARGIN, top], HEADING_SIZE, INKS.ink, true);
  page.text(INSTRUCTION, [MARGIN, top + 18], TEXT_SIZE, INKS.ink);
  const base = top + 42;
  const field = (name: string, from: number, to: number): void => {
    page.text(name, [from, base], TEXT_SIZE, INKS.ink);
    page.line([from + pdfTextWidth(name, TEXT_SIZE) + 6, base + 2], [to, base + 2]);
    page.paint(HAIRLINE, 1);
  };
  field('Name', MARGIN, width - MARGIN - 160);
  field('Date', width - MARGIN - 140, width - MARGIN);
  page.text(about, [MARGIN, height - MARGIN + 8], 9, INKS.muted);
}

/** The matrix of an item with its candidates, of the same size, to its right. */
function drawRow(page: PdfPage, { problem }: WorksheetItem, number: number, y: number): void {
  const layout = layoutOfProblem(problem);
  const framed = (x: number, top: number, panel: Panel | null): void => {
    if (panel !== null) drawPanel(page, layout, panel, { x, y: top, size: PANEL });
    page.rectangle(x, top, PANEL, PANEL).paint(HAIRLINE, 0.7);
  };
  const centred = (text: string, x: number, base: number, size: number, ink: Ink): void => {
    page.text(text, [x + (PANEL - pdfTextWidth(text, size)) / 2, base], size, ink);
  };
  page.text(`${number}`, [MARGIN, y + 12], 13, INKS.ink, true);
  const left = MARGIN + NUMBER_WIDTH;
  [...problem.context, null].forEach((panel, i) =>
    framed(left + (i % 3) * (PANEL + GAP), y + Math.floor(i / 3) * (PANEL + GAP), panel),
  );
  const last = 2 * (PANEL + GAP);
  centred('?', left + last, y + last + PANEL / 2 + 8, 22, INKS.muted);
  problem.candidates.forEach(({ panel }, i) => {
    const x = CANDIDATES_LEFT + (i % 4) * CANDIDATE_PITCH.x;
    const top = y + Math.floor(i / 4) * CANDIDATE_PITCH.y;
    framed(x, top, panel);
    centred(String(i + 1), x, top + PANEL + 11, TEXT_SIZE, INKS.ink);
  });
}

/** Characters that surely fit a line of the key. */
const KEY_COLUMNS = 100;
const KEY_LINES = Math.floor((PDF_PAGE.height - 2 * MARGIN - 2 * HEADING_SIZE) / LINE);

interface KeyLine {
  readonly text: string;
  readonly bold: boolean;
}

const keyLines = (text: string): KeyLine[] =>
  wrapText(text, KEY_COLUMNS).map((line) => ({ text: line, bold: false }));

/** Lines of the key on one item: its answer, and what is to be said of it. */
const keyEntry = ({ answer, key }: WorksheetItem, index: number): KeyLine[] => [
  {
    text: `${index + 1}: ${answer === null ? 'no one right answer' : `answer ${answer + 1}`}`,
    bold: true,
  },
  ...key.flatMap(keyLines),
];

/** The lines of each page of the key: a line is left empty between items, and none goes over two pages. */
function keyText(items: readonly WorksheetItem[], preface: string): KeyLine[][] {
  const pages: KeyLine[][] = preface === '' ? [] : [keyLines(preface)];
  for (const entry of items.map(keyEntry)) {
    const page = pages.at(-1);
    if (page === undefined || page.length + 1 + entry.length > KEY_LINES) pages.push(entry);
    else page.push({ text: '', bold: false }, ...entry);
  }
  return pages;
}

function keyPages(items: readonly WorksheetItem[], about: string, preface: string): PdfPage[] {
  return keyText(items, preface).map((lines) => {
    const page = new PdfPage();
    const top = MARGIN + HEADING_SIZE;
    page.text(`Answer key: ${about}`, [MARGIN, top], HEADING_SIZE, INKS.ink, true);
    lines.forEach(({ text, bold }, n) => {
      const at = [MARGIN, top + HEADING_SIZE + n * LINE] as const;
      page.text(text, at, TEXT_SIZE, bold ? INKS.ink : INKS.muted, bold);
    });
    return page;
  });
}

/**
 * A whole PDF: four items a page below a title, an instruction and a line for the name, and the key on
 * pages of its own at the end. Only the key tells answers, rules, and of items that have no right answer.
 * @param about what matrices these are, in a few words
 * @param preface what the key says first, of all items; empty for nothing
 */
export function worksheetPdf(
  items: readonly WorksheetItem[],
  about: string,
  preface = '',
): Uint8Array {
  const writer = new PdfWriter();
  const start = writer.start();
  const count = Math.ceil(items.length / ITEMS_PER_PAGE);
  const sheets = Array.from({ length: count }, (_, n) => {
    const page = new PdfPage();
    drawFrame(page, `${about}, page ${n + 1} of ${count}`);
    const first = n * ITEMS_PER_PAGE;
    items
      .slice(first, first + ITEMS_PER_PAGE)
      .forEach((item, i) => drawRow(page, item, first + i + 1, MARGIN + HEAD + i * PITCH));
    return page;
  });
  const body = [...sheets, ...keyPages(items, about, preface)].map((page) => writer.page(page));
  return concatenate([start, ...body, writer.end()]);
}
