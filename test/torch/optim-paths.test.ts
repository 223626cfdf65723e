/**
 * Optimisers take different paths to the same result: large tensors on the CPU are updated in slices, and
 * on CUDA one fused kernel does the whole step. The fused kernel also runs on the CPU from libtorch 2.4 on,
 * so that its use is tested where there is no device.
 */
import { describe, expect, test } from 'vitest';
import {
  cat,
  full,
  Generator,
  isTorchAvailable,
  noGrad,
  optim,
  randn,
  scope,
  torchVersion,
  zerosLike,
  type Tensor,
} from '../../src/torch/index.js';
import { FusedAdam } from '../../src/torch/optim/fused.js';

type Build = (parameters: Tensor[]) => optim.Optimizer;

const OPTIMIZERS: Readonly<Record<string, Build>> = {
  sgd: (p) => new optim.SGD(p, { learningRate: 0.1, momentum: 0.9, weightDecay: 0.01 }),
  rmsprop: (p) => new optim.RMSprop(p, { learningRate: 0.01 }),
  'rmsprop, centred': (p) =>
    new optim.RMSprop(p, { learningRate: 0.01, centered: true, momentum: 0.5 }),
  adam: (p) => new optim.Adam(p, { learningRate: 0.01, amsgrad: true }),
  'adamw on the device': (p) => new optim.AdamW(p, { learningRate: 0.01, capturable: true }),
};

/** Large enough to be sliced, and not a whole number of slices. */
const SIZE = 2 ** 23 + 1237;
const PIECE = 2 ** 21;

function stepWith(
  parameters: readonly Tensor[],
  optimizer: optim.Optimizer,
  gradient: Tensor,
): void {
  let start = 0;
  for (const parameter of parameters) {
    parameter.grad = gradient.narrow(0, start, parameter.numel).clone();
    start += parameter.numel;
  }
  optimizer.step();
}

describe.skipIf(!isTorchAvailable())('large tensors on the CPU', () => {
  test.each(Object.entries(OPTIMIZERS))('%s: slices give the same, bit for bit', (_, build) => {
    scope(() => {
      const generator = new Generator('cpu', 3);
      const values = randn([SIZE], { generator });
      const whole = [values.clone().requiresGrad_()];
      // The same numbers as tensors that are too small to be sliced.
      const pieces = values.split(PIECE).map((piece) => piece.clone().requiresGrad_());
      const [ofWhole, ofPieces] = [build(whole), build(pieces)];
      for (let step = 0; step < 2; step += 1) {
        const gradient = randn([SIZE], { generator });
        stepWith(whole, ofWhole, gradient);
        stepWith(pieces, ofPieces, gradient);
      }
      expect(cat(pieces.map((piece) => piece.detach())).equal(whole[0].detach())).toBe(true);
      expect(whole[0].detach().equal(values)).toBe(false);
      ofWhole.dispose();
      ofPieces.dispose();
    });
  });

  test('a tensor that is not dense in memory is updated too', () => {
    scope(() => {
      const generator = new Generator('cpu', 4);
      const base = randn([3000, 2900], { generator });
      const transposed = base.clone().transpose(0, 1).requiresGrad_();
      const dense = base.transpose(0, 1).contiguous().requiresGrad_();
      const [a, b] = [transposed, dense].map(
        (one) => new optim.RMSprop([one], { learningRate: 0.01 }),
      );
      const gradient = randn([2900, 3000], { generator });
      transposed.grad = gradient.clone();
      dense.grad = gradient.clone();
      a.step();
      b.step();
      // Other kernels may do the two, which then differ in the last bit.
      expect(difference(transposed.detach(), dense.detach())).toBeLessThan(1e-6);
      expect(difference(transposed.detach(), base.transpose(0, 1))).toBeGreaterThan(1e-3);
    });
  });
});

/** Whether the fused kernel runs on the CPU. */
function hasFused(): boolean {
  if (!isTorchAvailable()) return false;
  const { major, minor } = torchVersion();
  return major > 2 || (major === 2 && minor >= 4);
}

/** Largest difference, as a share of the largest value. */
function difference(a: Tensor, b: Tensor): number {
  return a.sub(b).abs().max().item() / b.abs().max().item();
}

describe.skipIf(!hasFused())('the fused kernel', () => {
  test.each([0.01, 'tensor'] as const)('is RMSprop without a first moment; rate: %s', (rate) => {
    scope(() => {
      const generator = new Generator('cpu', 5);
      const start = randn([50, 7], { generator });
      const [own, fused] = [start.clone().requiresGrad_(), start.clone().requiresGrad_()];
      const optimizer = new optim.RMSprop([own], { learningRate: 0.01 });
      const squares = zerosLike(start);
      const kernel = new FusedAdam('gradient');
      for (let step = 0; step < 20; step += 1) {
        const gradient = randn([50, 7], { generator });
        own.grad = gradient.clone();
        optimizer.step();
        const given = gradient.clone();
        const done = noGrad(() =>
          kernel.tryStep(
            {
              parameters: [fused],
              gradients: [given],
              firstMoments: [given],
              secondMoments: [squares],
              largestMoments: [],
            },
            {
              rate: rate === 'tensor' ? full([], 0.01) : rate,
              step: 1e9,
              betas: [0, 0.99],
              eps: 1e-8,
              weightDecay: 0,
            },
          ),
        );
        expect(done).toBe(true);
        expect(given.equal(gradient)).toBe(true);
      }
      expect(difference(fused.detach(), own.detach())).toBeLessThan(1e-5);
      expect(difference(fused.detach(), start)).toBeGreaterThan(1e-2);
    });
  });

  test.each(['gradient', 'weights'] as const)('is Adam with decay of the %s', (decay) => {
    scope(() => {
      const generator = new Generator('cpu', 6);
      const start = randn([50, 7], { generator });
      const [own, fused] = [start.clone().requiresGrad_(), start.clone().requiresGrad_()];
      const options = { learningRate: 0.01, weightDecay: 0.1 };
      const optimizer =
        decay === 'gradient' ? new optim.Adam([own], options) : new optim.AdamW([own], options);
      const [first, second] = [zerosLike(start), zerosLike(start)];
      const kernel = new FusedAdam(decay);
      for (let step = 1; step <= 20; step += 1) {
        const gradient = randn([50, 7], { generator });
        own.grad = gradient.clone();
        optimizer.step();
        const lists = {
          parameters: [fused],
          gradients: [gradient],
          firstMoments: [first],
          secondMoments: [second],
          largestMoments: [],
        };
        const numbers = {
          rate: 0.01,
          step,
          betas: [0.9, 0.999],
          eps: 1e-8,
          weightDecay: 0.1,
        } as const;
        expect(noGrad(() => kernel.tryStep(lists, numbers))).toBe(true);
      }
      expect(difference(fused.detach(), own.detach())).toBeLessThan(1e-5);
    });
  });

  test('refuses tensors laid out otherwise, and changes nothing', () => {
    scope(() => {
      const parameter = full([3, 4], 1);
      const gradient = full([4, 3], 1);
      const lists = {
        parameters: [parameter],
        gradients: [gradient],
        firstMoments: [gradient],
        secondMoments: [zerosLike(parameter)],
        largestMoments: [],
      };
      const numbers = { rate: 0.1, step: 1, betas: [0, 0.99], eps: 1e-8, weightDecay: 0 } as const;
      expect(new FusedAdam('gradient').tryStep(lists, numbers)).toBe(false);
      expect(parameter.equal(full([3, 4], 1))).toBe(true);
    });
  });
});
