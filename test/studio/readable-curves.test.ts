/** Terms of the objective, told in units of one panel. */
import { describe, expect, test } from 'vitest';
import {
  DRAWING_ERROR,
  readableCurves,
  SURPRISE,
} from '../../src/studio/engine/readable-curves.js';
import { logLikelihood } from './bundles.js';

const STEPS = [10, 20];
const historyOf = (values: number[], name = 'reconstruction') => [{ name, steps: STEPS, values }];
const configOf = (sigmaX: number, targets: object): string =>
  JSON.stringify({
    objective: { sigmaX, sigmaZ: 0.3 },
    targets: { setsPerProblem: 4, ...targets },
  });

describe('the error of drawing', () => {
  test.each([
    ['one panel', 0.1, { min: 1, max: 1 }, 1],
    ['one to three panels, two on average', 0.2, { min: 1, max: 3 }, 2],
    ['single panels first', 0.1, { min: 1, max: 3, smallestSets: 2 }, 1],
  ])('is that of a pixel: %s', (_, sigma, targets, panels) => {
    const values = [0.3, 0.01].map((error) => panels * logLikelihood(error, sigma));
    const [curve] = readableCurves(historyOf(values), configOf(sigma, targets));
    expect(curve.name).toBe(DRAWING_ERROR);
    expect(curve.steps).toEqual(STEPS);
    expect(curve.values[0]).toBeCloseTo(0.3, 6);
    expect(curve.values[1]).toBeCloseTo(0.01, 6);
  });

  test('is zero of a perfect copy, whatever rounding says', () => {
    const values = [logLikelihood(0) + 1e-6, logLikelihood(0)];
    const [curve] = readableCurves(historyOf(values), configOf(0.1, { min: 1, max: 1 }));
    for (const value of curve.values) expect(value).toBeCloseTo(0, 3);
  });
});

describe('the surprise at a missing panel', () => {
  test.each([
    ['one panel', { min: 1, max: 1 }, 1],
    ['one to three panels, two on average', { min: 1, max: 3 }, 2],
    [
      'three sets of four have one panel, the last two on average',
      { min: 1, max: 3, smallestSets: 3 },
      1.25,
    ],
  ])('is in bits, for each panel: %s', (_, targets, panels) => {
    const values = [8, 0.5].map((bits) => panels * bits * Math.LN2);
    const [curve] = readableCurves(historyOf(values, 'targetRegularizer'), configOf(0.1, targets));
    expect(curve).toMatchObject({ name: SURPRISE, steps: STEPS });
    expect(curve.values[0]).toBeCloseTo(8, 9);
    expect(curve.values[1]).toBeCloseTo(0.5, 9);
  });
});

test('neither is told if the bundle does not say what it was trained with', () => {
  const history = [...historyOf([1, 2]), ...historyOf([1, 2], 'targetRegularizer')];
  for (const config of [undefined, 3, '', '{', '{}', configOf(-1, { min: 1, max: 1 })]) {
    expect(readableCurves(history, config)).toEqual([]);
  }
  expect(readableCurves([], configOf(0.1, { min: 1, max: 1 }))).toEqual([]);
});
