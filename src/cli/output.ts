/** Results on standard output: as JSON, or as lines of text. */
import { isStandardOutput } from '../base/node.js';

/**
 * What a command found: as JSON if that was asked for, else in words. If the data that it wrote to `out` are
 * on standard output, it is told on standard error.
 */
export function tell(
  { json = false, out = '' }: { readonly json?: boolean; readonly out?: string },
  found: unknown,
  inWords: () => string,
): void {
  const stream = isStandardOutput(out) ? process.stderr : process.stdout;
  stream.write(json ? `${JSON.stringify(found)}\n` : inWords());
}

/** Columns padded to the widest entry: words in the first, figures in the others. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column].length), 0),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((entry, i) => (i === 0 ? entry.padEnd(widths[i]) : entry.padStart(widths[i])))
      .join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}
