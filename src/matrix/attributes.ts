/** The value tables of the data sets: what each level of an attribute means. */

/** Names by Type level; level 0 exists in the data sets' tables but is never used, and a line only in meshes. */
export const TYPES = [
  'none',
  'triangle',
  'square',
  'pentagon',
  'hexagon',
  'circle',
  'line',
] as const;

/** Fraction of the slot that an entity fills, by Size level. */
export const SIZES = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9] as const;

/** Grey value by Color level: 255 is white paper, 0 black. */
export const COLORS = [255, 224, 196, 168, 140, 112, 84, 56, 28, 0] as const;

/** Degrees, counter-clockwise positive, by Angle level. */
export const ANGLES = [-135, -90, -45, 0, 45, 90, 135, 180] as const;

/** Whether all entities of a component are alike, by Uniformity level. */
export const UNIFORMITIES = [false, false, false, true] as const;

/** The Uniformity level at which all entities are alike. */
export const UNIFORM = 3;

/** The Angle level of an upright entity. */
export const UPRIGHT = 3;

/** An inclusive range of levels. */
export interface LevelRange {
  readonly min: number;
  readonly max: number;
}

export const levels = (min: number, max: number): LevelRange => ({ min, max });

/** Every level of a range. */
export const levelsOf = ({ min, max }: LevelRange): number[] =>
  Array.from({ length: max - min + 1 }, (_, i) => min + i);
