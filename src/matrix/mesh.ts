/**
 * The mesh of I-RAVEN-Mesh (Małkiński and Mańdziuk): one more component of every configuration, up to
 * twelve line segments that are the edges of a 2x2 square mesh. It has rules on Number and Position only.
 * Its lines lie over the figures, two pixels wide, and are never turned.
 */
import { levels, UNIFORM } from './attributes.js';
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
  uniformity: levels(0, UNIFORM),
};

/** The two ends of a line in pixels of an image of this side. */
export function segmentOf({ row, column, width, height }: Slot, side: number): [Point, Point] {
  return [
    [Math.trunc(column * side), Math.trunc(row * side)],
    [Math.trunc(height * side), Math.trunc(width * side)],
  ];
}

/** Ink of a pixel that may be of a line, and of one that is surely not. */
const [LINE_INK, PAPER_INK] = [0.25, 0.1];
/** Pixels of 64 that a line may lie off its place, and those beside it that must be paper. */
const [OFF, BESIDE] = [1, 4];
/** Least points of a line that no figure covers. */
const LEAST_SEEN = 6;

/**
 * Whether a picture [side, side] (1 = white) shows a line of a mesh: a thin one in its place, as far as the
 * figures, drawn by themselves in another picture, leave it free.
 */
export function showsMesh(picture: Float32Array, figures: Float32Array, side: number): boolean {
  const ink = (pixels: Float32Array, x: number, y: number): number =>
    x < 0 || y < 0 || x >= side || y >= side ? 0 : 1 - pixels[y * side + x];
  const reach = Array.from({ length: 2 * BESIDE + 1 }, (_, i) => i - BESIDE);
  return MESH.slots.some((slot) => {
    const [from, to] = segmentOf(slot, side);
    const length = Math.abs(to[0] - from[0]) + Math.abs(to[1] - from[1]);
    const [dx, dy] = [Math.sign(to[0] - from[0]), Math.sign(to[1] - from[1])];
    let [free, seen] = [0, 0];
    // Near its ends other lines may cross it.
    for (let step = BESIDE; step <= length - BESIDE; step++) {
      const across = (pixels: Float32Array, off: number): number =>
        ink(pixels, from[0] + dx * step + dy * off, from[1] + dy * step + dx * off);
      if (reach.some((off) => across(figures, off) > PAPER_INK)) continue;
      free += 1;
      const isThere = reach.some((off) => Math.abs(off) <= OFF && across(picture, off) > LINE_INK);
      const isThin = across(picture, BESIDE) < PAPER_INK && across(picture, -BESIDE) < PAPER_INK;
      if (isThere && isThin) seen += 1;
    }
    return free >= LEAST_SEEN && seen >= 0.9 * free;
  });
}

/** Draws the lines of a mesh with an ink. */
export function drawMesh(raster: Raster, slots: readonly number[], ink: number): void {
  for (const slot of slots) {
    const [from, to] = segmentOf(MESH.slots[slot], raster.width);
    drawLine(raster, from, to, ink);
  }
}
