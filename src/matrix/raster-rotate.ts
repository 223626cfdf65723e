/**
 * Rotation of a raster about a pixel by one of the eight Angle levels, with the fixed-point bilinear
 * interpolation of OpenCV's warpAffine: ten fractional bits for positions, 32 steps within a pixel,
 * weights in units of 1/1024, rounded half up. Outside the source there is no ink.
 */
import { roundHalfEven, type Raster } from './raster.js';

/** Part of a raster: columns left..right and rows top..bottom, both inclusive. */
export interface Region {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

// Cosine and sine of -135, -90, ..., 180 degrees in double precision, written out because engines
// may differ in the last bit and a data set must not depend on the engine.
const DIAGONAL_SINE = 0.7071067811865475;
const DIAGONAL_COSINE = 0.7071067811865476;
const ZERO = 6.123233995736766e-17;
const COSINES = [
  -DIAGONAL_SINE,
  ZERO,
  DIAGONAL_COSINE,
  1,
  DIAGONAL_COSINE,
  ZERO,
  -DIAGONAL_SINE,
  -1,
] as const;
const SINES = [
  -DIAGONAL_COSINE,
  -1,
  -DIAGONAL_SINE,
  0,
  DIAGONAL_SINE,
  1,
  DIAGONAL_COSINE,
  2 * ZERO,
] as const;

/** Cosine and sine of an Angle level. */
export const cosineOf = (angle: number): number => COSINES[angle];
export const sineOf = (angle: number): number => SINES[angle];

const POSITION_SCALE = 1 << 10;
const STEP_BITS = 5;
const STEPS = 1 << STEP_BITS;
/** From ten fractional bits to five. */
const DROPPED_BITS = 5;
const ROUNDING = POSITION_SCALE / STEPS / 2;

/** Rows of [x factor, y factor, constant]: where in the source a target pixel comes from. */
type InverseMap = readonly [readonly number[], readonly number[]];

/** The inverse of the rotation about `centre`, with the operations in the data sets' order. */
function inverseMap(centreX: number, centreY: number, angle: number): InverseMap {
  const cosine = COSINES[angle];
  const sine = SINES[angle];
  const shiftX = (1 - cosine) * centreX - sine * centreY;
  const shiftY = sine * centreX + (1 - cosine) * centreY;
  const determinant = 1 / (cosine * cosine - sine * -sine);
  const xx = cosine * determinant;
  const xy = sine * -determinant;
  const yx = -sine * -determinant;
  const yy = cosine * determinant;
  return [
    [xx, xy, -xx * shiftX - xy * shiftY],
    [yx, yy, -yx * shiftX - yy * shiftY],
  ];
}

const inkAt = (source: Raster, x: number, y: number): number =>
  x >= 0 && x < source.width && y >= 0 && y < source.height ? source.data[y * source.width + x] : 0;

/** Ink at a position in 32nds of a pixel. */
function interpolate(source: Raster, x32: number, y32: number): number {
  const { data, width, height } = source;
  const x = x32 >> STEP_BITS;
  const y = y32 >> STEP_BITS;
  const inside = x >= 0 && x < width - 1 && y >= 0 && y < height - 1;
  const at = y * width + x;
  const a = inside ? data[at] : inkAt(source, x, y);
  const b = inside ? data[at + 1] : inkAt(source, x + 1, y);
  const c = inside ? data[at + width] : inkAt(source, x, y + 1);
  const d = inside ? data[at + width + 1] : inkAt(source, x + 1, y + 1);
  if (a === b && a === c && a === d) return a;
  const right = x32 & (STEPS - 1);
  const below = y32 & (STEPS - 1);
  const upper = a * (STEPS - right) + b * right;
  const lower = c * (STEPS - right) + d * right;
  return (upper * (STEPS - below) + lower * below + (STEPS * STEPS) / 2) >> (2 * STEP_BITS);
}

/**
 * Rotates `source` counter-clockwise about a pixel by an Angle level into `target` (same size),
 * writing only the pixels of `region`.
 */
export function rotate(
  source: Raster,
  target: Raster,
  centre: readonly [x: number, y: number],
  angle: number,
  region: Region,
): void {
  const [[xx, xy, x0], [yx, yy, y0]] = inverseMap(centre[0], centre[1], angle);
  const width = region.right - region.left + 1;
  const columnX = new Int32Array(width);
  const columnY = new Int32Array(width);
  for (let i = 0; i < width; i++) {
    columnX[i] = roundHalfEven(xx * (region.left + i) * POSITION_SCALE);
    columnY[i] = roundHalfEven(yx * (region.left + i) * POSITION_SCALE);
  }
  for (let y = region.top; y <= region.bottom; y++) {
    const rowX = roundHalfEven((xy * y + x0) * POSITION_SCALE) + ROUNDING;
    const rowY = roundHalfEven((yy * y + y0) * POSITION_SCALE) + ROUNDING;
    const start = y * target.width + region.left;
    for (let i = 0; i < width; i++) {
      const x32 = (rowX + columnX[i]) >> DROPPED_BITS;
      const y32 = (rowY + columnY[i]) >> DROPPED_BITS;
      target.data[start + i] = interpolate(source, x32, y32);
    }
  }
}
