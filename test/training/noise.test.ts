import { describe, expect, test } from 'vitest';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { NormalNoise, noiseKey } from '../../src/training/random/noise.js';

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
  const noise = new NormalNoise(first, problems, perProblem, 'cpu');
  try {
    return scope(() => noise.draw(tensor(BigInt64Array.of(key))).data() as Float32Array);
  } finally {
    noise.dispose();
  }
}

describe.skipIf(!isTorchAvailable())('noise', () => {
  test('is the hash it says, number by number', () => {
    const key = noiseKey(12, 345);
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
    const key = noiseKey(1, 2);
    const whole = draw(0, 10, 5, key);
    expect(draw(4, 3, 5, key)).toEqual(whole.slice(20, 35));
  });

  test('is normal: moments and tails', () => {
    const count = 400_000;
    const values = draw(0, 400, 1000, noiseKey(7, 0));
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
    const keys = [noiseKey(1, 0), noiseKey(1, 1), noiseKey(2, 0)].map(String);
    expect(new Set(keys).size).toBe(3);
    expect(draw(0, 2, 8, noiseKey(1, 0))).not.toEqual(draw(0, 2, 8, noiseKey(1, 1)));
  });
});
