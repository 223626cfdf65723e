/**
 * Turns a slightly turned picture, such as a scan, upright: the lines of a matrix, frames above all, run
 * along rows and columns then. The angle is the one at which edges fall into the fewest rows and columns.
 */
import type { GreyImage } from '../matrix/index.js';

/** Degrees that a picture may be turned by; a little more than the three that are promised. */
const MOST_DEGREES = 4;
/** The angle is first searched in steps of this, then in finer ones around the best. */
const STEPS = [0.25, 0.05, 0.01] as const;
/** A picture turned by less is upright: turning it would only blur it. */
const LEAST_DEGREES = 0.1;
/** Difference of neighbours that makes an edge. */
const EDGE = 0.06;
/** Edges looked at: more tell nothing new. */
const MOST_EDGES = 40_000;
/** Rows and columns that edges are counted in, along the longer side. */
const MOST_BINS = 1000;

/** Pixels at which the picture changes along one axis, from its middle: x0, y0, x1, y1, ... */
function edges({ width, height, data }: GreyImage, along: 'x' | 'y'): Float32Array {
  const step = along === 'x' ? 1 : width;
  const found: number[] = [];
  for (let y = 0; y < height - 1; y++) {
    for (let x = 0; x < width - 1; x++) {
      const at = y * width + x;
      if (Math.abs(data[at] - data[at + step]) > EDGE) found.push(at);
    }
  }
  const every = Math.max(1, Math.ceil(found.length / MOST_EDGES));
  const kept = found.filter((_, i) => i % every === 0);
  return Float32Array.from(
    kept.flatMap((at) => [(at % width) - width / 2, Math.floor(at / width) - height / 2]),
  );
}

/** How much edges fall into few bins across lines of a slope: the sum of squared counts. */
function sharpness(points: Float32Array, axis: 0 | 1, slope: number, bin: number): number {
  const counts = new Float64Array(2 * MOST_BINS);
  for (let i = 0; i < points.length; i += 2) {
    const place = (points[i + axis] + slope * points[i + 1 - axis]) / bin + MOST_BINS;
    const low = Math.floor(place);
    // Shared by two bins, so that the sum does not depend on where bins begin.
    counts[low] += low + 1 - place;
    counts[low + 1] += place - low;
  }
  return counts.reduce((sum, count) => sum + count * count, 0);
}

/** Degrees clockwise that the lines of a picture are turned by. */
function skewOf(image: GreyImage): number {
  const [upright, level] = [edges(image, 'x'), edges(image, 'y')];
  const bin = Math.max(1, Math.max(image.width, image.height) / MOST_BINS);
  const score = (degrees: number): number => {
    const slope = Math.tan((degrees * Math.PI) / 180);
    return sharpness(upright, 0, slope, bin) + sharpness(level, 1, -slope, bin);
  };
  let best = { degrees: 0, score: score(0) };
  let reach = MOST_DEGREES;
  for (const step of STEPS) {
    const middle = best.degrees;
    for (let k = -Math.round(reach / step); k <= Math.round(reach / step); k++) {
      const degrees = middle + k * step;
      const found = score(degrees);
      if (found > best.score) best = { degrees, score: found };
    }
    reach = step;
  }
  return best.degrees;
}

/** The picture turned anticlockwise around its middle, on paper of a shade. */
export function turned(image: GreyImage, degrees: number, paper: number): GreyImage {
  const { width, height, data } = image;
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const at = (x: number, y: number): number =>
    x >= 0 && y >= 0 && x < width && y < height ? data[y * width + x] : paper;
  const out = new Float32Array(data.length);
  const [middleX, middleY] = [(width - 1) / 2, (height - 1) / 2];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - middleX, y - middleY];
      const fromX = middleX + cos * dx - sin * dy;
      const fromY = middleY + sin * dx + cos * dy;
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
      const [right, down] = [fromX - left, fromY - top];
      out[y * width + x] =
        (1 - down) * ((1 - right) * at(left, top) + right * at(left + 1, top)) +
        down * ((1 - right) * at(left, top + 1) + right * at(left + 1, top + 1));
    }
  }
  return { width, height, data: out };
}

/** The picture upright, on paper of a shade; null if it is upright already. */
export function straightened(image: GreyImage, paper: number): GreyImage | null {
  const degrees = skewOf(image);
  return Math.abs(degrees) < LEAST_DEGREES ? null : turned(image, degrees, paper);
}
