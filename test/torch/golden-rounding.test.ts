/** The bound on results in bfloat16: any order of summing keeps within it, and a wrong result does not. */
import { describe, expect, test } from 'vitest';
import { conv2d, Generator, randn, scope, tensor, unfold2d } from '../../src/torch/index.js';
import type { Tensor } from '../../src/torch/index.js';
import { roundingBounds, UNIT_ROUNDOFF } from './golden/rounding.js';
import { expectNumbersClose, hasTorch } from './golden/support.js';

/** A convolution whose operands are bfloat16 already: 3 channels under a kernel of 3x3, so 27 products and a bias. */
function draw() {
  const generator = new Generator('cpu', 5);
  const value = (shape: number[]): Tensor =>
    randn(shape, { generator }).to({ dtype: 'bf16' }).to({ dtype: 'f64' });
  return { x: value([2, 3, 5, 5]), weight: value([4, 3, 3, 3]), bias: value([4]) };
}

type Operands = ReturnType<typeof draw>;

/** Rounds after every product and every sum, the products taken in the given order. */
function summedInBfloat16({ x, weight, bias }: Operands, order: readonly number[]): Tensor {
  const narrow = (value: Tensor): Tensor => value.to({ dtype: 'bf16' });
  const columns = narrow(unfold2d(x, 3)).unsqueeze(1); // [N, 1, 27, positions]
  const kernels = narrow(weight).reshape([1, 4, 27, 1]);
  const start = narrow(bias).reshape([1, 4, 1]).expand([2, 4, 9]);
  return order.reduce((sum, k) => sum.add(columns.select(2, k).mul(kernels.select(2, k))), start);
}

const numbers = (value: Tensor): number[] => value.to({ dtype: 'f64' }).toArray();
const inOrder = Array.from({ length: 27 }, (_, k) => k);

describe.skipIf(!hasTorch)('a convolution in bfloat16', () => {
  const check = (actual: (operands: Operands) => Tensor): void =>
    scope(() => {
      const operands = draw();
      const { x, weight, bias } = operands;
      const leaves = [x, weight, bias].map((each) => each.clone().requiresGrad_());
      const exact = conv2d(leaves[0], leaves[1], leaves[2]);
      const bounds = roundingBounds(exact, leaves, 'bf16');
      expectNumbersClose(numbers(actual(operands)), exact.toArray(), bounds, 'conv2d');
    });

  test.each([
    ['first to last', inOrder],
    ['last to first', [...inOrder].reverse()],
    ['every second, then the rest', [...inOrder].sort((a, b) => (a % 2) - (b % 2) || a - b)],
    ['channels in turn', [...inOrder].sort((a, b) => (a % 9) - (b % 9) || a - b)],
  ])('is within the bound if summed %s, rounding at every step', (_, order) => {
    check((operands) => summedInBfloat16(operands, order));
  });

  const wrong: [string, (operands: Operands) => Tensor][] = [
    ['without the bias', ({ x, weight }) => conv2d(x, weight)],
    ['with a kernel upside down', ({ x, weight, bias }) => conv2d(x, weight.flip([2]), bias)],
    ['with two channels swapped', ({ x, weight, bias }) => conv2d(x, weight.roll([1], [1]), bias)],
    ['without one product', (operands) => summedInBfloat16(operands, inOrder.slice(1))],
    ['an eighth too large', ({ x, weight, bias }) => conv2d(x, weight.mul(1.125), bias)],
    ['of another image', ({ x, weight, bias }) => conv2d(x.flip([0]), weight, bias)],
  ];
  test.each(wrong)('is refused %s', (_, compute) => {
    expect(() => check(compute)).toThrow(/conv2d: element \d+ is .* within/);
  });
});

test.skipIf(!hasTorch)('the bound of a sum is that of its magnitudes, not of its result', () => {
  scope(() => {
    const leaf = tensor([100, -100, 1, 0], { dtype: 'f64' }).requiresGrad_();
    // Three numbers take part, their magnitudes add up to 201, and the result is 1.
    const expected = UNIT_ROUNDOFF.f16 * (1 + Math.sqrt(3) * 201);
    expect(roundingBounds(leaf.sum(), [leaf], 'f16')[0]).toBeCloseTo(expected, 12);
  });
});
