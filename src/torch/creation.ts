/**
 * New tensors: from JavaScript's data, of constants, of random numbers (with an explicit generator), and
 * joined from others. The default dtype is f32, and i64 where whole numbers are meant (arange, randint,
 * randperm).
 */
import { optionsFor } from './handle.js';
import { guarded, operator, wrap } from './dispatch.js';
import { TorchError } from './errors.js';
import type { NumberArray } from './native.js';
import type { Generator } from './random.js';
import { TensorBase } from './tensor-base.js';
import type { Nested } from './tensor-base.js';
import './tensor.js';
import type { Tensor } from './tensor.js';
import { allocate, dtypeOf, elementCount } from './types.js';
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

const fullOp = operator('full');
const zerosOp = operator('zeros');
const onesOp = operator('ones');
const emptyOp = operator('empty', 'memory_format');
const arangeOp = operator('arange', 'start_step');
const linspaceOp = operator('linspace');
const eyeOp = operator('eye', 'm');
const zerosLikeOp = operator('zeros_like');
const onesLikeOp = operator('ones_like');
const fullLikeOp = operator('full_like');
const emptyLikeOp = operator('empty_like');
const randOp = operator('rand', 'generator');
const randnOp = operator('randn', 'generator');
const randintOp = operator('randint', 'low_generator');
const randpermOp = operator('randperm', 'generator');
const bernoulliOp = operator('bernoulli');
const multinomialOp = operator('multinomial');
const catOp = operator('cat');
const stackOp = operator('stack');
const whereOp = operator('where', 'self');
const whereScalarSelf = operator('where', 'ScalarSelf');
const whereScalarOther = operator('where', 'ScalarOther');
const whereScalar = operator('where', 'Scalar');
const meshgridOp = operator('meshgrid', 'indexing');

/** Factories end with (dtype, layout, device, pin_memory). */
function tail({ dtype = 'f32', device = 'cpu' }: TensorOptions): [DType, undefined, Device] {
  return [dtype, undefined, device];
}

function finish(tensor: Tensor, { requiresGrad = false }: TensorOptions): Tensor {
  return requiresGrad ? tensor.requiresGrad_() : tensor;
}

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

function fill(values: readonly (number | boolean)[], dtype: DType): NumberArray {
  if (dtype === 'i64') return BigInt64Array.from(values, (value) => BigInt(value));
  const wide = dtype === 'f16' || dtype === 'bf16' ? 'f32' : dtype;
  const array = allocate(wide, values.length) as Float32Array;
  values.forEach((value, i) => (array[i] = Number(value)));
  return array;
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
  const bits = fill(values, dtype);
  const stored = dtype === 'f16' || dtype === 'bf16' ? 'f32' : dtype;
  return converted(fromBits(bits, options.shape ?? nesting, stored, options.device), dtype);
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
  if (elementCount(shape) !== data.length) {
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
  optionsFor('tensor', options);
  const made = ArrayBuffer.isView(data) ? fromArray(data, options) : fromNested(data, options);
  return finish(made, options);
}

// ---- constants ---------------------------------------------------------------------------------------

/** Memory as it is found. */
export function empty(
  shape: readonly number[],
  options: TensorOptions & { memoryFormat?: MemoryFormat } = {},
): Tensor {
  optionsFor('empty', options);
  return finish(emptyOp.tensor(shape, ...tail(options), undefined, options.memoryFormat), options);
}

export function zeros(shape: readonly number[], options: TensorOptions = {}): Tensor {
  optionsFor('zeros', options);
  return finish(zerosOp.tensor(shape, ...tail(options)), options);
}

export function ones(shape: readonly number[], options: TensorOptions = {}): Tensor {
  optionsFor('ones', options);
  return finish(onesOp.tensor(shape, ...tail(options)), options);
}

export function full(
  shape: readonly number[],
  value: number | boolean,
  options: TensorOptions = {},
): Tensor {
  optionsFor('full', options);
  return finish(fullOp.tensor(shape, value, ...tail(options)), options);
}

/** start, start + step, … up to, not including, end; of i64 where all three are whole. */
export function arange(start: number, end: number, step = 1, options: TensorOptions = {}): Tensor {
  optionsFor('arange', options);
  return finish(
    arangeOp.tensor(start, end, step, options.dtype, undefined, options.device),
    options,
  );
}

/** `steps` numbers from `start` to `end`, both included. */
export function linspace(
  start: number,
  end: number,
  steps: number,
  options: TensorOptions = {},
): Tensor {
  optionsFor('linspace', options);
  return finish(linspaceOp.tensor(start, end, steps, ...tail(options)), options);
}

export function eye(rows: number, columns = rows, options: TensorOptions = {}): Tensor {
  optionsFor('eye', options);
  return finish(eyeOp.tensor(rows, columns, ...tail(options)), options);
}

export function emptyLike(other: Tensor, options: TensorOptions = {}): Tensor {
  optionsFor('emptyLike', options);
  return finish(emptyLikeOp.tensor(other, options.dtype, undefined, options.device), options);
}

export function zerosLike(other: Tensor, options: TensorOptions = {}): Tensor {
  optionsFor('zerosLike', options);
  return finish(zerosLikeOp.tensor(other, options.dtype, undefined, options.device), options);
}

export function onesLike(other: Tensor, options: TensorOptions = {}): Tensor {
  optionsFor('onesLike', options);
  return finish(onesLikeOp.tensor(other, options.dtype, undefined, options.device), options);
}

export function fullLike(
  other: Tensor,
  value: number | boolean,
  options: TensorOptions = {},
): Tensor {
  optionsFor('fullLike', options);
  return finish(fullLikeOp.tensor(other, value, options.dtype, undefined, options.device), options);
}

// ---- random ------------------------------------------------------------------------------------------

/** The device of a random tensor is its generator's, unless said otherwise. */
function randomTail(options: RandomOptions, dtype: DType): unknown[] {
  const { generator } = options;
  return [
    generator ?? null,
    options.dtype ?? dtype,
    undefined,
    options.device ?? generator?.device ?? 'cpu',
  ];
}

/** Uniform in [0, 1). */
export function rand(shape: readonly number[], options: RandomOptions = {}): Tensor {
  optionsFor('rand', options);
  return finish(randOp.tensor(shape, ...randomTail(options, 'f32')), options);
}

/** Standard normal. */
export function randn(shape: readonly number[], options: RandomOptions = {}): Tensor {
  optionsFor('randn', options);
  return finish(randnOp.tensor(shape, ...randomTail(options, 'f32')), options);
}

/** Whole numbers from `low` to `high - 1`. */
export function randint(
  low: number,
  high: number,
  shape: readonly number[],
  options: RandomOptions = {},
): Tensor {
  optionsFor('randint', options);
  return randintOp.tensor(low, high, shape, ...randomTail(options, 'i64'));
}

/** The whole numbers from 0 to `count - 1` in random order. */
export function randperm(count: number, options: RandomOptions = {}): Tensor {
  optionsFor('randperm', options);
  return randpermOp.tensor(count, ...randomTail(options, 'i64'));
}

/** 1 with the probability each element says, else 0. */
export function bernoulli(probabilities: Tensor, generator: Generator | null = null): Tensor {
  return bernoulliOp.tensor(probabilities, generator);
}

/** Indices drawn with the weights of each row. */
export function multinomial(
  weights: Tensor,
  count: number,
  replacement = false,
  generator: Generator | null = null,
): Tensor {
  return multinomialOp.tensor(weights, count, replacement, generator);
}

// ---- from other tensors ------------------------------------------------------------------------------

export function cat(tensors: readonly Tensor[], dim = 0): Tensor {
  return catOp.tensor(tensors, dim);
}

export function stack(tensors: readonly Tensor[], dim = 0): Tensor {
  return stackOp.tensor(tensors, dim);
}

/** `a` where the condition holds, else `b`. */
export function where(condition: Tensor, a: Tensor | number, b: Tensor | number): Tensor {
  const left = a instanceof TensorBase;
  const right = b instanceof TensorBase;
  if (left && right) return whereOp.tensor(condition, a, b);
  if (left) return whereScalarOther.tensor(condition, a, b);
  return (right ? whereScalarSelf : whereScalar).tensor(condition, a, b);
}

/** Coordinates of a grid, one tensor per axis, each of the grid's shape. */
export function meshgrid(axes: readonly Tensor[]): Tensor[] {
  return meshgridOp.tensors(axes, 'ij');
}
