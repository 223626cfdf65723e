/** The logarithm of a sum of exponentials, also of numbers whose exponentials no number can hold. */
import { expect, test } from 'vitest';
import { logSumExp } from '../../src/base/index.js';

test.each([
  [[0], 0],
  [[0, 0], Math.log(2)],
  [[Math.log(1), Math.log(2), Math.log(3)], Math.log(6)],
  [[1000, 1000], 1000 + Math.log(2)],
  [[-1000, -1000], -1000 + Math.log(2)],
  [[-Infinity, 3], 3],
])('of %j', (values, expected) => {
  expect(logSumExp(values)).toBeCloseTo(expected, 12);
  expect(logSumExp(Float64Array.from(values))).toBeCloseTo(expected, 12);
});

test('of nothing, and of what cannot be, is the log of zero', () => {
  expect(logSumExp([])).toBe(-Infinity);
  expect(logSumExp([-Infinity, -Infinity])).toBe(-Infinity);
});
