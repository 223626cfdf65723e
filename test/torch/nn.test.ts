/**
 * Modules as such: what belongs to their state and under which name, loading and moving it, modes,
 * initialisers, and layers that draw random numbers.
 */
import { describe, expect, test } from 'vitest';
import * as torch from '../../src/torch/index.js';
import {
  Generator,
  init,
  liveTensors,
  nn,
  noGrad,
  optim,
  scope,
  tensor,
} from '../../src/torch/index.js';
import type { Tensor } from '../../src/torch/index.js';
import { hasCuda, hasTorch } from './golden/support.js';

const generator = (seed = 1): Generator => new Generator('cpu', seed);

class Leaf extends nn.Module {
  readonly scaleFactor = nn.parameter(torch.ones([2]));
  readonly runningMean = nn.buffer(torch.zeros([2]));
  readonly cache = nn.buffer(torch.zeros([1]), { persistent: false });
  readonly plain = torch.zeros([5]);
  readonly size = 3;
}

class Tree extends nn.Module {
  readonly leaves: readonly nn.Module[];
  readonly outProj = new nn.Linear(2, 2, { generator: generator() });
  readonly named: Readonly<Record<string, nn.Module>>;
  readonly offsets = [nn.parameter(torch.zeros([1])), nn.parameter(torch.zeros([1]))];

  constructor() {
    super();
    const shared = new Leaf();
    this.leaves = [shared, new Leaf()];
    this.named = { first: shared };
  }
}

describe.skipIf(!hasTorch)('state', () => {
  test('names follow fields, lists and objects; order is own parameters, buffers, then modules', () => {
    const names = [...new Tree().stateDict().keys()];
    expect(names).toEqual([
      'offsets.0',
      'offsets.1',
      'leaves.0.scale_factor',
      'leaves.0.running_mean',
      'leaves.1.scale_factor',
      'leaves.1.running_mean',
      'out_proj.weight',
      'out_proj.bias',
      'named.first.scale_factor',
      'named.first.running_mean',
    ]);
  });

  test('a shared tensor is one parameter', () => {
    const tree = new Tree();
    expect([...tree.namedParameters().keys()]).toEqual([
      'offsets.0',
      'offsets.1',
      'leaves.0.scale_factor',
      'leaves.1.scale_factor',
      'out_proj.weight',
      'out_proj.bias',
    ]);
    expect([...tree.namedBuffers().keys()]).toEqual([
      'leaves.0.running_mean',
      'leaves.0.cache',
      'leaves.1.running_mean',
      'leaves.1.cache',
    ]);
    expect(tree.parameterCount()).toBe(1 + 1 + 2 + 2 + 4 + 2);
  });

  test('loading copies in place and checks everything first', () => {
    const [source, target] = [new Leaf(), new Leaf()];
    noGrad(() => source.scaleFactor.fill_(7));
    const state = source.stateDict();
    const held = target.scaleFactor;
    target.loadStateDict(state);
    expect(held.toArray()).toEqual([7, 7]);
    expect(held.requiresGrad).toBe(true);

    noGrad(() => source.scaleFactor.fill_(8));
    const wrong = new Map<string, Tensor>([...state, ['running_mean', torch.zeros([3])]]);
    expect(() => target.loadStateDict(wrong)).toThrow(
      'loadStateDict: running_mean has shape [3], expected [2]',
    );
    expect(held.toArray()).toEqual([7, 7]);
  });

  test('missing and unknown names are errors unless not strict', () => {
    const leaf = new Leaf();
    const partial = new Map([['scale_factor', torch.full([2], 4)]]);
    expect(() => leaf.loadStateDict(partial)).toThrow('running_mean [2] is missing');
    const extra = new Map([...leaf.stateDict(), ['other', torch.zeros([1])] as const]);
    expect(() => leaf.loadStateDict(extra)).toThrow('other is not known');
    leaf.loadStateDict(partial, { strict: false });
    expect(leaf.scaleFactor.toArray()).toEqual([4, 4]);
  });

  test('parameters survive the scope they were made in, and dispose frees them', () => {
    const linear = scope(() => new nn.Linear(3, 2, { generator: generator() }));
    expect(linear.weight.shape).toEqual([2, 3]);
    linear.dispose();
    expect(() => linear.weight.shape).toThrow(/freed/);
  });

  test('moving to another type keeps identity, values and the optimiser', () => {
    scope(() => {
      const linear = new nn.Linear(3, 2, { generator: generator() });
      const before = linear.weight.toArray();
      const { weight } = linear;
      const sgd = new optim.SGD(linear.parameters(), { learningRate: 1 });
      linear
        .forward(torch.ones([1, 3]))
        .sum()
        .backward();
      linear.to({ dtype: 'f64' });
      expect(linear.weight).toBe(weight);
      expect([weight.dtype, weight.grad?.dtype, weight.requiresGrad]).toEqual(['f64', 'f64', true]);
      expect(weight.toArray()).toEqual(before);
      sgd.step();
      expect(weight.toArray()).toEqual(before.map((value) => value - 1));
      sgd.zeroGrad();
      linear
        .forward(torch.ones([1, 3], { dtype: 'f64' }))
        .sum()
        .backward();
      expect(weight.grad?.toArray()).toEqual([1, 1, 1, 1, 1, 1]);
    });
  });

  test('only floating state changes its type, only convolutions their layout', () => {
    const net = new nn.Sequential(
      new nn.Conv2d(3, 4, 3, { generator: generator() }),
      new nn.BatchNorm2d(4),
    );
    net.to({ dtype: 'f64', memoryFormat: 'channelsLast' });
    const state = net.stateDict();
    expect(state.get('1.num_batches_tracked')?.dtype).toBe('i64');
    expect(state.get('1.running_var')?.dtype).toBe('f64');
    expect(state.get('0.weight')?.isContiguous('channelsLast')).toBe(true);
  });

  test.skipIf(!hasCuda)('a module moves to the GPU and back', () => {
    const linear = new nn.Linear(3, 2, { generator: generator() });
    const before = linear.weight.toArray();
    linear.to({ device: 'cuda' });
    expect(linear.weight.device).toBe('cuda:0');
    expect(linear.to({ device: 'cpu' }).weight.toArray()).toEqual(before);
  });

  test('train and eval reach every module', () => {
    const tree = new Tree().eval();
    expect(tree.modules().map(({ training }) => training)).toEqual([false, false, false, false]);
    tree.train();
    expect(tree.modules().every(({ training }) => training)).toBe(true);
  });

  test('gradients can be switched off and forgotten', () => {
    const linear = new nn.Linear(2, 1, { generator: generator() });
    linear
      .forward(torch.ones([1, 2]))
      .sum()
      .backward();
    linear.zeroGrad();
    expect(linear.weight.grad).toBe(null);
    linear.requiresGrad_(false);
    expect(linear.forward(torch.ones([1, 2])).requiresGrad).toBe(false);
  });
});

describe.skipIf(!hasTorch)('layers', () => {
  /** Values and gradients of a batched layer and of single layers with slices of its weights. */
  function expectSideBySide(
    batched: nn.Layer,
    singles: readonly nn.Layer[],
    x: Tensor,
    slicesOf: (name: string, gradient: Tensor) => Tensor,
  ): void {
    const state = batched.namedParameters();
    singles.forEach((single, m) => {
      const own = [...single.namedParameters().keys()];
      single.loadStateDict(
        new Map(own.map((name) => [name, slicesOf(name, state.get(name) as Tensor).select(0, m)])),
      );
    });
    const apart = torch.stack(singles.map((one, m) => one.forward(x.select(0, m))));
    const together = batched.forward(x);
    expect(together.allclose(apart, 1e-5, 1e-6)).toBe(true);
    for (const y of [together, apart]) y.square().sum().backward();
    for (const [name, parameter] of state) {
      const gradients = singles.map((one) => one.namedParameters().get(name)?.grad as Tensor);
      const expected = torch.stack(gradients);
      expect(slicesOf(name, parameter.grad as Tensor).allclose(expected, 1e-4, 1e-5)).toBe(true);
    }
  }

  test.each([true, false])('a batched linear layer is several side by side, bias %o', (bias) => {
    scope(() => {
      const options = { generator: generator(5), bias };
      const singles = Array.from({ length: 3 }, () => new nn.Linear(4, 2, options));
      const x = torch.randn([3, 6, 4], { generator: generator(2) });
      expectSideBySide(new nn.BatchedLinear(3, 4, 2, options), singles, x, (name, all) =>
        name === 'weight' ? all.transpose(1, 2) : all.squeeze(1),
      );
    });
  });

  test.each([
    { bias: true, padding: 1, side: 3 },
    { bias: false, padding: 0, side: 4 },
  ])('a batched convolution is several side by side: %o', ({ side, ...geometry }) => {
    scope(() => {
      const options = { generator: generator(5), ...geometry };
      const singles = Array.from({ length: 3 }, () => new nn.Conv2d(2, 4, 3, options));
      const x = torch.randn([3, 5, 2, side, side], { generator: generator(2) });
      const batched = new nn.BatchedConv2d(3, 2, 4, 3, options);
      expectSideBySide(batched, singles, x, (_, all) => all.unflatten(0, [3, 4]));
      const rectified = new nn.BatchedConv2d(3, 2, 4, 3, { ...options, relu: true });
      rectified.loadStateDict(batched.stateDict());
      expect(rectified.forward(x).equal(batched.forward(x).relu())).toBe(true);
    });
  });

  test('running statistics are left alone in use and move in training', () => {
    const norm = new nn.BatchNorm2d(2, { momentum: 0.5 });
    const x = tensor([1, 3, 2, 6], { shape: [2, 2, 1, 1] });
    norm.eval().forward(x);
    expect(norm.runningMean?.toArray()).toEqual([0, 0]);
    norm.train().forward(x);
    expect(norm.runningMean?.toArray()).toEqual([0.75, 2.25]);
    expect(norm.numBatchesTracked?.item()).toBe(1);
  });

  test.each([0, 0.2])('a norm with a leaky ReLU of slope %d is one after the other', (slope) => {
    scope(() => {
      const both = new nn.BatchNorm2d(3, { leakyRelu: slope });
      const alone = new nn.BatchNorm2d(3);
      const x = torch.randn([4, 3, 5, 5], { generator: generator(7) });
      for (const mode of [true, false]) {
        const expected = torch.leakyRelu(alone.train(mode).forward(x), slope);
        expect(both.train(mode).forward(x).allclose(expected, 1e-5, 1e-6)).toBe(true);
      }
      expect(both.runningVar?.allclose(alone.runningVar as Tensor)).toBe(true);
    });
  });

  test('dropout of maps drops whole channels', () => {
    scope(() => {
      const layer = new nn.Dropout2d(0.25, { generator: generator(3) });
      const y = layer.forward(torch.ones([50, 8, 3, 2]));
      const channels = y.flatten(2); // [50, 8, 6]
      expect(channels.amin(2).equal(channels.amax(2))).toBe(true);
      expect(
        new Set(
          channels
            .amax(2)
            .toArray()
            .map((value) => value.toFixed(4)),
        ),
      ).toEqual(new Set(['0.0000', '1.3333']));
      expect(y.mean().item()).toBeCloseTo(1, 1);
      expect(layer.eval().forward(y)).toBe(y);
    });
  });

  test.each<[string, nn.Layer, (x: Tensor) => Tensor]>([
    ['MaxPool2d', new nn.MaxPool2d(2, { stride: 1 }), (x) => torch.maxPool2d(x, 2, { stride: 1 })],
    ['AvgPool2d', new nn.AvgPool2d(2), (x) => torch.avgPool2d(x, 2)],
    ['AdaptiveAvgPool2d', new nn.AdaptiveAvgPool2d(1), (x) => x.mean([2, 3], true)],
    ['LeakyReLU', new nn.LeakyReLU(0.2), (x) => torch.leakyRelu(x, 0.2)],
    ['ELU', new nn.ELU(), (x) => torch.elu(x)],
    ['Softmax', new nn.Softmax(1), (x) => torch.softmax(x, 1)],
    ['Flatten', new nn.Flatten(), (x) => x.reshape([2, 48])],
    ['Unflatten', new nn.Unflatten(-3, [3, 1]), (x) => x.unsqueeze(2)],
  ])('%s is the function of its name', (_, layer, expected) => {
    const x = torch.randn([2, 3, 4, 4], { generator: generator(7) });
    const y = layer.forward(x);
    expect(y.shape).toEqual(expected(x).shape);
    expect(y.allclose(expected(x))).toBe(true);
    expect(layer.stateDict().size).toBe(0);
  });

  test('dropout keeps the mean, follows its generator, and does nothing in use', () => {
    scope(() => {
      const x = torch.ones([100, 100]);
      const run = (seed: number): Tensor =>
        new nn.Dropout(0.25, { generator: generator(seed) }).forward(x);
      const values = new Set(
        run(3)
          .toArray()
          .map((value) => value.toFixed(4)),
      );
      expect(values).toEqual(new Set(['0.0000', '1.3333']));
      expect(run(3).mean().item()).toBeCloseTo(1, 1);
      expect(run(3).equal(run(3))).toBe(true);
      expect(run(3).equal(run(4))).toBe(false);
      expect(new nn.Dropout(0.25, { generator: generator() }).eval().forward(x)).toBe(x);
      expect(new nn.Dropout(1, { generator: generator() }).forward(x).sum().item()).toBe(0);
      expect(() => new nn.Dropout(2, { generator: generator() })).toThrow('expected 0 to 1');
    });
  });

  test('attention ignores masked keys', () => {
    scope(() => {
      const attention = new nn.MultiheadAttention(4, 2, { generator: generator() }).eval();
      const x = torch.randn([1, 3, 4], { generator: generator(2) });
      const changed = x.clone();
      changed.select(1, 2).fill_(9);
      const keyPaddingMask = tensor([[false, false, true]]);
      const forbidden = tensor([
        [false, false, true],
        [false, false, true],
        [false, false, true],
      ]);
      const query = x.narrow(1, 0, 2);
      const rows = forbidden.narrow(0, 0, 2);
      const open = torch.zeros([2, 3]);
      const perHead = rows.unsqueeze(0).expand([2, 2, 3]);
      for (const masks of [
        { keyPaddingMask },
        { attentionMask: rows },
        { attentionMask: perHead },
        { attentionMask: rows, keyPaddingMask },
        { attentionMask: open, keyPaddingMask },
      ]) {
        const one = attention.forward(query, x, x, masks);
        const other = attention.forward(query, changed, changed, masks);
        expect(one.allclose(other)).toBe(true);
        const { output, weights } = attention.attend(query, x, x, masks);
        expect(output.allclose(one, 1e-5, 1e-6)).toBe(true);
        expect(weights.select(2, 2).toArray()).toEqual([0, 0]);
      }
      expect(attention.forward(query, x).allclose(attention.forward(query, changed))).toBe(false);
      expect(() => new nn.MultiheadAttention(5, 2, { generator: generator() })).toThrow(
        '5 features do not divide among 2 heads',
      );
    });
  });

  test('an LSTM continues from its state', () => {
    scope(() => {
      const lstm = new nn.LSTM(2, 3, { generator: generator(), numLayers: 2 });
      const x = torch.randn([2, 6, 2], { generator: generator(2) });
      const whole = lstm.forward(x);
      const first = lstm.run(x.narrow(1, 0, 4));
      const rest = lstm.run(x.narrow(1, 4, 2), first);
      const parts = torch.cat([first.output, rest.output], 1);
      expect(parts.allclose(whole, 1e-5, 1e-6)).toBe(true);
    });
  });

  test('a sequence frees what passes between its layers, and gradients still flow', () => {
    scope(() => {
      const net = new nn.Sequential(new nn.Tanh(), new nn.Identity(), new nn.Sigmoid());
      const x = torch.ones([4]).requiresGrad_();
      const { tensors } = liveTensors();
      const y = net.forward(x);
      expect(liveTensors().tensors).toBe(tensors + 1);
      y.sum().backward();
      expect(x.grad?.select(0, 0).item()).toBeCloseTo(0.0913, 3);
      expect(new nn.Sequential().forward(x)).toBe(x);
    });
  });

  test('shapes that do not fit name the operation', () => {
    const linear = new nn.Linear(3, 2, { generator: generator() });
    expect(() => linear.forward(torch.zeros([1, 4]))).toThrow(
      'linear: input [1, 4], weight [2, 3]: 4 ≠ 3',
    );
  });

  test('a small network learns', () => {
    scope(() => {
      const options = { generator: generator(3) };
      const net = new nn.Sequential(
        new nn.Linear(2, 16, options),
        new nn.Tanh(),
        new nn.Linear(16, 1, options),
      );
      const adam = new optim.Adam(net.parameters(), { learningRate: 0.05 });
      const x = tensor([
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ]);
      const y = tensor([[0], [1], [1], [0]]);
      let last = Infinity;
      for (let step = 0; step < 150; step += 1) {
        scope(() => {
          const loss = torch.mse(net.forward(x), y);
          adam.zeroGrad();
          loss.backward();
          adam.step();
          last = loss.item();
        });
      }
      expect(last).toBeLessThan(1e-3);
    });
  });
});

describe.skipIf(!hasTorch)('initialisers', () => {
  const shape = [64, 32, 3, 3];
  const fanIn = 32 * 9;
  const fanOut = 64 * 9;
  const std = (fill: (weight: Tensor) => void): number => {
    const weight = torch.zeros(shape);
    fill(weight);
    expect(Math.abs(weight.mean().item())).toBeLessThan(0.01);
    return weight.std().item();
  };
  const cases: [string, number, (weight: Tensor) => void][] = [
    ['xavierUniform', Math.sqrt(2 / (fanIn + fanOut)), (w) => init.xavierUniform(w, generator())],
    [
      'xavierNormal',
      2 * Math.sqrt(2 / (fanIn + fanOut)),
      (w) => init.xavierNormal(w, generator(), 2),
    ],
    [
      'kaimingUniform',
      Math.sqrt(2 / fanIn),
      (w) => init.kaimingUniform(w, generator(), { nonlinearity: 'relu' }),
    ],
    [
      'kaimingNormal',
      Math.sqrt(2 / fanOut),
      (w) => init.kaimingNormal(w, generator(), { mode: 'fanOut' }),
    ],
    ['layerWeight', Math.sqrt(1 / (3 * fanIn)), (w) => init.layerWeight(w, generator())],
    ['uniform', 2 / Math.sqrt(12), (w) => init.uniform(w, -1, 1, generator())],
    ['normal', 0.3, (w) => init.normal(w, 0, 0.3, generator())],
  ];
  test.each(cases)('%s has the deviation of its formula', (_, expected, fill) => {
    expect(std(fill) / expected).toBeCloseTo(1, 1);
  });

  test('gains are PyTorch’s, and a vector has no fans', () => {
    expect(init.gain('relu')).toBeCloseTo(Math.SQRT2);
    expect(init.gain('tanh')).toBeCloseTo(5 / 3);
    expect(init.gain('leakyRelu', 0.2)).toBeCloseTo(Math.sqrt(2 / 1.04));
    expect(() => init.xavierUniform(torch.zeros([3]), generator())).toThrow('[3]');
  });
});
