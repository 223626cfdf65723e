/**
 * What the golden tests share: the stored values, tensors made from a case's description, the
 * tolerance, and the devices to run on.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { SafetensorsFile } from '../../../src/torch/safetensors/file.js';
import {
  cudaIsAvailable,
  isTorchAvailable,
  setAllowTf32,
  tensor,
} from '../../../src/torch/index.js';
import type { Device, DType, Tensor } from '../../../src/torch/index.js';

/** A tensor as the golden file holds it. */
export interface GoldenTensor {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly values: Float32Array | BigInt64Array | Uint8Array;
}

function goldenTensor(file: SafetensorsFile, name: string): GoldenTensor {
  const { dtype, shape } = file.describe(name);
  const { buffer } = file.readBytes(name);
  if (dtype === 'f32') return { dtype, shape, values: new Float32Array(buffer) };
  if (dtype === 'i64') return { dtype, shape, values: new BigInt64Array(buffer) };
  if (dtype === 'bool') return { dtype, shape, values: new Uint8Array(buffer) };
  throw new Error(`the golden file should hold no ${dtype}`);
}

/** Everything in golden.safetensors, by name. */
export const golden: ReadonlyMap<string, GoldenTensor> = (() => {
  const file = SafetensorsFile.open(join(import.meta.dirname, 'golden.safetensors'));
  const tensors = new Map(file.names.map((name) => [name, goldenTensor(file, name)]));
  file.close();
  return tensors;
})();

/** Those whose name is the prefix and a number, in order; absent numbers are undefined. */
export function goldenList(prefix: string): (GoldenTensor | undefined)[] {
  const found: (GoldenTensor | undefined)[] = [];
  for (const [name, value] of golden) {
    const index = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    if (/^\d+$/.test(index)) found[Number(index)] = value;
  }
  return [...found];
}

/** Those whose name starts with the prefix, by the rest of their name. */
export function goldenMap(prefix: string): Map<string, GoldenTensor> {
  return new Map(
    [...golden]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  );
}

/** The value of a golden tensor of one element. */
export function goldenNumber(name: string): number {
  const value = golden.get(name);
  if (value === undefined) throw new Error(`the golden file has no ${name}`);
  return Number(value.values[0]);
}

export function toTensor(value: GoldenTensor, device: Device, floating: DType = 'f32'): Tensor {
  const { values, shape, dtype } = value;
  const made = tensor(values, { shape, dtype, device });
  return dtype === 'f32' && floating !== 'f32' ? made.to({ dtype: floating }) : made;
}

export function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as T;
}

/** Whether there is a libtorch at all, and one with CUDA. */
export const hasTorch = isTorchAvailable();
export const hasCuda = cudaIsAvailable();
if (hasCuda) setAllowTf32(false);

/** Every device a suite runs on; those absent here are skipped visibly. */
export const devices: readonly { device: Device; present: boolean }[] = [
  { device: 'cpu', present: hasTorch },
  { device: 'cuda', present: hasCuda },
];

/** Largest allowed |a - b| is `relative` times the largest |b|, plus `absolute`. */
export interface Tolerance {
  readonly relative: number;
  readonly absolute: number;
}

/** A tolerance for all elements, none, or a bound for each element (see rounding.ts). */
export type Allowed = Tolerance | 'exact' | readonly number[];

/** The tolerance for f32 on a device; `long` for long reductions and linear algebra. */
export function toleranceFor(device: Device, long: boolean): Tolerance {
  return { relative: long || device !== 'cpu' ? 1e-4 : 1e-5, absolute: 1e-6 };
}

function numbers(values: ArrayLike<number | bigint>): number[] {
  return Array.from(values, Number);
}

function boundsFor(expected: readonly number[], allowed: Allowed): readonly number[] {
  if (allowed === 'exact') return expected.map(() => 0);
  if (!('relative' in allowed)) return allowed;
  const largest = expected.reduce((m, b) => (Number.isFinite(b) ? Math.max(m, Math.abs(b)) : m), 0);
  return expected.map(() => allowed.relative * largest + allowed.absolute);
}

function sameOrClose(a: number, b: number, bound: number): boolean {
  if (Number.isFinite(a) && Number.isFinite(b)) return Math.abs(a - b) <= bound;
  return Object.is(a, b) || (Number.isNaN(a) && Number.isNaN(b));
}

/** Asserts shape, type and values. */
export function expectClose(
  actual: Tensor,
  expected: GoldenTensor,
  allowed: Allowed,
  label: string,
): void {
  expect([label, actual.shape], label).toEqual([label, [...expected.shape]]);
  expectNumbersClose(numbers(actual.data()), numbers(expected.values), allowed, label);
}

export function expectNumbersClose(
  actual: readonly number[],
  expected: readonly number[],
  allowed: Allowed,
  label: string,
): void {
  const bounds = boundsFor(expected, allowed);
  expect([actual.length, bounds.length], label).toEqual([expected.length, expected.length]);
  const wrong = actual.findIndex((a, i) => !sameOrClose(a, expected[i], bounds[i]));
  if (wrong >= 0) {
    expect.fail(
      `${label}: element ${wrong} is ${actual[wrong]}, expected ${expected[wrong]} within ${bounds[wrong]}`,
    );
  }
}

/** The weights with which output `index` enters the scalar whose gradient is checked. */
export function cotangent(output: Tensor, index: number): Tensor {
  const { shape, dtype, device } = output;
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Float64Array.from({ length: count }, (_, i) => Math.cos(i * 1.3 + 0.5 + index));
  return tensor(values, { shape }).to({ dtype, device });
}
