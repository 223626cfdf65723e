/** Calibration on a made-up model of which everything is known: what it can and cannot predict. */
import { describe, expect, test } from 'vitest';
import { bestTemperature, choiceLoss } from '../../src/lab/calibration-choice.js';
import { calibrate } from '../../src/lab/calibration.js';
import type { ConceptSubject } from '../../src/lab/index.js';
import { momentsOf } from '../../src/lab/statistics.js';
import { Random } from '../../src/matrix/index.js';
import { formatSelection, Metric, parseSelection } from '../../src/solver/index.js';
import type { ConceptMeans } from '../../src/solver/index.js';
import { madeUpSubject } from './made-up.js';

const CONCEPTS = 2;
const SIZE = 3;

const noise = (random: Random): number => {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random.next() / 2 ** 32;
  return sum;
};

/**
 * A model whose concepts are noise of deviation 1, and whose predictions miss concept 1 by `errors[0]`
 * and concept 2 by `errors[1]`, with `bias` on top;
 * `correlated` errors are the same in both concepts.
 */
function fakeSubject(
  errors: readonly [number, number],
  bias = 0,
  correlated = false,
): ConceptSubject {
  const random = new Random(99);
  const draw = (): ConceptMeans =>
    Array.from({ length: CONCEPTS }, () =>
      Float32Array.from({ length: SIZE }, () => noise(random)),
    );
  return madeUpSubject({
    concepts: CONCEPTS,
    size: SIZE,
    encode: draw,
    predict: ({ concepts }, position) => {
      const shared = Array.from({ length: SIZE }, () => noise(random));
      return concepts[position - 1].map((values, m) =>
        values.map((v, k) => v - bias + errors[m] * (correlated ? shared[k] : noise(random))),
      );
    },
  });
}

const options = { problems: 400, validation: 120, targetCounts: [2], seed: 5 };

describe('calibrate', () => {
  test('gives little weight to a concept that cannot be predicted', async () => {
    const statistics = await calibrate(fakeSubject([0.1, 2]), options);
    expect([...statistics.keys()]).toEqual(['last', 'targets2']);
    for (const found of statistics.values()) {
      expect(found.form).not.toBe('identity');
      const metric = new Metric(found, CONCEPTS, SIZE);
      const [first] = metric.shares([1, 1, 1, 0, 0, 0]);
      const [, second] = metric.shares([0, 0, 0, 1, 1, 1]);
      expect(first).toBeGreaterThan(20 * second);
    }
  });

  test('finds the bias of predictions', async () => {
    const statistics = await calibrate(fakeSubject([0.3, 0.3], 0.7), options);
    const mean = statistics.get('last')?.mean ?? new Float32Array();
    mean.forEach((value) => expect(value).toBeCloseTo(0.7, 1));
  });

  test('takes relations between values into account where they help', async () => {
    const statistics = await calibrate(fakeSubject([1, 1], 0, true), options);
    expect(statistics.get('last')?.form).toBe('full');
  });

  test('can be stored and read', async () => {
    const statistics = await calibrate(fakeSubject([0.5, 1]), options);
    expect(parseSelection(formatSelection(statistics), CONCEPTS, SIZE)).toEqual(statistics);
  });

  test('stops when told to', async () => {
    const stopped = { ...options, signal: AbortSignal.abort() };
    await expect(calibrate(fakeSubject([1, 1]), stopped)).rejects.toThrow(/abort/i);
  });
});

test('moments are those of their definition', () => {
  const { mean, covariance } = momentsOf([Float64Array.of(1, 2), Float64Array.of(3, 6)], 2);
  expect([...mean]).toEqual([2, 4]);
  expect([...covariance]).toEqual([1, 2, 2, 4]);
});

test('the best temperature is where the loss is least', () => {
  const random = new Random(3);
  // True candidates are 3 closer on average than others, with noise of 2: neither sure nor hopeless.
  const distances = Array.from({ length: 400 }, () =>
    Float64Array.from({ length: 8 }, (_, i) => 10 + (i === 0 ? -3 : 0) + 2 * noise(random)),
  );
  const { temperature, loss } = bestTemperature(distances);
  for (const factor of [0.5, 0.8, 1.25, 2]) {
    expect(choiceLoss(distances, factor * temperature)).toBeGreaterThan(loss);
  }
});
