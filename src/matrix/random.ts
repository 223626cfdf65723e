/**
 * The seeded random numbers of this layer: sfc32 (Chris Doty-Humphrey's small fast counter), keyed by
 * a seed, an index and a stream. Only 32-bit integer operations are used, so every platform gives the
 * same numbers; equal keys give equal numbers, whatever was drawn from other keys before. Not for
 * cryptography.
 */
import { ArgumentError } from '../base/index.js';

const TWO_32 = 4294967296;

/** One round of absorbing a word into a hash (the mixing steps of MurmurHash3). */
function absorb(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  let h = hash ^ Math.imul(k, 0x1b873593);
  h = (h << 13) | (h >>> 19);
  return (Math.imul(h, 5) + 0xe6546b64) | 0;
}

/** Spreads every bit of a word over the whole word (the finaliser of MurmurHash3). */
function avalanche(word: number): number {
  let h = word ^ (word >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function hashWords(basis: number, words: readonly number[]): number {
  let hash = basis;
  for (const word of words) hash = absorb(hash, word);
  return avalanche(hash);
}

/** The upper half of a safe integer in two's complement; `| 0` gives the lower one. */
const upperHalf = (value: number): number => Math.floor(value / TWO_32) | 0;

function requireSafe(name: string, value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new ArgumentError(`${name} must be an integer within ±2^53, not ${String(value)}`);
  }
}

const WARM_UP_ROUNDS = 12;

/** A stream of random numbers; drawing changes its state. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /**
   * @param seed any safe integer, negative ones included
   * @param index which problem of the seed, any safe integer
   * @param stream which of the independent streams of that problem, an integer of 32 bits
   */
  constructor(seed: number, index = 0, stream = 0) {
    requireSafe('seed', seed);
    requireSafe('index', index);
    requireSafe('stream', stream);
    const words = [seed | 0, upperHalf(seed), index | 0, upperHalf(index), stream | 0];
    this.#a = hashWords(0x9e3779b9, words);
    this.#b = hashWords(0x243f6a88, words);
    this.#c = hashWords(0xb7e15162, words);
    for (let round = 0; round < WARM_UP_ROUNDS; round++) this.next();
  }

  /** Uniform over 0..2^32-1. */
  next(): number {
    const result = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** Uniform in [0, 1), in steps of 2^-32. */
  uniform(): number {
    return this.next() / TWO_32;
  }

  /** Uniform over 0..count-1, without bias (Lemire's multiply-and-reject); count at most 2^20. */
  below(count: number): number {
    let product = this.next() * count; // exact: below 2^52
    let fraction = product % TWO_32;
    if (fraction < count) {
      const biased = TWO_32 % count;
      while (fraction < biased) {
        product = this.next() * count;
        fraction = product % TWO_32;
      }
    }
    return (product - fraction) / TWO_32;
  }

  /** Uniform over min..max, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** True with probability 1/2. */
  coin(): boolean {
    return this.next() >= TWO_32 / 2;
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }

  /** `size` different integers of 0..count-1, in random order. */
  subset(count: number, size: number): number[] {
    const all: number[] = [];
    for (let i = 0; i < count; i++) all.push(i);
    for (let i = 0; i < size; i++) {
      const j = i + this.below(count - i);
      const taken = all[j];
      all[j] = all[i];
      all[i] = taken;
    }
    all.length = size;
    return all;
  }
}
