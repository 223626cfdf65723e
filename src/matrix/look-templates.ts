/**
 * Drawings of every look of an entity in the pixels of one slot, and how far a picture is from each.
 * Comparing a picture with thousands of drawings is made cheap without losing exactness: pixels are
 * grouped into blocks, and a sum of squared differences is never less than that of the blocks' means and
 * contrasts, so most drawings are ruled out by large blocks, and most others by small ones.
 */
import { SMALL_SIZE } from './render.js';

/** Sides of blocks, the largest first. */
const BLOCKS = [16, 8, 4] as const;

/** Pixels by block: for each pixel its block, and for each block its number of pixels. */
function blocksOf(
  pixels: Int32Array,
  side: number,
): { readonly of: Int32Array; readonly sizes: number[] } {
  const numbers = new Map<number, number>();
  const sizes: number[] = [];
  const of = pixels.map((pixel) => {
    const [x, y] = [pixel % SMALL_SIZE, Math.floor(pixel / SMALL_SIZE)];
    const place = Math.floor(y / side) * SMALL_SIZE + Math.floor(x / side);
    const number = numbers.get(place) ?? sizes.length;
    numbers.set(place, number);
    sizes[number] = (sizes[number] ?? 0) + 1;
    return number;
  });
  return { of, sizes };
}

function squaredTo(own: Float32Array, all: Float32Array, row: number): number {
  let sum = 0;
  for (let i = 0, at = row * own.length; i < own.length; i++, at++) {
    const difference = own[i] - all[at];
    sum += difference * difference;
  }
  return sum;
}

/** Pictures in short: squared distances of sketches are never above those of the pictures. */
class Sketches {
  readonly #blockOf: Int32Array;
  readonly #sizes: readonly number[];
  /** [looks, 2 blocks] */
  readonly #looks: Float32Array;

  constructor(pixels: Int32Array, side: number, looks: number) {
    const { of, sizes } = blocksOf(pixels, side);
    this.#blockOf = of;
    this.#sizes = sizes;
    this.#looks = new Float32Array(2 * looks * sizes.length);
  }

  /** Means of the blocks times the root of their size, and how far their pixels are from the mean together. */
  #sketch(values: Float32Array): Float32Array {
    const blocks = this.#sizes.length;
    const sums = new Float64Array(blocks);
    const squares = new Float64Array(blocks);
    for (let i = 0; i < values.length; i++) {
      sums[this.#blockOf[i]] += values[i];
      squares[this.#blockOf[i]] += values[i] * values[i];
    }
    const sketch = new Float32Array(2 * blocks);
    this.#sizes.forEach((size, block) => {
      sketch[block] = sums[block] / Math.sqrt(size);
      sketch[blocks + block] = Math.sqrt(Math.max(0, squares[block] - sums[block] ** 2 / size));
    });
    return sketch;
  }

  keep(look: number, values: Float32Array): void {
    this.#looks.set(this.#sketch(values), 2 * look * this.#sizes.length);
  }

  /** For each look a squared distance that the one of the picture is not below. */
  bounds(picture: Float32Array): Bound {
    const own = this.#sketch(picture);
    return (look) => squaredTo(own, this.#looks, look);
  }
}

type Bound = (look: number) => number;

/** A picture seen through a slot. */
export interface SlotView {
  /** Squared distance to the slot left empty. */
  readonly empty: number;
  /** Squared distances that those to the looks are not below, the cheapest first. */
  readonly atLeast: readonly Bound[];
  /** The squared distance to a look. */
  distance(look: number): number;
}

/** What a search for the nearest look compares a picture with. */
class Search {
  /** [looks, pixels], values 0..1. */
  readonly #values: Float32Array;
  readonly #sketches: readonly Sketches[];
  readonly #empty: Float32Array;

  constructor(pixels: Int32Array, drawn: Uint8Array, empty: Uint8Array) {
    const size = pixels.length;
    const looks = drawn.length / size;
    this.#empty = inUnits(empty);
    this.#values = inUnits(drawn);
    this.#sketches = BLOCKS.map((side) => new Sketches(pixels, side, looks));
    for (let look = 0; look < looks; look++) {
      const values = this.#values.subarray(look * size, (look + 1) * size);
      for (const sketches of this.#sketches) sketches.keep(look, values);
    }
  }

  view(own: Float32Array): SlotView {
    return {
      empty: squaredTo(own, this.#empty, 0),
      atLeast: this.#sketches.map((sketches) => sketches.bounds(own)),
      distance: (look) => squaredTo(own, this.#values, look),
    };
  }
}

export class LookTemplates {
  /** [looks, pixels] */
  readonly #drawn: Uint8Array;
  readonly #empty: Uint8Array;
  /** Looks by the sum of their pixels: those drawn alike have the same. */
  readonly #bySum = new Map<number, number[]>();
  /** Made for the first picture that is compared: pictures read exactly need none. */
  #search: Search | null = null;

  /** `draw` gives a picture u8 [64, 64] of a look, or of none; it may be the same buffer each time. */
  constructor(
    readonly pixels: Int32Array,
    readonly count: number,
    draw: (look: number | null) => Uint8Array,
  ) {
    const size = pixels.length;
    this.#drawn = new Uint8Array(count * size);
    for (let look = 0; look < count; look++) {
      const own = this.#drawn.subarray(look * size, (look + 1) * size);
      const sum = this.#cut(draw(look), own);
      const others = this.#bySum.get(sum);
      if (others === undefined) this.#bySum.set(sum, [look]);
      else others.push(look);
    }
    this.#empty = new Uint8Array(size);
    this.#cut(draw(null), this.#empty);
  }

  /** Copies the slot's part of a picture; the sum of its pixels. */
  #cut(picture: Uint8Array, into: Uint8Array): number {
    const { pixels } = this;
    let sum = 0;
    for (let i = 0; i < pixels.length; i++) {
      const value = picture[pixels[i]];
      into[i] = value;
      sum += value;
    }
    return sum;
  }

  /** A picture of values 0..1 as this slot sees it. */
  view(picture: Float32Array): SlotView {
    this.#search ??= new Search(this.pixels, this.#drawn, this.#empty);
    return this.#search.view(Float32Array.from(this.pixels, (pixel) => picture[pixel]));
  }

  /** Looks drawn exactly like one of them. */
  alike(look: number): number[] {
    const size = this.pixels.length;
    const own = this.#drawn.subarray(look * size, (look + 1) * size);
    return this.#drawnAs(own, own.reduce(added, 0));
  }

  /** The looks whose drawing a picture u8 [64, 64] shows exactly; null if it shows the slot empty. */
  exactly(picture: Uint8Array): number[] | null {
    const own = new Uint8Array(this.pixels.length);
    const sum = this.#cut(picture, own);
    return isSame(own, this.#empty, 0) ? null : this.#drawnAs(own, sum);
  }

  #drawnAs(own: Uint8Array, sum: number): number[] {
    const looks = this.#bySum.get(sum) ?? [];
    return looks.filter((look) => isSame(own, this.#drawn, look * own.length));
  }
}

const added = (a: number, b: number): number => a + b;

/** Pixels as values 0..1. */
function inUnits(pixels: Uint8Array): Float32Array {
  const values = new Float32Array(pixels.length);
  for (let i = 0; i < values.length; i++) values[i] = pixels[i] / 255;
  return values;
}

/** Whether `own` stands in `all` from a place on. */
function isSame(own: Uint8Array, all: Uint8Array, from: number): boolean {
  for (let i = 0; i < own.length; i++) if (own[i] !== all[from + i]) return false;
  return true;
}

/** Where single precision might put a bound above the distance it bounds. */
const ROUNDING = 1e-4;

/** The one of `count` looks of least distance; bounds are never above it, the cheapest come first. */
export function leastLook(
  count: number,
  atLeast: readonly Bound[],
  distance: (look: number) => number,
): { readonly look: number; readonly distance: number } {
  let best = { look: -1, distance: Infinity };
  const compare = (look: number): void => {
    const found = distance(look);
    const nearer = found < best.distance || (found === best.distance && look < best.look);
    if (nearer) best = { look, distance: found };
  };
  const isOpen = (bound: number): boolean => bound <= best.distance * (1 + ROUNDING) + ROUNDING;
  let open = Array.from({ length: count }, (_, look) => look);
  let bounds = new Float64Array(count);
  for (const boundOf of atLeast) {
    if (open.length === 0) break;
    const found = Float64Array.from(open, boundOf);
    // What has the least bound is likely to be the nearest, and rules out the most.
    let least = 0;
    for (let i = 1; i < open.length; i++) if (found[i] < found[least]) least = i;
    compare(open[least]);
    const stays = (_: number, i: number): boolean => i !== least && isOpen(found[i]);
    open = open.filter(stays);
    bounds = found.filter(stays);
  }
  open.forEach((look, i) => {
    if (isOpen(bounds[i])) compare(look);
  });
  return best;
}
