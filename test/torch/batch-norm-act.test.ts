/**
 * Batch normalisation with a leaky ReLU as one operator, and with maps added before a ReLU: what the separate
 * ones give, in values, gradients and running statistics, on every device and in every layout; and what they do
 * if kernels of their own do not apply.
 */
import { describe, expect, test } from 'vitest';
import {
  batchNorm,
  batchNormAddRelu,
  batchNormLeakyRelu,
  cudaDeviceCount,
  Generator,
  grad,
  leakyRelu,
  ones,
  randn,
  zeros,
  type Device,
  type DType,
  type Tensor,
} from '../../src/torch/index.js';

interface Layout {
  readonly name: string;
  readonly shape: readonly number[];
  readonly channelsLast: boolean;
  /** Maps and gradients begin one element after other memory does. */
  readonly isView?: boolean;
}

const LAYOUTS: readonly Layout[] = [
  { name: 'channels-last', shape: [6, 32, 5, 7], channelsLast: true },
  { name: 'channels-last, views', shape: [6, 32, 5, 7], channelsLast: true, isView: true },
  { name: 'many rows', shape: [70, 64, 8, 8], channelsLast: true },
  { name: 'contiguous', shape: [6, 32, 5, 7], channelsLast: false },
  { name: 'rows', shape: [300, 48], channelsLast: false },
  { name: 'wide rows', shape: [50, 512], channelsLast: false },
  { name: 'odd channels', shape: [4, 7, 3, 3], channelsLast: true },
];
/** What follows the normalisation: a leaky ReLU of this slope, or other maps and a ReLU. */
const ACTIVATIONS = [0, 0.02, 'added'] as const;
type Activation = (typeof ACTIVATIONS)[number];
const MOMENTUM = 0.3;

interface Result {
  readonly y: Tensor;
  readonly runningMean: Tensor;
  readonly runningVar: Tensor;
  readonly gradients: Tensor[];
}

/** The same maps as a view into other memory, where they do not begin at its beginning. */
function oneElementLater(maps: Tensor): Tensor {
  const { shape, strides, dtype, device } = maps;
  const memory = zeros([maps.numel + 1], { dtype, device });
  return memory.asStrided(shape, strides, 1).copy_(maps);
}

function draw(layout: Layout, dtype: DType, device: Device) {
  const generator = new Generator('cpu', 7);
  const statistics: DType = dtype === 'f64' ? 'f64' : 'f32';
  const value = (shape: readonly number[], offset: number, spread: number): Tensor =>
    randn(shape, { generator, dtype: 'f64' }).mul(spread).add(offset);
  const channels = [layout.shape[1]];
  const maps = (offset: number, spread: number): Tensor => {
    const drawn = value(layout.shape, offset, spread).to({ dtype, device });
    const maps = layout.channelsLast ? drawn.contiguous('channelsLast') : drawn;
    return (layout.isView ? oneElementLater(maps) : maps).requiresGrad_();
  };
  return {
    x: maps(2, 3),
    residual: maps(0.5, 1),
    weight: value(channels, 1, 0.3).to({ dtype: statistics, device }).requiresGrad_(),
    bias: value(channels, 0, 0.3).to({ dtype: statistics, device }).requiresGrad_(),
    backward: layout.isView ? maps(0, 1).detach() : value(layout.shape, 0, 1).to({ dtype, device }),
    statistics,
  };
}

type Drawn = ReturnType<typeof draw>;

function run(
  { x, residual, weight, bias, backward, statistics }: Drawn,
  activation: Activation,
  fused: boolean,
): Result {
  const placed = { dtype: statistics, device: x.device };
  const runningMean = zeros([weight.shape[0]], placed).add(0.5);
  const runningVar = ones([weight.shape[0]], placed);
  const known = [runningMean, runningVar, weight, bias] as const;
  const momentum = MOMENTUM;
  const plain = (): Tensor => batchNorm(x, ...known, { training: true, momentum });
  const inputs = [x, weight, bias];
  let y: Tensor;
  if (activation === 'added') {
    inputs.push(residual);
    y = fused
      ? batchNormAddRelu(x, residual, ...known, { momentum })
      : plain().add(residual).relu();
  } else {
    y = fused
      ? batchNormLeakyRelu(x, ...known, { momentum, slope: activation })
      : leakyRelu(plain(), activation);
  }
  const gradients = grad([y], inputs, { gradOutputs: [backward] });
  return { y, runningMean, runningVar, gradients };
}

function expectClose(actual: Tensor, expected: Tensor, tolerance: number): void {
  expect(actual.shape).toEqual(expected.shape);
  const wide = [actual, expected].map((each) => each.detach().to({ dtype: 'f64', device: 'cpu' }));
  const largest = wide[1].abs().max().item();
  expect(wide[0].sub(wide[1]).abs().max().item()).toBeLessThanOrEqual(tolerance * (largest + 1e-3));
}

function expectSame(layout: Layout, dtype: DType, device: Device, tolerance: number): void {
  for (const activation of ACTIVATIONS) {
    const drawn = draw(layout, dtype, device);
    const [actual, expected] = [run(drawn, activation, true), run(drawn, activation, false)];
    expect(actual.y.dtype).toBe(expected.y.dtype);
    expectClose(actual.y, expected.y, tolerance);
    expectClose(actual.runningMean, expected.runningMean, Math.min(tolerance, 1e-3));
    expectClose(actual.runningVar, expected.runningVar, Math.min(tolerance, 1e-3));
    actual.gradients.forEach((gradient, n) =>
      expectClose(gradient, expected.gradients[n], tolerance),
    );
  }
}

describe('on the CPU', () => {
  test.each(LAYOUTS)('f64, $name', (layout) => expectSame(layout, 'f64', 'cpu', 1e-11));
  test.each(LAYOUTS)('f32, $name', (layout) => expectSame(layout, 'f32', 'cpu', 2e-5));

  test('without running statistics', () => {
    const { x, weight, bias } = draw(LAYOUTS[0], 'f64', 'cpu');
    const fused = batchNormLeakyRelu(x, null, null, weight, bias, { slope: 0.1 });
    const plain = batchNorm(x, null, null, weight, bias, { training: true });
    expectClose(fused, leakyRelu(plain, 0.1), 1e-11);
  });

  test('a batch of one value in each channel is refused', () => {
    const one = ones([1, 4, 1, 1]);
    expect(() => batchNormLeakyRelu(one, null, null, ones([4]), zeros([4]))).toThrow(
      /more than 1 value/,
    );
  });

  test('maps of another shape than the normalised ones are added as usual', () => {
    const { x, weight, bias } = draw(LAYOUTS[0], 'f64', 'cpu');
    const others = ones([1, 1, 5, 7], { dtype: 'f64' });
    const added = batchNormAddRelu(x, others, null, null, weight, bias);
    const plain = batchNorm(x, null, null, weight, bias, { training: true });
    expectClose(added, plain.add(1).relu(), 1e-11);
  });

  test('a weight of another size is refused', () => {
    const { x, bias } = draw(LAYOUTS[0], 'f32', 'cpu');
    expect(() => batchNormLeakyRelu(x, null, null, ones([31]), bias)).toThrow(/batchNorm/);
  });
});

describe.skipIf(cudaDeviceCount() === 0)('on CUDA', () => {
  test.each(LAYOUTS)('f32, $name', (layout) => expectSame(layout, 'f32', 'cuda', 1e-4));
  test.each(LAYOUTS)('bf16, $name', (layout) => expectSame(layout, 'bf16', 'cuda', 2e-2));
  test.each(LAYOUTS)('f16, $name', (layout) => expectSame(layout, 'f16', 'cuda', 3e-3));
});
