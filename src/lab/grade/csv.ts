/**
 * Tables as spreadsheets write them: separated by commas, semicolons or tabs, fields in quotes if
 * needed (RFC 4180), with or without a byte order mark. Every row remembers its line for messages.
 */
import { FormatError } from '../../base/index.js';

export interface CsvRow {
  /** Where it begins, counted from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

const SEPARATORS = [',', ';', '\t'] as const;
const MOST_FIELDS = 10_000;

/** The separator that the first line has most of, outside quotes. */
function separatorOf(text: string): string {
  const first = /^(?:"(?:[^"]|"")*"|[^"\r\n])*/.exec(text)?.[0] ?? '';
  const bare = first.replace(/"(?:[^"]|"")*"/g, '');
  const counts = SEPARATORS.map((separator) => bare.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))];
}

/** Goes through a text once; quotes may hold separators, line ends and doubled quotes. */
class CsvReader {
  readonly #separator: string;
  #at = 0;
  #line = 1;

  constructor(
    readonly text: string,
    readonly name: string,
  ) {
    this.#separator = separatorOf(text);
  }

  #fail(line: number, problem: string): never {
    throw new FormatError(`${this.name}, line ${line}: ${problem}`);
  }

  #quoted(): string {
    const start = this.#line;
    let value = '';
    this.#at += 1;
    for (;;) {
      const end = this.text.indexOf('"', this.#at);
      if (end < 0) this.#fail(start, 'a quote is opened and never closed');
      const part = this.text.slice(this.#at, end);
      this.#line += part.split('\n').length - 1;
      value += part;
      this.#at = end + 1;
      if (this.text[this.#at] !== '"') return value;
      value += '"';
      this.#at += 1;
    }
  }

  #field(): string {
    if (this.text[this.#at] === '"') {
      const value = this.#quoted();
      const next = this.text.at(this.#at);
      if (next !== undefined && next !== this.#separator && next !== '\r' && next !== '\n') {
        this.#fail(this.#line, `a quoted field goes on after its closing quote with "${next}"`);
      }
      return value;
    }
    const start = this.#at;
    while (this.#at < this.text.length && !this.#ends(this.text[this.#at])) this.#at += 1;
    const value = this.text.slice(start, this.#at);
    if (value.includes('"')) this.#fail(this.#line, `a quote in the middle of the field ${value}`);
    return value;
  }

  #ends(character: string): boolean {
    return character === this.#separator || character === '\n' || character === '\r';
  }

  #row(): CsvRow {
    const line = this.#line;
    const fields = [this.#field().trim()];
    while (this.text[this.#at] === this.#separator) {
      this.#at += 1;
      fields.push(this.#field().trim());
      if (fields.length > MOST_FIELDS) this.#fail(line, `more than ${MOST_FIELDS} fields`);
    }
    if (this.text[this.#at] === '\r') this.#at += 1;
    if (this.text[this.#at] === '\n') this.#at += 1;
    this.#line += 1;
    return { line, fields };
  }

  rows(): CsvRow[] {
    const rows: CsvRow[] = [];
    while (this.#at < this.text.length) {
      const row = this.#row();
      if (row.fields.some((field) => field !== '')) rows.push(row);
    }
    return rows;
  }
}

/** The text of a file: UTF-8, UTF-16 with its mark, or else what older spreadsheets write. */
export function decodeText(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** All rows that are not blank; `name` is that of the file, for messages. */
export function parseCsv(text: string, name: string): CsvRow[] {
  if (text.includes('\0')) throw new FormatError(`${name} is not a text file`);
  // Files put one after the other bring their marks along.
  const reader = new CsvReader(text.replaceAll('\uFEFF', ''), name);
  return reader.rows();
}
