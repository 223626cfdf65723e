import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CounterRandom, derivedSeed, philoxBlock, STREAM } from '../../src/base/index.js';

const hex = (words: Uint32Array): string =>
  [...words].map((word) => word.toString(16).padStart(8, '0')).join(' ');

describe('philox', () => {
  // Known answers published with the reference implementation (Random123, kat_vectors).
  test.each([
    [[0, 0, 0, 0], [0, 0], '6627e8d5 e169c58d bc57ac4c 9b00dbd8'],
    [
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      '408f276d 41c83b0e a20bc7c6 6d5451fd',
    ],
    [
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      'd16cfe09 94fdcceb 5001e420 24126ea1',
    ],
  ] as const)('known answer %#', (counter, key, expected) => {
    const out = new Uint32Array(4);
    philoxBlock(counter, key, out);
    expect(hex(out)).toBe(expected);
  });

  test('a sequence depends on seed, stream and position, and on nothing else', () => {
    const first = (seed: number, stream: 1 | 2, position: number): number[] => {
      const random = new CounterRandom(seed, stream, position);
      return Array.from({ length: 9 }, () => random.uint32());
    };
    expect(first(7, 1, 3)).toEqual(first(7, 1, 3));
    const others = [first(8, 1, 3), first(7, 2, 3), first(7, 1, 4), first(7, 1, 3 + 2 ** 32)];
    for (const other of others) expect(other).not.toEqual(first(7, 1, 3));
    expect(first(-1, 1, 0)).not.toEqual(first(1, 1, 0));
    expect(first(7 + 2 ** 40, 1, 3)).not.toEqual(first(7, 1, 3));
  });

  test('below is uniform', () => {
    const random = new CounterRandom(1, STREAM.targets, 0);
    const counts = new Array<number>(9).fill(0);
    for (let n = 0; n < 90_000; n++) counts[random.below(9)]++;
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chiSquare).toBeLessThan(26.1); // 8 degrees of freedom, p = 0.001
  });

  test('permutation holds every index once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.maxSafeNat(), (size, seed) => {
        const order = new CounterRandom(seed, STREAM.order, 0).permutation(size);
        expect([...order].sort((a, b) => a - b)).toEqual([...Array(size).keys()]);
      }),
      { numRuns: 100 },
    );
  });

  test('derived seeds are safe integers that differ', () => {
    const seeds = new Set<number>();
    for (let seed = 0; seed < 200; seed++) {
      for (const stream of Object.values(STREAM)) {
        const derived = derivedSeed(seed, stream);
        expect(Number.isSafeInteger(derived) && derived >= 0).toBe(true);
        seeds.add(derived);
      }
    }
    expect(seeds.size).toBe(200 * Object.keys(STREAM).length);
  });
});
