import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawTargets, type BatchPart, type TargetsConfig } from '../../src/models/index.js';
import { EpochOrder } from '../../src/training/feed/order.js';

const SHARED: TargetsConfig = {
  sharedByBatch: true,
  setsPerProblem: 1,
  smallestSets: 0,
  min: 1,
  max: 1,
  decoded: 1,
};
const SINGLE: TargetsConfig = { ...SHARED, sharedByBatch: false };

function arraysOf(policy: TargetsConfig, step: number, batch: number, part: BatchPart) {
  const length = policy.setsPerProblem * part.count * policy.max;
  const out = { index: new BigInt64Array(length), weight: new Float32Array(length) };
  drawTargets(policy, 5, step, batch, part, out.index, out.weight);
  return out;
}

/** Targets of each problem in each set: [S][N] lists. */
function targetsOf(policy: TargetsConfig, step: number, batch: number): number[][][] {
  const { index, weight } = arraysOf(policy, step, batch, { first: 0, count: batch });
  return Array.from({ length: policy.setsPerProblem }, (_, s) =>
    Array.from({ length: batch }, (_, n) => {
      const at = (s * batch + n) * policy.max;
      const used = weight.subarray(at, at + policy.max);
      return [...index.subarray(at, at + policy.max)].map(Number).filter((_, place) => used[place]);
    }),
  );
}

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
      const [targets] = targetsOf(SHARED, step, 8);
      expect(new Set(targets.flat()).size).toBe(1);
      seen.add(targets[0][0]);
    }
    expect(seen.size).toBe(9);
  });

  test('single: exactly one each, positions uniform', () => {
    const counts = new Array<number>(9).fill(0);
    const [targets] = targetsOf(SINGLE, 0, 9_000);
    for (const positions of targets) {
      expect(positions).toHaveLength(1);
      counts[positions[0]]++;
    }
    const chiSquare = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chiSquare).toBeLessThan(26.1); // 8 degrees of freedom, p = 0.001
  });

  test('several: min..max different ones, each number equally often', () => {
    const counts = new Array<number>(5).fill(0);
    const [targets] = targetsOf({ ...SINGLE, min: 2, max: 4 }, 1, 9000);
    for (const positions of targets) {
      expect(new Set(positions).size).toBe(positions.length);
      counts[positions.length]++;
    }
    expect(counts.slice(0, 2)).toEqual([0, 0]);
    const chiSquare = counts.slice(2).reduce((sum, n) => sum + (n - 3000) ** 2 / 3000, 0);
    expect(chiSquare).toBeLessThan(13.8);
  });

  test('sets of one problem begin at different panels', () => {
    const sets = targetsOf({ ...SINGLE, setsPerProblem: 3, max: 2 }, 4, 50);
    for (let n = 0; n < 50; n++) {
      expect(new Set(sets.map((targets) => targets[n][0])).size).toBe(3);
    }
  });

  test('the first sets of a problem may be the smallest ones', () => {
    const policy = { ...SINGLE, setsPerProblem: 4, smallestSets: 3, max: 3 };
    const sets = targetsOf(policy, 2, 300);
    for (const targets of sets.slice(0, 3)) {
      expect(targets.every((positions) => positions.length === 1)).toBe(true);
    }
    expect(new Set(sets[3].map((positions) => positions.length))).toEqual(new Set([1, 2, 3]));
  });

  test.each<TargetsConfig>([SHARED, SINGLE, { ...SINGLE, setsPerProblem: 2, min: 2, max: 4 }])(
    'a part of a batch is that part of the whole: %j',
    (policy) => {
      const whole = arraysOf(policy, 6, 10, { first: 0, count: 10 });
      const part = arraysOf(policy, 6, 10, { first: 5, count: 4 });
      for (let s = 0; s < policy.setsPerProblem; s++) {
        const from = (s * 10 + 5) * policy.max;
        const length = 4 * policy.max;
        expect(part.index.subarray(s * length, (s + 1) * length)).toEqual(
          whole.index.subarray(from, from + length),
        );
      }
    },
  );
});
