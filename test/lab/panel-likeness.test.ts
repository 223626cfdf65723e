/** How alike the panels of a matrix are: what kinds of rules have in common, whatever their values. */
import { expect, test } from 'vitest';
import { panelLikeness } from '../../src/lab/panel-likeness.js';
import { mirroredMatrix } from '../../src/lab/metrics/rule-agreement.js';
import { Random } from '../../src/matrix/index.js';
import type { ConceptMeans } from '../../src/solver/index.js';

const SIGMA = 0.3;

/** A value as a concept of two: the value itself, and noise that nobody can foretell. */
function panelOf(value: number, noise: number): ConceptMeans {
  return [Float32Array.of(value * 20 * SIGMA, noise * 20 * SIGMA), Float32Array.of(0, 0)];
}

/** Matrices of values [9], with what a model would predict of their last panel. */
function seen(matrices: readonly (readonly number[])[]) {
  const random = new Random(3, 4);
  const concepts = matrices.map((values) =>
    values.map((value) => panelOf(value, random.next() / 2 ** 32)),
  );
  const predicted = matrices.map((values) => panelOf(values[8], 0.5));
  return { concepts, predicted, sigmaZ: SIGMA };
}

const constant = [1, 1, 1, 4, 4, 4, 2, 2, 2];
const more = [1, 2, 3, 3, 4, 5, 2, 3, 4];
const three = [1, 4, 2, 4, 2, 1, 2, 1, 4];
const sum = [1, 2, 3, 1, 4, 5, 2, 2, 4];

test('rows, columns, sets and what follows tell kinds of rules apart, unforeseeable noise does not', () => {
  const [ofConstant, ofMore, ofThree, ofSum] = panelLikeness(
    seen([constant, more, three, sum]),
    [0],
  );
  const [row, column, apart, sets, followed] = [0, 1, 2, 3, 4];
  expect(ofConstant[row]).toBeGreaterThan(0.9);
  expect(Math.max(ofMore[row], ofThree[row])).toBeLessThan(0.1);
  expect(ofThree[sets]).toBeGreaterThan(0.9);
  expect(ofThree[apart]).toBeCloseTo(0.5, 1);
  expect(ofThree[column]).toBeLessThan(0.1);
  expect(Math.max(ofConstant[followed], ofMore[followed], ofThree[followed])).toBeLessThan(0.1);
  expect(ofSum[followed]).toBeGreaterThan(0.1);
});

test('mirrored matrices and other values have the same likeness', () => {
  const others = three.map((value) => ({ 1: 5, 2: 3, 4: 1 })[value] ?? 0);
  const [own, mirrored, other] = panelLikeness(seen([three, mirroredMatrix(three), others]), [0]);
  own.forEach((value, i) => {
    expect(Math.abs(mirrored[i] - value)).toBeLessThan(0.05);
    expect(Math.abs(other[i] - value)).toBeLessThan(0.05);
  });
});

test('panels of a concept that never moves are all alike', () => {
  const [[row, column, apart]] = panelLikeness(seen([more]), [1]);
  expect([row, column, apart]).toEqual([1, 1, 1]);
});
