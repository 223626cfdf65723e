/**
 * Calls of ATen's operators. An Operator is named once (`aten::conv2d` with its overload) and found at
 * its first call; the addon checks each argument against the operator's schema before libtorch sees it.
 *
 *     const add = operator('add', 'Tensor');   // aten::add.Tensor(self, other, *, alpha=1)
 *     const sum = add.tensor(a, b);
 *
 * Arguments are positional, keyword-only ones after the rest, as `add.schema()` prints them; `undefined`
 * takes the default and `null` is an absent optional; `add.with([a, b], { alpha: 2 })` gives further ones by
 * name. An in-place operator (`add_`) gives its first
 * argument back. This file also turns what goes wrong into the classes of errors.ts.
 */
import { OutOfMemoryError, ProcessGroupError, TorchError } from './errors.js';
import { explain, shapesOf } from './explain.js';
import { Holder, optionsFor } from './handle.js';
import { native } from './native.js';
import type { GeneratorHandle, Native, TensorHandle } from './native.js';
import type { Tensor } from './tensor.js';

/** What an operator may return: tensors, numbers, and arrays of them. */
export type OpResult = Tensor | number | bigint | boolean | string | null | undefined | OpResult[];

let makeTensor: (handle: TensorHandle) => Tensor = () => {
  throw new TorchError('call', 'the Tensor class is not loaded yet');
};

/** tensor.ts says how a handle becomes a Tensor; here a cycle of imports would be needed. */
export function setTensorFactory(factory: (handle: TensorHandle) => Tensor): void {
  makeTensor = factory;
}

/** A handle as a Tensor that the current scope owns. */
export function wrap(handle: TensorHandle): Tensor {
  return makeTensor(handle);
}

function toNative(op: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Holder)
    return (value as Holder<TensorHandle | GeneratorHandle>).handleFor(op);
  if (Array.isArray(value)) {
    const items = value as unknown[];
    return typeof items[0] === 'object' || items.some((item) => typeof item === 'object')
      ? items.map((item) => toNative(op, item))
      : items;
  }
  return value;
}

function fromNative(value: unknown): OpResult {
  if (typeof value !== 'object' || value === null) return value as OpResult;
  return Array.isArray(value) ? value.map(fromNative) : makeTensor(value as TensorHandle);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** libtorch's message without source positions, backtraces and a repeated name of the operation. */
function plainMessage(op: string, message: string): string {
  const line = (message.split('\n').find((part) => part.trim() !== '') ?? message).trim();
  const text = line
    .replace(/^\[enforce fail at [^\]]*\] (\S+ == 0\. )?/, '')
    .replace(/^DefaultCPUAllocator: /, '');
  const named = /^(\w+)(\(\))?: /.exec(text);
  const same = named && named[1].replaceAll('_', '') === op.replaceAll('_', '').toLowerCase();
  return same ? text.slice(named[0].length) : text;
}

/** Gloo's reason without the place in its source. */
function peerMessage(message: string): string {
  return message
    .replace(/^\[[^\]]*\.(cc|cpp|h):\d+\] /, '')
    .replace(/\.? This may indicate.*$/, '');
}

/** An error of the addon as one of ours; any other error as it is. */
export function translate(op: string, error: unknown, args: readonly unknown[] = []): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || !code.startsWith('CRAB_')) return error;
  const message = plainMessage(op, error.message);
  if (code === 'CRAB_OOM')
    return new OutOfMemoryError(op, message + shapesOf(args), { cause: error });
  if (code === 'CRAB_PEER')
    return new ProcessGroupError(op, peerMessage(message), { cause: error });
  if (code !== 'CRAB_TORCH') return new TorchError(op, message, { cause: error });
  return new TorchError(op, explain(op, args) ?? message + shapesOf(args), { cause: error });
}

/** Runs `fn` with the addon; its errors name `op`. For calls that are not operators. */
export function guarded<T>(op: string, fn: (addon: Native) => T): T {
  try {
    return fn(native());
  } catch (error) {
    throw translate(op, error);
  }
}

/** `masked_fill_` is `maskedFill_`. */
const camelCase = (name: string): string =>
  name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** From `aten::pad(Tensor self, int[] pad, str mode="constant", float? value=None) -> Tensor`. */
function parameterNames(schema: string): string[] {
  const [, parameters = ''] = /\((.*)\) ->/.exec(schema) ?? [];
  const withoutBrackets = parameters.replace(/\[[^\]]*\]|\([^)]*\)|"[^"]*"/g, '');
  const declarations = withoutBrackets.split(', ').filter((text) => text !== '*');
  return declarations.map((text) => camelCase(/ (\w+)(=|$)/.exec(text)?.[1] ?? text));
}

export class Operator {
  /** Its name in errors, as TypeScript spells it: `add`, `maskedFill_`. */
  readonly label: string;
  readonly #inPlace: boolean;
  #index = -1;
  #addon: Native | null = null;
  #names: readonly string[] | null = null;

  constructor(
    readonly name: string,
    readonly overload: string,
    label?: string,
  ) {
    const plain = name.slice(name.indexOf('::') + 2);
    this.label = label ?? camelCase(plain);
    this.#inPlace = plain.endsWith('_');
  }

  #find(): Native {
    const addon = native();
    this.#index = guarded(this.label, () => addon.findOperator(this.name, this.overload));
    this.#addon = addon;
    return addon;
  }

  #run(args: readonly unknown[]): unknown {
    const addon = this.#addon ?? this.#find();
    const handles = new Array<unknown>(args.length);
    for (let i = 0; i < args.length; i++) handles[i] = toNative(this.label, args[i]);
    try {
      return addon.call(this.#index, ...handles);
    } catch (error) {
      throw translate(this.label, error, args);
    }
  }

  /** Its declaration: parameters with types and defaults, results. */
  schema(): string {
    const addon = this.#addon ?? this.#find();
    return addon.schema(this.#index);
  }

  /** Calls an operator of any result. */
  call(...args: readonly unknown[]): OpResult {
    const result = this.#run(args);
    return this.#inPlace && result === undefined ? (args[0] as Tensor) : fromNative(result);
  }

  /** Calls an operator that returns one tensor. */
  tensor(...args: readonly unknown[]): Tensor {
    const result = this.#run(args);
    return this.#inPlace && result === undefined
      ? (args[0] as Tensor)
      : makeTensor(result as TensorHandle);
  }

  /** Calls an operator that returns several tensors. */
  tensors(...args: readonly unknown[]): Tensor[] {
    return (this.#run(args) as TensorHandle[]).map(makeTensor);
  }

  /** Calls an operator that returns one tensor; `options` are further arguments by name, in camelCase. */
  with(
    args: readonly unknown[],
    options: object,
    defaults: Readonly<Record<string, unknown>> = {},
  ): Tensor {
    this.#names ??= parameterNames(this.schema());
    const all = [...args];
    const given: Readonly<Record<string, unknown>> = { ...optionsFor(this.label, options) };
    for (const name in defaults) all[this.#names.indexOf(name)] = defaults[name];
    for (const name in given) {
      if (given[name] !== undefined) all[this.#placeOf(name, args.length)] = given[name];
    }
    return this.tensor(...all);
  }

  /** Where an argument of that name stands, behind the first `taken`. */
  #placeOf(name: string, taken: number): number {
    const names = this.#names!;
    const at = names.indexOf(name);
    if (at >= taken) return at;
    const known = names.slice(taken).join(', ');
    throw new TorchError(this.label, `there is no option '${name}'; known are ${known}`);
  }
}

const operators = new Map<string, Operator>();

/** Makes functions and methods of operators: `aten('transpose.int')`, with the overload behind the dot. */
export function aten(name: string, label?: string): Operator {
  const [base, overload] = name.split('.');
  return operator(base, overload, label);
}

/** An operator of libtorch by name (`aten::` is implied) and overload; `label` names it in errors. */
export function operator(name: string, overload = '', label?: string): Operator {
  const full = name.includes('::') ? name : `aten::${name}`;
  const key = `${full}.${overload}`;
  let found = operators.get(key);
  if (!found) operators.set(key, (found = new Operator(full, overload, label)));
  return found;
}
