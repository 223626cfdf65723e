import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EpochOrder, fillTargets, type TargetPolicy } from '../../src/training/random/selection.js';

const SHARED: TargetPolicy = { sharedByBatch: true, min: 1, max: 1 };
const SINGLE: TargetPolicy = { sharedByBatch: false, min: 1, max: 1 };

const targetsOf = (policy: TargetPolicy, seed: number, step: number, batch: number): number[][] => {
  const out = new Uint8Array(batch * 9);
  fillTargets(policy, seed, step, batch, { first: 0, count: batch }, out, 0);
  return Array.from({ length: batch }, (_, n) => [...out.subarray(n * 9, n * 9 + 9)]);
};

const slotsOf = (order: EpochOrder, step: number, batch: number): number[] => {
  const out = new BigInt64Array(batch);
  order.fill(step, batch, { first: 0, count: batch }, out, 0);
  return [...out].map(Number);
};

describe('which problems a step uses', () => {
  test('every slot exactly once an epoch, another order each epoch', () => {
    const order = new EpochOrder(3, 48);
    const epochs = [0, 1, 2].map((epoch) =>
      [0, 1, 2].flatMap((step) => slotsOf(order, epoch * 3 + step, 16)),
    );
    for (const epoch of epochs) {
      expect([...epoch].sort((a, b) => a - b)).toEqual([...Array(48).keys()]);
    }
    expect(epochs[0]).not.toEqual(epochs[1]);
    expect(epochs[1]).not.toEqual(epochs[2]);
  });

  test('a step asked for alone is the step reached in order, in parts or whole', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 40 }),
        (size, batch, step) => {
          const walked = new EpochOrder(9, size);
          for (let before = 0; before < step; before++) slotsOf(walked, before, batch);
          const whole = slotsOf(walked, step, batch);
          const jumped = new EpochOrder(9, size);
          const split = new BigInt64Array(batch);
          const first = Math.floor(batch / 2);
          jumped.fill(step, batch, { first, count: batch - first }, split, first);
          jumped.fill(step, batch, { first: 0, count: first }, split, 0);
          expect([...split].map(Number)).toEqual(whole);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('which panels are targets', () => {
  test('shared: one position for the batch, all nine over the steps', () => {
    const seen = new Set<number>();
    for (let step = 0; step < 80; step++) {
      const masks = targetsOf(SHARED, 5, step, 8);
      expect(new Set(masks.map((mask) => mask.indexOf(1))).size).toBe(1);
      seen.add(masks[0].indexOf(1));
    }
    expect(seen.size).toBe(9);
  });

  test('single: exactly one each, positions uniform', () => {
    const counts = new Array<number>(9).fill(0);
    for (const mask of targetsOf(SINGLE, 5, 0, 18_000)) {
      expect(mask.reduce((sum, bit) => sum + bit)).toBe(1);
      counts[mask.indexOf(1)]++;
    }
    const chiSquare = counts.reduce((sum, count) => sum + (count - 2000) ** 2 / 2000, 0);
    expect(chiSquare).toBeLessThan(26.1);
  });

  test('several: 1..most different ones, each number equally often', () => {
    const counts = new Array<number>(4).fill(0);
    for (const mask of targetsOf({ sharedByBatch: false, min: 1, max: 3 }, 5, 1, 9000)) {
      counts[mask.reduce((sum, bit) => sum + bit)]++;
    }
    expect(counts[0]).toBe(0);
    const chiSquare = counts.slice(1).reduce((sum, n) => sum + (n - 3000) ** 2 / 3000, 0);
    expect(chiSquare).toBeLessThan(13.8);
  });

  test.each<TargetPolicy>([SHARED, SINGLE, { sharedByBatch: false, min: 2, max: 4 }])(
    'a part of a batch is that part of the whole: %j',
    (policy) => {
      const whole = targetsOf(policy, 11, 6, 10);
      const part = new Uint8Array(4 * 9);
      fillTargets(policy, 11, 6, 10, { first: 5, count: 4 }, part, 0);
      expect([...part]).toEqual(whole.slice(5, 9).flat());
    },
  );

  test('an impossible number of targets is refused', () => {
    expect(() => targetsOf({ sharedByBatch: false, min: 1, max: 9 }, 1, 1, 1)).toThrow(
      /max <= 8, got 1 and 9/,
    );
  });
});
