/**
 * Philox 4x32-10, a counter-based generator (Salmon et al., "Parallel random numbers: as easy as 1,
 * 2, 3", 2011): block n of a stream is a pure function of (key, counter), so whatever is drawn for
 * step s never depends on what was drawn before it. That is what makes a resumed run, and several
 * processes sharing one batch, draw exactly the same numbers without storing any generator state.
 */

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;
const TWO_32 = 0x1_0000_0000;

/** High 32 bits of the 64-bit product of two unsigned 32-bit numbers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = (middle & 0xffff) + aLow * bHigh;
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000)) >>> 0;
}

/** One block: four 32-bit words of output for a 128-bit counter and a 64-bit key, into `out`. */
export function philoxBlock(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
  out: Uint32Array,
): void {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round++) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/** What a stream is for; streams of one seed never overlap. Values are part of every stored run. */
export const STREAM = {
  order: 1,
  targets: 2,
  noise: 3,
  initialisation: 4,
  prior: 5,
  validationProblems: 6,
  validationBatches: 7,
  problems: 8,
  reordering: 9,
} as const;
export type Stream = (typeof STREAM)[keyof typeof STREAM];

const lowWord = (value: number): number => value >>> 0;
const highWord = (value: number): number => Math.floor(value / TWO_32) >>> 0;

/** The endless sequence of words that belongs to (seed, stream, position). */
export class CounterRandom {
  readonly #key: readonly [number, number];
  readonly #position: readonly [number, number];
  readonly #stream: number;
  readonly #words = new Uint32Array(4);
  #block = 0;
  #used = 4;

  /** @param seed any safe integer; @param position any safe integer from 0, e.g. a step or an epoch */
  constructor(seed: number, stream: Stream, position: number) {
    this.#key = [lowWord(seed), highWord(seed)];
    this.#position = [lowWord(position), highWord(position)];
    this.#stream = stream;
  }

  /** Uniform in 0 .. 2^32 - 1. */
  uint32(): number {
    if (this.#used === 4) {
      const [low, high] = this.#position;
      philoxBlock([this.#block++ >>> 0, low, high, this.#stream], this.#key, this.#words);
      this.#used = 0;
    }
    return this.#words[this.#used++];
  }

  /** Uniform in 0 .. bound - 1, without modulo bias; bound at most 2^32. */
  below(bound: number): number {
    const unbiased = TWO_32 - (TWO_32 % bound);
    for (;;) {
      const word = this.uint32();
      if (word < unbiased) return word % bound;
    }
  }

  /** Uniform in 0 .. 2^53 - 1. */
  safeInteger(): number {
    const high = this.uint32() >>> 11;
    return high * TWO_32 + this.uint32();
  }

  /** A uniformly random order of 0 .. size - 1. */
  permutation(size: number): Uint32Array {
    const order = Uint32Array.from({ length: size }, (_, index) => index);
    for (let last = size - 1; last > 0; last--) {
      const other = this.below(last + 1);
      const kept = order[last];
      order[last] = order[other];
      order[other] = kept;
    }
    return order;
  }
}

/** A seed for something else (weights, validation problems), derived from a run's seed. */
export const derivedSeed = (seed: number, stream: Stream, position = 0): number =>
  new CounterRandom(seed, stream, position).safeInteger();
