/** Random numbers: decided by seeds and states alone. */
import { describe, expect, test } from 'vitest';
import {
  Generator,
  TorchError,
  bernoulli,
  dropout,
  full,
  isTorchAvailable,
  manualSeed,
  multinomial,
  ones,
  rand,
  randint,
  randn,
  randperm,
  tensor,
  zeros,
} from '../../src/torch/index.js';

describe.skipIf(!isTorchAvailable())('random', () => {
  const draw = (generator: Generator): number[] => randn([5], { generator }).toArray();

  test('the same seed gives the same numbers, another seed others', () => {
    expect(draw(new Generator('cpu', 1))).toEqual(draw(new Generator('cpu', 1)));
    expect(draw(new Generator('cpu', 1))).not.toEqual(draw(new Generator('cpu', 2)));
    const generator = new Generator('cpu', 1);
    const first = draw(generator);
    expect(draw(generator)).not.toEqual(first);
    expect(draw(generator.seed(1))).toEqual(first);
    expect(draw(new Generator('cpu', 2n ** 63n))).toHaveLength(5);
  });

  test('generators do not disturb each other, nor the default one', () => {
    const a = new Generator('cpu', 1);
    const b = new Generator('cpu', 1);
    manualSeed(4);
    const expected = rand([3]).toArray();
    manualSeed(4);
    const fromA = draw(a);
    expect(rand([3]).toArray()).toEqual(expected);
    expect(draw(b)).toEqual(fromA);
  });

  test('a state can be kept and restored', () => {
    const generator = new Generator('cpu', 7);
    draw(generator);
    const state = generator.getState();
    expect([state.dtype, state.device]).toEqual(['u8', 'cpu']);
    const next = draw(generator);
    const saved = tensor(state.data());
    expect(draw(new Generator('cpu', 0).setState(saved))).toEqual(next);
  });

  test('bad seeds, states and devices are errors', () => {
    for (const seed of [-1, 0.5, NaN, 2n ** 64n, 'x' as never]) {
      expect(() => new Generator('cpu', seed)).toThrow(TorchError);
    }
    const generator = new Generator('cpu', 1);
    expect(() => generator.setState(zeros([3], { dtype: 'u8' }))).toThrow(TorchError);
    expect(() => generator.setState(zeros([5056]))).toThrow(TorchError);
    expect(() => generator.setState('x' as never)).toThrow(TorchError);
    expect(() => new Generator('tpu' as never, 1)).toThrow(TorchError);
    expect(() => randn([1], { generator: zeros([1]) as never })).toThrow(TorchError);
  });

  test('every kind of draw follows its generator and its range', () => {
    const generator = (): Generator => new Generator('cpu', 3);
    const p = full([1000], 0.3);
    const draws = {
      rand: () => rand([1000], { generator: generator() }),
      randint: () => randint(-2, 3, [1000], { generator: generator() }),
      randperm: () => randperm(1000, { generator: generator() }),
      bernoulli: () => bernoulli(p, generator()),
      multinomial: () => multinomial(p, 100, true, generator()),
      uniform: () => zeros([1000]).uniform_(2, 3, generator()),
      normal: () => zeros([1000]).normal_(5, 0.1, generator()),
      exponential: () => zeros([1000]).exponential_(1, generator()),
      dropout: () => dropout(ones([1000]), 0.25, true, generator()),
    };
    for (const fn of Object.values(draws)) expect(fn().toArray()).toEqual(fn().toArray());
    expect(new Set(draws.randint().toArray())).toEqual(new Set([-2, -1, 0, 1, 2]));
    expect(draws.randperm().sort().values.toArray()).toEqual(
      Array.from({ length: 1000 }, (_, i) => i),
    );
    expect(draws.bernoulli().mean().item()).toBeCloseTo(0.3, 1);
    expect(draws.normal().mean().item()).toBeCloseTo(5, 1);
    const kept = draws.dropout().toArray();
    expect(new Set(kept).size).toBe(2);
    expect(Math.max(...kept)).toBeCloseTo(4 / 3, 5);
    expect(dropout(ones([3]), 0.5, false, generator()).toArray()).toEqual([1, 1, 1]);
    expect(dropout(ones([3]), 1, true, generator()).toArray()).toEqual([0, 0, 0]);
  });
});
