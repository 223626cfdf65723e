/**
 * Random wrong calls: each gives a result or a TorchError, and the process lives on. Arguments are drawn
 * from values that fit, nearly fit and do not fit at all: wrong shapes and dtypes, freed tensors, NaN and
 * huge sizes, and things that are no argument of any operation.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as torch from '../../src/torch/index.js';
import { Tensor, TorchError, isTorchAvailable, scope, zeros } from '../../src/torch/index.js';

const RUNS = process.env.CRAB_TEST_LONG ? 5_000 : 800;

/** A tensor as data; made when it is used, so that each call has fresh ones. */
interface TensorPlan {
  readonly shape: readonly number[];
  readonly dtype: torch.DType;
  readonly state: 'fresh' | 'freed' | 'requiresGrad' | 'strided';
}

function make(plan: TensorPlan): Tensor {
  const base = zeros(plan.shape, { dtype: plan.dtype });
  if (plan.state === 'freed') base.dispose();
  if (plan.state === 'requiresGrad' && base.isFloatingPoint) base.requiresGrad_();
  return plan.state === 'strided' && plan.shape.length > 1 ? base.transpose(0, 1) : base;
}

const isPlan = (value: unknown): value is TensorPlan =>
  typeof value === 'object' && value !== null && 'state' in value;

/** Replaces plans by tensors. */
function materialize(value: unknown): unknown {
  if (isPlan(value)) return make(value);
  return Array.isArray(value) ? value.map(materialize) : value;
}

const size = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 4 }) },
  fc.constantFrom(7, 16),
);
const plan: fc.Arbitrary<TensorPlan> = fc.record({
  shape: fc.array(size, { maxLength: 5 }),
  dtype: fc.constantFrom(...torch.DTYPES),
  state: fc.constantFrom('fresh', 'fresh', 'fresh', 'freed', 'requiresGrad', 'strided'),
});

/** Huge ones are beyond any machine's memory: those that only nearly fit would really be allocated. */
const number = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -3, max: 5 }) },
  fc.constantFrom(NaN, Infinity, -Infinity, 0.5, -0, 2 ** 53, 2 ** 62, -(2 ** 40), 1e300),
);
const rubbish = fc.constantFrom(
  null,
  undefined,
  'x',
  '',
  true,
  {},
  [],
  Symbol('s'),
  () => 1,
  2n ** 70n,
  -5n,
  new Float32Array(2),
  new Date(0),
);
const argument: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: plan },
  { weight: 5, arbitrary: number },
  { weight: 3, arbitrary: fc.array(number, { maxLength: 5 }) },
  { weight: 2, arbitrary: fc.array(plan, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom('f32', 'i64', 'cpu', 'mean', 'contiguous') },
  { weight: 1, arbitrary: rubbish },
);

/** Names of the methods that are operations. */
function methods(): string[] {
  const names = new Set<string>();
  const base = Object.getPrototypeOf(Object.prototype) as unknown;
  for (let p = Tensor.prototype as object; p !== base; p = Object.getPrototypeOf(p) as object) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(p))) {
      if (typeof property.value === 'function') names.add(name);
    }
    if (Object.hasOwn(p, 'shape')) break;
  }
  // These are no operations.
  for (const name of ['constructor', 'toString', 'handleFor', 'releaseHandle', 'dispose']) {
    names.delete(name);
  }
  return [...names].sort();
}

const FUNCTIONS = (
  'zeros ones full empty arange linspace eye zerosLike rand randn randint randperm bernoulli multinomial ' +
  'cat stack where meshgrid linear conv2d convTranspose2d batchNorm layerNorm groupNorm maxPool2d avgPool2d ' +
  'adaptiveAvgPool2d dropout embedding softmax logSoftmax elu gelu leakyRelu softplus hardtanh pad oneHot ' +
  'unfold2d crossEntropy nllLoss bce bceWithLogits mse l1 smoothL1 attention matmul bmm addmm baddbmm grad ' +
  'fromBits tensor'
).split(' ');

type Callable = (...args: unknown[]) => unknown;

/** Calls a method by name. */
function invoke(tensor: Tensor, name: string, args: readonly unknown[]): unknown {
  return Reflect.apply(Reflect.get(tensor, name) as Callable, tensor, args);
}

/** Runs a call; anything thrown must be a TorchError of one line. */
function attempt(name: string, fn: () => unknown): void {
  try {
    scope(fn);
  } catch (error) {
    if (!(error instanceof TorchError)) {
      throw new Error(`${name} threw ${String(error)}`, { cause: error });
    }
    expect(error.message, name).not.toMatch(/\n|Exception raised from|frame #/);
  }
}

describe.skipIf(!isTorchAvailable())('abuse', () => {
  test(`${RUNS} random calls of methods`, () => {
    const names = methods();
    expect(names.length).toBeGreaterThan(150);
    const call = fc.tuple(fc.constantFrom(...names), plan, fc.array(argument, { maxLength: 5 }));
    fc.assert(
      fc.property(call, ([name, self, args]) => {
        attempt(name, () => {
          const tensor = make(self);
          return invoke(tensor, name, args.map(materialize));
        });
      }),
      { numRuns: RUNS },
    );
  });

  test(`${RUNS} random calls of functions`, () => {
    const call = fc.tuple(fc.constantFrom(...FUNCTIONS), fc.array(argument, { maxLength: 6 }));
    fc.assert(
      fc.property(call, ([name, args]) => {
        attempt(name, () =>
          (torch[name as keyof typeof torch] as Callable)(...args.map(materialize)),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test('a freed tensor is an error in every method', () => {
    for (const name of methods()) {
      const freed = zeros([2, 2]);
      freed.dispose();
      const call = (): unknown => invoke(freed, name, [zeros([2, 2]), zeros([2, 2])]);
      expect(call, name).toThrow(TorchError);
    }
  });

  test('options that are none are an error', () => {
    const x = zeros([2, 3]);
    for (const none of [null, 5, 'f32'] as unknown as Record<string, never>[]) {
      expect(() => x.to(none)).toThrow(TorchError);
      expect(() => x.var(0, none)).toThrow(TorchError);
      expect(() => zeros([2], none)).toThrow(TorchError);
      expect(() => torch.mse(x, x, none)).toThrow(TorchError);
      expect(() => torch.grad([x], [x], none)).toThrow(TorchError);
    }
    expect(() => x.to(undefined as never)).toThrow('to: expected its options as an object');
  });

  test('wrong values in every place of every method', () => {
    const wrong = [NaN, 'x', {}, 2 ** 60, -(2 ** 60), null, zeros([0]), zeros([3, 3, 3]), [NaN]];
    for (const name of methods()) {
      for (const value of wrong) {
        for (const args of [[value], [0, value], [value, 0], [0, 0, value], [zeros([2]), value]]) {
          attempt(name, () => invoke(zeros([2, 3]), name, args));
        }
      }
    }
  });
});
