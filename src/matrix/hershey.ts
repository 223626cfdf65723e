/**
 * The few characters of Hershey's simplex font that `bench-picture.ts` needs, drawn one pixel wide and
 * without antialiasing, to the same pixels as OpenCV's text.
 */
import { drawFixedLine, roundHalfEven, type Point, type Raster } from './raster.js';

/**
 * Hershey's own notation: left and right edge, then points of pen strokes, a space between strokes. A
 * letter is a distance from R, x then y, y down.
 */
const GLYPHS: Readonly<Record<string, string>> = {
  '?': 'I[LKLJMHNGPFTFVGWHXJXLWNVORQRT RYQZR[SZRY',
  A: 'I[RFJ[ RFZ[ MTWT',
  B: 'G\\KFK[ KFTFWGXHYJYLXNWOTP KPTPWQXRYTYWXYWZT[K[',
  C: 'H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZV',
  D: 'G\\KFK[ KFRFUGWIXKYNYSXVWXUZR[K[',
  E: 'H[LFL[ LFYF LPTP L[Y[',
  F: 'HZLFL[ LFYF LPTP',
  G: 'H]ZKYIWGUFQFOGMILKKNKSLVMXOZQ[U[WZYXZVZS USZS',
  H: 'G]KFK[ YFY[ KPYP',
};

const ORIGIN = 'R'.charCodeAt(0);
const ONE = 1 << 16;
/** From the middle of the font down to its base line. */
const BASE_LINE = 9;

/** Draws one character; (x, y) is its left end on the base line. */
export function drawHershey(
  raster: Raster,
  character: string,
  [x, y]: Point,
  scale: number,
  value: number,
): void {
  const glyph = GLYPHS[character];
  const unit = roundHalfEven(scale * ONE);
  const distance = (index: number, text: string): number => text.charCodeAt(index) - ORIGIN;
  const left = x * ONE - distance(0, glyph) * unit;
  const middle = y * ONE - BASE_LINE * unit;
  for (const stroke of glyph.slice(2).split(' ')) {
    const points: Point[] = [];
    for (let i = 0; i < stroke.length; i += 2) {
      points.push([left + distance(i, stroke) * unit, middle + distance(i + 1, stroke) * unit]);
    }
    points.slice(1).forEach((to, i) => drawFixedLine(raster, points[i], to, value));
  }
}
