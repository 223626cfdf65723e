/** Gradients: against central differences in f64, of gradients, and of chosen inputs. */
import { describe, expect, test } from 'vitest';
import type { Tensor } from '../../src/torch/index.js';
import {
  Generator,
  TorchError,
  baddbmm,
  batchNormAddRelu,
  batchNormLeakyRelu,
  conv2d,
  convTranspose2d,
  crossEntropy,
  enableGrad,
  eye,
  grad,
  interpolate,
  isGradEnabled,
  isTorchAvailable,
  layerNorm,
  linear,
  maxPool2d,
  mse,
  noGrad,
  ones,
  randn,
  softplus,
  tensor,
  zeros,
} from '../../src/torch/index.js';

import { pictureStage, stageByKernels } from '../../src/torch/nn/picture-stage.js';

const STEP = 1e-6;

/** The derivative of a scalar function by each element of one input, by central differences. */
function centralDifferences(fn: (x: Tensor) => Tensor, x: Tensor): number[] {
  const values = x.toArray();
  return values.map((value, i) => {
    const at = (offset: number) => {
      const moved = Float64Array.from(values);
      moved[i] = value + offset;
      return fn(tensor(moved, { shape: x.shape })).item();
    };
    return (at(STEP) - at(-STEP)) / (2 * STEP);
  });
}

function expectGradient(fn: (x: Tensor) => Tensor, shape: number[]): void {
  const generator = new Generator('cpu', 11);
  const x = randn(shape, { dtype: 'f64', generator }).requiresGrad_();
  fn(x).backward();
  const expected = noGrad(() => centralDifferences(fn, x));
  const actual = x.grad!.toArray();
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 6));
}

const fixed = (shape: number[], seed = 5): Tensor =>
  randn(shape, { dtype: 'f64', generator: new Generator('cpu', seed) });

/** A sum of maps in which each element counts for something else. */
const weighed = (maps: Tensor): Tensor => maps.mul(fixed(maps.shape, 6)).sum();

/** Five pictures through a first stage with `weight` [2, 1, 3, 3], normalised by the batch. */
function firstStage(stage: typeof pictureStage, weight: Tensor): Tensor {
  const conv = { weight, bias: fixed([2]), stride: 2, padding: 1 };
  const [mean, variance] = [zeros([2], { dtype: 'f64' }), ones([2], { dtype: 'f64' })];
  const norm = { weight: fixed([2], 7), bias: fixed([2], 8), eps: 1e-5, momentum: 0.1 };
  return stage(fixed([5, 1, 6, 6]), conv, { ...norm, runningMean: mean, runningVar: variance });
}

describe.skipIf(!isTorchAvailable())('gradients', () => {
  test.each<[string, (x: Tensor) => Tensor, number[]]>([
    ...(['channelsLast', 'contiguous'] as const).map(
      (layout): [string, (x: Tensor) => Tensor, number[]] => [
        `batch normalisation and leaky ReLU, ${layout}`,
        (x) => {
          const maps = x.contiguous(layout);
          const options = { slope: 0.1 };
          return weighed(batchNormLeakyRelu(maps, null, null, fixed([3]), fixed([3], 7), options));
        },
        [4, 3, 2, 2],
      ],
    ),
    [
      'weights of batch normalisation and ReLU',
      (x) => weighed(batchNormLeakyRelu(fixed([6, 3]), null, null, x, fixed([3], 7))),
      [3],
    ],
    [
      'batch normalisation, added maps and ReLU',
      (x) => weighed(batchNormAddRelu(x, x.square(), null, null, fixed([3]), fixed([3], 7))),
      [4, 3, 2, 2],
    ],
    ['max pooling', (x) => weighed(maxPool2d(x, 3, { stride: 2, padding: 1 })), [2, 2, 5, 4]],
    ['a first stage as one product', (x) => weighed(firstStage(pictureStage, x)), [2, 1, 3, 3]],
    [
      'a first stage as for kernels of our own',
      (x) => weighed(firstStage((...given) => stageByKernels(...given, 'f64'), x)),
      [2, 1, 3, 3],
    ],
    [
      'a solution by Cholesky factors, as in a Gaussian process',
      (x) => {
        const kernel = x.matmul(x.transpose(-1, -2)).add(eye(3, 3, { dtype: 'f64' })); // [2, 3, 3]
        return fixed([2, 3, 2]).choleskySolve(kernel.cholesky()).square().sum();
      },
      [2, 3, 4],
    ],
    [
      'a triangular solution',
      (x) =>
        x
          .tril()
          .add(eye(3, 3, { dtype: 'f64' }).mul(4))
          .solveTriangular(fixed([3, 2]), false)
          .square()
          .sum(),
      [3, 3],
    ],
    [
      "Kronecker's product",
      (x) =>
        x
          .kron(fixed([3, 2]))
          .square()
          .mul(fixed([6, 4]))
          .sum(),
      [2, 2],
    ],
    ['the median of rows', (x) => x.median(1).values.square().sum(), [3, 5]],
    [
      'smooth images of half the size',
      (x) => interpolate(x, { size: 3, mode: 'bilinear', antialias: true }).square().sum(),
      [1, 2, 6, 6],
    ],
    ['a chain of pointwise functions', (x) => x.exp().add(1).log().mul(x).tanh().sum(), [3, 4]],
    ['softplus', (x) => softplus(x).sum(), [5]],
    [
      'reductions',
      (x) =>
        x
          .var([1])
          .add(x.logsumexp([1]))
          .mul(x.mean([1]))
          .sum(),
      [3, 4],
    ],
    [
      'matrix products',
      (x) =>
        x
          .matmul(fixed([4, 2]))
          .square()
          .sum(),
      [3, 4],
    ],
    [
      'batched product',
      (x) =>
        baddbmm(fixed([2, 1, 5]), x, fixed([2, 4, 5]))
          .square()
          .mean(),
      [2, 3, 4],
    ],
    [
      'linear',
      (x) =>
        linear(x, fixed([2, 4]), fixed([2]))
          .sigmoid()
          .sum(),
      [3, 4],
    ],
    ['views', (x) => x.transpose(0, 1).narrow(0, 1, 2).reshape([-1]).square().sum(), [3, 4]],
    [
      'gather',
      (x) =>
        x
          .gather(
            1,
            tensor(
              [
                [0, 2],
                [1, 1],
                [3, 0],
              ],
              { dtype: 'i64' },
            ),
          )
          .square()
          .sum(),
      [3, 4],
    ],
    [
      'conv2d',
      (x) =>
        conv2d(x, fixed([2, 3, 3, 3]), null, { stride: 2, padding: 1 })
          .square()
          .sum(),
      [1, 3, 5, 5],
    ],
    [
      'convTranspose2d',
      (x) =>
        convTranspose2d(x, fixed([2, 3, 4, 4]), fixed([3]), { stride: 2, padding: 1 })
          .square()
          .sum(),
      [1, 2, 3, 3],
    ],
    [
      'layerNorm',
      (x) =>
        layerNorm(x, [4], fixed([4]), fixed([4]))
          .pow(3)
          .sum(),
      [3, 4],
    ],
    ['crossEntropy', (x) => crossEntropy(x, tensor([0, 2, 1], { dtype: 'i64' })), [3, 4]],
    [
      'logdet',
      (x) =>
        x
          .matmul(x.transpose(0, 1))
          .add(fixed([1]).square())
          .add(
            tensor(
              [
                [3, 0],
                [0, 3],
              ],
              { dtype: 'f64' },
            ),
          )
          .logdet(),
      [2, 3],
    ],
    ['mse', (x) => mse(x, fixed([3, 4])), [3, 4]],
  ])('%s', (_, fn, shape) => {
    expectGradient(fn, shape);
  });

  test('a Cholesky solution is the solution', () => {
    const factor = fixed([4, 3, 3])
      .tril()
      .add(eye(3, 3, { dtype: 'f64' }).mul(3));
    const matrix = factor.matmul(factor.transpose(-1, -2));
    const b = fixed([4, 3, 2], 6);
    expect(b.choleskySolve(factor).allclose(matrix.solve(b), 1e-9, 1e-12)).toBe(true);
  });

  test('accumulate, reset and set', () => {
    const x = tensor([1, 2], { requiresGrad: true });
    expect(x.grad).toBeNull();
    x.mul(3).sum().backward();
    x.mul(3).sum().backward();
    expect(x.grad!.toArray()).toEqual([6, 6]);
    x.grad!.zero_();
    expect(x.grad!.toArray()).toEqual([0, 0]);
    x.grad = null;
    expect(x.grad).toBeNull();
    x.grad = tensor([7, 8]);
    expect(x.grad.toArray()).toEqual([7, 8]);
    expect(() => (x.grad = tensor([1]))).toThrow('shape');
    expect(() => (x.grad = tensor([1, 2], { dtype: 'f64' }))).toThrow('dtype');
  });

  test('grad of chosen inputs leaves grad alone; unused inputs are an error or null', () => {
    const x = tensor(2, { requiresGrad: true });
    const y = tensor(3, { requiresGrad: true });
    const z = tensor(5, { requiresGrad: true });
    const product = x.mul(y);
    const [dx, dy] = grad([product], [x, y], { retainGraph: true });
    expect([dx.item(), dy.item()]).toEqual([3, 2]);
    expect(x.grad).toBeNull();
    expect(() => grad([product], [z], { retainGraph: true })).toThrow(TorchError);
    expect(grad([product], [z], { allowUnused: true })).toEqual([null]);
  });

  test('gradients of gradients', () => {
    const x = tensor(3, { dtype: 'f64', requiresGrad: true });
    const [first] = grad([x.pow(4)], [x], { createGraph: true });
    const [second] = grad([first], [x], { createGraph: true });
    const [third] = grad([second], [x]);
    expect([first.item(), second.item(), third.item()]).toEqual([108, 108, 72]);
  });

  test('weighted outputs, retained and inner gradients', () => {
    const x = tensor([1, 2], { requiresGrad: true });
    const y = x.mul(2).retainGrad();
    y.square().backward(tensor([1, 10]), { retainGraph: true });
    expect(y.grad!.toArray()).toEqual([4, 80]);
    expect(x.grad!.toArray()).toEqual([8, 160]);
    expect(x.mul(2).grad).toBeNull();
    const z = tensor([1, 1], { requiresGrad: true });
    x.grad = null;
    x.mul(z)
      .sum()
      .backward(null, { inputs: [z] });
    expect([x.grad, z.grad!.toArray()]).toEqual([null, [1, 2]]);
  });

  test('noGrad, enableGrad and detach', () => {
    const x = ones([1], { requiresGrad: true });
    expect(noGrad(() => x.mul(2)).requiresGrad).toBe(false);
    expect(noGrad(() => enableGrad(() => x.mul(2))).requiresGrad).toBe(true);
    expect(noGrad(() => isGradEnabled())).toBe(false);
    expect(isGradEnabled()).toBe(true);
    expect(x.mul(2).detach().requiresGrad).toBe(false);
    expect(() =>
      noGrad(() => {
        throw new RangeError('mine');
      }),
    ).toThrow(RangeError);
    expect(isGradEnabled()).toBe(true);
    expect(() => noGrad(async () => Promise.resolve(1))).toThrow(TorchError);
    expect(isGradEnabled()).toBe(true);
  });

  test('a second pass through a freed graph, and a leaf changed in place, are errors', () => {
    const x = ones([2], { requiresGrad: true });
    const y = x.square().sum();
    y.backward();
    expect(() => y.backward()).toThrow(TorchError);
    expect(() => x.add_(1)).toThrow(TorchError);
    expect(noGrad(() => x.add_(1)).toArray()).toEqual([2, 2]);
    expect(() => zeros([2], { requiresGrad: true }).backward()).toThrow(TorchError);
    expect(() => zeros([]).backward()).toThrow(TorchError);
  });
});
