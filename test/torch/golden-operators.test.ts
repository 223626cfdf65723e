/**
 * Every operator against PyTorch: values, gradients and bfloat16 against golden.safetensors, and
 * gradients against central differences in f64. One suite for every device.
 */
import { describe, expect, test } from 'vitest';
import { grad, scope } from '../../src/torch/index.js';
import type { Device, DType, Tensor } from '../../src/torch/index.js';
import { applied, special } from './golden/adapters.js';
import type { Argument, Options } from './golden/adapters.js';
import {
  cotangent,
  devices,
  expectClose,
  expectNumbersClose,
  goldenList,
  readJson,
  toleranceFor,
  toTensor,
} from './golden/support.js';
import type { GoldenTensor } from './golden/support.js';
import { roundingBounds } from './golden/rounding.js';

type Described = number | string | null | Described[] | { readonly [key: string]: unknown };

interface Group {
  readonly ops: string[];
  readonly flags?: string[];
  readonly cases: Described[][];
}

interface Case {
  readonly id: string;
  readonly op: string;
  readonly args: Described[];
  readonly flags: ReadonlySet<string>;
}

/** Cases numbered through for each operator, as make_golden.py numbers them. */
function readCases(): Map<string, Case[]> {
  const byOp = new Map<string, Case[]>();
  for (const { ops, flags = [], cases } of readJson<{ groups: Group[] }>('operators.json').groups) {
    for (const op of ops) {
      const list = byOp.get(op) ?? [];
      byOp.set(op, list);
      for (const args of cases) {
        list.push({ id: `${op}.${list.length}`, op, args, flags: new Set(flags) });
      }
    }
  }
  return byOp;
}

/** A case made ready: its arguments, and those of its tensors that take a gradient. */
interface Prepared {
  readonly args: Argument[];
  readonly options: Options;
  readonly leaves: Tensor[];
}

/** Where and how the tensors of a case are made. */
interface Making {
  readonly device: Device;
  readonly dtype: DType;
  readonly takeGradient: 'none' | 'those marked' | 'all';
  readonly roundedTo?: DType;
}

function prepare(one: Case, { device, dtype, takeGradient, roundedTo = dtype }: Making): Prepared {
  const inputs = goldenList(`${one.id}/in`) as GoldenTensor[];
  const leaves: Tensor[] = [];
  let next = 0;
  const build = (value: Described): Argument => {
    if (Array.isArray(value)) return value.map(build);
    if (typeof value !== 'string' || !value.startsWith('@')) return value as Argument;
    const stored = inputs[next++];
    const made = toTensor(stored, device, roundedTo);
    if (stored.dtype !== 'f32') return made;
    const isMarked = !value.split(' ')[0].endsWith('!');
    const isLeaf = takeGradient === 'all' || (takeGradient === 'those marked' && isMarked);
    const placed = made.to({ dtype });
    if (isLeaf) leaves.push(placed.requiresGrad_());
    return placed;
  };
  const last = one.args.at(-1);
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last);
  const positional = hasOptions ? one.args.slice(0, -1) : one.args;
  return { args: positional.map(build), options: hasOptions ? last : {}, leaves };
}

function apply(op: string, { args, options }: Prepared, device: Device, dtype: DType): Tensor[] {
  return applied(op, args, options, { device, dtype });
}

function isFloating({ dtype }: Tensor): boolean {
  return ['f32', 'f64', 'bf16', 'f16'].includes(dtype);
}

/** Gradients of all outputs, weighted by their cotangents, or null where an input plays no part. */
function gradients(outputs: Tensor[], leaves: Tensor[]): (Tensor | null)[] {
  const chosen = outputs
    .map((output, index) => ({ output, index }))
    .filter(({ output }) => isFloating(output) && output.requiresGrad);
  if (chosen.length === 0 || leaves.length === 0) return leaves.map(() => null);
  return grad(
    chosen.map(({ output }) => output),
    leaves,
    {
      gradOutputs: chosen.map(({ output, index }) => cotangent(output, index)),
      allowUnused: true,
    },
  );
}

/** The scalar whose gradient `gradients` computes, as a number. */
function weighted(outputs: Tensor[]): number {
  let total = 0;
  outputs.forEach((output, index) => {
    if (isFloating(output)) total += output.mul(cotangent(output, index)).sum().item();
  });
  return total;
}

const cases = readCases();

describe.each(devices)('operators on $device', ({ device, present }) => {
  test.skipIf(!present)('the device is there', () => expect(present).toBe(true));
  for (const [op, list] of present ? cases : []) {
    const here = list.filter(({ flags }) => device === 'cpu' || !flags.has('cpu'));
    if (here.length > 0) describe(op, () => testOperator(here, device));
  }
});

function testOperator(list: Case[], device: Device): void {
  test('values and gradients', () => {
    for (const one of list) scope(() => checkGolden(one, device));
  });

  const differentiable = list.filter(
    ({ id, flags }) => !flags.has('rough') && goldenList(`${id}/grad`).some((g) => g !== undefined),
  );
  if (differentiable.length > 0 && device === 'cpu') {
    test('gradients against central differences in f64', () => {
      for (const one of differentiable) scope(() => checkDifferences(one, device));
    });
  }

  const rounded = list.filter(
    ({ flags }) => flags.has('bf16') && !(device === 'cpu' && flags.has('no-cpu-bf16')),
  );
  if (rounded.length > 0) {
    test('values in bfloat16', () => {
      for (const one of rounded) scope(() => checkRounded(one, device));
    });
  }
}

function checkGolden(one: Case, device: Device): void {
  const close = toleranceFor(device, one.flags.has('long'));
  const prepared = prepare(one, { device, dtype: 'f32', takeGradient: 'those marked' });
  const outputs = apply(one.op, prepared, device, 'f32');
  const expected = goldenList(`${one.id}/out`);
  expect(outputs.length, one.id).toBe(expected.length);
  outputs.forEach((output, index) => {
    const wanted = expected[index] as GoldenTensor;
    expect([one.id, output.dtype]).toEqual([one.id, wanted.dtype]);
    const tolerance = one.flags.has('exact') ? 'exact' : close;
    expectClose(output, wanted, tolerance, `${one.id} output ${index}`);
  });
  const expectedGradients = goldenList(`${one.id}/grad`);
  gradients(outputs, prepared.leaves).forEach((gradient, index) => {
    const wanted = expectedGradients[index];
    const label = `${one.id} gradient ${index}`;
    if (wanted === undefined || gradient === null) {
      expect([label, gradient]).toEqual([label, wanted ?? null]);
    } else {
      expectClose(gradient, wanted, close, label);
    }
  });
}

function checkRounded(one: Case, device: Device): void {
  const prepared = prepare(one, { device, dtype: 'bf16', takeGradient: 'none' });
  const outputs = apply(one.op, prepared, device, 'bf16');
  roundedReference(one).forEach(({ expected, bounds }, index) => {
    const actual = outputs[index].to({ dtype: 'f32' });
    expectClose(actual, expected, bounds, `${one.id} in bf16, output ${index}`);
  });
}

/** What PyTorch gives exactly for inputs rounded to bfloat16, and how far rounding may lead from it. */
function roundedReference(one: Case): { expected: GoldenTensor; bounds: number[] }[] {
  const making = { device: 'cpu', dtype: 'f64', takeGradient: 'all', roundedTo: 'bf16' } as const;
  const prepared = prepare(one, making);
  const exact = apply(one.op, prepared, 'cpu', 'f64');
  return goldenList(`${one.id}/bf16`).map((expected, index) => ({
    expected: expected as GoldenTensor,
    bounds: roundingBounds(exact[index], prepared.leaves, 'bf16'),
  }));
}

/** Elements of an input that are moved; more would only repeat the same arithmetic. */
const checkedElements = 12;

function checkDifferences(one: Case, device: Device): void {
  const prepared = prepare(one, { device, dtype: 'f64', takeGradient: 'those marked' });
  const outputs = apply(one.op, prepared, device, 'f64');
  const computed = gradients(outputs, prepared.leaves);
  const step = 1e-5;
  computed.forEach((gradient, index) => {
    if (gradient === null) return;
    const analytic = gradient.toArray();
    const start = prepared.leaves[index].detach().toArray();
    const chosen = start.map((_, i) => i).filter((i) => i < checkedElements);
    const numeric = chosen.map(
      (at) => (valueAt(at, start[at] + step) - valueAt(at, start[at] - step)) / (2 * step),
    );
    expectNumbersClose(
      chosen.map((at) => analytic[at]),
      numeric,
      { relative: 1e-6, absolute: 1e-7 },
      `${one.id} gradient ${index} against differences`,
    );

    function valueAt(at: number, value: number): number {
      return scope(() => {
        const moved = prepare(one, { device, dtype: 'f64', takeGradient: 'those marked' });
        const leaf = moved.leaves[index].requiresGrad_(false);
        moved.leaves.forEach((other) => other.requiresGrad_(false));
        leaf.flatten().narrow(0, at, 1).fill_(value);
        return weighted(apply(one.op, moved, device, 'f64'));
      });
    }
  });
}

test('every adapter has a case', () => {
  expect(Object.keys(special).filter((name) => !cases.has(name))).toEqual([]);
});
