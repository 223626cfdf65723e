/** Parts that generative systems share, against plain computations of the same. */
import { describe, expect, test } from 'vitest';
import { Attention, AttentionBlock } from '../../src/models/parts/attention.js';
import { inverseOf, regress, squaredExponential } from '../../src/models/parts/gaussian-process.js';
import { totalCorrelation } from '../../src/models/parts/total-correlation.js';
import {
  eye,
  Generator,
  isTorchAvailable,
  nn,
  noGrad,
  ones,
  zeros,
} from '../../src/torch/index.js';
import { layerNorm, randn, scope, softmax, tensor, type Tensor } from '../../src/torch/index.js';
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

describe.skipIf(!isTorchAvailable())('a block of attention', () => {
  test("is libtorch's layers put together, and so are its derivatives", () => {
    scope(() => {
      const generator = new Generator('cpu', 2);
      const sizes = { width: 12, heads: 3, hidden: 20, dropout: 0 };
      const block = new AttentionBlock(sizes, { generator });
      const { attentionNorm, hiddenNorm, attention, hidden } = block;
      noGrad(() => {
        for (const norm of [attentionNorm, hiddenNorm]) {
          norm.weight?.uniform_(0.5, 1.5, generator);
          norm.bias?.uniform_(-0.5, 0.5, generator);
        }
      });
      const given = randn([2, 9, 12], { generator });
      const [x, y] = [0, 1].map(() => given.clone().requiresGrad_());
      const own = block.forward(x);
      const norm = ({ weight, bias, eps }: nn.LayerNorm, of: Tensor): Tensor =>
        layerNorm(of, [12], weight, bias, eps);
      const linear = ({ weight, bias }: nn.Linear, of: Tensor): Tensor =>
        of.matmul(weight.transpose(0, 1)).add(bias ?? 0);
      const apart = (of: Tensor): Tensor => of.reshape([2, 9, 3, 4]).transpose(1, 2); // [2, 3, 9, 4]
      const tokens = norm(attentionNorm, y);
      const [q, k, v] = [attention.queries, attention.keys, attention.values].map((layer) =>
        apart(linear(layer, tokens)),
      );
      const weights = softmax(q.matmul(k.transpose(2, 3)).div(2), -1); // heads of 4: divided by its root
      const mixed = weights.matmul(v).transpose(1, 2).reshape([2, 9, 12]);
      const attended = y.add(linear(attention.out, mixed));
      const [first, , second] = hidden.layers as nn.Linear[];
      const wide = linear(first, norm(hiddenNorm, attended)).clamp(0);
      const expected = attended.add(linear(second, wide));
      expect(largestGap(own, expected)).toBeLessThan(1e-5);
      const towards = randn([2, 9, 12], { generator });
      for (const result of [own, expected]) result.mul(towards).sum().backward();
      const [slope, other] = [x, y].map(({ grad }) => grad ?? given);
      expect(slope.abs().max().item()).toBeGreaterThan(0.1);
      expect(largestGap(slope, other)).toBeLessThan(1e-4);
      block.dispose();
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

  test('its derivatives are those of a dense solve of the known values', () => {
    scope(() => {
      const known = [0, 2, 3, 6, 7, 8];
      const mask = zeros([9], { dtype: 'f64' });
      for (const at of known) mask.select(0, at).fill_(1);
      const [start, values] = [
        randn([3, 9, 4], { generator: new Generator('cpu', 8), dtype: 'f64' }),
        randn([3, 9], { generator: new Generator('cpu', 9), dtype: 'f64' }),
      ];
      const weights = randn([2, 3, 9], { generator: new Generator('cpu', 10), dtype: 'f64' });
      const slopes = [0, 1].map((way) => {
        const [x, z] = [start, values].map((each) => each.clone().requiresGrad_());
        const kernel = squaredExponential(x);
        const at = tensor(known, { dtype: 'i64' });
        const dense = () => {
          const jitter = eye(known.length, undefined, { dtype: 'f64' }).mul(JITTER);
          const among = kernel.indexSelect(1, at).indexSelect(2, at).add(jitter);
          const towards = kernel.indexSelect(2, at); // [3, 9, k]
          const factors = among.solve(towards.transpose(1, 2)).transpose(1, 2);
          return {
            mean: factors.mul(z.indexSelect(1, at).unsqueeze(1)).sum(2),
            variance: factors.mul(towards).sum(2).rsub(1).clamp(1e-6),
          };
        };
        const { mean, variance } = way === 0 ? regress(kernel, z, mask) : dense();
        const both = [mean, variance].map((each, i) => each.mul(weights.select(0, i)).sum());
        both[0].add(both[1]).backward();
        return [x, z].map(({ grad }) => grad ?? start);
      });
      for (const i of [0, 1]) {
        expect(slopes[0][i].abs().max().item()).toBeGreaterThan(0.1);
        const scale = slopes[1][i].abs().max().item();
        expect(largestGap(slopes[0][i], slopes[1][i]) / scale).toBeLessThan(1e-7);
      }
      // Values that are not known have no say, not even by rounding.
      for (const at of [1, 4, 5]) expect(slopes[0][1].select(1, at).abs().max().item()).toBe(0);
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
