/**
 * Optimisers against PyTorch over 20 steps, with the rate as a number and on the device, one
 * parameter at a time and in lists; their state through a checkpoint; clipping; schedules.
 */
import { describe, expect, test } from 'vitest';
import * as torch from '../../src/torch/index.js';
import { CudaGraph, liveTensors, optim, scope, synchronize } from '../../src/torch/index.js';
import type { Device, Tensor } from '../../src/torch/index.js';
import { foreach, perTensor } from '../../src/torch/optim/kernels.js';
import { buildOptimizer } from './golden/modules.js';
import type { ModulesFile, OptimizerCase } from './golden/modules.js';
import {
  devices,
  expectClose,
  expectNumbersClose,
  goldenList,
  goldenNumber,
  hasCuda,
  hasTorch,
  readJson,
  toleranceFor,
  toTensor,
} from './golden/support.js';
import type { GoldenTensor } from './golden/support.js';

const { optimizers, optimizerProblem, clipping } = readJson<ModulesFile>('modules.json');

function start(id: string, device: Device): Tensor[] {
  return goldenList(`optimizer/${id}/start`).map((value) =>
    toTensor(value as GoldenTensor, device).requiresGrad_(),
  );
}

/** The function that make_golden.py minimises. */
function lossOf(parameters: readonly Tensor[]): Tensor {
  return parameters
    .map((p) => {
      const count = p.numel;
      const curvature = torch
        .arange(1, count + 1, 1, { dtype: 'f32', device: p.device })
        .reshape(p.shape)
        .div(count);
      return curvature.mul(p.sub(0.3).square()).add(p.mul(2).sin()).sum();
    })
    .reduce((sum, term) => sum.add(term));
}

function stepOnce(parameters: readonly Tensor[], optimizer: optim.Optimizer): void {
  scope(() => {
    optimizer.zeroGrad();
    lossOf(parameters).backward();
    optimizer.step();
  });
}

function expectParameters(parameters: readonly Tensor[], prefix: string, device: Device): void {
  goldenList(prefix).forEach((value, index) => {
    const label = `${prefix} parameter ${index}`;
    expectClose(
      parameters[index].detach(),
      value as GoldenTensor,
      toleranceFor(device, false),
      label,
    );
  });
}

function checkOptimizer(one: OptimizerCase, device: Device, capturable: boolean): void {
  const parameters = start(one.id, device);
  const optimizer = buildOptimizer(one, parameters, { capturable });
  for (let step = 1; step <= optimizerProblem.steps; step += 1) {
    stepOnce(parameters, optimizer);
    if (optimizerProblem.keep.includes(step)) {
      expectParameters(parameters, `optimizer/${one.id}/step${step}`, device);
    }
  }
  expect(optimizer.stepCount).toBe(optimizerProblem.steps);
  optimizer.dispose();
}

describe.each(devices)('optimisers on $device', ({ device, present }) => {
  test.skipIf(!present)('the device is there', () => expect(present).toBe(true));
  for (const one of present ? optimizers : []) {
    test(`${one.id}: 20 steps as PyTorch`, () => scope(() => checkOptimizer(one, device, false)));
    test(`${one.id}: the same with rate and step on the device`, () =>
      scope(() => checkOptimizer(one, device, true)));
    test(`${one.id}: stopped, stored and continued is the same, bit for bit`, () =>
      scope(() => checkResumed(one, device)));
  }
});

function checkResumed(one: OptimizerCase, device: Device): void {
  const whole = start(one.id, device);
  const optimizer = buildOptimizer(one, whole);
  for (let step = 0; step < 10; step += 1) stepOnce(whole, optimizer);

  const first = start(one.id, device);
  const before = buildOptimizer(one, first);
  for (let step = 0; step < 5; step += 1) stepOnce(first, before);
  const second = first.map((p) => p.detach().clone().requiresGrad_());
  const after = buildOptimizer(one, second);
  after.loadStateTensors(before.stateTensors());
  for (let step = 0; step < 5; step += 1) stepOnce(second, after);
  second.forEach((p, index) => expect(p.data()).toEqual(whole[index].data()));
  expect(after.stepCount).toBe(10);
}

test.skipIf(!hasCuda)('a step captured in a CUDA graph goes on as one that is not', () => {
  for (const one of optimizers) {
    scope(() => {
      const parameters = start(one.id, 'cuda');
      const optimizer = buildOptimizer(one, parameters, { capturable: true });
      for (let step = 0; step < 3; step += 1) stepOnce(parameters, optimizer);
      synchronize();
      const graph = CudaGraph.capture(() => stepOnce(parameters, optimizer));
      for (let step = 3; step < optimizerProblem.steps; step += 1) graph.replay();
      synchronize();
      expectParameters(parameters, `optimizer/${one.id}/step${optimizerProblem.steps}`, 'cuda');
      graph.dispose();
    });
  }
});

describe.skipIf(!hasTorch)('optimiser', () => {
  const parameter = (): Tensor => torch.tensor([1, 2, 3]).requiresGrad_();

  test('a new learning rate takes effect, also on the device', () => {
    for (const capturable of [false, true]) {
      scope(() => {
        const p = parameter();
        const sgd = new optim.SGD([p], { learningRate: 1, capturable });
        p.grad = torch.ones([3]);
        sgd.step();
        expect(p.toArray()).toEqual([0, 1, 2]);
        sgd.learningRate = 0.5;
        sgd.step();
        expect(p.toArray()).toEqual([-0.5, 0.5, 1.5]);
      });
    }
  });

  test('a parameter without a gradient is left alone', () => {
    scope(() => {
      const [p, q] = [parameter(), parameter()];
      const adam = new optim.Adam([p, q], { learningRate: 0.1 });
      p.grad = torch.ones([3]);
      adam.step();
      expect(q.toArray()).toEqual([1, 2, 3]);
      expect(p.toArray()).not.toEqual([1, 2, 3]);
    });
  });

  test.skipIf(!hasCuda)('the state follows a module to another device', () => {
    scope(() => {
      const linear = new torch.nn.Linear(3, 1, { generator: new torch.Generator('cpu', 1) });
      const adam = new optim.Adam(linear.parameters(), { learningRate: 0.1 });
      for (const device of ['cpu', 'cuda', 'cpu'] as const) {
        linear.to({ device });
        linear
          .forward(torch.ones([1, 3], { device }))
          .sum()
          .backward();
        adam.step();
        expect(adam.stateTensors().get('0.exp_avg')?.device.startsWith(device)).toBe(true);
      }
    });
  });

  test('zeroGrad forgets or zeroes', () => {
    scope(() => {
      const p = parameter();
      const sgd = new optim.SGD([p], { learningRate: 1 });
      p.grad = torch.ones([3]);
      sgd.zeroGrad({ setToNone: false });
      expect(p.grad?.toArray()).toEqual([0, 0, 0]);
      sgd.zeroGrad();
      expect(p.grad).toBe(null);
    });
  });

  test('steps leave no tensors behind', () => {
    scope(() => {
      const p = parameter();
      p.grad = torch.ones([3]);
      const adam = new optim.AdamW([p], { learningRate: 0.1, amsgrad: true });
      adam.step();
      const { tensors } = liveTensors();
      for (let i = 0; i < 5; i += 1) adam.step();
      expect(liveTensors().tensors).toBe(tensors);
    });
  });

  test('wrong hyperparameters and states are refused by name', () => {
    scope(() => {
      const p = parameter();
      const make = (options: Partial<optim.SGDOptions>) => () =>
        new optim.SGD([p], { learningRate: 0.1, ...options });
      expect(make({ learningRate: -1 })).toThrow('learningRate = -1: expected at least 0');
      expect(make({ learningRate: NaN })).toThrow('learningRate = NaN');
      expect(make({ nesterov: true })).toThrow('nesterov needs a momentum');
      expect(() => new optim.Adam([p], { learningRate: 1, betas: [1, 0] })).toThrow('betas');
      expect(() => new optim.SGD([], { learningRate: 1 })).toThrow('no parameters');
      expect(() => new optim.SGD([p, p], { learningRate: 1 })).toThrow('twice');
      const adam = new optim.Adam([p], { learningRate: 1 });
      p.grad = torch.ones([3]);
      adam.step();
      const state = adam.stateTensors();
      state.set('0.exp_avg', torch.zeros([4]));
      expect(() => adam.loadStateTensors(state)).toThrow('0.exp_avg has shape [4], expected [3]');
      state.delete('0.exp_avg');
      expect(() => adam.loadStateTensors(state)).toThrow('0.exp_avg is missing');
    });
  });

  test('kernels on lists do what those on one tensor do', () => {
    scope(() => {
      const generator = new torch.Generator('cpu', 5);
      const make = (): Tensor[] =>
        [[2, 3], [4], []].map((shape) => torch.rand(shape, { generator }).add(0.5));
      const [a, b, c] = [make(), make(), make()];
      const factor = torch.tensor(0.7);
      for (const name of Object.keys(perTensor) as (keyof typeof perTensor)[]) {
        const run = (kernels: typeof perTensor): number[] => {
          const x = a.map((tensor) => tensor.clone());
          const args: Record<keyof typeof perTensor, () => Tensor[] | void> = {
            add: () => kernels.add(x, b, 2),
            addInPlace: () => kernels.addInPlace(x, b, 2),
            addScalarInPlace: () => kernels.addScalarInPlace(x, 3),
            scale: () => [...kernels.scale(x, 3), ...kernels.scale(x, factor)],
            scaleInPlace: () => {
              kernels.scaleInPlace(x, 3);
              kernels.scaleInPlace(x, factor);
            },
            addcmul: () => kernels.addcmul(x, b, c, -2),
            addcmulInPlace: () => kernels.addcmulInPlace(x, b, c, -2),
            addcdivInPlace: () => kernels.addcdivInPlace(x, b, c, -2),
            lerpInPlace: () => kernels.lerpInPlace(x, b, 0.3),
            maximumInPlace: () => kernels.maximumInPlace(x, b),
            sqrt: () => kernels.sqrt(x),
            sqrtInPlace: () => kernels.sqrtInPlace(x),
            copyInPlace: () => kernels.copyInPlace(x, b),
            norms: () => kernels.norms(x),
          };
          const made = args[name]();
          const results = name.endsWith('InPlace') ? x : (made as Tensor[]);
          return results.flatMap((tensor) => tensor.toArray());
        };
        const close = { relative: 1e-6, absolute: 1e-7 };
        expectNumbersClose(run(foreach), run(perTensor), close, name);
      }
    });
  });
});

describe.each(devices)('clipping on $device', ({ device, present }) => {
  const gradients = (): Tensor[] =>
    goldenList('clip/start').map((value) => {
      const gradient = toTensor(value as GoldenTensor, device);
      const parameter = torch.zerosLike(gradient).requiresGrad_();
      parameter.grad = gradient;
      return parameter;
    });
  const expectGradients = (parameters: Tensor[], prefix: string): void =>
    goldenList(prefix).forEach((value, index) => {
      const gradient = parameters[index].grad as Tensor;
      expectClose(gradient, value as GoldenTensor, toleranceFor(device, false), prefix);
    });

  test.skipIf(!present)('by norm and by value, as PyTorch', () => {
    scope(() => {
      clipping.maxNorms.forEach((maxNorm, index) => {
        const parameters = gradients();
        const total = optim.clipGradNorm(parameters, maxNorm).item();
        expect(total).toBeCloseTo(goldenNumber(`clip/norm${index}/total`), 5);
        expectGradients(parameters, `clip/norm${index}`);
      });
      const parameters = gradients();
      optim.clipGradValue(parameters, clipping.maxValue);
      expectGradients(parameters, 'clip/value');
    });
  });
});
