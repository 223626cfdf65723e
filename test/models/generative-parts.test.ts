/** Parts that generative systems share, against plain computations of the same. */
import { describe, expect, test } from 'vitest';
import { Attention } from '../../src/models/parts/attention.js';
import { inverseOf, regress, squaredExponential } from '../../src/models/parts/gaussian-process.js';
import { totalCorrelation } from '../../src/models/parts/total-correlation.js';
import { eye, Generator, isTorchAvailable, nn, noGrad, ones } from '../../src/torch/index.js';
import { randn, scope, tensor, type Tensor } from '../../src/torch/index.js';
import { largestGap } from './tiny.js';

describe.skipIf(!isTorchAvailable())('attention', () => {
  test('is that of torch.nn with the same weights, and closed keys do not matter', () => {
    scope(() => {
      const generator = new Generator('cpu', 1);
      const own = new Attention(12, 3, { generator });
      const theirs = new nn.MultiheadAttention(12, 3, { generator });
      const state = own.stateDict();
      const names = ['queries', 'keys', 'values'];
      const joined = (of: string): Tensor => {
        const parts = names.map((name) => state.get(`${name}.${of}`)?.toArray() ?? []);
        return tensor(parts.flat());
      };
      noGrad(() => {
        theirs.inProjWeight.copy_(joined('weight').reshape([36, 12]));
        theirs.inProjBias?.copy_(joined('bias'));
        theirs.outProj.weight.copy_(own.out.weight);
        if (own.out.bias) theirs.outProj.bias?.copy_(own.out.bias);
      });
      const [query, key, value] = [4, 6, 6].map((length) => randn([2, length, 12], { generator }));
      const open = tensor([
        [1, 1, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1],
      ]);
      const expected = theirs.forward(query, key, value, { keyPaddingMask: open.eq(0) });
      expect(largestGap(own.forward(query, key, value, open), expected)).toBeLessThan(1e-5);
      for (const module of [own, theirs]) module.dispose();
    });
  });
});

describe.skipIf(!isTorchAvailable())('total correlation', () => {
  const SIGMA = 0.7;
  const density = (z: number[], mean: number[]): number =>
    z.reduce((product, value, i) => {
      const scaled = (value - mean[i]) / SIGMA;
      return (product * Math.exp(-0.5 * scaled * scaled)) / (SIGMA * Math.sqrt(2 * Math.PI));
    }, 1);

  test('is that of a plain double loop over samples and panels', () => {
    scope(() => {
      const generator = new Generator('cpu', 3);
      const samples = randn([3, 4, 2], { generator });
      const means = randn([3, 7, 2], { generator });
      const [z, mu] = [samples, means].map((each) => each.toNested() as number[][][]);
      let sum = 0;
      for (let i = 0; i < 4; i++) {
        const each = mu[0].map((_, j) => mu.map((of, m) => density(z[m][i], of[j]))); // [J][M]
        const mean = (values: number[]) => values.reduce((a, b) => a + b) / values.length;
        const together = Math.log(mean(each.map((row) => row.reduce((a, b) => a * b))));
        const apart = mu.map((_, m) => Math.log(mean(each.map((row) => row[m]))));
        sum += together - apart.reduce((a, b) => a + b);
      }
      expect(totalCorrelation(samples, means, SIGMA).item()).toBeCloseTo(sum / 4, 4);
    });
  });

  test('is 0 for one concept, and large for two that are always equal', () => {
    scope(() => {
      const means = randn([1, 50, 2], { generator: new Generator('cpu', 4) }).mul(1000);
      expect(totalCorrelation(means, means, 0.1).item()).toBeCloseTo(0, 4);
      const twice = means.expand([2, 50, 2]);
      expect(totalCorrelation(twice, twice, 0.1).item()).toBeCloseTo(Math.log(50), 2);
    });
  });
});

describe.skipIf(!isTorchAvailable())('regression with a Gaussian process', () => {
  const JITTER = 1e-4;
  const kernelOf = (seed: number): Tensor =>
    squaredExponential(
      randn([2, 3, 9, 4], { generator: new Generator('cpu', seed), dtype: 'f64' }).mul(0.7),
    );

  test('is that of the known values alone, solved directly, for any that are missing', () => {
    scope(() => {
      const kernel = kernelOf(1); // [2, 3, 9, 9]
      const values = randn([2, 3, 9], { generator: new Generator('cpu', 2), dtype: 'f64' });
      for (const missing of [[8], [0, 4], [0, 1, 2, 3, 4, 5, 6, 7]]) {
        const known = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((at) => !missing.includes(at));
        const mask = ones([9], { dtype: 'f64' });
        for (const at of missing) mask.select(0, at).fill_(0);
        const junk = values.clone();
        for (const at of missing) junk.select(2, at).fill_(NaN);
        const { mean, variance } = regress(kernel, junk, mask);
        const at = tensor(known, { dtype: 'i64' });
        const among = kernel.indexSelect(2, at).indexSelect(3, at);
        const jitter = eye(known.length, undefined, { dtype: 'f64' }).mul(JITTER);
        const towards = kernel.indexSelect(3, at); // [2, 3, 9, k]
        const weights = among.add(jitter).solve(towards.transpose(2, 3)).transpose(2, 3);
        const direct = weights.mul(values.indexSelect(2, at).unsqueeze(2)).sum(3);
        const left = weights.mul(towards).sum(3).rsub(1).clamp(1e-6);
        expect(largestGap(mean, direct)).toBeLessThan(1e-7);
        expect(largestGap(variance, left)).toBeLessThan(1e-7);
      }
    });
  });

  test('in single precision it stays finite if all positions are equal', () => {
    scope(() => {
      const { mean, variance } = regress(ones([1, 9, 9]), ones([1, 9]), ones([1, 9]));
      expect(mean.isfinite().all().item()).toBe(1);
      expect(largestGap(mean, ones([1, 9]))).toBeLessThan(1e-3);
      expect(variance.isfinite().all().item()).toBe(1);
    });
  });

  test('its derivatives are those of finite differences', () => {
    scope(() => {
      const features = randn([1, 9, 2], { generator: new Generator('cpu', 5), dtype: 'f64' });
      const values = randn([1, 9], { generator: new Generator('cpu', 6), dtype: 'f64' });
      const mask = tensor([[1, 0, 1, 1, 1, 0, 1, 1, 1]], { dtype: 'f64' });
      const measured = (x: Tensor, z: Tensor): Tensor => {
        const { mean, variance } = regress(squaredExponential(x), z, mask);
        return mean.sin().add(variance.sqrt()).mul(mask.rsub(1)).sum();
      };
      const [x, z] = [features, values].map((each) => each.clone().requiresGrad_());
      measured(x, z).backward();
      // Larger, and curvature counts; smaller, and the rounding of a processor does.
      const step = 3e-5;
      for (const [given, leaf] of [
        [features, x],
        [values, z],
      ]) {
        for (let at = 0; at < given.numel; at++) {
          const [up, down] = [step, -step].map((by) => {
            const moved = given.clone();
            moved.reshape([-1]).select(0, at).add_(by);
            return (
              given === features ? measured(moved, values) : measured(features, moved)
            ).item();
          });
          const slope = leaf.grad?.reshape([-1]).select(0, at).item() ?? NaN;
          const scale = Math.max(1, Math.abs(slope));
          expect(slope / scale).toBeCloseTo((up - down) / (2 * step) / scale, 4);
        }
      }
    });
  });

  test('the inverse is that of libtorch', () => {
    scope(() => {
      const matrix = kernelOf(7).add(eye(9, undefined, { dtype: 'f64' }).mul(1e-3));
      const product = inverseOf(matrix).matmul(matrix);
      expect(largestGap(product, eye(9, undefined, { dtype: 'f64' }))).toBeLessThan(1e-8);
      expect(largestGap(inverseOf(matrix), matrix.inverse())).toBeLessThan(1e-6);
    });
  });
});
