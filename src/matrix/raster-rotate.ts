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
/** Sum of the weights of the four neighbours of a position. */
export const FULL_WEIGHT_BITS = 2 * STEP_BITS;
export const FULL_WEIGHT = 1 << FULL_WEIGHT_BITS;

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

/** Where the pixels of a region come from: column and row parts, with ten fractional bits. */
interface SourcePositions {
  readonly columnX: Int32Array;
  readonly columnY: Int32Array;
  readonly rowX: Int32Array;
  readonly rowY: Int32Array;
}

/** A position is the sum of a column's part and a row's; each is rounded alone, as OpenCV does. */
function sourcePositions(
  centre: readonly [x: number, y: number],
  angle: number,
  region: Region,
): SourcePositions {
  const [[xx, xy, x0], [yx, yy, y0]] = inverseMap(centre[0], centre[1], angle);
  const width = region.right - region.left + 1;
  const height = region.bottom - region.top + 1;
  const columnX = new Int32Array(width);
  const columnY = new Int32Array(width);
  const rowX = new Int32Array(height);
  const rowY = new Int32Array(height);
  for (let i = 0; i < width; i++) {
    columnX[i] = roundHalfEven(xx * (region.left + i) * POSITION_SCALE);
    columnY[i] = roundHalfEven(yx * (region.left + i) * POSITION_SCALE);
  }
  for (let i = 0; i < height; i++) {
    const y = region.top + i;
    rowX[i] = roundHalfEven((xy * y + x0) * POSITION_SCALE) + ROUNDING;
    rowY[i] = roundHalfEven((yy * y + y0) * POSITION_SCALE) + ROUNDING;
  }
  return { columnX, columnY, rowX, rowY };
}

/** The four neighbours of a position in 32nds of a pixel, weighted; the weights sum to 1024. */
function blend(a: number, b: number, c: number, d: number, x32: number, y32: number): number {
  const right = x32 & (STEPS - 1);
  const below = y32 & (STEPS - 1);
  const upper = a * (STEPS - right) + b * right;
  const lower = c * (STEPS - right) + d * right;
  return upper * (STEPS - below) + lower * below;
}

const inkAt = (source: Raster, x: number, y: number): number =>
  x >= 0 && x < source.width && y >= 0 && y < source.height ? source.data[y * source.width + x] : 0;

/** Ink at a position in 32nds of a pixel. */
function interpolate(source: Raster, x32: number, y32: number): number {
  const x = x32 >> STEP_BITS;
  const y = y32 >> STEP_BITS;
  const a = inkAt(source, x, y);
  const b = inkAt(source, x + 1, y);
  const c = inkAt(source, x, y + 1);
  const d = inkAt(source, x + 1, y + 1);
  return (blend(a, b, c, d, x32, y32) + FULL_WEIGHT / 2) >> FULL_WEIGHT_BITS;
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
  const { columnX, columnY, rowX, rowY } = sourcePositions(centre, angle, region);
  for (let y = region.top; y <= region.bottom; y++) {
    const row = y - region.top;
    const start = y * target.width + region.left;
    for (let i = 0; i < columnX.length; i++) {
      const x32 = (rowX[row] + columnX[i]) >> DROPPED_BITS;
      const y32 = (rowY[row] + columnY[i]) >> DROPPED_BITS;
      target.data[start + i] = interpolate(source, x32, y32);
    }
  }
}

/** Marks a value of a stencil that its right, lower and lower right neighbours have too. */
const LEVEL = 1 << 15;
const VALUE = LEVEL - 1;

/** What is rotated by weights, row by row; nothing lies beyond `reach` of the centre. */
export interface Stencil {
  readonly width: number;
  /** Values below 2^15, with LEVEL where it holds. */
  readonly data: Uint16Array;
  readonly centre: readonly [x: number, y: number];
  /** Pixels around the centre; there are this many and two more to every side. */
  readonly reach: number;
}

/** A stencil of values below 2^15; there must be two pixels beyond `reach` to every side. */
export function makeStencil(
  values: Uint16Array,
  width: number,
  centre: readonly [x: number, y: number],
  reach: number,
): Stencil {
  const data = values.slice();
  for (let i = 0; i + width + 1 < values.length; i++) {
    const value = values[i];
    const level =
      value === values[i + 1] && value === values[i + width] && value === values[i + width + 1];
    if (level) data[i] = value | LEVEL;
  }
  return { width, data, centre, reach };
}

/**
 * As `rotate`, for a stencil whose centre comes to lie on `centre`: writes the weighted sums
 * themselves, 1024 times the value where four neighbours are equal. Only pixels of `region` within
 * the stencil's reach are written, and of those only what is not 0.
 */
export function rotateWeights(
  stencil: Stencil,
  target: Int32Array,
  targetWidth: number,
  centre: readonly [x: number, y: number],
  angle: number,
  region: Region,
): void {
  const { data, width, reach } = stencil;
  const { columnX, columnY, rowX, rowY } = sourcePositions(centre, angle, region);
  const shift = (stencil.centre[1] - centre[1]) * width + stencil.centre[0] - centre[0];
  for (let y = region.top; y <= region.bottom; y++) {
    const row = y - region.top;
    const half = Math.floor(Math.sqrt(Math.max(reach * reach - (y - centre[1]) ** 2, 0)));
    const first = Math.max(centre[0] - half, region.left);
    const last = Math.min(centre[0] + half, region.right);
    for (let x = first; x <= last; x++) {
      const x32 = (rowX[row] + columnX[x - region.left]) >> DROPPED_BITS;
      const y32 = (rowY[row] + columnY[x - region.left]) >> DROPPED_BITS;
      const at = (y32 >> STEP_BITS) * width + (x32 >> STEP_BITS) + shift;
      const value = data[at];
      if (value === LEVEL) continue;
      const sum =
        value & LEVEL
          ? (value & VALUE) * FULL_WEIGHT
          : blend(
              value,
              data[at + 1] & VALUE,
              data[at + width] & VALUE,
              data[at + width + 1] & VALUE,
              x32,
              y32,
            );
      target[y * targetWidth + x] = sum;
    }
  }
}
