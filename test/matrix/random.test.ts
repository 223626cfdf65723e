import { expect, test } from 'vitest';
import { ArgumentError } from '../../src/base/index.js';
import { Random } from '../../src/matrix/index.js';
import { chiSquareTail, goodnessOfFit } from './chi-square.js';

const first = (random: Random, count = 8): number[] =>
  Array.from({ length: count }, () => random.next());

test('the tail of the chi-square distribution agrees with tabled quantiles', () => {
  expect(chiSquareTail(3.841458820694124, 1)).toBeCloseTo(0.05, 8);
  expect(chiSquareTail(18.307038053275146, 10)).toBeCloseTo(0.05, 8);
  expect(chiSquareTail(149.44925277903886, 100)).toBeCloseTo(0.001, 8);
  expect(chiSquareTail(2.0, 2)).toBeCloseTo(Math.exp(-1), 10);
});

test('the numbers of a key are fixed for good', () => {
  expect(first(new Random(1234, 5, 2), 4)).toEqual([
    3487325227, 2403360313, 2696633033, 2543233109,
  ]);
});

test('every part of the key matters, to the last bit', () => {
  const keys: [number, number, number][] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [2 ** 32, 0, 0],
    [-(2 ** 32), 0, 0],
    [Number.MAX_SAFE_INTEGER, 0, 0],
    [Number.MAX_SAFE_INTEGER - 1, 0, 0],
    [Number.MIN_SAFE_INTEGER, 0, 0],
    [0, 2 ** 32, 0],
  ];
  const streams = keys.map(([seed, index, stream]) => first(new Random(seed, index, stream)));
  expect(new Set(streams.flat()).size).toBe(streams.flat().length);
});

test('a key that is not a safe integer is refused', () => {
  for (const seed of [0.5, NaN, Infinity, 2 ** 53]) {
    expect(() => new Random(seed)).toThrow(ArgumentError);
  }
});

test.each([2, 3, 7, 10, 100])('below(%i) is uniform', (count) => {
  const random = new Random(99, count);
  const counts = new Array<number>(count).fill(0);
  for (let i = 0; i < 100_000; i++) counts[random.below(count)]++;
  expect(
    goodnessOfFit(
      counts,
      counts.map(() => 1 / count),
    ),
  ).toBeGreaterThan(0.001);
});

test('consecutive keys give unrelated first numbers', () => {
  const counts = new Array<number>(64).fill(0);
  for (let index = 0; index < 50_000; index++) {
    const cell = new Random(7, index).below(8) * 8 + new Random(7, index + 1).below(8);
    counts[cell]++;
  }
  expect(
    goodnessOfFit(
      counts,
      counts.map(() => 1 / 64),
    ),
  ).toBeGreaterThan(0.001);
});

test('a count that does not divide 2^32 is drawn without bias at its upper end', () => {
  // Modulo or truncation would favour some values by a third here.
  const random = new Random(5);
  const count = 3 * 2 ** 18;
  const thirds = [0, 0, 0];
  for (let i = 0; i < 90_000; i++) thirds[Math.floor(random.below(count) / 2 ** 18)]++;
  expect(goodnessOfFit(thirds, [1 / 3, 1 / 3, 1 / 3])).toBeGreaterThan(0.001);
});

test('subset draws every ordered choice equally often', () => {
  const random = new Random(3);
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < 24_000; i++) {
    const [a, b] = random.subset(4, 2);
    counts[4 * a + b]++;
  }
  const proportions = counts.map((_, cell) => (cell >> 2 === (cell & 3) ? 0 : 1 / 12));
  expect(counts.filter((count, cell) => proportions[cell] === 0 && count > 0)).toEqual([]);
  expect(goodnessOfFit(counts, proportions)).toBeGreaterThan(0.001);
});
