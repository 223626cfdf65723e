/**
 * Convolutions as products give what libtorch's convolutions give, values and gradients; compared here on
 * the CPU, in f64. The layers choose them on a GPU, and the product for a whole map everywhere.
 */
import { describe, expect, test } from 'vitest';
import {
  conv2d,
  convTranspose2d,
  cudaIsAvailable,
  Generator,
  grad,
  isTorchAvailable,
  nn,
  randn,
  type Tensor,
} from '../../src/torch/index.js';
import {
  doubledAsProduct,
  groupsAsProduct,
  halvedAsProduct,
  spreadMatrix,
  wholeAsProduct,
} from '../../src/torch/nn/convolution-forms.js';

const hasTorch = isTorchAvailable();
const random = hasTorch ? new Generator('cpu', 3) : (null as unknown as Generator);
const drawn = (...shape: number[]): Tensor =>
  randn(shape, { generator: random, dtype: 'f64' }).requiresGrad_();

function largestDifference(a: Tensor, b: Tensor): number {
  expect(a.shape).toEqual(b.shape);
  return a.sub(b).abs().max().item();
}

/** Values and gradients by `inputs` of two ways to compute the same. */
function expectSame(first: Tensor, second: Tensor, inputs: Tensor[]): void {
  expect(largestDifference(first, second)).toBeLessThan(1e-12);
  const weights = randn(first.shape, { generator: random, dtype: 'f64' });
  const gradients = [first, second].map((y) => grad([y.mul(weights).sum()], inputs));
  inputs.forEach((_, n) => {
    expect(largestDifference(gradients[0][n], gradients[1][n])).toBeLessThan(1e-9);
  });
}

describe.skipIf(!hasTorch)('convolutions as products', () => {
  test.each([
    [64, 64],
    [6, 10],
  ])('the halving convolution of %i x %i images', (h, w) => {
    const images = randn([3, 1, h, w], { generator: random, dtype: 'f64' });
    const weight = drawn(5, 1, 4, 4);
    const expected = conv2d(images, weight, null, { stride: 2, padding: 1 });
    expectSame(halvedAsProduct(images, weight), expected, [weight]);
  });

  test.each([
    [32, 32, true],
    [3, 5, true],
    [3, 5, false],
  ])('the doubling convolution of %i x %i maps to images, bias %o', (h, w, hasBias) => {
    const [maps, weight] = [drawn(3, 5, h, w), drawn(5, 1, 4, 4)];
    const bias = hasBias ? drawn(1) : null;
    const expected = convTranspose2d(maps, weight, bias, { stride: 2, padding: 1 });
    const inputs = [maps, weight, ...(bias === null ? [] : [bias])];
    expectSame(doubledAsProduct(maps, weight, bias), expected, inputs);
  });

  test('a kernel as large as its map', () => {
    const [maps, weight, bias] = [drawn(3, 5, 4, 2), drawn(7, 5, 4, 2), drawn(7)];
    const expected = conv2d(maps, weight, bias);
    expectSame(wholeAsProduct(maps, weight, bias), expected, [maps, weight, bias]);
    expectSame(wholeAsProduct(maps, weight, null), conv2d(maps, weight), [maps, weight]);
  });

  test.each([
    [3, 3, true],
    [3, 2, true],
    [1, 3, false],
  ])('M convolutions by %i x %i kernels on maps of side %i', (kernel, side, hasBias) => {
    const [m, b, inputs, outputs] = [2, 4, 3, 5];
    const x = drawn(m, b, side * side, inputs);
    const weight = drawn(m * outputs, inputs, kernel, kernel);
    const bias = hasBias ? drawn(m * outputs) : null;
    const padding = (kernel - 1) / 2;
    const spread = spreadMatrix(kernel, side, padding).to({ dtype: 'f64' });
    const image = x.permute([1, 0, 3, 2]).reshape([b, m * inputs, side, side]);
    const expected = conv2d(image, weight, bias, { padding, groups: m })
      .reshape([b, m, outputs, side * side])
      .permute([1, 0, 3, 2]); // [M, B, P, out]
    const product = groupsAsProduct(x.reshape([m, b, -1]), weight, bias, spread);
    const wanted = [x, weight, ...(bias === null ? [] : [bias])];
    expectSame(product.reshape([m, b, side * side, outputs]), expected, wanted);
  });
});

describe.skipIf(!cudaIsAvailable())('layers on a GPU, by products, and on a CPU', () => {
  const options = { generator: random };
  const halving = { ...options, stride: 2, padding: 1 };
  test.each<[string, nn.Layer, number[]]>([
    ['one channel to many', new nn.Conv2d(1, 8, 4, { ...halving, bias: false }), [3, 1, 16, 16]],
    ['many channels to one', new nn.ConvTranspose2d(8, 1, 4, halving), [3, 8, 8, 8]],
    ['a whole map', new nn.Conv2d(8, 6, 4, options), [3, 8, 4, 4]],
    [
      'M small maps',
      new nn.BatchedConv2d(2, 3, 5, 3, { ...options, padding: 1, relu: true }),
      [2, 4, 3, 3, 3],
    ],
  ])('%s', (_, layer, shape) => {
    const x = randn(shape, { generator: random });
    const here = layer.forward(x);
    const there = layer.to({ device: 'cuda' }).forward(x.to({ device: 'cuda' }));
    expect(largestDifference(there.to({ device: 'cpu' }), here)).toBeLessThan(1e-3);
  });
});
