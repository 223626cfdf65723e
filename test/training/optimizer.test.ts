/** The settings of an optimiser reach it, for every algorithm. */
import { describe, expect, test } from 'vitest';
import { constant, valueAt, type OptimizerConfig } from '../../src/models/index.js';
import { fallingBy } from '../../src/models/schedule.js';
import { isTorchAvailable, scope, tensor } from '../../src/torch/index.js';
import { makeOptimizer } from '../../src/training/step/optimizer.js';

const RATE = 0.1;

/** Where a weight of 1 is after two steps with a gradient that never changes. */
function moved(config: Partial<OptimizerConfig>, gradient: number): number {
  return scope(() => {
    const weight = tensor([1]).requiresGrad_();
    const whole = {
      algorithm: 'sgd',
      learningRate: constant(RATE),
      batchSize: 2,
      ...config,
    } as const;
    const optimizer = makeOptimizer(whole, [weight], false);
    optimizer.learningRate = RATE;
    for (let step = 0; step < 2; step++) {
      weight.grad = tensor([gradient]);
      optimizer.step();
    }
    const at = weight.item();
    optimizer.dispose();
    return at;
  });
}

describe.skipIf(!isTorchAvailable())('optimisers', () => {
  const DECAY = 0.5;

  test('AdamW shrinks weights as the settings say, and by 0.01 if they say nothing', () => {
    expect(moved({ algorithm: 'adamw', weightDecay: DECAY }, 0)).toBeCloseTo(
      (1 - RATE * DECAY) ** 2,
      5,
    );
    expect(moved({ algorithm: 'adamw' }, 0)).toBeCloseTo((1 - RATE * 0.01) ** 2, 5);
    expect(moved({ algorithm: 'adamw', weightDecay: 0 }, 0)).toBe(1);
  });

  test.each(['adam', 'rmsprop', 'sgd'] as const)('%s adds decay to the gradient', (algorithm) => {
    expect(moved({ algorithm }, 0)).toBe(1);
    expect(moved({ algorithm, weightDecay: DECAY }, 0)).toBeLessThan(0.95);
  });

  test.each(['rmsprop', 'sgd'] as const)('%s has the momentum of the settings', (algorithm) => {
    expect(moved({ algorithm, momentum: 0.8 }, 0.01)).toBeLessThan(
      moved({ algorithm, momentum: 0 }, 0.01) - 1e-4,
    );
  });

  test('SGD without a named momentum has that of stored runs', () => {
    expect(moved({}, 1)).toBeCloseTo(moved({ momentum: 0.9 }, 1), 6);
  });
});

test('a rate can fall by stairs', () => {
  const falling = fallingBy(0.01, 0.2, 4);
  const at = (step: number): number => valueAt(falling, step, 50);
  expect([0, 9, 10, 19, 20, 49].map(at)).toEqual(
    [0, 0, 1, 1, 2, 4].map((falls) => 0.01 * 0.2 ** falls),
  );
});
