/**
 * A tensor as an object: what it is, its data from and to JavaScript, its gradient, its lifetime. The
 * operations are added by the classes that extend this one, family by family, up to Tensor (tensor.ts).
 *
 * Every method returns a Tensor of its own (it can be freed by itself, also where it shares memory), and
 * a method whose name ends with an underscore changes this tensor and returns it.
 */
import { productOf } from '../base/index.js';
import { guarded, operator, wrap } from './dispatch.js';
import { TorchError } from './errors.js';
import { optionsFor, Holder, tensorHandle, tensorHandles } from './handle.js';
import { native } from './native.js';
import type { Native, NumberArray, TensorHandle } from './native.js';
import { track } from './scope.js';
import type { Scope, Scoped } from './scope.js';
import type { Tensor } from './tensor.js';
import { elementsOf, isFloating } from './types.js';
import type { DType, Device, MemoryFormat } from './types.js';

/** Nested arrays of one tensor's elements. */
export type Nested = number | boolean | Nested[];

export interface ToOptions {
  dtype?: DType;
  device?: Device;
  memoryFormat?: MemoryFormat;
  /** Do not wait for a copy between pinned memory and a device. */
  nonBlocking?: boolean;
  /** Copy even if nothing changes. */
  copy?: boolean;
}

export interface BackwardOptions {
  /** Keep what the graph saved, for another pass through it; by default only with `createGraph`. */
  retainGraph?: boolean;
  /** Record the backward pass too, for gradients of gradients. */
  createGraph?: boolean;
  /** Accumulate only into these; by default into every leaf. */
  inputs?: readonly Tensor[];
}

const to = operator('to', 'dtype_layout');
const item = operator('item');

export class TensorBase extends Holder<TensorHandle> implements Scoped {
  /** The scope that will free it, if any; set by scope.ts. */
  owner: Scope | null = null;

  constructor(handle: TensorHandle) {
    super(handle);
    track(this);
  }

  /** Runs `fn` with the addon and the native tensor; errors name `op`. */
  #use<T>(op: string, fn: (addon: Native, own: TensorHandle) => T): T {
    const own = this.handleFor(op);
    return guarded(op, (addon) => fn(addon, own));
  }

  // ---- what it is --------------------------------------------------------------------------------

  get shape(): number[] {
    return native().shape(this.handleFor('shape'));
  }

  get strides(): number[] {
    return native().strides(this.handleFor('strides'));
  }

  get dtype(): DType {
    return native().dtype(this.handleFor('dtype')) as DType;
  }

  get device(): Device {
    return native().device(this.handleFor('device')) as Device;
  }

  get isFloatingPoint(): boolean {
    return isFloating(this.dtype);
  }

  /** Number of dimensions. */
  get ndim(): number {
    return this.shape.length;
  }

  /** Number of elements. */
  get numel(): number {
    return productOf(this.shape);
  }

  /** Size of one dimension; negative ones count from the end. */
  size(dim: number): number {
    const { shape } = this;
    const size = typeof dim === 'number' ? shape.at(dim) : undefined;
    if (size === undefined)
      throw new TorchError('size', `[${shape.join(', ')}] has no dimension ${String(dim)}`);
    return size;
  }

  isContiguous(memoryFormat: MemoryFormat = 'contiguous'): boolean {
    return this.#use('isContiguous', (addon, own) => addon.isContiguous(own, memoryFormat));
  }

  /** Whether both are views of the same memory from the same first element on. */
  sharesMemoryWith(other: TensorBase): boolean {
    const handle = tensorHandle('sharesMemoryWith', other);
    return this.#use('sharesMemoryWith', (addon, own) => addon.sameMemory(own, handle));
  }

  override toString(): string {
    if (this.isFreed) return 'Tensor(freed)';
    return `Tensor([${this.shape.join(', ')}], ${this.dtype}, ${this.device})`;
  }

  // ---- its data ----------------------------------------------------------------------------------

  /** The one element; an i64 beyond the safe integers as a bigint. */
  itemExact(): number | bigint | boolean {
    const { shape } = this;
    if (productOf(shape) !== 1)
      throw new TorchError('item', `[${shape.join(', ')}] has not one element`);
    return item.call(this) as number | bigint | boolean;
  }

  /** The one element as a number. */
  item(): number {
    return Number(this.itemExact());
  }

  /** The elements' bits in row-major order; f16 and bf16 as 16-bit words. */
  bits(): NumberArray {
    const array = elementsOf(this.dtype, this.numel);
    this.#use('bits', (addon, own) => addon.copyToBytes(own, array));
    return array;
  }

  /**
   * The elements in row-major order as a new typed array: Float32Array for f32, f16 and bf16,
   * Float64Array, BigInt64Array for i64, Int32Array, Uint8Array for u8 and bool.
   */
  data(): Float32Array | Float64Array | Int32Array | Uint8Array | BigInt64Array {
    const { dtype } = this;
    if (dtype !== 'f16' && dtype !== 'bf16')
      return this.bits() as Exclude<NumberArray, Uint16Array>;
    const wide = this.to({ dtype: 'f32' });
    try {
      return wide.bits() as Float32Array;
    } finally {
      wide.dispose();
    }
  }

  /** The elements in row-major order as numbers; an i64 that no number holds exactly is an error. */
  toArray(): number[] {
    const data = this.data();
    if (!(data instanceof BigInt64Array)) return Array.from(data);
    return Array.from(data, (value) => {
      const number = Number(value);
      if (!Number.isSafeInteger(number))
        throw new TorchError('toArray', `${value} is no exact number; use data()`);
      return number;
    });
  }

  /** The elements as nested arrays; booleans as booleans. */
  toNested(): Nested {
    const flat: Nested[] =
      this.dtype === 'bool' ? this.toArray().map((value) => value !== 0) : this.toArray();
    const { shape } = this;
    let position = 0;
    const build = (depth: number): Nested =>
      depth === shape.length
        ? flat[position++]
        : Array.from({ length: shape[depth] }, () => build(depth + 1));
    return build(0);
  }

  /** Writes the elements' bits into an array of the matching type and length. */
  copyTo(array: NumberArray): void {
    this.#use('copyTo', (addon, own) => addon.copyToBytes(own, array));
  }

  /** Overwrites the elements, in row-major order, from an array of the matching type and length. */
  copyFrom_(array: NumberArray): this {
    this.#use('copyFrom_', (addon, own) => addon.copyFromBytes(own, array));
    return this;
  }

  /** With another dtype, device or memory format; shares memory where nothing changes (unless `copy`). */
  to(options: ToOptions): Tensor {
    const { dtype, device, memoryFormat, nonBlocking, copy } = optionsFor('to', options);
    return to.tensor(this, dtype, undefined, device, undefined, nonBlocking, copy, memoryFormat);
  }

  /** Takes the memory, dtype and device of `source` and stays the same leaf: moves a parameter. */
  setData(source: TensorBase): this {
    const handle = tensorHandle('setData', source);
    this.#use('setData', (addon, own) => addon.setData(own, handle));
    return this;
  }

  // ---- its gradient ------------------------------------------------------------------------------

  get requiresGrad(): boolean {
    return native().requiresGrad(this.handleFor('requiresGrad'));
  }

  requiresGrad_(flag = true): this {
    this.#use('requiresGrad_', (addon, own) => addon.setRequiresGrad(own, flag));
    return this;
  }

  /** Whether no operation made it (as far as gradients are concerned). */
  get isLeaf(): boolean {
    return native().isLeaf(this.handleFor('isLeaf'));
  }

  /** The gradient that `backward` accumulated, or null. Each read makes a Tensor of its own. */
  get grad(): Tensor | null {
    const handle = this.#use('grad', (addon, own) => addon.gradient(own));
    return handle === null ? null : wrap(handle);
  }

  set grad(value: Tensor | null) {
    const gradient = value === null ? null : tensorHandle('grad', value);
    this.#use('grad', (addon, own) => addon.setGradient(own, gradient));
  }

  /** Keeps the gradient of a tensor inside the graph, for `grad`. */
  retainGrad(): this {
    this.#use('retainGrad', (addon, own) => addon.retainGrad(own));
    return this;
  }

  /** Accumulates the gradients of this tensor (of one element, or weighted by `gradient`) into `grad`. */
  backward(gradient: Tensor | null = null, options: BackwardOptions = {}): void {
    const gradients = gradient === null ? null : [tensorHandle('backward', gradient)];
    const inputs = tensorHandles('backward', optionsFor('backward', options).inputs ?? []);
    const { retainGraph = null, createGraph = false } = options;
    this.#use('backward', (addon, own) =>
      addon.backward([own], gradients, retainGraph, createGraph, inputs),
    );
  }

  // ---- its lifetime ------------------------------------------------------------------------------

  /** Frees it now; using it afterwards is an error. Freeing twice is not. */
  dispose(): void {
    const handle = this.releaseHandle();
    if (handle !== null) native().dispose(handle);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
