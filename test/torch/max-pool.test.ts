/**
 * Max pooling of maps in every layout, on every device: libtorch's own on the CPU in f64 says what is right.
 * Kernels for a GPU take channels-last maps; cuda-kernels.test.ts tries those without a GPU too.
 */
import { describe, expect, test } from 'vitest';
import {
  cudaDeviceCount,
  Generator,
  grad,
  maxPool2d,
  randn,
  zeros,
} from '../../src/torch/index.js';
import type { Device, DType, PoolOptions, Tensor } from '../../src/torch/index.js';

interface Case {
  readonly shape: readonly number[];
  readonly kernel: number;
  readonly options?: PoolOptions;
  /** Maps begin one element after other memory does. */
  readonly isView?: boolean;
}

const CASES: readonly Case[] = [
  { shape: [3, 64, 40, 40], kernel: 3, options: { stride: 2, padding: 1 } },
  { shape: [2, 8, 7, 10], kernel: 3, options: { stride: 2, padding: 1 } },
  { shape: [2, 8, 7, 10], kernel: 3, options: { stride: 2, padding: 1 }, isView: true },
  { shape: [2, 16, 9, 8], kernel: 2 },
  { shape: [2, 24, 5, 5], kernel: 2, options: { stride: 3 } },
  { shape: [2, 7, 6, 6], kernel: 3, options: { stride: 1 } },
  { shape: [2, 8, 7, 7], kernel: 2, options: { ceilMode: true } },
];

function pooled(
  { shape, kernel, options, isView }: Case,
  dtype: DType,
  device: Device,
  isLast: boolean,
) {
  const generator = new Generator('cpu', 7);
  // Whole numbers, so that every type holds them and many are equal.
  const maps = randn(shape, { generator, dtype: 'f64' }).mul(4).round();
  const placed = maps.to({ dtype, device });
  const laidOut = isLast ? placed.contiguous('channelsLast') : placed;
  const memory = zeros([laidOut.numel + 1], { dtype, device });
  const x = (isView ? memory.asStrided(shape, laidOut.strides, 1).copy_(laidOut) : laidOut)
    .detach()
    .requiresGrad_();
  const y = maxPool2d(x, kernel, options);
  const weights = randn(y.shape, { generator, dtype: 'f64' }).mul(9).round();
  const [gradient] = grad([y.mul(weights.to({ dtype, device })).sum()], [x]);
  return [y, gradient];
}

const numbers = (tensor: Tensor): unknown =>
  tensor.detach().to({ dtype: 'f64', device: 'cpu' }).contiguous().toArray();

function expectRight(one: Case, dtype: DType, device: Device, isLast: boolean): void {
  const expected = pooled(one, 'f64', 'cpu', false).map(numbers);
  expect(pooled(one, dtype, device, isLast).map(numbers)).toEqual(expected);
}

const name = ({ shape, kernel, options, isView }: Case): string =>
  `${shape.join('x')} by ${kernel} ${JSON.stringify(options ?? {})}${isView ? ', views' : ''}`;
const named = CASES.map((one) => [name(one), one] as const);

describe('max pooling', () => {
  test.each(named)('on the CPU, %s', (_, one) => {
    expectRight(one, 'f32', 'cpu', true);
    expectRight(one, 'f32', 'cpu', false);
  });

  test.skipIf(cudaDeviceCount() === 0).each(named)('on CUDA, %s', (_, one) => {
    for (const dtype of ['f32', 'f16', 'bf16'] as const) {
      expectRight(one, dtype, 'cuda', true);
      expectRight(one, dtype, 'cuda', false);
    }
  });

  test('a window larger than the maps is refused', () => {
    expect(() => maxPool2d(randn([1, 8, 2, 2]), 5)).toThrow(/maxPool2d/);
  });
});
