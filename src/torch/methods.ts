/**
 * How tensors get their methods: a table for each family of operations (pointwise.ts, reductions.ts, shape.ts,
 * linalg.ts), one line for each method with its arguments and the operator that it calls. Arguments that are
 * left out take libtorch's defaults, which are PyTorch's.
 */
import { aten } from './dispatch.js';
import type { Operator } from './dispatch.js';
import { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';

/** The right-hand side of an operation of two. */
export type Operand = Tensor | number | bigint | boolean;

/** One dimension or several; negative ones count from the end. */
export type Dims = number | readonly number[];

export const list = (dims: Dims): readonly number[] => (typeof dims === 'number' ? [dims] : dims);

/** The words of a text, as a type. */
type Words<Text extends string, Found = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Found | First>
  : Found | Text;

/** A method of one operator: `method<[a: number, b: number]>('transpose.int')`; `label` names it in errors. */
export function method<Args extends unknown[] = []>(
  name: string,
  label?: string,
): (...args: Args) => Tensor {
  const op = aten(name, label);
  return function (this: unknown, ...args: Args) {
    return op.tensor(this, ...args);
  };
}

/** Methods without arguments, by their names: `plain('exp logSigmoid')`. */
export function plain<Names extends string>(names: Names): Record<Words<Names>, () => Tensor> {
  const snakeCase = (name: string): string =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    names.split(' ').map((name) => [name, method(snakeCase(name), name)]),
  ) as Record<Words<Names>, () => Tensor>;
}

/** The overload for a tensor and the one for a number, by the argument in place `at`. */
export function overloads(name: string, [tensor, number] = ['Tensor', 'Scalar']) {
  const [ofTensor, ofNumber] = [aten(`${name}.${tensor}`), aten(`${name}.${number}`)];
  return (operand: unknown): Operator => (operand instanceof TensorBase ? ofTensor : ofNumber);
}

/** A method with one overload for a tensor and one for a number in place `at` of its arguments. */
export function either<Args extends unknown[] = [other: Operand]>(
  name: string,
  at = 0,
  names?: [tensor: string, number: string],
): (...args: Args) => Tensor {
  const by = overloads(name, names);
  return function (this: unknown, ...args: Args) {
    return by(args[at]).tensor(this, ...args);
  };
}

/** A method that gives several tensors, in order. */
export function several<Args extends unknown[]>(name: string): (...args: Args) => Tensor[] {
  const op = aten(name);
  return function (this: unknown, ...args: Args) {
    return op.tensors(this, ...args);
  };
}

/** A method that gives several tensors by name: `named<[], 'q' | 'r'>('linalg_qr', ['q', 'r'], 'qr')`. */
export function named<Args extends unknown[], Name extends string>(
  name: string,
  names: readonly Name[],
  label?: string,
): (...args: Args) => Record<Name, Tensor> {
  const op = aten(name, label);
  return function (this: unknown, ...args: Args) {
    const results = op.tensors(this, ...args);
    return Object.fromEntries(names.map((one, i) => [one, results[i]])) as Record<Name, Tensor>;
  };
}

/** A function of one operator: `fn<[x: Tensor, dim: number]>('softmax.int')`. */
export function fn<Args extends unknown[]>(
  name: string,
  label?: string,
): (...args: Args) => Tensor {
  const op = aten(name, label);
  return (...args) => op.tensor(...args);
}

/** A function of one operator whose argument in place `at` holds named ones, which may be left out. */
export function fnWith<Args extends unknown[]>(
  name: string,
  at: number,
  label?: string,
  defaults?: Readonly<Record<string, unknown>>,
): (...args: Args) => Tensor {
  const op = aten(name, label);
  return (...args) => {
    const options: unknown = args[at] === undefined ? {} : args[at];
    const others = Array.from({ length: at }, (_, i): unknown => args[i]);
    return op.with(others, options as object, defaults);
  };
}
