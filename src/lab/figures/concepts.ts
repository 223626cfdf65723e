/**
 * What each concept means: a strip of panels drawn while only this concept moves, beside how far its
 * variance declines when an attribute is held fixed.
 */
import type { Panel } from '../../solver/index.js';
import {
  at,
  figure,
  heading,
  panelDrawing,
  shortened,
  SMALL_PRINT,
  text,
  type Figure,
} from './drawing.js';
import { headOf, heatTable } from './heat-table.js';
import { colour } from './theme.js';

export interface ConceptRow {
  /** 1..M */
  readonly concept: number;
  /** What it is called. */
  readonly name: string;
  /** Panels while the concept moves from one value to another. */
  readonly path: readonly Panel[];
  /** Variance decline for each attribute; null if it was not measured. */
  readonly decline: readonly number[] | null;
}

export interface ConceptsData {
  readonly attributes: readonly string[];
  readonly rows: readonly ConceptRow[];
}

const PANEL = 40;
const STEP = 46;
const HEAD = 118;

function strip({ concept, name, path }: ConceptRow): string {
  const head = heading(PANEL / 2 - 2, shortened(name, HEAD - 6), `concept ${concept}`);
  const panels = path.map((panel, i) => at(HEAD + i * STEP, 0, panelDrawing(panel, PANEL)));
  return head + panels.join('');
}

/** Rows are concepts: left their interpolation, right their variance declines. */
export function conceptsFigure({ rows, attributes }: ConceptsData): Figure {
  const steps = Math.max(0, ...rows.map(({ path }) => path.length));
  const measured = attributes.length > 0 && rows.some(({ decline }) => decline !== null);
  const left = HEAD + steps * STEP + 16;
  const top = measured ? headOf(attributes) : 20;
  const declines = measured
    ? heatTable(
        {
          columns: attributes,
          rows: rows.map(({ concept }) => String(concept)),
          values: rows.map(({ decline }) => decline),
          fill: colour('series-1'),
        },
        STEP,
      )
    : undefined;
  const body =
    rows
      .map((row, m) => at(0, top + m * STEP + (STEP - PANEL) / 2, { body: strip(row) }))
      .join('') +
    text(HEAD, top - 6, 'only this concept moves →', SMALL_PRINT) +
    (declines === undefined ? '' : at(left, 0, declines));
  return figure(
    `Interpolation of ${rows.length} concepts${measured ? ' with their variance declines' : ''}`,
    { width: left + (declines?.width ?? 0), height: top + rows.length * STEP, body },
  );
}
