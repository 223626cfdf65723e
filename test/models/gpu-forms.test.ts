/**
 * The forms that a GPU computes faster (products instead of convolutions) give what the convolutions
 * give, values and gradients; compared here on the CPU, in f64.
 */
import { expect, test } from 'vitest';
import { ConceptConvolution } from '../../src/models/crab/target-predictor.js';
import { SPREAD } from '../../src/models/crab/neighbours.js';
import { convolvedAsProduct, paintedAsProduct } from '../../src/models/crab/networks.js';
import {
  conv2d,
  convTranspose2d,
  Generator,
  grad,
  randn,
  tensor,
  type Tensor,
} from '../../src/torch/index.js';

const random = new Generator('cpu', 3);
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

test('the halving convolution of images as a product', () => {
  const images = randn([3, 1, 64, 64], { generator: random, dtype: 'f64' });
  const weight = drawn(5, 1, 4, 4);
  const expected = conv2d(images, weight, null, { stride: 2, padding: 1 });
  expectSame(convolvedAsProduct(images, weight), expected, [weight]);
});

test('the doubling convolution to images as a product', () => {
  const [maps, weight, bias] = [drawn(3, 5, 32, 32), drawn(5, 1, 4, 4), drawn(1)];
  const expected = convTranspose2d(maps, weight, bias, { stride: 2, padding: 1 });
  expectSame(paintedAsProduct(maps, weight, bias), expected, [maps, weight, bias]);
});

test('the convolution over the 3x3 matrix as a product of all positions', () => {
  const [m, b, inputs, outputs] = [2, 4, 3, 5];
  const layer = new ConceptConvolution(m, inputs, outputs, { generator: random });
  layer.to({ dtype: 'f64' });
  const x = drawn(m, b, 9, inputs);
  const spread = tensor([...SPREAD], { dtype: 'f64' }).reshape([9, 81]);
  const image = x.permute([1, 0, 3, 2]).reshape([b, m * inputs, 3, 3]);
  const expected = layer.grouped(image).reshape([b, m, outputs, 9]).permute([1, 0, 3, 2]); // [M, B, 9, out]
  const dense = layer.dense(x.reshape([m, b, 9 * inputs]), spread).reshape([m, b, 9, outputs]);
  expectSame(dense, expected, [x, layer.weight, layer.bias]);
});
