/**
 * How alike the panels of a matrix are to one or several concepts, in five numbers that say nothing of which
 * values they have: how alike panels of one row are, those of one column, the others, two rows as sets, and
 * how often panels that are alike are followed by panels that are not. Rules of one kind have them in
 * common, whatever their direction, step and values (bundle-prior.ts). No label is used.
 *
 * Alike means near in what can be predicted: differences are measured in units of the error of predictions,
 * so a rotation that nobody can foretell does not make two panels different.
 */
import { choleskyInverse, symmetricEigen } from '../base/index.js';
import { MATRIX_PANELS } from '../matrix/index.js';
import type { ConceptMeans } from '../solver/index.js';
import { momentsOf } from './statistics.js';

/** Encoded matrices [n][9], and what was predicted for the ninth panel of each, [n]. */
export interface PredictedMatrices {
  readonly concepts: readonly (readonly ConceptMeans[])[];
  readonly predicted: readonly ConceptMeans[];
  readonly sigmaZ: number;
}

/** Added to the variance of errors: what encoding itself leaves open, in units of sigma_z squared. */
const LEAST_VARIANCE = 0.5;
const RIDGE = 1e-3;
/** Directions in which panels vary less than this many times the variance of errors tell nothing. */
const TELLING_FROM = 4;
/** Panels this many errors apart are alike by e^-1/2. */
const REACH = 3;

/** Values of some concepts of a panel in one row, in units of sigma_z. */
const rowOf = (means: ConceptMeans, concepts: readonly number[], sigmaZ: number): Float64Array =>
  Float64Array.from(concepts.flatMap((m) => Array.from(means[m], (value) => value / sigmaZ)));

/** a b of square matrices. */
function product(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const out = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const factor = a[i * size + k];
      if (factor === 0) continue;
      for (let j = 0; j < size; j++) out[i * size + j] += factor * b[k * size + j];
    }
  }
  return out;
}

function transposed(a: Float64Array, size: number): Float64Array {
  return a.map((_, i) => a[(i % size) * size + Math.floor(i / size)]);
}

/** Directions [k, size] in which panels vary more than predictions err, in units of that error. */
function tellingDirections(
  panels: readonly Float64Array[],
  errors: readonly Float64Array[],
): Float64Array[] {
  const size = panels[0].length;
  const { mean, covariance: spread } = momentsOf(errors, size);
  const error = spread.map((value, i) => value + mean[Math.floor(i / size)] * mean[i % size]);
  let trace = 0;
  for (let i = 0; i < size; i++) trace += error[i * (size + 1)];
  for (let i = 0; i < size; i++) error[i * (size + 1)] += LEAST_VARIANCE + (RIDGE * trace) / size;
  const white = choleskyInverse(error, size);
  const { covariance } = momentsOf(panels, size);
  const { values, vectors } = symmetricEigen(
    product(product(white, covariance, size), transposed(white, size), size),
    size,
  );
  const directions = product(vectors, white, size);
  const count = values.filter((value) => value > TELLING_FROM).length;
  return Array.from({ length: count }, (_, k) => directions.subarray(k * size, (k + 1) * size));
}

const PAIRS = Array.from({ length: MATRIX_PANELS }, (_, i) => i).flatMap((i) =>
  Array.from({ length: i }, (_, j) => [i, j] as const),
);
const rowAt = (i: number): number => Math.floor(i / 3);
const IN_ROW = PAIRS.filter(([i, j]) => rowAt(i) === rowAt(j));
const IN_COLUMN = PAIRS.filter(([i, j]) => i % 3 === j % 3);
const APART = PAIRS.filter(([i, j]) => rowAt(i) !== rowAt(j) && i % 3 !== j % 3);
const FOLLOWED = PAIRS.filter(([i, j]) => i % 3 < 2 && j % 3 < 2);

const ROWS = [
  [0, 1],
  [0, 2],
  [1, 2],
] as const;
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;

/** The five numbers of one matrix, from its panels along the telling directions [9][k]. */
function likenessOfOne(panels: readonly Float64Array[]): number[] {
  const table = panels.map((a) =>
    panels.map((b) => {
      const distance = a.reduce((sum, value, k) => sum + (value - b[k]) ** 2, 0);
      return Math.exp(-distance / (2 * REACH ** 2));
    }),
  );
  const alike = (i: number, j: number): number => table[i][j];
  const mean = (pairs: typeof PAIRS, measure: typeof alike): number =>
    pairs.reduce((sum, [i, j]) => sum + measure(i, j), 0) / pairs.length;
  /** Two rows as sets: in the order in which they are most alike. */
  const sameSet = (a: number, b: number): number =>
    Math.max(
      ...ORDERS.map((order) =>
        order.reduce<number>((sum, to, i) => sum + alike(3 * a + i, 3 * b + to), 0),
      ),
    ) / 3;
  return [
    mean(IN_ROW, alike),
    mean(IN_COLUMN, alike),
    mean(APART, alike),
    ROWS.reduce((sum, [a, b]) => sum + sameSet(a, b), 0) / ROWS.length,
    mean(FOLLOWED, (i, j) => Math.abs(alike(i, j) - alike(i + 1, j + 1))),
  ];
}

/** The five numbers of each matrix [n][5] to some concepts taken together. */
export function panelLikeness(
  { concepts, predicted, sigmaZ }: PredictedMatrices,
  of: readonly number[],
): number[][] {
  const rows = concepts.map((matrix) => matrix.map((means) => rowOf(means, of, sigmaZ)));
  const errors = predicted.map((means, n) => {
    const guess = rowOf(means, of, sigmaZ);
    return rows[n][MATRIX_PANELS - 1].map((value, i) => value - guess[i]);
  });
  const directions = tellingDirections(rows.flat(), errors);
  const along = (row: Float64Array): Float64Array =>
    Float64Array.from(directions, (direction) =>
      direction.reduce((sum, value, i) => sum + value * row[i], 0),
    );
  return rows.map((matrix) => likenessOfOne(matrix.map(along)));
}
