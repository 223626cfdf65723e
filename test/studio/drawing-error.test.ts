/** How far off a model draws, read from the log-likelihood that its history keeps. */
import { describe, expect, test } from 'vitest';
import { DRAWING_ERROR, drawingErrors } from '../../src/studio/engine/drawing-error.js';
import { logLikelihood } from './bundles.js';

const STEPS = [10, 20];
const historyOf = (values: number[]) => [{ name: 'reconstruction', steps: STEPS, values }];
const configOf = (sigmaX: number, targets: object): string =>
  JSON.stringify({ objective: { sigmaX, sigmaZ: 0.3 }, targets });

describe('the error of drawing', () => {
  test.each([
    ['one panel', 0.1, { min: 1, max: 1 }, 1],
    ['one to three panels, two on average', 0.2, { min: 1, max: 3 }, 2],
    ['single panels first', 0.1, { min: 1, max: 3, smallestSets: 2 }, 1],
  ])('is that of a pixel: %s', (_, sigma, targets, panels) => {
    const values = [0.3, 0.01].map((error) => panels * logLikelihood(error, sigma));
    const [curve] = drawingErrors(historyOf(values), configOf(sigma, targets));
    expect(curve.name).toBe(DRAWING_ERROR);
    expect(curve.steps).toEqual(STEPS);
    expect(curve.values[0]).toBeCloseTo(0.3, 6);
    expect(curve.values[1]).toBeCloseTo(0.01, 6);
  });

  test('is zero of a perfect copy, whatever rounding says', () => {
    const values = [logLikelihood(0) + 1e-6, logLikelihood(0)];
    const [curve] = drawingErrors(historyOf(values), configOf(0.1, { min: 1, max: 1 }));
    for (const value of curve.values) expect(value).toBeCloseTo(0, 3);
  });

  test('is not told if the bundle does not say what it was trained with', () => {
    const history = historyOf([1, 2]);
    for (const config of [undefined, 3, '', '{', '{}', configOf(-1, { min: 1, max: 1 })]) {
      expect(drawingErrors(history, config)).toEqual([]);
    }
    expect(drawingErrors([], configOf(0.1, { min: 1, max: 1 }))).toEqual([]);
  });
});
