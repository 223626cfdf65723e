/**
 * The tensor: an n-dimensional array of numbers on a device, with PyTorch's operations in camelCase. Its
 * methods come family by family from the classes below it: tensor-base (data, gradient, lifetime),
 * pointwise, in-place, reductions, shape, linalg. Tensors are made by the functions of creation.ts.
 */
import { setTensorFactory } from './dispatch.js';
import { LinearTensor } from './linalg.js';

export class Tensor extends LinearTensor {}

setTensorFactory((handle) => new Tensor(handle));
