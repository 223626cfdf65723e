/**
 * PDF files of vector graphics and Helvetica, written page by page: what printed items need and no more.
 * A page is drawn in points, y down, by the commands of `PdfPage`. Runs in a browser and in Node.
 */
import { concatenate } from '../base/index.js';
import { deflateZlib } from './deflate.js';

/** Points; A4 upright. */
export const PDF_PAGE = { width: 595.28, height: 841.89 } as const;

/** Grey or colour, each part 0..255. */
export type Ink = readonly [red: number, green: number, blue: number];

type Point = readonly [x: number, y: number];

/** Widths of Helvetica's characters from space on, in thousandths of the size (Adobe's metrics). */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
  556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
  611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
  667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
  222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const SPACE = 32;
const USUAL_WIDTH = 556;

/** How far from the middle of a quarter of a circle its Bézier handles lie, in radii. */
const QUARTER = 0.5523;

const numbers = (...values: readonly number[]): string =>
  values.map((value) => String(Number(value.toFixed(3)))).join(' ');

/** Latin text as a string of a page; a minus sign is written as a hyphen, the unknown as `?`. */
function literal(text: string): string {
  const latin = text.replaceAll('−', '-').replace(/[^\x20-\x7e\xa0-\xff]/gu, '?');
  return `(${latin.replace(/[\\()]/g, '\\$&')})`;
}

/** What is drawn on one page. */
export class PdfPage {
  readonly #commands: string[] = [];

  constructor() {
    // PDF counts y from the bottom.
    this.#add('1 0 0 -1 0', numbers(PDF_PAGE.height), 'cm');
  }

  #add(...words: readonly string[]): this {
    this.#commands.push(words.join(' '));
    return this;
  }

  /** Draws what `draw` says with its origin moved and its units scaled. */
  within([x, y]: Point, scale: number, draw: () => void): this {
    this.#add('q', numbers(scale), '0 0', numbers(scale), numbers(x, y), 'cm');
    draw();
    return this.#add('Q');
  }

  /** Leaves out what lies outside a rectangle; holds until the end of `within`. */
  clip(x: number, y: number, width: number, height: number): this {
    return this.#add(numbers(x, y, width, height), 're W n');
  }

  rectangle(x: number, y: number, width: number, height: number): this {
    return this.#add(numbers(x, y, width, height), 're');
  }

  polygon(points: readonly Point[]): this {
    points.forEach(([x, y], i) => this.#add(numbers(x, y), i === 0 ? 'm' : 'l'));
    return this.#add('h');
  }

  line(from: Point, to: Point): this {
    return this.#add(numbers(...from), 'm', numbers(...to), 'l');
  }

  circle([x, y]: Point, radius: number): this {
    const handle = QUARTER * radius;
    const curve = (...values: number[]): this => this.#add(numbers(...values), 'c');
    this.#add(numbers(x + radius, y), 'm');
    curve(x + radius, y + handle, x + handle, y + radius, x, y + radius);
    curve(x - handle, y + radius, x - radius, y + handle, x - radius, y);
    curve(x - radius, y - handle, x - handle, y - radius, x, y - radius);
    curve(x + handle, y - radius, x + radius, y - handle, x + radius, y);
    return this.#add('h');
  }

  /** Outlines the shape given last, and fills it first if there is a fill. */
  paint(outline: Ink, width: number, fill: Ink | null = null): this {
    const parts = (ink: Ink): string => numbers(...ink.map((part) => part / 255));
    if (fill !== null) this.#add(parts(fill), 'rg');
    return this.#add(parts(outline), 'RG', numbers(width), 'w 1 j', fill === null ? 'S' : 'B');
  }

  /** A line of text from its base line. */
  text(text: string, [x, y]: Point, size: number, ink: Ink, bold = false): this {
    const colour = numbers(...ink.map((part) => part / 255));
    const font = `/${bold ? 'Bold' : 'Plain'} ${numbers(size)} Tf`;
    return this.#add(
      'BT',
      colour,
      'rg',
      font,
      `1 0 0 -1 ${numbers(x, y)} Tm`,
      literal(text),
      'Tj ET',
    );
  }

  get content(): string {
    return this.#commands.join('\n');
  }
}

/** About how wide a text is; of bold ones, digits alone are exact. */
export function pdfTextWidth(text: string, size: number): number {
  let thousandths = 0;
  for (const letter of text) {
    thousandths += WIDTHS.at(letter.charCodeAt(0) - SPACE) ?? USUAL_WIDTH;
  }
  return (size * thousandths) / 1000;
}

const CATALOG = 1;
const PAGES = 2;
const FONTS = { Plain: 3, Bold: 4 } as const;
const FIRST_PAGE = 5;

/** Writes a file: what `start`, `page` and `end` give, one after the other. */
export class PdfWriter {
  readonly #offsets = new Map<number, number>();
  #length = 0;
  #pages = 0;

  #counted(bytes: Uint8Array): Uint8Array {
    this.#length += bytes.length;
    return bytes;
  }

  #object(number: number, content: string): Uint8Array {
    this.#offsets.set(number, this.#length);
    return this.#counted(latin(`${number} 0 obj\n${content}\nendobj\n`));
  }

  start(): Uint8Array {
    return this.#counted(latin('%PDF-1.4\n%\xe2\xe3\xcf\xd3\n'));
  }

  page(page: PdfPage): Uint8Array {
    const [own, content] = [FIRST_PAGE + 2 * this.#pages, FIRST_PAGE + 2 * this.#pages + 1];
    this.#pages++;
    const box = `[0 0 ${numbers(PDF_PAGE.width, PDF_PAGE.height)}]`;
    const fonts = Object.entries(FONTS).map(([name, number]) => `/${name} ${number} 0 R`);
    const about = this.#object(
      own,
      `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box} /Contents ${content} 0 R /Resources << /Font << ${fonts.join(' ')} >> >> >>`,
    );
    const packed = deflateZlib(latin(page.content));
    this.#offsets.set(content, this.#length);
    const head = `${content} 0 obj\n<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`;
    const stream = this.#counted(
      concatenate([latin(head), packed, latin('\nendstream\nendobj\n')]),
    );
    return concatenate([about, stream]);
  }

  end(): Uint8Array {
    const kids = Array.from({ length: this.#pages }, (_, i) => `${FIRST_PAGE + 2 * i} 0 R`);
    const font = (name: string): string =>
      `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
    const parts = [
      this.#object(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R >>`),
      this.#object(PAGES, `<< /Type /Pages /Count ${kids.length} /Kids [${kids.join(' ')}] >>`),
      this.#object(FONTS.Plain, font('Helvetica')),
      this.#object(FONTS.Bold, font('Helvetica-Bold')),
    ];
    const at = this.#length;
    const count = 1 + this.#offsets.size;
    const entries = Array.from({ length: count - 1 }, (_, i) => this.#offsets.get(i + 1) ?? 0);
    const table = entries.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
    const end = `xref\n0 ${count}\n0000000000 65535 f \n${table.join('')}trailer\n<< /Size ${count} /Root ${CATALOG} 0 R >>\nstartxref\n${at}\n%%EOF\n`;
    return concatenate([...parts, latin(end)]);
  }
}

const latin = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
