/**
 * RMSprop's step in one pass over memory: what its formula gives in libtorch's separate operators, for
 * every layout, length and number of threads; and that autograd notices the change.
 */
import { afterEach, describe, expect, test } from 'vitest';
import {
  Generator,
  noGrad,
  operator,
  optim,
  rand,
  randn,
  scope,
  setNumThreads,
  torchInfo,
  type DType,
  type Tensor,
} from '../../src/torch/index.js';

const onePass = operator('crab::rmsprop_');
const [RATE, ALPHA, EPS] = [0.01, 0.99, 1e-8];

const threadsBefore = torchInfo().info?.threads ?? 1;
afterEach(() => {
  setNumThreads(threadsBefore);
});

interface Tensors {
  readonly parameter: Tensor;
  readonly gradient: Tensor;
  readonly average: Tensor;
}

function draw(shape: readonly number[], dtype: DType): Tensors {
  const generator = new Generator('cpu', 3);
  return {
    parameter: randn(shape, { generator, dtype }),
    gradient: randn(shape, { generator, dtype }),
    average: rand(shape, { generator, dtype }),
  };
}

function byOperators({ parameter, gradient, average }: Tensors): Tensors {
  const next = average.mul(ALPHA).addcmul(gradient, gradient, 1 - ALPHA);
  const step = gradient.div(next.sqrt().add(EPS)).mul(RATE);
  return { parameter: parameter.sub(step), gradient, average: next };
}

function runOnePass({ parameter, gradient, average }: Tensors): void {
  noGrad(() => onePass.call(parameter, gradient, average, RATE, ALPHA, EPS));
}

const difference = (a: Tensor, b: Tensor): number => a.sub(b).abs().max().item();

describe.each([
  ['f64', 1e-15],
  ['f32', 1e-6],
] as const)('%s', (dtype, tolerance) => {
  // Shorter than a register, than a block of the kernel, than what one thread takes, and longer.
  test.each([[[1]], [[7]], [[1023]], [[1025]], [[70_001]], [[5, 3, 4, 4]], [[0]]])(
    'shape %j, one thread and two',
    (shape) => {
      for (const threads of [1, 2]) {
        setNumThreads(threads);
        scope(() => {
          const drawn = draw(shape, dtype);
          const wanted = byOperators(drawn);
          const gradient = drawn.gradient.clone();
          runOnePass(drawn);
          expect(drawn.gradient.equal(gradient)).toBe(true);
          if (drawn.parameter.numel === 0) return;
          expect(difference(drawn.parameter, wanted.parameter)).toBeLessThan(tolerance);
          expect(difference(drawn.average, wanted.average)).toBeLessThan(tolerance);
        });
      }
    },
  );

  type Layout = [string, (drawn: Tensors) => Tensors];
  const layouts: Layout[] = [
    [
      'all channels-last',
      ({ parameter, gradient, average }) => ({
        parameter: parameter.contiguous('channelsLast'),
        gradient: gradient.contiguous('channelsLast'),
        average: average.contiguous('channelsLast'),
      }),
    ],
    [
      'only the parameter channels-last',
      (drawn) => ({ ...drawn, parameter: drawn.parameter.contiguous('channelsLast') }),
    ],
    [
      'with gaps',
      ({ parameter, gradient, average }) => ({
        parameter: parameter.narrow(1, 1, 3),
        gradient: gradient.narrow(1, 1, 3),
        average: average.narrow(1, 1, 3),
      }),
    ],
    ['the gradient one value for all', (drawn) => ({ ...drawn, gradient: expanded(drawn) })],
  ];
  test.each(layouts)('%s', (_, laid) => {
    scope(() => {
      const drawn = laid(draw([6, 5, 4, 3], dtype));
      const wanted = byOperators(drawn);
      runOnePass(drawn);
      expect(difference(drawn.parameter, wanted.parameter)).toBeLessThan(tolerance);
      expect(difference(drawn.average, wanted.average)).toBeLessThan(tolerance);
    });
  });
});

const expanded = ({ gradient }: Tensors): Tensor =>
  gradient.flatten().narrow(0, 0, 1).reshape([1, 1, 1, 1]).expand(gradient.shape);

test('values beside a view with gaps stay as they are', () => {
  const whole = draw([8, 5], 'f32');
  const before = whole.parameter.clone();
  runOnePass({
    parameter: whole.parameter.narrow(1, 1, 3),
    gradient: whole.gradient.narrow(1, 1, 3),
    average: whole.average.narrow(1, 1, 3),
  });
  for (const column of [0, 4]) {
    expect(whole.parameter.select(1, column).equal(before.select(1, column))).toBe(true);
  }
});

test('a graph from before the step cannot be run backward after it', () => {
  const weight = randn([4], { generator: new Generator('cpu', 1) }).requiresGrad_();
  const loss = weight.square().sum();
  const optimizer = new optim.RMSprop([weight], { learningRate: RATE });
  weight.grad = weight.detach().clone();
  optimizer.step();
  expect(() => {
    loss.backward();
  }).toThrow(/modified by an inplace operation/);
});
