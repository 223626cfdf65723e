/**
 * The convolution that halves its maps and its transpose that doubles them, by minimal filtering: what
 * libtorch's own convolutions give, in values and in first and second gradients, for every layout and
 * number of threads; what they do where their own kernels do not apply; and the layers that call them.
 */
import { afterEach, describe, expect, test } from 'vitest';
import {
  autocast,
  conv2d,
  convTranspose2d,
  Generator,
  grad,
  nn,
  operator,
  randn,
  setNumThreads,
  torchInfo,
  type DType,
  type Tensor,
} from '../../src/torch/index.js';

const halving = operator('crab::halving_conv');
const doubling = operator('crab::doubling_conv');
const GEOMETRY = { stride: 2, padding: 1 } as const;

interface Case {
  readonly name: string;
  readonly images: number;
  /** Channels and size of the larger maps, channels of the smaller ones. */
  readonly large: readonly [channels: number, height: number, width: number];
  readonly small: number;
  readonly inputLast?: boolean;
  readonly weightLast?: boolean;
}

const CASES: readonly Case[] = [
  { name: 'one image', images: 1, large: [16, 8, 8], small: 32 },
  { name: 'several chunks of images, the last smaller', images: 7, large: [8, 32, 32], small: 16 },
  { name: 'a map larger than a chunk', images: 2, large: [8, 64, 72], small: 8 },
  { name: 'maps that are no squares', images: 3, large: [12, 4, 16], small: 9 },
  { name: 'odd channels', images: 5, large: [9, 8, 8], small: 19 },
  { name: 'a plain weight', images: 3, large: [16, 8, 8], small: 8, weightLast: false },
  { name: 'plain images', images: 3, large: [16, 8, 8], small: 8, inputLast: false },
  // Those without a kernel of ours.
  {
    name: 'all plain',
    images: 3,
    large: [16, 8, 8],
    small: 8,
    inputLast: false,
    weightLast: false,
  },
  { name: 'one channel', images: 3, large: [1, 8, 8], small: 8 },
  { name: 'sides that are no multiples of 4', images: 3, large: [8, 6, 10], small: 8 },
];

/** Largest difference by the largest value. */
function distance(a: Tensor, b: Tensor): number {
  expect(a.shape).toEqual(b.shape);
  return a.sub(b).abs().max().item() / Math.max(1e-30, b.abs().max().item());
}

function draw(each: Case, transposed: boolean, dtype: DType) {
  const generator = new Generator('cpu', 11);
  const [channels, height, width] = each.large;
  const large = [each.images, channels, height, width];
  const small = [each.images, each.small, height / 2, width / 2];
  const laid = (x: Tensor, last: boolean): Tensor => (last ? x.contiguous('channelsLast') : x);
  const value = (shape: readonly number[], last: boolean): Tensor =>
    laid(randn(shape, { generator, dtype: 'f64' }).to({ dtype }), last);
  return {
    x: value(transposed ? small : large, each.inputLast ?? true).requiresGrad_(),
    weight: value([each.small, channels, 4, 4], each.weightLast ?? true).requiresGrad_(),
    gradient: value(transposed ? large : small, true),
  };
}

function own(transposed: boolean, x: Tensor, weight: Tensor): Tensor {
  return (transposed ? doubling : halving).tensor(x, weight);
}

function libtorchs(transposed: boolean, x: Tensor, weight: Tensor): Tensor {
  return (transposed ? convTranspose2d : conv2d)(x, weight, null, GEOMETRY);
}

const threadsBefore = torchInfo().info?.threads ?? 1;
afterEach(() => {
  setNumThreads(threadsBefore);
});

describe.each([
  ['halving', false],
  ['doubling', true],
] as const)('%s', (_, transposed) => {
  describe.each([
    ['f64', 1e-13],
    ['f32', 1e-5],
  ] as const)('%s', (dtype, tolerance) => {
    test.each(CASES)('$name: values and gradients', (each) => {
      const { x, weight, gradient } = draw(each, transposed, dtype);
      const [y, expected] = [own, libtorchs].map((f) => f(transposed, x, weight));
      const [gradients, wanted] = [y, expected].map((out) =>
        grad([out.mul(gradient).sum()], [x, weight]),
      );
      expect(distance(y, expected)).toBeLessThan(tolerance);
      gradients.forEach((one, i) => {
        expect(distance(one, wanted[i])).toBeLessThan(tolerance);
      });
    });
  });

  test('any number of threads gives the same to rounding, and each the same twice', () => {
    const { x, weight, gradient } = draw(CASES[1], transposed, 'f32');
    const results = [1, 1, 2, 2, 3].map((threads) => {
      setNumThreads(threads);
      return grad([own(transposed, x, weight).mul(gradient).sum()], [x, weight]);
    });
    for (const i of [0, 1]) {
      expect(distance(results[1][i], results[0][i])).toBe(0);
      expect(distance(results[3][i], results[2][i])).toBe(0);
      expect(distance(results[2][i], results[0][i])).toBeLessThan(1e-5);
      expect(distance(results[4][i], results[0][i])).toBeLessThan(1e-5);
    }
  });

  test.each([0, 1])('the gradient of one argument alone (%i)', (which) => {
    const { x, weight, gradient } = draw(CASES[4], transposed, 'f64');
    const fixed = [x, weight].map((one, i) => (i === which ? one : one.detach()));
    const alone = grad([own(transposed, fixed[0], fixed[1]).mul(gradient).sum()], [fixed[which]]);
    const both = grad([own(transposed, x, weight).mul(gradient).sum()], [x, weight]);
    expect(distance(alone[0], both[which])).toBe(0);
  });

  test('second gradients', () => {
    const { x, weight, gradient } = draw(CASES[0], transposed, 'f64');
    const [second, wanted] = [own, libtorchs].map((f) => {
      const y = f(transposed, x, weight);
      const firsts = grad([y.square().mul(gradient).sum()], [x, weight], { createGraph: true });
      return grad([firsts[0].square().sum().add(firsts[1].square().sum())], [x, weight]);
    });
    second.forEach((one, i) => {
      expect(distance(one, wanted[i])).toBeLessThan(1e-12);
    });
  });

  test('a wrong number of channels is refused', () => {
    const { x } = draw(CASES[0], transposed, 'f32');
    const { weight } = draw(CASES[4], transposed, 'f32');
    expect(() => own(transposed, x, weight)).toThrow(/channels/);
  });
});

describe('layers', () => {
  const [inputs, outputs] = [16, 8];
  const options = { ...GEOMETRY, bias: false, generator: new Generator('cpu', 5) } as const;
  const layers = [
    { name: 'Conv2d', layer: new nn.Conv2d(inputs, outputs, 4, options), transposed: false },
    {
      name: 'ConvTranspose2d',
      layer: new nn.ConvTranspose2d(inputs, outputs, 4, options),
      transposed: true,
    },
  ];
  const images = randn([3, inputs, 8, 8], { generator: options.generator });
  const isSame = (a: Tensor, b: Tensor): boolean => a.dtype === b.dtype && distance(a, b) === 0;

  test.each(layers)('$name: channels-last, by the kernels of our own', ({ layer, transposed }) => {
    const x = images.contiguous('channelsLast');
    const y = layer.forward(x);
    expect(isSame(y, own(transposed, x, layer.weight))).toBe(true);
    expect(distance(y, libtorchs(transposed, x, layer.weight))).toBeLessThan(1e-5);
    expect(y.isContiguous('channelsLast')).toBe(true);
  });

  test.each(layers)("$name: else exactly libtorch's", ({ layer, transposed }) => {
    layer.to({ memoryFormat: 'contiguous' });
    const { weight } = layer;
    const plain = layer.forward(images);
    expect(isSame(plain, libtorchs(transposed, images, weight))).toBe(true);
    expect(plain.isContiguous()).toBe(true);
    const one = images.select(0, 0); // [C, H, W]
    expect(isSame(layer.forward(one), libtorchs(transposed, one, weight))).toBe(true);
    const last = images.contiguous('channelsLast');
    const [narrow, wanted] = autocast('cpu', 'bf16', () => [
      layer.forward(last),
      libtorchs(transposed, last, weight),
    ]);
    expect(isSame(narrow, wanted)).toBe(true);
  });

  // Each differs from the halving geometry in one thing.
  const others: readonly (Partial<nn.Conv2dOptions> & { kernel?: number })[] = [
    { kernel: 3 },
    { stride: 1 },
    { stride: [2, 1] },
    { padding: 0 },
    { dilation: [1, 2] },
    { groups: 2 },
    { bias: true },
  ];
  test.each(others)('another geometry is left to libtorch: %o', ({ kernel = 4, ...change }) => {
    const changed = { ...options, ...change };
    const x = images.contiguous('channelsLast');
    const conv = new nn.Conv2d(inputs, outputs, kernel, changed);
    expect(isSame(conv.forward(x), conv2d(x, conv.weight, conv.bias, conv.geometry))).toBe(true);
    const back = new nn.ConvTranspose2d(inputs, outputs, kernel, changed);
    const wanted = convTranspose2d(x, back.weight, back.bias, back.geometry);
    expect(isSame(back.forward(x), wanted)).toBe(true);
  });

  test('an output with one more row and column is left to libtorch', () => {
    const layer = new nn.ConvTranspose2d(inputs, outputs, 4, { ...options, outputPadding: 1 });
    expect(layer.forward(images.contiguous('channelsLast')).shape).toEqual([3, outputs, 17, 17]);
  });

  test.each(layers)('$name: a wrong number of channels is refused by name', ({ layer, name }) => {
    const wrong = randn([1, inputs + 1, 8, 8], { generator: options.generator });
    const expected = name === 'Conv2d' ? /^conv2d: .*channels/ : /^convTranspose2d: .*channels/;
    expect(() => layer.forward(wrong)).toThrow(expected);
  });
});
