/**
 * Every module against PyTorch: first weights for the same seed, outputs, gradients of inputs and
 * parameters, and the state afterwards. One suite for every device.
 */
import { describe, expect, test } from 'vitest';
import { Generator, grad, scope, setCudnnEnabled } from '../../src/torch/index.js';
import type { Device, Tensor } from '../../src/torch/index.js';
import { buildModule } from './golden/modules.js';
import type { ModuleCase, ModulesFile } from './golden/modules.js';
import {
  cotangent,
  devices,
  expectClose,
  goldenList,
  goldenMap,
  goldenNumber,
  readJson,
  toleranceFor,
  toTensor,
} from './golden/support.js';
import type { Allowed, GoldenTensor, Tolerance } from './golden/support.js';

const { modules } = readJson<ModulesFile>('modules.json');

function expectState(
  state: ReadonlyMap<string, Tensor>,
  expected: ReadonlyMap<string, GoldenTensor>,
  tolerance: Allowed,
  label: string,
): void {
  expect([label, ...state.keys()].sort()).toEqual([label, ...expected.keys()].sort());
  for (const [name, value] of expected) {
    expectClose(state.get(name) as Tensor, value, tolerance, `${label} ${name}`);
  }
}

/**
 * The same random numbers, scaled to their range: a processor that multiplies and adds in one rounding differs
 * from one that rounds twice in the last digits of f32.
 */
const AS_DRAWN: Tolerance = { relative: 4 * 2 ** -24, absolute: 0 };

function inputsOf(prefix: string, one: ModuleCase, device: Device): Tensor[] {
  return goldenList(`${prefix}/in`).map((value, index) => {
    const stored = value as GoldenTensor;
    const made = toTensor(stored, device);
    const takesGradient = stored.dtype === 'f32' && !one.inputs[index].includes('!');
    return takesGradient ? made.requiresGrad_() : made;
  });
}

/** With libtorch's own kernels in place of cuDNN's. */
function withoutCudnn(fn: () => void): void {
  setCudnnEnabled(false);
  try {
    fn();
  } finally {
    setCudnnEnabled(true);
  }
}

/**
 * The tolerance for gradients. cuDNN computes an LSTM as a whole in kernels of its own; through two layers in
 * both directions one of its gradients is off by 1.4e-4 of the largest, TF32 being off. The same case without
 * cuDNN, and cuDNN's outputs, are held to the usual bound: what differs is its arithmetic, not the module.
 */
function gradientTolerance(one: ModuleCase, device: Device, cudnn: boolean): Tolerance {
  const usual = toleranceFor(device, false);
  return one.kind === 'LSTM' && device !== 'cpu' && cudnn ? { ...usual, relative: 5e-4 } : usual;
}

function checkModule(one: ModuleCase, device: Device, cudnn = true): void {
  const prefix = `module/${one.id}`;
  const { module, run } = buildModule(one, new Generator('cpu', goldenNumber(`${prefix}/seed`)));
  expectState(module.stateDict(), goldenMap(`${prefix}/initial/`), AS_DRAWN, `${one.id} initial`);
  module.to({ device }).train(one.mode !== 'eval');
  const before = goldenMap(`${prefix}/before/`);
  module.loadStateDict(
    new Map([...before].map(([name, value]) => [name, toTensor(value, device)])),
  );

  const tolerance = toleranceFor(device, false);
  const inputs = inputsOf(prefix, one, device);
  let outputs: Tensor[] = [];
  for (let i = 0; i < (one.repeats ?? 1); i += 1) outputs = run(inputs);
  const expected = goldenList(`${prefix}/out`);
  expect(outputs.length).toBe(expected.length);
  outputs.forEach((output, index) => {
    expectClose(output, expected[index] as GoldenTensor, tolerance, `${one.id} output ${index}`);
  });
  expectState(module.stateDict(), goldenMap(`${prefix}/after/`), tolerance, `${one.id} after`);
  const ofGradients = gradientTolerance(one, device, cudnn);
  checkGradients(prefix, inputs, outputs, module.namedParameters(), ofGradients);
  module.dispose();
}

function checkGradients(
  prefix: string,
  inputs: Tensor[],
  outputs: Tensor[],
  parameters: ReadonlyMap<string, Tensor>,
  tolerance: Tolerance,
): void {
  const leaves = inputs.filter(({ requiresGrad }) => requiresGrad);
  const wanted = [...leaves, ...parameters.values()];
  if (wanted.length === 0) return;
  const gradients = grad(outputs, wanted, { gradOutputs: outputs.map(cotangent) });
  goldenList(`${prefix}/grad`).forEach((value, index) => {
    expectClose(gradients[index], value as GoldenTensor, tolerance, `${prefix} input ${index}`);
  });
  const ofParameters = gradients.slice(leaves.length);
  expectState(
    new Map([...parameters.keys()].map((name, index) => [name, ofParameters[index]])),
    goldenMap(`${prefix}/paramgrad/`),
    tolerance,
    `${prefix} gradients`,
  );
}

describe.each(devices)('modules on $device', ({ device, present }) => {
  test.skipIf(!present)('the device is there', () => expect(present).toBe(true));
  for (const one of present ? modules : []) {
    test(one.id, () => scope(() => checkModule(one, device)));
    // The one module that is a kernel of cuDNN's as a whole.
    if (one.kind === 'LSTM' && device !== 'cpu') {
      test(`${one.id} without cuDNN`, () =>
        withoutCudnn(() => scope(() => checkModule(one, device, false))));
    }
  }
});

test('the golden file holds no module that is gone', () => {
  const kept = new Set([...goldenMap('module/').keys()].map((name) => name.split('/')[0]));
  expect([...kept].sort()).toEqual(modules.map(({ id }) => id).sort());
});
