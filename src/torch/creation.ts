/**
 * New tensors: from JavaScript's data, of constants, of random numbers (with an explicit generator), and
 * joined from others. The default dtype is f32, and i64 where whole numbers are meant (arange, randint,
 * randperm).
 */
import { productOf } from '../base/index.js';
import { optionsFor } from './handle.js';
import { aten, guarded, wrap } from './dispatch.js';
import { TorchError } from './errors.js';
import { fn, overloads } from './methods.js';
import type { NumberArray } from './native.js';
import type { Generator } from './random.js';
import { TensorBase } from './tensor-base.js';
import type { Nested } from './tensor-base.js';
import './tensor.js';
import type { Tensor } from './tensor.js';
import { elementsOf, dtypeOf } from './types.js';
import type { DType, Device, MemoryFormat } from './types.js';

export interface TensorOptions {
  dtype?: DType;
  device?: Device;
  requiresGrad?: boolean;
}

export interface RandomOptions extends TensorOptions {
  /** Where the numbers come from; by default the device's own generator (see manualSeed). */
  generator?: Generator;
}

export interface DataOptions extends TensorOptions {
  /** The shape of flat data; by default one dimension for an array, the nesting for nested arrays. */
  shape?: readonly number[];
}

interface LayoutOptions {
  memoryFormat?: MemoryFormat;
}

/** Makes the function of an operator whose argument in place `at` holds options. */
function maker<Args extends unknown[]>(
  name: string,
  at: number,
  defaults?: Readonly<Record<string, unknown>>,
): (...args: Args) => Tensor {
  const op = aten(name);
  return (...args) => {
    const given = args[at] === undefined ? {} : (args[at] as RandomOptions & LayoutOptions);
    const { dtype, device, generator, memoryFormat, requiresGrad } = optionsFor(op.label, given);
    const others = Array.from({ length: at }, (_, i): unknown => args[i]);
    // A random tensor is on its generator's device, unless said otherwise.
    const place = device ?? generator?.device;
    const made = op.with(others, { dtype, device: place, generator, memoryFormat }, defaults);
    return requiresGrad ? made.requiresGrad_() : made;
  };
}

type Shape = readonly number[];

// ---- from JavaScript's data --------------------------------------------------------------------------

/** A tensor with exactly the array's bits, read as `dtype`: f16 and bf16 from 16-bit words. */
export function fromBits(
  bits: NumberArray,
  shape: readonly number[],
  dtype: DType,
  device: Device = 'cpu',
): Tensor {
  return wrap(guarded('fromBits', (addon) => addon.fromBytes(bits, shape, dtype, device)));
}

/** Sizes of nested arrays, judged by the first element at each depth. */
function nestedShape(data: Nested): number[] {
  const shape: number[] = [];
  for (let level = data; Array.isArray(level); level = level[0]) shape.push(level.length);
  return shape;
}

/** The elements of nested arrays in order; throws where the nesting is not even. */
function flatten(
  data: Nested,
  shape: readonly number[],
  depth: number,
  into: (number | boolean)[],
): void {
  if (!Array.isArray(data)) {
    if (depth !== shape.length) throw new TorchError('tensor', 'nested arrays of uneven depth');
    into.push(data);
    return;
  }
  if (data.length !== shape[depth])
    throw new TorchError('tensor', 'nested arrays of uneven length');
  for (const item of data) flatten(item, shape, depth + 1, into);
}

function fromNested(data: Nested, options: DataOptions): Tensor {
  const nesting = nestedShape(data);
  const values: (number | boolean)[] = [];
  flatten(data, nesting, 0, values);
  const dtype = options.dtype ?? (typeof values[0] === 'boolean' ? 'bool' : 'f32');
  const wrong = values.find((value) => typeof value !== 'number' && typeof value !== 'boolean');
  if (wrong !== undefined)
    throw new TorchError('tensor', `expected numbers or booleans, got ${typeof wrong}`);
  if (dtype === 'i64' && values.some((value) => !Number.isSafeInteger(Number(value)))) {
    throw new TorchError(
      'tensor',
      'i64 takes whole numbers that are safe; use a BigInt64Array for others',
    );
  }
  const stored = dtype === 'f16' || dtype === 'bf16' ? 'f32' : dtype;
  const elements = elementsOf(stored, values.length) as (number | bigint)[] & NumberArray;
  values.forEach((value, i) => (elements[i] = dtype === 'i64' ? BigInt(value) : Number(value)));
  return converted(fromBits(elements, options.shape ?? nesting, stored, options.device), dtype);
}

function converted(tensor: Tensor, dtype: DType): Tensor {
  if (tensor.dtype === dtype) return tensor;
  const result = tensor.to({ dtype });
  tensor.dispose();
  return result;
}

function fromArray(data: NumberArray, options: DataOptions): Tensor {
  const dtype = options.dtype ?? dtypeOf(data);
  const stored = dtypeOf(data) ?? dtype;
  if (dtype === null || stored === null) {
    throw new TorchError('tensor', 'a Uint16Array needs a dtype (f16 or bf16)');
  }
  const shape = options.shape ?? [data.length];
  if (productOf(shape) !== data.length) {
    throw new TorchError(
      'tensor',
      `${data.length} elements do not fit the shape [${shape.join(', ')}]`,
    );
  }
  return converted(fromBits(data, shape, stored, options.device), dtype);
}

/**
 * A tensor of JavaScript's data, copied once. Numbers become f32 and booleans bool unless a dtype is
 * given; a typed array keeps its own type.
 */
export function tensor(data: Nested | NumberArray, options: DataOptions = {}): Tensor {
  const { requiresGrad = false } = optionsFor('tensor', options);
  const made = ArrayBuffer.isView(data) ? fromArray(data, options) : fromNested(data, options);
  return requiresGrad ? made.requiresGrad_() : made;
}

// ---- constants ---------------------------------------------------------------------------------------

/** Memory as it is found. */
export const empty = maker<[shape: Shape, options?: TensorOptions & LayoutOptions]>(
  'empty.memory_format',
  1,
);
export const zeros = maker<[shape: Shape, options?: TensorOptions]>('zeros', 1);
export const ones = maker<[shape: Shape, options?: TensorOptions]>('ones', 1);

export const full = maker<[shape: Shape, value: number | boolean, options?: TensorOptions]>(
  'full',
  2,
  { dtype: 'f32' },
);

const arangeOp = maker<[start: number, end: number, step: number, options?: TensorOptions]>(
  'arange.start_step',
  3,
);
/** start, start + step, … up to, not including, end; of i64 where all three are whole. */
export function arange(start: number, end: number, step = 1, options: TensorOptions = {}): Tensor {
  return arangeOp(start, end, step, options);
}

/** `steps` numbers from `start` to `end`, both included. */
export const linspace = maker<[start: number, end: number, steps: number, options?: TensorOptions]>(
  'linspace',
  3,
);

const eyeOp = maker<[rows: number, columns: number, options?: TensorOptions]>('eye.m', 2);
export function eye(rows: number, columns = rows, options: TensorOptions = {}): Tensor {
  return eyeOp(rows, columns, options);
}

export const emptyLike = maker<[other: Tensor, options?: TensorOptions]>('empty_like', 1);
export const zerosLike = maker<[other: Tensor, options?: TensorOptions]>('zeros_like', 1);
export const onesLike = maker<[other: Tensor, options?: TensorOptions]>('ones_like', 1);
export const fullLike = maker<[other: Tensor, value: number | boolean, options?: TensorOptions]>(
  'full_like',
  2,
);

// ---- random ------------------------------------------------------------------------------------------

/** Uniform in [0, 1). */
export const rand = maker<[shape: Shape, options?: RandomOptions]>('rand.generator', 1);

/** Standard normal. */
export const randn = maker<[shape: Shape, options?: RandomOptions]>('randn.generator', 1);

/** Whole numbers from `low` to `high - 1`. */
export const randint = maker<[low: number, high: number, shape: Shape, options?: RandomOptions]>(
  'randint.low_generator',
  3,
);

/** The whole numbers from 0 to `count - 1` in random order. */
export const randperm = maker<[count: number, options?: RandomOptions]>('randperm.generator', 1);

/** 1 with the probability each element says, else 0. */
export const bernoulli = fn<[probabilities: Tensor, generator?: Generator | null]>('bernoulli');

/** Indices drawn with the weights of each row. */
export const multinomial =
  fn<[weights: Tensor, count: number, replacement?: boolean, generator?: Generator | null]>(
    'multinomial',
  );

// ---- from other tensors ------------------------------------------------------------------------------

export const cat = fn<[tensors: readonly Tensor[], dim?: number]>('cat');
export const stack = fn<[tensors: readonly Tensor[], dim?: number]>('stack');

const whereOfTwo = overloads('where', ['self', 'ScalarOther']);
const whereOfNumber = overloads('where', ['ScalarSelf', 'Scalar']);

/** `a` where the condition holds, else `b`. */
export function where(condition: Tensor, a: Tensor | number, b: Tensor | number): Tensor {
  const by = a instanceof TensorBase ? whereOfTwo : whereOfNumber;
  return by(b).tensor(condition, a, b);
}

const meshgridOp = aten('meshgrid.indexing');

/** Coordinates of a grid, one tensor per axis, each of the grid's shape. */
export const meshgrid = (axes: readonly Tensor[]): Tensor[] => meshgridOp.tensors(axes, 'ij');
