import { describe, expect, test } from 'vitest';
import { ZooProgress } from '../../../src/lab/report/zoo-progress.js';

/** A clock that tests set. */
function clocked(
  measured: readonly boolean[],
  metrics?: ConstructorParameters<typeof ZooProgress>[1],
) {
  let time = 0;
  const progress = new ZooProgress(measured, metrics, () => time);
  const after = (seconds: number, stage: string, share: number): number => {
    time += 1000 * seconds;
    return progress.at(stage, share);
  };
  return { progress, after };
}

describe('progress of a whole zoo', () => {
  test('goes over all models, from 0 to 1, and never back', () => {
    const { progress, after } = clocked([true, true, true]);
    const told: number[] = [];
    for (let model = 0; model < 3; model++) {
      for (const stage of ['encoding', 'sa', 'errors', 'ari', 'vd', 'readback', 'gsa', 'report']) {
        for (const share of [0, 0.5, 1]) told.push(after(model + 1, stage, share));
      }
      told.push(progress.next());
      expect(told.at(-1)).toBeCloseTo((model + 1) / 3, 10);
    }
    expect(told[0]).toBe(0);
    expect(told).toEqual([...told].sort((a, b) => a - b));
  });

  test('expects of the second model what the first one took', () => {
    const { progress, after } = clocked([true, true], ['sa']);
    after(0, 'sa', 0);
    after(90, 'sa', 1);
    after(0, 'report', 0);
    after(10, 'report', 1);
    progress.next();
    after(0, 'sa', 0);
    expect(after(45, 'sa', 0.5)).toBeCloseTo(0.5 + 0.45 / 2, 2);
  });

  test('a model that is only drawn counts as its report', () => {
    const { progress, after } = clocked([false, true], ['sa']);
    after(0, 'report', 0);
    // By the guess, a report is 2 of the 1 + 4 + 2 parts of a model.
    expect(progress.next()).toBeCloseTo(2 / 9, 10);
  });
});
