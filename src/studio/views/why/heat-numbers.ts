/**
 * The numbers of the heat map: rows that add up, which concepts have a column, and which share has the
 * strongest colour.
 */
import type { ChoiceView, ModelInfo } from '../../engine/protocol.js';
import {
  closestOf,
  decimalsFor,
  distanceRows,
  distanceText,
  roundedParts,
  type DistanceName,
  type DistanceRow,
} from '../../parts/distances.js';

/** A cell of the map: candidate from 0, concept from 1. */
export interface Place {
  readonly candidate: number;
  readonly concept: number;
}

/** A row as it is shown: its numbers add up. */
export interface ShownRow {
  /** A number for each concept that has a column. */
  readonly cells: readonly number[];
  /** Those of concepts that are folded away, together. */
  readonly folded: number;
  readonly drawn: number | null;
  readonly total: number;
}

/** A row with its numbers rounded; those of concepts without a column are one. */
function roundedRow(
  { shares, drawn }: DistanceRow,
  columns: readonly number[],
  decimals: number,
): ShownRow {
  const hidden = shares.reduce((sum, share, m) => (columns.includes(m) ? sum : sum + share), 0);
  const rounded = roundedParts([...columns.map((m) => shares[m]), hidden, drawn ?? 0], decimals);
  const [folded, added] = rounded.slice(columns.length);
  return {
    cells: rounded.slice(0, columns.length),
    folded,
    drawn: drawn === null ? null : added,
    total: rounded.reduce((sum, part) => sum + part, 0),
  };
}

/** The strongest share that is drawn in full: one far candidate must not leave the others pale. */
function strongest(rows: readonly (readonly number[])[]): number {
  const all = rows.flat().sort((a, b) => a - b);
  return Math.max(1e-9, all[Math.floor(0.95 * (all.length - 1))]);
}

export interface HeatNumbers {
  /** Concepts that have a column, from 0. */
  readonly columns: readonly number[];
  /** One for each candidate. */
  readonly rows: readonly ShownRow[];
  /** Whether some concepts have no column. */
  readonly hasFolded: boolean;
  /** Whether drawing added to a candidate. */
  readonly hasDrawn: boolean;
  /** The closest candidates, from 0. */
  readonly closest: readonly number[];
  /** The share that is coloured in full. */
  readonly scale: number;
  readonly text: (value: number) => string;
}

/** `isUnfolded`: concepts that the model hardly uses have columns too. */
export function heatNumbers(
  value: ChoiceView,
  { concepts, unused }: ModelInfo,
  distance: DistanceName,
  isUnfolded: boolean,
): HeatNumbers {
  const distances = distanceRows(value, distance);
  const totals = distances.map(({ total }) => total);
  const decimals = decimalsFor(totals);
  const columns = concepts.flatMap((_, m) => (isUnfolded || !unused.includes(m + 1) ? [m] : []));
  const rows = distances.map((row) => roundedRow(row, columns, decimals));
  return {
    columns,
    rows,
    hasFolded: columns.length < concepts.length,
    hasDrawn: rows.some(({ drawn }) => drawn !== null && drawn > 0),
    closest: closestOf(totals),
    scale: strongest(distances.map(({ shares }) => shares)),
    text: (number) => distanceText(number, decimals),
  };
}
