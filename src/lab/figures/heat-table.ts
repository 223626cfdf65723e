/** A table of shares as coloured cells: concepts down, attributes across, one scale for all figures. */
import * as Plot from '@observablehq/plot';
import { chart } from './chart.js';
import { textWidth, type Drawing } from './drawing.js';
import { colour, SMALL_FONT_SIZE } from './theme.js';

interface HeatTable {
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** [rows][columns], 0..1; null leaves a row empty. */
  readonly values: readonly (readonly number[] | null)[];
  /** A palette colour. */
  readonly fill: string;
}

interface Cell {
  readonly row: string;
  readonly column: string;
  readonly value: number;
}

const CELL = 50;
const SLOPE = 40;

/** Two decimals, without a sign before zero. */
const twoDecimals = (value: number): string => (Math.round(value * 100) / 100 + 0).toFixed(2);

/** Height that the slanted names of the columns take. */
export const headOf = (columns: readonly string[]): number => {
  const widest = Math.max(0, ...columns.map((column) => textWidth(column, SMALL_FONT_SIZE)));
  return Math.ceil(widest * Math.sin((SLOPE * Math.PI) / 180)) + 16;
};

/** Rows are `step` high; the names of the rows are drawn only with a margin for them. */
export function heatTable(table: HeatTable, step: number, rowMargin = 0): Drawing {
  const { columns, rows, values, fill } = table;
  const cells = values.flatMap((row, r): Cell[] =>
    (row ?? []).map((value, c) => ({ row: rows[r], column: columns[c], value })),
  );
  const head = headOf(columns);
  const right = Math.ceil(textWidth(columns.at(-1) ?? '', SMALL_FONT_SIZE) * 0.6);
  return chart({
    width: rowMargin + columns.length * CELL + right,
    height: rows.length * step + head,
    marginTop: head,
    marginLeft: rowMargin,
    marginRight: right,
    marginBottom: 0,
    padding: 0.06,
    x: { type: 'band', domain: columns, axis: null, round: false },
    y: { type: 'band', domain: rows, axis: null, round: false },
    marks: [
      Plot.cell(cells, {
        x: 'column',
        y: 'row',
        fill,
        fillOpacity: ({ value }: Cell) => Math.min(1, Math.max(0.04, value)),
      }),
      Plot.text(cells, {
        x: 'column',
        y: 'row',
        text: ({ value }: Cell) => twoDecimals(value),
        fill: ({ value }: Cell) => (value > 0.55 ? colour('paper') : colour('ink')),
        fontSize: SMALL_FONT_SIZE,
      }),
      Plot.axisX({
        anchor: 'top',
        tickRotate: -SLOPE,
        tickSize: 0,
        tickPadding: 4,
        label: null,
        fontSize: SMALL_FONT_SIZE,
      }),
      ...(rowMargin > 0 ? [Plot.axisY({ tickSize: 0, label: null })] : []),
    ],
  });
}
