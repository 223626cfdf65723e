/**
 * Batched linear layers and those under several sets of gates: what the products written out give, in
 * values and gradients, for gates of every kind, shapes of every kernel, and any number of threads.
 */
import { afterEach, describe, expect, test } from 'vitest';
import {
  autocast,
  baddbmm,
  batchedLinear,
  cudaDeviceCount,
  gatedLinear,
  Generator,
  getNumThreads,
  grad,
  ones,
  rand,
  randn,
  setNumThreads,
  type Device,
  type DType,
  type Tensor,
} from '../../src/torch/index.js';

interface Sizes {
  readonly concepts: number;
  readonly problems: number;
  readonly blocks: number;
  readonly features: number;
  readonly outputs: number;
}

const SIZES: Sizes = { concepts: 3, problems: 10, blocks: 9, features: 40, outputs: 80 };
const threads = getNumThreads();
afterEach(() => setNumThreads(threads));

/** How gates [G, N, P] may look; the names say what they have in common. */
const GATES = {
  /** Every second block of the later sets is closed, for all problems. */
  'shared by problems': (sets: number, n: number, p: number) =>
    gatesBy(sets, n, p, (g, _, block) => (g === 0 || block % 2 === 0 ? 1 : 0)),
  /** A stretch of blocks is closed, another one for each problem. */
  'of each problem': (sets: number, n: number, p: number) =>
    gatesBy(sets, n, p, (g, problem, block) => (g > 0 && (block + problem) % 4 === 0 ? 0 : 1)),
  'of any value': (sets: number, n: number, p: number) =>
    rand([sets, n, p], { generator: new Generator('cpu', 5) }).sub(0.5),
  'all open': (sets: number, n: number, p: number) => ones([sets, n, p]),
  'all closed': (sets: number, n: number, p: number) => ones([sets, n, p]).mul(0),
} as const;

function gatesBy(
  sets: number,
  problems: number,
  blocks: number,
  value: (set: number, problem: number, block: number) => number,
): Tensor {
  const gates = ones([sets, problems, blocks]);
  for (let g = 0; g < sets; g++) {
    for (let n = 0; n < problems; n++) {
      for (let p = 0; p < blocks; p++) {
        gates
          .select(0, g)
          .select(0, n)
          .select(0, p)
          .fill_(value(g, n, p));
      }
    }
  }
  return gates;
}

function draw(sizes: Sizes, dtype: DType, device: Device = 'cpu') {
  const { concepts, problems, blocks, features, outputs } = sizes;
  const generator = new Generator('cpu', 3);
  const value = (shape: readonly number[]): Tensor =>
    randn(shape, { generator, dtype: 'f64' }).to({ dtype, device }).requiresGrad_();
  return {
    x: value([concepts, problems, blocks, features]),
    weight: value([concepts, blocks * features, outputs]),
    bias: value([concepts, 1, outputs]),
  };
}

type Layer = ReturnType<typeof draw>;

/** As it is defined: gate, then multiply. */
function writtenOut({ x, weight, bias }: Layer, gates: Tensor): Tensor {
  const [m, n, p, f] = x.shape;
  const [g] = gates.shape;
  const gated = x.unsqueeze(1).mul(gates.reshape([1, g, n, p, 1])); // [M, G, N, P, F]
  return baddbmm(bias, gated.reshape([m, g * n, p * f]), weight);
}

/** The result and the gradients of x, weight and bias. */
function withGradients(layer: Layer, y: Tensor): Tensor[] {
  const { x, weight, bias } = layer;
  const backward = randn(y.shape, { generator: new Generator('cpu', 4) });
  const loss = y.mul(backward.to({ dtype: y.dtype, device: y.device })).sum();
  return [y.detach(), ...grad([loss], [x, weight, bias])];
}

function expectClose(actual: Tensor[], expected: Tensor[], tolerance: number): void {
  actual.forEach((each, i) => {
    expect(each.shape).toEqual(expected[i].shape);
    const largest = expected[i].abs().max().item();
    const off = each.sub(expected[i]).abs().max().item();
    expect(off).toBeLessThanOrEqual(tolerance * (largest + 1e-3));
  });
}

function expectSame(layer: Layer, gates: Tensor, tolerance: number): void {
  const actual = withGradients(layer, gatedLinear(layer.x, gates, layer.weight, layer.bias));
  expectClose(actual, withGradients(layer, writtenOut(layer, gates)), tolerance);
}

const KINDS = Object.keys(GATES) as (keyof typeof GATES)[];

describe('under several sets of gates', () => {
  test.each(KINDS)('%s', (kind) => {
    for (const sets of [1, 2, 4]) {
      const gates = GATES[kind](sets, SIZES.problems, SIZES.blocks);
      expectSame(draw(SIZES, 'f64'), gates.to({ dtype: 'f64' }), 1e-12);
      expectSame(draw(SIZES, 'f32'), gates, 2e-5);
    }
  });

  const shapes: [string, Partial<Sizes>][] = [
    ['few features', { features: 2 }],
    ['an odd number of outputs', { outputs: 33 }],
    ['outputs of one and a half panels', { outputs: 96 }],
    ['many outputs and inputs', { features: 150, outputs: 208 }],
    ['one problem', { problems: 1 }],
    ['many problems', { problems: 150 }],
    ['one concept', { concepts: 1 }],
  ];
  test('no problem', () => {
    const { x, weight, bias } = draw({ ...SIZES, problems: 0 }, 'f32');
    const y = gatedLinear(x, ones([2, 0, SIZES.blocks]), weight, bias);
    expect(y.shape).toEqual([SIZES.concepts, 0, SIZES.outputs]);
    const gradients = grad([y.sum()], [x, weight, bias]);
    expect(gradients.map((each) => each.abs().sum().item())).toEqual([0, 0, 0]);
  });

  test.each(shapes)('%s', (_, change) => {
    const sizes = { ...SIZES, ...change };
    const gates = GATES['shared by problems'](2, sizes.problems, sizes.blocks);
    expectSame(draw(sizes, 'f64'), gates.to({ dtype: 'f64' }), 1e-12);
    expectSame(draw(sizes, 'f32'), gates, 2e-5);
  });

  test('do not depend on the number of threads', () => {
    const gates = GATES['shared by problems'](3, SIZES.problems, SIZES.blocks);
    for (const concepts of [1, 3]) {
      const layer = draw({ ...SIZES, concepts }, 'f64');
      const results = [1, 2].map((count) => {
        setNumThreads(count);
        const y = gatedLinear(layer.x, gates.to({ dtype: 'f64' }), layer.weight, layer.bias);
        return withGradients(layer, y);
      });
      expectClose(results[0], results[1], 1e-13);
    }
  });

  test('only what is asked for has a gradient', () => {
    const { x, weight, bias } = draw(SIZES, 'f64');
    const gates = GATES['shared by problems'](2, SIZES.problems, SIZES.blocks);
    const double = gates.to({ dtype: 'f64' });
    const fixed = [weight.detach(), bias.detach()];
    const [alone] = grad([gatedLinear(x, double, fixed[0], fixed[1]).sum()], [x]);
    const [together] = grad([gatedLinear(x, double, weight, bias).sum()], [x]);
    expect(alone.sub(together).abs().max().item()).toBe(0);
  });

  test('gates that need a gradient get it', () => {
    const layer = draw(SIZES, 'f64');
    const gates = GATES['shared by problems'](2, SIZES.problems, SIZES.blocks)
      .to({ dtype: 'f64' })
      .requiresGrad_();
    const y = gatedLinear(layer.x, gates, layer.weight, layer.bias);
    const [actual] = grad([y.square().sum()], [gates]);
    const [expected] = grad([writtenOut(layer, gates).square().sum()], [gates]);
    expectClose([actual], [expected], 1e-12);
  });

  test('a second derivative', () => {
    const layer = draw(SIZES, 'f64');
    const { x, weight, bias } = layer;
    const gates = GATES['shared by problems'](3, SIZES.problems, SIZES.blocks).to({ dtype: 'f64' });
    const second = (y: Tensor): Tensor[] => {
      const first = grad([y.square().sum()], [x, weight, bias], { createGraph: true });
      const loss = first.map((each) => each.square().sum()).reduce((a, b) => a.add(b));
      return grad([loss], [x, weight, bias]);
    };
    const actual = second(gatedLinear(x, gates, weight, bias));
    expectClose(actual, second(writtenOut(layer, gates)), 1e-12);
  });

  test('autocast chooses the type', () => {
    const { x, weight, bias } = draw(SIZES, 'f32');
    const gates = GATES['shared by problems'](2, SIZES.problems, SIZES.blocks);
    const y = autocast('cpu', 'bf16', () => gatedLinear(x, gates, weight, bias));
    expect(y.dtype).toBe('bf16');
  });

  test('shapes that do not go together are refused', () => {
    const { x, weight, bias } = draw(SIZES, 'f32');
    const { problems, blocks, concepts } = SIZES;
    const gates = ones([2, problems, blocks]);
    expect(() => gatedLinear(x, ones([2, problems, 8]), weight, bias)).toThrow(
      /gatedLinear.*gates/,
    );
    expect(() => gatedLinear(x, gates, weight.narrow(1, 0, 8), bias)).toThrow(
      /gatedLinear.*weight/,
    );
    expect(() => gatedLinear(x, gates, weight, ones([concepts, 1, 3]))).toThrow(
      /gatedLinear.*bias/,
    );
    expect(() => gatedLinear(x.flatten(2), gates, weight, bias)).toThrow(/gatedLinear.*expected/);
  });
});

describe('batched', () => {
  /** Rows and widths around those of the kernel's own limits; 512 x 512 weights are enough for it. */
  const shapes: [number, number, number, number][] = [
    [3, 1, 512, 512],
    [3, 32, 520, 528],
    [2, 64, 777, 400],
    [1, 96, 512, 512],
    [2, 97, 512, 512],
    [2, 20, 512, 513],
    [2, 20, 8, 16],
  ];
  test.each(shapes)('%i layers of %i rows, %i inputs, %i outputs', (m, n, inputs, outputs) => {
    const generator = new Generator('cpu', 8);
    for (const count of [1, 2]) {
      setNumThreads(count);
      const value = (shape: readonly number[]): Tensor =>
        randn(shape, { generator }).requiresGrad_();
      const x = value([m, n, inputs]);
      const [weight, bias] = [value([m, inputs, outputs]), value([m, 1, outputs])];
      const layer = { x, weight, bias };
      const actual = withGradients(layer, batchedLinear(x, weight, bias));
      expectClose(actual, withGradients(layer, baddbmm(bias, x, weight)), 2e-5);
    }
  });

  test('shapes that do not go together are refused', () => {
    const bias = ones([2, 1, 4]);
    expect(() => batchedLinear(ones([2, 5, 3]), ones([2, 4, 4]), bias)).toThrow(
      /batchedLinear: \[2, 5, 3\] x \[2, 4, 4\]: 3 ≠ 4/,
    );
  });

  test('inputs that do not lie in rows', () => {
    const generator = new Generator('cpu', 8);
    const x = randn([2, 512, 12], { generator }).transpose(1, 2); // [2, 12, 512]
    const [weight, bias] = [randn([2, 512, 512], { generator }), randn([2, 1, 512], { generator })];
    expectClose([batchedLinear(x, weight, bias)], [baddbmm(bias, x, weight)], 1e-5);
  });

  test('a second derivative', () => {
    const generator = new Generator('cpu', 8);
    const x = randn([1, 4, 512], { generator }).requiresGrad_();
    const [weight, bias] = [randn([1, 512, 512], { generator }), randn([1, 1, 512], { generator })];
    const second = (y: Tensor): Tensor => {
      const [first] = grad([y.square().sum()], [x], { createGraph: true });
      return grad([first.square().sum()], [x])[0];
    };
    expectClose([second(batchedLinear(x, weight, bias))], [second(baddbmm(bias, x, weight))], 2e-5);
  });
});

test.skipIf(cudaDeviceCount() === 0)('on CUDA', () => {
  const gates = GATES['of each problem'](2, SIZES.problems, SIZES.blocks).to({ device: 'cuda' });
  expectSame(draw(SIZES, 'f32', 'cuda'), gates, 1e-4);
});
