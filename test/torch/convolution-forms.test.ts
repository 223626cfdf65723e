/**
 * Convolutions as products give what libtorch's convolutions give, values and gradients; compared here on
 * the CPU, in f64. The layers choose them on a GPU, and the product for a whole map everywhere.
 */
import { describe, expect, test } from 'vitest';
import {
  autocast,
  autocastDtype,
  conv2d,
  convTranspose2d,
  cudaIsAvailable,
  Generator,
  grad,
  isTorchAvailable,
  nn,
  noGrad,
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
import { blocksAsProduct } from '../../src/torch/nn/linear-forms.js';
import { pictureStage, stageByKernels } from '../../src/torch/nn/picture-stage.js';

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
    [4, 2, 20],
    [6, 3, 21],
    [1, 2, 5],
  ])('a 1x1 kernel on %i channels, every %i pixels of a side of %i', (channels, stride, side) => {
    const x = drawn(2, channels, side, side);
    const layer = new nn.Conv2d(channels, 8, 1, { generator: random, stride, dtype: 'f64' });
    // Libtorch's own in f64: its f32 one may write beyond its memory (src/torch/nn/convolution.ts).
    const expected = conv2d(x, layer.weight, layer.bias, { stride });
    expectSame(layer.forward(x), expected, [x, ...layer.parameters()]);
    const single = layer.to({ dtype: 'f32' });
    const y = single.forward(x.detach().to({ dtype: 'f32' }).requiresGrad_());
    expect(largestDifference(y.to({ dtype: 'f64' }), expected)).toBeLessThan(1e-5);
    y.sum().backward();
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

describe.skipIf(!hasTorch)('M linear layers as one product', () => {
  test.each([
    [3, 9, 4, true],
    [5, 8, 1, true],
    [2, 3, 5, false],
  ])('%i layers, %i to %i, bias %o', (m, inputs, outputs, hasBias) => {
    const options = { generator: random, dtype: 'f64' as const, bias: hasBias };
    const layer = new nn.BatchedLinear(m, inputs, outputs, options);
    const { weight, bias } = layer;
    const [shared, own] = [drawn(2, 3, inputs), drawn(2, 3, m * inputs)];
    const rows = own.reshape([6, m, inputs]).transpose(0, 1);
    const sideBySide = (y: Tensor): Tensor => y.transpose(0, 1).reshape([2, 3, m * outputs]);
    const ofOwn = sideBySide(layer.forward(rows));
    const ofSame = sideBySide(layer.forward(shared.reshape([1, 6, inputs]).expand([m, 6, inputs])));
    const parameters = layer.parameters();
    expectSame(layer.ofSame(shared), ofSame, [shared, ...parameters]);
    // Each pair has a graph of its own.
    expectSame(layer.sideBySide(own), sideBySide(layer.forward(rows)), [own, ...parameters]);
    expectSame(blocksAsProduct(own, weight, bias), ofOwn, [own, ...parameters]);
  });
});

describe.skipIf(!hasTorch).each([
  ['one product', pictureStage],
  // On a CPU libtorch's operators stand in for the kernels.
  [
    'kernels of our own',
    (...given) => stageByKernels(...given, autocastDtype('cpu') ?? given[0].dtype),
  ],
] as const satisfies [string, typeof pictureStage][])(
  'pictures by convolution, batch normalisation and ReLU as %s',
  (_, stage) => {
    const sides = { kernel: 3, stride: 2, padding: 1, h: 16, w: 16 };
    test.each([
      [sides, 'training'],
      [sides, 'use'],
      [{ ...sides, padding: 0 }, 'training'],
      [{ ...sides, padding: 0, h: 13, w: 9 }, 'training'],
      [{ ...sides, padding: 0, h: 13, w: 9 }, 'use'],
      [{ ...sides, h: 13, w: 18 }, 'training'],
      [{ ...sides, kernel: 7, padding: 3, h: 20, w: 11 }, 'training'],
      [{ ...sides, kernel: 7, padding: 3, h: 20, w: 11 }, 'use'],
      [{ ...sides, stride: 1 }, 'training'],
      [{ ...sides, stride: 3, h: 11, w: 3 }, 'training'],
    ] as const)('%o in %s', ({ kernel, stride, padding, h, w }, mode) => {
      const channels = 5;
      const options = { generator: random, dtype: 'f64' as const, stride, padding };
      const conv = new nn.Conv2d(1, channels, kernel, options);
      const norms = [0, 1].map(() => new nn.BatchNorm2d(channels, { dtype: 'f64' }));
      for (const name of ['weight', 'bias', 'runningMean', 'runningVar'] as const) {
        const values = drawn(channels).detach().abs();
        for (const norm of norms) noGrad(() => norm[name]?.copy_(values));
      }
      const [first, second] = norms.map((norm) => norm.train(mode === 'training'));
      // Pictures that are mostly white.
      const pictures = randn([3, 1, h, w], { generator: random, dtype: 'f64' }).clamp(0.5, 1);
      const expected = first.forward(conv.forward(pictures)).relu();
      const { weight, bias, runningMean, runningVar, eps } = second;
      if (!weight || !bias || !runningMean || !runningVar) throw new Error('a plain norm has all');
      const momentum = mode === 'training' ? second.momentum : null;
      const found = stage(
        pictures,
        { weight: conv.weight, bias: conv.bias, stride, padding },
        { weight, bias, runningMean, runningVar, eps, momentum },
      );
      expect(largestDifference(found, expected)).toBeLessThan(1e-9);
      for (const name of ['runningMean', 'runningVar'] as const) {
        expect(largestDifference(second[name] as Tensor, first[name] as Tensor)).toBeLessThan(1e-9);
      }
      const factors = randn(found.shape, { generator: random, dtype: 'f64' });
      const [wanted, given] = [
        { y: expected, norm: first },
        { y: found, norm: second },
      ].map(({ y, norm }) =>
        grad([y.mul(factors).sum()], [...conv.parameters(), ...norm.parameters()]),
      );
      expect(wanted.length).toBe(4);
      wanted.forEach((each, n) => expect(largestDifference(given[n], each)).toBeLessThan(1e-9));
    });

    test('in bf16 and f32', () => {
      const conv = new nn.Conv2d(1, 8, 3, { generator: random, stride: 2, padding: 1 });
      const norm = new nn.BatchNorm2d(8);
      const pictures = randn([4, 1, 32, 32], { generator: random }).clamp(0, 1);
      const expected = norm.forward(conv.forward(pictures)).relu();
      const { weight, bias, runningMean, runningVar, eps, momentum } = norm;
      if (!weight || !bias || !runningMean || !runningVar) throw new Error('a plain norm has all');
      const computed = (): Tensor =>
        stage(
          pictures,
          { weight: conv.weight, bias: conv.bias, stride: 2, padding: 1 },
          { weight, bias, runningMean, runningVar, eps, momentum },
        );
      expect(largestDifference(computed(), expected)).toBeLessThan(1e-4);
      const narrow = autocast('cpu', 'bf16', computed);
      expect(narrow.dtype).toBe('bf16');
      expect(largestDifference(narrow.to({ dtype: 'f32' }), expected)).toBeLessThan(0.1);
    });
  },
);

describe.skipIf(!cudaIsAvailable())('layers on a GPU, by products, and on a CPU', () => {
  const options = { generator: random };
  const halving = { ...options, stride: 2, padding: 1 };
  test.each<[string, nn.Layer, number[]]>([
    ['one channel to many', new nn.Conv2d(1, 8, 4, { ...halving, bias: false }), [3, 1, 16, 16]],
    ['many channels to one', new nn.ConvTranspose2d(8, 1, 4, halving), [3, 8, 8, 8]],
    ['stages from pictures', new nn.ConvStages([1, 8, 8], 3, halving), [3, 1, 16, 16]],
    ['large windows', new nn.ConvStages([1, 8], 7, { ...halving, padding: 3 }), [3, 1, 16, 16]],
    ['a whole map', new nn.Conv2d(8, 6, 4, options), [3, 8, 4, 4]],
    [
      'M small maps',
      new nn.BatchedConv2d(2, 3, 5, 3, { ...options, padding: 1, relu: true }),
      [2, 4, 3, 3, 3],
    ],
  ])('%s', (_, layer, shape) => {
    const x = randn(shape, { generator: random });
    const here = layer.forward(x);
    const weights = randn(here.shape, { generator: random });
    const gradientsOf = (y: Tensor, of: Tensor): Tensor[] =>
      grad([y.mul(of).sum()], layer.parameters()).map((each) => each.to({ device: 'cpu' }));
    const gradients = gradientsOf(here, weights);
    const there = layer.to({ device: 'cuda' }).forward(x.to({ device: 'cuda' }));
    expect(largestDifference(there.to({ device: 'cpu' }), here)).toBeLessThan(1e-3);
    gradientsOf(there, weights.to({ device: 'cuda' })).forEach((each, n) => {
      const scale = gradients[n].abs().max().item() + 1;
      expect(largestDifference(each, gradients[n])).toBeLessThan(1e-3 * scale);
    });
  });
});
