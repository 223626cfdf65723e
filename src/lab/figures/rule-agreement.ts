/** How well the rule categories of each concept agree with the true rules on each attribute. */
import type { AriTable } from '../evaluation.js';
import { figure, textWidth, type Figure } from './drawing.js';
import { heatTable } from './heat-table.js';
import { colour } from './theme.js';

/** Rows are concepts with their names, columns attributes, values adjusted Rand indices. */
export function ruleAgreementFigure(table: AriTable, names: readonly string[]): Figure {
  const rows = table.matrix.map((_, m) => `${m + 1} ${names[m]}`);
  const margin = 16 + Math.max(...rows.map((row) => textWidth(row)));
  const drawing = heatTable(
    {
      columns: table.attributes.map(({ name }) => name),
      rows,
      values: table.matrix,
      fill: colour('series-3'),
    },
    28,
    margin,
  );
  return figure(
    `Adjusted Rand index of ${rows.length} concepts and ${table.attributes.length} attributes`,
    drawing,
  );
}
