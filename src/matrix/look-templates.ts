/**
 * Drawings of every look of an entity in the pixels of one slot, and how far a picture is from each.
 * Comparing a picture with thousands of drawings is made cheap without losing exactness: pixels are
 * grouped into blocks, and a sum of squared differences is never less than that of the blocks' means,
 * so most drawings are ruled out by their blocks alone.
 */
import { SMALL_SIZE } from './render.js';

/** Side of a block. */
const BLOCK = 4;

/** Pixels by block: for each pixel its block, and for each block its number of pixels. */
function blocksOf(pixels: Int32Array): { readonly of: Int32Array; readonly sizes: number[] } {
  const numbers = new Map<number, number>();
  const sizes: number[] = [];
  const of = pixels.map((pixel) => {
    const [x, y] = [pixel % SMALL_SIZE, Math.floor(pixel / SMALL_SIZE)];
    const place = Math.floor(y / BLOCK) * SMALL_SIZE + Math.floor(x / BLOCK);
    const number = numbers.get(place) ?? sizes.length;
    numbers.set(place, number);
    sizes[number] = (sizes[number] ?? 0) + 1;
    return number;
  });
  return { of, sizes };
}

/** A picture seen through a slot. */
export interface SlotView {
  /** Squared distance to the slot left empty. */
  readonly empty: number;
  /** Squared distances that those to the looks are not below. */
  readonly atLeast: Float64Array;
  /** The squared distance to a look. */
  distance(look: number): number;
}

export class LookTemplates {
  readonly #blockOf: Int32Array;
  readonly #sizes: readonly number[];
  /** [looks, pixels], values 0..1. */
  readonly #values: Float32Array;
  /** Means of blocks, times the root of their size: [looks, blocks]. */
  readonly #means: Float32Array;
  readonly #empty: Float32Array;
  /** Sums of values [looks]: looks drawn alike have the same. */
  readonly #sums: Float64Array;
  /** Looks by their sum. */
  readonly #bySum = new Map<number, number[]>();

  /** `draw` gives a picture u8 [64, 64] of a look, or of none; it may be the same buffer each time. */
  constructor(
    readonly pixels: Int32Array,
    readonly count: number,
    draw: (look: number | null) => Uint8Array,
  ) {
    const { of, sizes } = blocksOf(pixels);
    this.#blockOf = of;
    this.#sizes = sizes;
    this.#values = new Float32Array(count * pixels.length);
    this.#means = new Float32Array(count * sizes.length);
    this.#sums = new Float64Array(count);
    for (let look = 0; look < count; look++) {
      const values = this.#cut(draw(look), 255);
      this.#values.set(values, look * pixels.length);
      this.#means.set(this.#blockMeans(values), look * sizes.length);
      const sum = sumOf(values);
      this.#sums[look] = sum;
      const others = this.#bySum.get(sum);
      if (others === undefined) this.#bySum.set(sum, [look]);
      else others.push(look);
    }
    this.#empty = this.#cut(draw(null), 255);
  }

  /** The slot's part of a picture. */
  #cut(picture: ArrayLike<number>, white: number): Float32Array {
    const values = new Float32Array(this.pixels.length);
    for (let i = 0; i < values.length; i++) values[i] = picture[this.pixels[i]] / white;
    return values;
  }

  #blockMeans(values: Float32Array): Float32Array {
    const sums = new Float64Array(this.#sizes.length);
    for (let i = 0; i < values.length; i++) sums[this.#blockOf[i]] += values[i];
    return Float32Array.from(sums, (sum, block) => sum / Math.sqrt(this.#sizes[block]));
  }

  #squaredTo(own: Float32Array, all: Float32Array, row: number): number {
    let sum = 0;
    for (let i = 0, at = row * own.length; i < own.length; i++, at++) {
      const difference = own[i] - all[at];
      sum += difference * difference;
    }
    return sum;
  }

  #bounds(means: Float32Array): Float64Array {
    const bounds = new Float64Array(this.count);
    for (let look = 0; look < this.count; look++) {
      bounds[look] = this.#squaredTo(means, this.#means, look);
    }
    return bounds;
  }

  /** A picture of values 0..1 as this slot sees it. */
  view(picture: Float32Array): SlotView {
    const own = this.#cut(picture, 1);
    const means = this.#blockMeans(own);
    return {
      empty: this.#squaredTo(own, this.#empty, 0),
      atLeast: this.#bounds(means),
      distance: (look) => this.#squaredTo(own, this.#values, look),
    };
  }

  /** Looks drawn exactly like one of them. */
  alike(look: number): number[] {
    const size = this.pixels.length;
    return this.#drawnAs(this.#values.subarray(look * size, (look + 1) * size), this.#sums[look]);
  }

  /** The looks whose drawing a picture u8 [64, 64] shows exactly; null if it shows the slot empty. */
  exactly(picture: Uint8Array): number[] | null {
    const own = this.#cut(picture, 255);
    if (own.every((value, i) => value === this.#empty[i])) return null;
    return this.#drawnAs(own, sumOf(own));
  }

  #drawnAs(own: Float32Array, sum: number): number[] {
    const size = own.length;
    return (this.#bySum.get(sum) ?? []).filter((look) => {
      const from = look * size;
      for (let i = 0; i < size; i++) if (own[i] !== this.#values[from + i]) return false;
      return true;
    });
  }
}

const sumOf = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0);

/** Where single precision might put a bound above the distance it bounds. */
const ROUNDING = 1e-4;

/** The look of least total distance; `atLeast` bounds `distance` from below for each. */
export function leastLook(
  atLeast: Float64Array,
  distance: (look: number) => number,
): { readonly look: number; readonly distance: number } {
  const order = Array.from(atLeast.keys()).sort((a, b) => atLeast[a] - atLeast[b]);
  let best = { look: -1, distance: Infinity };
  for (const look of order) {
    if (atLeast[look] > best.distance * (1 + ROUNDING) + ROUNDING) break;
    const found = distance(look);
    const nearer = found < best.distance || (found === best.distance && look < best.look);
    if (nearer) best = { look, distance: found };
  }
  return best;
}
