import { expect, test } from 'vitest';
import { wilsonInterval } from '../../src/base/index.js';

test.each([
  // Worked out in Python from the formula as textbooks write it, with shares instead of counts.
  [8, 10, 0.4901625, 0.9433178],
  [98, 100, 0.9299882, 0.994498],
  [0, 10, 0, 0.2775328],
  [10, 10, 0.7224672, 1],
])('%i of %i lies between %f and %f', (right, count, low, high) => {
  const interval = wilsonInterval(right, count);
  expect(interval.low).toBeCloseTo(low, 6);
  expect(interval.high).toBeCloseTo(high, 6);
});

test('the ends of all or nothing are exact, and nonsense is refused', () => {
  expect(wilsonInterval(0, 7).low).toBe(0);
  expect(wilsonInterval(7, 7).high).toBe(1);
  for (const [right, count] of [
    [0, 0],
    [3, 2],
    [-1, 2],
  ]) {
    expect(() => wilsonInterval(right, count)).toThrow('is no share');
  }
});
