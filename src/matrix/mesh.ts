/**
 * The mesh of I-RAVEN-Mesh (Małkiński and Mańdziuk): one more component of every configuration, up to
 * twelve line segments that are the edges of a 2x2 square mesh. It has rules on Number and Position only.
 * Its lines lie over the figures, two pixels wide, and are never turned.
 */
import { levels } from './attributes.js';
import type { ComponentLayout, Slot } from './layouts.js';
import { drawLine, type Point, type Raster } from './raster.js';

const [LOW, MIDDLE, HIGH] = [0.08, 0.5, 0.92];

/** Row and column of the start, row and column of the end. Slot i + 3 is slot i turned by 90 degrees. */
const SEGMENTS = [
  [LOW, LOW, MIDDLE, LOW],
  [MIDDLE, LOW, HIGH, LOW],
  [MIDDLE, LOW, MIDDLE, MIDDLE],
  [HIGH, LOW, HIGH, MIDDLE],
  [HIGH, MIDDLE, HIGH, HIGH],
  [MIDDLE, MIDDLE, HIGH, MIDDLE],
  [MIDDLE, HIGH, HIGH, HIGH],
  [LOW, HIGH, MIDDLE, HIGH],
  [MIDDLE, MIDDLE, MIDDLE, HIGH],
  [LOW, MIDDLE, LOW, HIGH],
  [LOW, LOW, LOW, MIDDLE],
  [LOW, MIDDLE, MIDDLE, MIDDLE],
] as const;

/** Where each line is, in words. */
export const MESH_SLOT_NAMES = [
  'left edge, upper half',
  'left edge, lower half',
  'middle row, left half',
  'bottom edge, left half',
  'bottom edge, right half',
  'middle column, lower half',
  'right edge, lower half',
  'right edge, upper half',
  'middle row, right half',
  'top edge, right half',
  'top edge, left half',
  'middle column, upper half',
] as const;

/** A line is type 6 of the data sets' tables. */
const LINE_TYPE = 6;

export const MESH: ComponentLayout = {
  name: 'Mesh',
  layout: 'Mesh_Layout',
  slots: SEGMENTS.map(([row, column, width, height]) => ({ row, column, width, height })),
  number: levels(0, SEGMENTS.length - 1),
  // An old constant of the generator: only sums, progressions and Distribute_Three have more than nine lines.
  mostDrawn: 8,
  // Progression of Position is a quarter turn, whatever its step.
  turn: 3,
  type: levels(LINE_TYPE, LINE_TYPE),
  size: levels(0, 0),
  color: levels(0, 0),
  angle: levels(0, 0),
  uniformity: levels(0, 3),
};

/** The two ends of a line in pixels of an image of this side. */
export function segmentOf({ row, column, width, height }: Slot, side: number): [Point, Point] {
  return [
    [Math.trunc(column * side), Math.trunc(row * side)],
    [Math.trunc(height * side), Math.trunc(width * side)],
  ];
}

/** Draws the lines of a mesh with an ink. */
export function drawMesh(raster: Raster, slots: readonly number[], ink: number): void {
  for (const slot of slots) {
    const [from, to] = segmentOf(MESH.slots[slot], raster.width);
    drawLine(raster, from, to, ink);
  }
}
