/** Views, rearrangements and indexing. A view shares its memory with the tensor it came from. */
import { aten } from './dispatch.js';
import { tensorHandle } from './handle.js';
import { either, list, method, several } from './methods.js';
import type { Dims } from './methods.js';
import type { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';
import type { MemoryFormat } from './types.js';

const expand = aten('expand');
const [squeeze, squeezeDim] = [aten('squeeze'), aten('squeeze.dim')];
const [split, splitSizes] = [aten('split.Tensor'), aten('split_with_sizes', 'split')];
const [flip, roll] = [aten('flip'), aten('roll')];

type Shape = [shape: readonly number[]];

export const SHAPES = {
  clone: method<[memoryFormat?: MemoryFormat]>('clone'),
  /** Its elements in dense order: the same memory, or a copy. */
  contiguous: method<[memoryFormat?: MemoryFormat]>('contiguous'),
  /** The same memory, outside of the graph. */
  detach: method('detach'),
  /** The same elements in another shape; one size may be -1. Copies only where it must. */
  reshape: method<Shape>('reshape'),
  /** As reshape, but never copies: an error where the memory does not allow it. */
  view: method<Shape>('view'),
  permute: method<[dims: readonly number[]]>('permute'),
  transpose: method<[a: number, b: number]>('transpose.int'),
  movedim: method<[source: number, destination: number]>('movedim.int'),
  /** Repeats dimensions of size 1 without copying; -1 keeps a size. */
  expand: method<Shape>('expand'),
  expandAs(this: TensorBase, other: Tensor): Tensor {
    tensorHandle('expandAs', other);
    return expand.tensor(this, other.shape);
  },
  /** Without one dimension of size 1, or without all of them. */
  squeeze(this: TensorBase, dim?: number): Tensor {
    return dim === undefined ? squeeze.tensor(this) : squeezeDim.tensor(this, dim);
  },
  unsqueeze: method<[dim: number]>('unsqueeze'),
  flatten: method<[startDim?: number, endDim?: number]>('flatten.using_ints'),
  /** One dimension as several. */
  unflatten: method<[dim: number, sizes: readonly number[]]>('unflatten.int'),
  /** The whole tensor, that many times along each dimension. */
  repeat: method<[repeats: readonly number[]]>('repeat'),
  /** Each element, that many times in a row. */
  repeatInterleave: method<[repeats: number, dim?: number]>('repeat_interleave.self_int'),
  unbind: several<[dim?: number]>('unbind.int'),
  /** Parts of one size (the last may be smaller), or of the given sizes. */
  split(this: TensorBase, sizes: number | readonly number[], dim = 0): Tensor[] {
    return (typeof sizes === 'number' ? split : splitSizes).tensors(this, sizes, dim);
  },
  chunk: several<[chunks: number, dim?: number]>('chunk'),
  narrow: method<[dim: number, start: number, length: number]>('narrow'),
  /** From `start` up to, not including, `end`; negative ones count from the end. */
  slice:
    method<[dim: number, start?: number | null, end?: number | null, step?: number]>(
      'slice.Tensor',
    ),
  /** One place along a dimension, which disappears. */
  select: method<[dim: number, place: number]>('select.int'),
  gather: method<[dim: number, indices: Tensor]>('gather'),
  scatter: either<[dim: number, indices: Tensor, source: Tensor | number]>('scatter', 2, [
    'src',
    'value',
  ]),
  scatterAdd: method<[dim: number, indices: Tensor, source: Tensor]>('scatter_add'),
  indexSelect: method<[dim: number, indices: Tensor]>('index_select'),
  indexAdd: method<[dim: number, indices: Tensor, source: Tensor, alpha?: number]>('index_add'),
  /** Elements at the (broadcast) indices, one tensor per dimension; null takes a whole dimension. */
  index: method<[indices: readonly (Tensor | null)[]]>('index.Tensor'),
  maskedSelect: method<[mask: Tensor]>('masked_select'),
  takeAlongDim: method<[indices: Tensor, dim?: number]>('take_along_dim'),
  flip(this: TensorBase, dims: Dims): Tensor {
    return flip.tensor(this, list(dims));
  },
  roll(this: TensorBase, shifts: Dims, dims: Dims): Tensor {
    return roll.tensor(this, list(shifts), list(dims));
  },
  tril: method<[diagonal?: number]>('tril'),
  triu: method<[diagonal?: number]>('triu'),
  diagonal: method<[offset?: number, dim1?: number, dim2?: number]>('diagonal'),
  /** Windows of `size` along a dimension, every `step`; they become a last dimension. */
  unfold: method<[dim: number, size: number, step: number]>('unfold'),
  asStrided: method<[...Shape, strides: readonly number[], offset?: number]>('as_strided'),
};
