/** Eigenvalues and eigenvectors against those that are known, and against the matrix itself. */
import { expect, test } from 'vitest';
import { symmetricEigen } from '../../src/base/index.js';
import { Random } from '../../src/matrix/index.js';

/** The symmetric matrix whose entries these are. */
const matrixOf = (size: number, entry: (i: number, j: number) => number): Float64Array =>
  Float64Array.from({ length: size * size }, (_, at) => {
    const [i, j] = [Math.floor(at / size), at % size];
    return entry(Math.max(i, j), Math.min(i, j));
  });

test('eigenvectors of a symmetric matrix are orthonormal rows that rebuild it', () => {
  for (const size of [1, 2, 7, 12]) {
    const random = new Random(size);
    const drawn = Float64Array.from({ length: size * size }, () => random.next() / 2 ** 31 - 1);
    const matrix = matrixOf(size, (i, j) => drawn[i * size + j]);
    const { values, vectors } = symmetricEigen(matrix, size);
    for (let i = 0; i < size; i++) {
      if (i > 0) expect(values[i]).toBeLessThanOrEqual(values[i - 1]);
      for (let j = 0; j < size; j++) {
        let rebuilt = 0;
        let dot = 0;
        for (let k = 0; k < size; k++) {
          rebuilt += values[k] * vectors[k * size + i] * vectors[k * size + j];
          dot += vectors[i * size + k] * vectors[j * size + k];
        }
        expect(rebuilt).toBeCloseTo(matrix[i * size + j], 10);
        expect(dot).toBeCloseTo(i === j ? 1 : 0, 10);
      }
    }
  }
});

test('the second difference has the eigenvalues and sine waves that textbooks give', () => {
  const size = 9;
  const { values, vectors } = symmetricEigen(
    matrixOf(size, (i, j) => (i === j ? 2 : i === j + 1 ? -1 : 0)),
    size,
  );
  for (let row = 0; row < size; row++) {
    const wave = size - row; // The fastest wave has the largest value.
    expect(values[row]).toBeCloseTo(2 - 2 * Math.cos((wave * Math.PI) / (size + 1)), 12);
    const sign = Math.sign(vectors[row * size]);
    for (let i = 0; i < size; i++) {
      const expected =
        Math.sqrt(2 / (size + 1)) * Math.sin(((i + 1) * wave * Math.PI) / (size + 1));
      expect(sign * vectors[row * size + i]).toBeCloseTo(expected, 10);
    }
  }
});

test('a matrix of zeros and one of huge numbers have eigenvalues too', () => {
  expect([...symmetricEigen(new Float64Array(9), 3).values]).toEqual([0, 0, 0]);
  const { values } = symmetricEigen(Float64Array.of(1e150, 1e150, 1e150, 1e150), 2);
  expect(values[0] / 1e150).toBeCloseTo(2, 12);
  expect(values[1] / 1e150).toBeCloseTo(0, 12);
});
