/**
 * The ideal form of a figure in a small picture, and how much of a picture's ink drawing it explains. A figure's ink
 * is that of its outline and, less dark, of its inside: `outline - shade * inside`, both shares of each pixel,
 * for a shade of 0 (black) to 1 (white). So two products with a picture tell the gain of every shade.
 */
import { SMALL_SIZE } from './render.js';
import { IMAGE_SIZE } from './render-entity.js';
import { OUTLINE_WIDTH, type CircleShape, type PolygonShape } from './svg-shapes.js';

type Shape = PolygonShape | CircleShape;

/** Ink of a panel of 64x64 values (1 = white paper) at a side that divides 64: 0 paper, 1 black. */
export function inkOf(panel: ArrayLike<number>, side: number): Float32Array {
  const ink = new Float32Array(side * side);
  const block = SMALL_SIZE / side;
  for (let y = 0; y < SMALL_SIZE; y++) {
    const row = Math.floor(y / block) * side;
    for (let x = 0; x < SMALL_SIZE; x++) {
      ink[row + Math.floor(x / block)] += (1 - panel[y * SMALL_SIZE + x]) / (block * block);
    }
  }
  return ink;
}

/** How far a point lies outside a shape, in pixels of the 160x160 image; negative inside. */
type Distance = (x: number, y: number) => number;

/** Edges as x * [0] + y * [1] + [2], the distance outside of each: all shapes are convex. */
function edgesOf({ vertices, centre }: PolygonShape): Float64Array {
  const edges = new Float64Array(3 * vertices.length);
  for (let i = 0; i < vertices.length; i++) {
    const from = vertices[i];
    const to = vertices[(i + 1) % vertices.length];
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const across = dy * (centre[0] - from[0]) - dx * (centre[1] - from[1]);
    // The centre is on the inner side of every edge.
    const scale = (across > 0 ? -1 : 1) / Math.hypot(dx, dy);
    edges[3 * i] = scale * dy;
    edges[3 * i + 1] = -scale * dx;
    edges[3 * i + 2] = scale * (dx * from[1] - dy * from[0]);
  }
  return edges;
}

function distanceTo(shape: Shape): Distance {
  if (shape.kind === 'circle') {
    const { centre, radius } = shape;
    return (x, y) => Math.hypot(x - centre[0], y - centre[1]) - radius;
  }
  const edges = edgesOf(shape);
  return (x, y) => {
    let most = -Infinity;
    for (let i = 0; i < edges.length; i += 3) {
      most = Math.max(most, edges[i] * x + edges[i + 1] * y + edges[i + 2]);
    }
    return most;
  };
}

/** The pixels along one axis that a shape can reach: from the first to before the last. */
function reach(middle: number, radius: number, pixel: number, side: number): [number, number] {
  const [low, high] = [(middle - radius) / pixel, (middle + radius) / pixel];
  return [Math.max(0, Math.floor(low) - 1), Math.min(side, Math.ceil(high) + 1)];
}

/** Share of a pixel within a border that is so many pixels away. */
const covered = (distance: number): number => Math.min(1, Math.max(0, 0.5 - distance));

const radiusOf = (shape: Shape): number =>
  shape.kind === 'circle'
    ? shape.radius
    : Math.hypot(shape.vertices[0][0] - shape.centre[0], shape.vertices[0][1] - shape.centre[1]);

/** Where a form is put together: thousands are made at once, and lists that grow take far longer. */
const PIXELS = new Int32Array(SMALL_SIZE * SMALL_SIZE);
const WHOLE = new Float32Array(PIXELS.length);
const INSIDE = new Float32Array(PIXELS.length);

const HALF_OUTLINE = OUTLINE_WIDTH / 2;

/** The shares of pixels of the 160x160 image, by column and row, that an ideal shape and its inside cover. */
export function inkWithin(shape: Shape): {
  readonly whole: (x: number, y: number) => number;
  readonly inside: (x: number, y: number) => number;
} {
  const distanceAt = distanceTo(shape);
  return {
    whole: (x, y) => covered(distanceAt(x + 0.5, y + 0.5) - HALF_OUTLINE),
    inside: (x, y) => covered(distanceAt(x + 0.5, y + 0.5) + HALF_OUTLINE),
  };
}

export class FigureForm {
  /** Sums of products of the shares. */
  readonly #wholeWhole: number;
  readonly #wholeInside: number;
  readonly #insideInside: number;

  /** The pixels it covers, and for each the shares of the whole figure and of its inside. */
  constructor(
    readonly pixels: Int32Array,
    readonly whole: Float32Array,
    readonly inside: Float32Array,
  ) {
    this.#wholeWhole = product(whole, whole);
    this.#wholeInside = product(whole, inside);
    this.#insideInside = product(inside, inside);
  }

  /** The form of a shape in a picture of a whole panel, as the border lies at the middle of each pixel. */
  static ofShape(shape: Shape, side: number): FigureForm {
    const pixel = IMAGE_SIZE / side;
    const radius = radiusOf(shape) + OUTLINE_WIDTH;
    const [firstX, lastX] = reach(shape.centre[0], radius, pixel, side);
    const [firstY, lastY] = reach(shape.centre[1], radius, pixel, side);
    const distanceAt = distanceTo(shape);
    let count = 0;
    for (let y = firstY; y < lastY; y++) {
      for (let x = firstX; x < lastX; x++) {
        const distance = distanceAt((x + 0.5) * pixel, (y + 0.5) * pixel);
        const whole = covered((distance - HALF_OUTLINE) / pixel);
        if (whole === 0) continue;
        PIXELS[count] = y * side + x;
        WHOLE[count] = whole;
        INSIDE[count++] = covered((distance + HALF_OUTLINE) / pixel);
      }
    }
    return new FigureForm(PIXELS.slice(0, count), WHOLE.slice(0, count), INSIDE.slice(0, count));
  }

  /** Sums of products with a picture's ink: of the whole figure, and of its inside. */
  #products(ink: Float32Array): [number, number] {
    const { pixels, whole, inside } = this;
    let [byWhole, byInside] = [0, 0];
    for (let i = 0; i < pixels.length; i++) {
      const value = ink[pixels[i]];
      byWhole += value * whole[i];
      byInside += value * inside[i];
    }
    return [byWhole, byInside];
  }

  /**
   * How dark its outline is in a picture, whatever its inside is, and the squared ink that it explains then; `black` is
   * 1 if it is black, null if there is no inside to tell it from.
   */
  fit(ink: Float32Array): { readonly black: number | null; readonly gain: number } {
    const [byWhole, byInside] = this.#products(ink);
    const [whole, both, inside] = [this.#wholeWhole, this.#wholeInside, this.#insideInside];
    if (inside === 0) return { black: null, gain: whole === 0 ? 0 : byWhole ** 2 / whole };
    const black = (byWhole * inside - byInside * both) / (whole * inside - both ** 2);
    const light = (black * both - byInside) / inside;
    return { black, gain: black * byWhole - light * byInside };
  }

  /**
   * The squared ink that drawing it explains, for each shade, written to `out` from `at` on: the sum of
   * `ink^2 - (ink - drawn)^2`. Negative if the picture is nearer to empty paper.
   */
  gains(ink: Float32Array, shades: Float64Array, out: Float64Array, at: number): void {
    const [byWhole, byInside] = this.#products(ink);
    for (let i = 0; i < shades.length; i++) {
      const shade = shades[i];
      const drawn = this.#wholeWhole + shade * (shade * this.#insideInside - 2 * this.#wholeInside);
      out[at + i] = 2 * (byWhole - shade * byInside) - drawn;
    }
  }
}

/** The sum of products of two lists of numbers. */
export function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
