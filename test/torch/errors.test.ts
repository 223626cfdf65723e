/** What goes wrong, in whose words, and when libtorch is missing. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  OutOfMemoryError,
  TorchError,
  TorchUnavailableError,
  baddbmm,
  bmm,
  cat,
  conv2d,
  isTorchAvailable,
  linear,
  nn,
  ones,
  operator,
  stack,
  tensor,
  where,
  zeros,
} from '../../src/torch/index.js';

/** Every layer that draws, with what it takes before its options. */
const DRAWING_LAYERS = {
  Linear: [8, 2],
  BatchedLinear: [2, 8, 2],
  Embedding: [5, 3],
  Conv2d: [1, 2, 3],
  ConvTranspose2d: [1, 2, 3],
  BatchedConv2d: [2, 1, 2, 3],
  MultiheadAttention: [4, 2],
  LSTM: [3, 4],
  Dropout: [0.5],
} as const;

/** The message of the TorchError that `fn` throws. */
function messageOf(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    if (error instanceof TorchError) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const wrong = (value: unknown): never => value as never;

describe('a layer without a generator', () => {
  test.each(Object.entries(DRAWING_LAYERS))('%s says what to give it', (name, sizes) => {
    const Layer = nn[name as keyof typeof DRAWING_LAYERS] as unknown as new (
      ...args: readonly unknown[]
    ) => unknown;
    const message = `${name}: its last argument must name a generator, as in { generator: new Generator('cpu', 1) }`;
    expect(messageOf(() => new Layer(...sizes))).toBe(message);
    expect(messageOf(() => new Layer(...sizes, {}))).toBe(message);
    expect(messageOf(() => new Layer(...sizes, { generator: 1 }))).toBe(message);
  });
});

describe.skipIf(!isTorchAvailable())('errors', () => {
  test.each(
    Object.entries<() => unknown>({
      'matmul: [8, 3] x [4, 5]: 3 ≠ 4': () => zeros([8, 3]).matmul(zeros([4, 5])),
      'matmul: [2, 8, 3] x [3, 3, 5]: batches 2 ≠ 3': () =>
        zeros([2, 8, 3]).matmul(zeros([3, 3, 5])),
      'matmul: [] x [3]: a scalar has no product': () => zeros([]).matmul(zeros([3])),
      'bmm: [2, 3, 4] x [3, 4, 5]: batches 2 ≠ 3': () => bmm(zeros([2, 3, 4]), zeros([3, 4, 5])),
      'bmm: [2, 3] x [3, 4, 5]: both must have 3 dimensions': () =>
        bmm(zeros([2, 3]), zeros([3, 4, 5])),
      'baddbmm: [2, 3, 4] x [2, 5, 6]: 4 ≠ 5': () =>
        baddbmm(zeros([1]), zeros([2, 3, 4]), zeros([2, 5, 6])),
      'linear: input [2, 3], weight [5, 4]: 3 ≠ 4': () => linear(zeros([2, 3]), zeros([5, 4])),
      'linear: weight [5, 3], bias [4]: 5 ≠ 4': () =>
        linear(zeros([2, 3]), zeros([5, 3]), zeros([4])),
      'conv2d: input [1, 3, 8, 8], weight [4, 2, 3, 3]: 3 channels ≠ 2': () =>
        conv2d(zeros([1, 3, 8, 8]), zeros([4, 2, 3, 3])),
      'conv2d: input [1, 3, 8, 8], weight [4, 2, 3, 3]: 3 channels ≠ 2 x 2 groups': () =>
        conv2d(zeros([1, 3, 8, 8]), zeros([4, 2, 3, 3]), null, { groups: 2 }),
      "conv2d: there is no option 'strides'; known are stride, padding, dilation, groups": () =>
        conv2d(zeros([1, 1, 4, 4]), zeros([1, 1, 2, 2]), null, wrong({ strides: 2 })),
      'add: [2, 3] and [4]: cannot broadcast 3 with 4': () => zeros([2, 3]).add(zeros([4])),
      'mul_: [2, 3] and [2, 2]: cannot broadcast 3 with 2': () => zeros([2, 3]).mul_(zeros([2, 2])),
      'where: [2] and [3]: cannot broadcast 2 with 3': () =>
        where(zeros([2], { dtype: 'bool' }), zeros([3]), zeros([3])),
      'cat: [2, 3] and [2, 4]: 3 ≠ 4 in dimension 1': () => cat([zeros([2, 3]), zeros([2, 4])]),
      'cat: [2, 3] and [2, 3, 1]: 2 ≠ 3 dimensions': () => cat([zeros([2, 3]), zeros([2, 3, 1])]),
      'cat: there are no tensors': () => cat([]),
      'stack: [2] and [3]: shapes differ': () => stack([zeros([2]), zeros([3])]),
      'reshape: [2, 3] to [4]: 6 elements do not fit': () => zeros([2, 3]).reshape([4]),
      'reshape: [2, 3] to [-1, -1]: only one size can be -1': () => zeros([2, 3]).reshape([-1, -1]),
      'view: [2, 3] to [4, -1]: 6 elements do not fit': () => zeros([2, 3]).view([4, -1]),
      'item: [2] has not one element': () => zeros([2]).item(),
      'size: [2, 3] has no dimension 2': () => zeros([2, 3]).size(2),
      "zeros: argument 'size': expected an array of whole numbers, got 3": () => zeros(wrong(3)),
      "add: argument 'other': expected a number, got 'x'": () => ones([1]).add(wrong('x')),
      "add: argument 'other': expected a number, got null": () => ones([1]).add(wrong(null)),
      "add: argument 'alpha': expected a number, got an object": () => ones([1]).add(1, wrong({})),
      "matmul: argument 'other': expected a tensor, got 3": () => ones([1]).matmul(wrong(3)),
      "narrow: argument 'dim': expected a whole number, got 0.5": () => ones([1]).narrow(0.5, 0, 1),
      "narrow: argument 'start': expected a whole number, got NaN": () =>
        ones([1]).narrow(0, NaN, 1),
      "to: argument 'dtype': expected a dtype (f32, f64, f16, bf16, i64, i32, u8 or bool) or null, got 'f8'":
        () => ones([1]).to({ dtype: wrong('f8') }),
      "zeros: unknown device 'tpu'; expected 'cpu', 'cuda' or 'cuda:<index>'": () =>
        zeros([1], { device: wrong('tpu') }),
      'tensor: nested arrays of uneven length': () => tensor([[1], [2, 3]]),
      'tensor: 3 elements do not fit the shape [2]': () =>
        tensor(new Float32Array(3), { shape: [2] }),
      'noSuch: this libtorch has no operator aten::no_such': () => operator('no_such').call(),
      'abs: takes at most 1 arguments, got 2': () => operator('abs').call(ones([1]), 1),
    }),
  )('%s', (message, fn) => {
    expect(messageOf(fn)).toBe(message);
  });

  test("a failure without an explanation of ours has libtorch's first line and the shapes", () => {
    const message = messageOf(() => ones([3, 3]).narrow(0, 1, 5));
    expect(message).toMatch(
      /^narrow: start \(1\) \+ length \(5\) exceeds dimension size \(3\).*\(shapes \[3, 3\]\)$/,
    );
    const singular = messageOf(() => zeros([2, 2]).inverse());
    expect(singular).toMatch(/^inverse: .*singular/);
  });

  test('no message has a backtrace or a second line', () => {
    const failures = [
      () => zeros([-1]),
      () => ones([2, 3]).cholesky(),
      () => ones([2], { dtype: 'i64' }).requiresGrad_(),
      () => ones([2]).backward(),
      () => operator('gather').call(zeros([2]), 0, tensor([5], { dtype: 'i64' })),
    ];
    for (const fail of failures) {
      const message = messageOf(fail);
      expect(message).not.toMatch(/\n|frame #|Exception raised from|\.cpp:\d+/);
    }
  });

  test('no memory is an error of its own', () => {
    const fail = () => zeros([1e15]);
    expect(fail).toThrow(OutOfMemoryError);
    expect(messageOf(fail)).toMatch(/^zeros: can't allocate memory.*4000000000000000/);
    expect(fail).toThrow(TorchError);
  });

  test('the error names the operation and keeps the original', () => {
    try {
      zeros([2]).matmul(zeros([3]));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(TorchError);
      expect((error as TorchError).op).toBe('matmul');
      expect((error as TorchError).cause).toBeInstanceOf(Error);
    }
  });
});

describe('without libtorch', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  test.each(['no/such/addon.node', 'package.json'])(
    '%s: importing works, using says what to do',
    async (path) => {
      vi.stubEnv('CRAB_TORCH_ADDON', new URL(`../../${path}`, import.meta.url).pathname);
      vi.resetModules();
      const torch = await import('../../src/torch/index.js');
      expect(torch.isTorchAvailable()).toBe(false);
      expect(torch.cudaIsAvailable()).toBe(false);
      const found = torch.torchInfo();
      if (found.info !== null) throw new Error('an addon that is not there was found');
      expect(found.missing.message).toBe(
        `${found.missing.reason}; run \`npm run setup:torch\` to get it`,
      );
      expect(() => torch.zeros([1])).toThrow(torch.TorchUnavailableError);
      expect(() => new torch.Generator('cpu', 1)).toThrow(torch.TorchUnavailableError);
    },
  );

  test('TorchUnavailableError is not a TorchError', () => {
    expect(new TorchUnavailableError('x')).not.toBeInstanceOf(TorchError);
  });
});
