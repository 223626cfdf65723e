import { describe, expect, test } from 'vitest';
import { isTorchAvailable, scope, tensor, zeros, type Tensor } from '../../src/torch/index.js';
import { StepRandom, stepKey } from '../../src/models/index.js';

const MASK = (1n << 64n) - 1n;

/** The definition in 64-bit arithmetic, one number after the other. */
function expected(counter: number, key: bigint): [number, number] {
  let x = (BigInt(counter) * 0x9e3779b97f4a7c15n + key) & MASK;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & MASK;
  x ^= x >> 31n;
  const radius = Math.sqrt(-2 * Math.log((Number(x >> 32n) + 1) / 2 ** 32));
  const angle = 2 * Math.PI * (Number(x & 0xffffffffn) / 2 ** 32);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

function draw(first: number, problems: number, perProblem: number, key: bigint): Float32Array {
  return withRandom(first, problems, key, (random) => random.normal(perProblem));
}

/** What a step with this key draws. */
function withRandom(
  first: number,
  count: number,
  key: bigint,
  use: (random: StepRandom) => Tensor,
): Float32Array {
  const random = new StepRandom({ first, count }, 'cpu');
  try {
    return scope(() => {
      random.begin(tensor(BigInt64Array.of(key)));
      return use(random).contiguous().data() as Float32Array;
    });
  } finally {
    random.dispose();
  }
}

describe.skipIf(!isTorchAvailable())('noise', () => {
  test('is the hash it says, number by number', () => {
    const key = stepKey(12, 345);
    const drawn = draw(3, 4, 7, key);
    expect(drawn).toHaveLength(28);
    for (let problem = 0; problem < 4; problem++) {
      for (let n = 0; n < 7; n++) {
        const counter = (3 + problem) * 4 + Math.floor(n / 2);
        const value = expected(counter, BigInt.asUintN(64, key))[n % 2];
        expect(drawn[problem * 7 + n]).toBeCloseTo(value, 3);
      }
    }
  });

  test('a part of a batch is that part of the whole', () => {
    const key = stepKey(1, 2);
    const whole = draw(0, 10, 5, key);
    expect(draw(4, 3, 5, key)).toEqual(whole.slice(20, 35));
  });

  test('is normal: moments and tails', () => {
    const count = 400_000;
    const values = draw(0, 400, 1000, stepKey(7, 0));
    const moment = (power: number): number =>
      values.reduce((sum, value) => sum + value ** power, 0) / count;
    expect(moment(1)).toBeCloseTo(0, 2);
    expect(moment(2)).toBeCloseTo(1, 2);
    expect(moment(3)).toBeCloseTo(0, 1);
    expect(Math.abs(moment(4) - 3)).toBeLessThan(0.05);
    const beyond = values.filter((value) => Math.abs(value) > 1.959964).length / count;
    expect(Math.abs(beyond - 0.05)).toBeLessThan(0.0015);
    let neighbours = 0;
    for (let n = 1; n < count; n++) neighbours += values[n] * values[n - 1];
    expect(Math.abs(neighbours / count)).toBeLessThan(0.006);
  });

  test('differs from step to step and seed to seed', () => {
    const keys = [stepKey(1, 0), stepKey(1, 1), stepKey(2, 0)].map(String);
    expect(new Set(keys).size).toBe(3);
    expect(draw(0, 2, 8, stepKey(1, 0))).not.toEqual(draw(0, 2, 8, stepKey(1, 1)));
  });

  test('a second draw of a step gives other numbers, the same ones in the next step of the same key', () => {
    const key = stepKey(3, 4);
    const both = (): [Float32Array, Float32Array] => {
      const [first] = [withRandom(0, 3, key, (random) => random.normal(6))];
      const second = withRandom(0, 3, key, (random) => {
        random.normal(6);
        return random.normal(6);
      });
      return [first, second];
    };
    const [first, second] = both();
    expect(second).not.toEqual(first);
    expect(both()).toEqual([first, second]);
  });

  test('uniform numbers fill [0, 1], whatever the shape', () => {
    const values = withRandom(0, 100, stepKey(5, 6), (random) =>
      random.uniformLike(zeros([200, 7, 30])),
    );
    expect(values).toHaveLength(42_000);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.01);
    expect(values.every((value) => value >= 0 && value <= 1)).toBe(true);
    expect(values.filter((value) => value < 0.1).length / values.length).toBeCloseTo(0.1, 1);
  });

  test('asked for outside of a step, they are an error', () => {
    const random = new StepRandom({ first: 0, count: 2 }, 'cpu');
    expect(() => random.normal(3)).toThrow(/outside of one/);
    random.dispose();
  });
});
