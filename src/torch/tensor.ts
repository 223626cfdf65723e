/**
 * The tensor: an n-dimensional array of numbers on a device, with PyTorch's operations in camelCase. It is
 * TensorBase (data, gradient, lifetime) with the methods of the tables POINTWISE, REDUCTIONS, SHAPES and
 * LINEAR. Tensors are made by the functions of creation.ts.
 */
import { setTensorFactory } from './dispatch.js';
import { LINEAR } from './linalg.js';
import type { TensorHandle } from './native.js';
import { POINTWISE } from './pointwise.js';
import { REDUCTIONS } from './reductions.js';
import { SHAPES } from './shape.js';
import { TensorBase } from './tensor-base.js';

type Methods = typeof POINTWISE & typeof REDUCTIONS & typeof SHAPES & typeof LINEAR;

/** TensorBase with a method for each entry of the tables. */
function withMethods(): new (handle: TensorHandle) => TensorBase & Methods {
  class WithMethods extends TensorBase {}
  for (const [name, value] of Object.entries({
    ...POINTWISE,
    ...REDUCTIONS,
    ...SHAPES,
    ...LINEAR,
  })) {
    Object.defineProperty(WithMethods.prototype, name, {
      value,
      writable: true,
      configurable: true,
    });
  }
  return WithMethods as unknown as new (handle: TensorHandle) => TensorBase & Methods;
}

export class Tensor extends withMethods() {}

setTensorFactory((handle) => new Tensor(handle));
