/** Principal components and factored layers on samples whose answer is known. */
import { expect, test } from 'vitest';
import { Random } from '../../src/matrix/index.js';
import { factored } from '../../src/models/onnx/compact.js';
import { principalComponents } from '../../src/models/onnx/principal-components.js';

const uniform = (random: Random): number => random.next() / 2 ** 31 - 1;

/** Samples [count, size] that vary in `rank` directions only, around a mean. */
function flatSamples(count: number, size: number, rank: number) {
  const random = new Random(2);
  const basis = Array.from({ length: rank }, () =>
    Array.from({ length: size }, () => uniform(random)),
  );
  const values = new Float32Array(count * size);
  for (let i = 0; i < count; i++) {
    const scores = basis.map((_, r) => (uniform(random) * 4) / (r + 1));
    for (let j = 0; j < size; j++) {
      values[i * size + j] = 3 + basis.reduce((sum, row, r) => sum + scores[r] * row[j], 0);
    }
  }
  return { count, size, values };
}

test('components of samples of low rank hold all of their variance', () => {
  const samples = flatSamples(200, 50, 4);
  const { variances, total, directions } = principalComponents(samples, 6);
  const held = variances.slice(0, 4).reduce((sum, value) => sum + value, 0);
  expect(held / total).toBeCloseTo(1, 6);
  expect(variances[4]).toBeLessThan(1e-6 * total);
  for (let i = 0; i < 4; i++) {
    let length = 0;
    for (let k = 0; k < 50; k++) length += directions[i * 50 + k] ** 2;
    expect(length).toBeCloseTo(1, 9);
  }
});

test('a layer whose outputs have low rank is factored without loss', () => {
  const [inputs, outputs, count, rank] = [40, 30, 300, 3];
  const random = new Random(5);
  const weight = Float32Array.from({ length: outputs * inputs }, () => uniform(random));
  const bias = Float32Array.from({ length: outputs }, () => uniform(random));
  const layer = { weights: [{ data: weight, shape: [outputs, inputs] }], bias };
  // Inputs that vary in three directions: the weights have full rank, the outputs they make have not.
  const x = flatSamples(count, inputs, rank).values;
  const apply = (matrix: Float32Array, from: ArrayLike<number>, width: number): number[] =>
    Array.from({ length: matrix.length / width }, (_, o) => {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += matrix[o * width + i] * from[i];
      return sum;
    });
  const rowsOf = (n: number): Float32Array => x.subarray(n * inputs, (n + 1) * inputs);
  const exact = Array.from({ length: count }, (_, n) =>
    apply(weight, rowsOf(n), inputs).map((value, o) => value + bias[o]),
  );
  const samples = { count, size: outputs, values: Float32Array.from(exact.flat()) };
  const thin = factored(layer, principalComponents(samples, rank), rank);
  expect(thin.weights.map(({ shape }) => shape)).toEqual([
    [rank, inputs],
    [outputs, rank],
  ]);
  for (const n of [0, 17, 299]) {
    const inner = apply(thin.weights[0].data, rowsOf(n), inputs);
    const outer = apply(thin.weights[1].data, inner, rank);
    outer.forEach((value, o) => expect(value + thin.bias[o]).toBeCloseTo(exact[n][o], 3));
  }
});
