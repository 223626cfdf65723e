/** Markdown of cards and results: tables, numbers, and text from files, which stays text. */

export type Cell = string | number;

export const NOTHING = '–';

/** A table whose first columns are text and whose others are figures. */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  textColumns = 1,
): string {
  const line = (cells: readonly Cell[]): string => `| ${cells.join(' | ')} |`;
  const rule = `|${'---|'.repeat(textColumns)}${'---:|'.repeat(head.length - textColumns)}`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** A column: what stands at its head, and in each row. */
export type Column<T> = readonly [head: string, cell: (row: T) => Cell];

/** A table by its columns. */
export const tableOf = <T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  textColumns?: number,
): string =>
  table(
    columns.map(([head]) => head),
    rows.map((row) => columns.map(([, cell]) => cell(row))),
    textColumns,
  );

export const bullets = (items: readonly string[]): string =>
  items.map((item) => `- ${item}`).join('\n');

/** Text from a file: no character of it starts markup, and it stays on its line. */
export const escaped = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|#~]/g, String.raw`\$&`);

/** A fraction in percent; the sign stands in the head of the table. */
export const percentage = (share: number): string => (100 * share).toFixed(1);

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
