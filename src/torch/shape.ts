/** Views, rearrangements and indexing. A view shares its memory with the tensor it came from. */
import { tensorHandle } from './handle.js';
import { operator } from './dispatch.js';
import { ReducingTensor } from './reductions.js';
import type { Dims } from './reductions.js';
import { Binary } from './pointwise.js';
import type { Tensor } from './tensor.js';

const reshape = operator('reshape');
const view = operator('view');
const permute = operator('permute');
const transpose = operator('transpose', 'int');
const expand = operator('expand');
const squeeze = operator('squeeze');
const squeezeDim = operator('squeeze', 'dim');
const unsqueeze = operator('unsqueeze');
const flatten = operator('flatten', 'using_ints');
const unflatten = operator('unflatten', 'int');
const repeat = operator('repeat');
const repeatInterleave = operator('repeat_interleave', 'self_int');
const unbind = operator('unbind', 'int');
const split = operator('split', 'Tensor');
const splitSizes = operator('split_with_sizes', '', 'split');
const chunk = operator('chunk');
const narrow = operator('narrow');
const slice = operator('slice', 'Tensor');
const select = operator('select', 'int');
const gather = operator('gather');
const scatter = new Binary('scatter', 'src', 'value');
const scatterAdd = operator('scatter_add');
const indexSelect = operator('index_select');
const indexAdd = operator('index_add');
const index = operator('index', 'Tensor');
const maskedSelect = operator('masked_select');
const takeAlongDim = operator('take_along_dim');
const flip = operator('flip');
const roll = operator('roll');
const tril = operator('tril');
const triu = operator('triu');
const diagonal = operator('diagonal');
const unfold = operator('unfold');
const movedim = operator('movedim', 'int');
const asStrided = operator('as_strided');

const list = (dims: Dims): readonly number[] => (typeof dims === 'number' ? [dims] : dims);

export class ShapedTensor extends ReducingTensor {
  /** The same elements in another shape; one size may be -1. Copies only where it must. */
  reshape(shape: readonly number[]): Tensor {
    return reshape.tensor(this, shape);
  }
  /** As reshape, but never copies: an error where the memory does not allow it. */
  view(shape: readonly number[]): Tensor {
    return view.tensor(this, shape);
  }
  permute(dims: readonly number[]): Tensor {
    return permute.tensor(this, dims);
  }
  transpose(a: number, b: number): Tensor {
    return transpose.tensor(this, a, b);
  }
  movedim(source: number, destination: number): Tensor {
    return movedim.tensor(this, source, destination);
  }
  /** Repeats dimensions of size 1 without copying; -1 keeps a size. */
  expand(shape: readonly number[]): Tensor {
    return expand.tensor(this, shape);
  }
  expandAs(other: Tensor): Tensor {
    tensorHandle('expandAs', other);
    return expand.tensor(this, other.shape);
  }
  /** Without one dimension of size 1, or without all of them. */
  squeeze(dim?: number): Tensor {
    return dim === undefined ? squeeze.tensor(this) : squeezeDim.tensor(this, dim);
  }
  unsqueeze(dim: number): Tensor {
    return unsqueeze.tensor(this, dim);
  }
  flatten(startDim = 0, endDim = -1): Tensor {
    return flatten.tensor(this, startDim, endDim);
  }
  /** One dimension as several. */
  unflatten(dim: number, sizes: readonly number[]): Tensor {
    return unflatten.tensor(this, dim, sizes);
  }
  /** The whole tensor, that many times along each dimension. */
  repeat(repeats: readonly number[]): Tensor {
    return repeat.tensor(this, repeats);
  }
  /** Each element, that many times in a row. */
  repeatInterleave(repeats: number, dim?: number): Tensor {
    return repeatInterleave.tensor(this, repeats, dim);
  }
  unbind(dim = 0): Tensor[] {
    return unbind.tensors(this, dim);
  }
  /** Parts of one size (the last may be smaller), or of the given sizes. */
  split(sizes: number | readonly number[], dim = 0): Tensor[] {
    return typeof sizes === 'number'
      ? split.tensors(this, sizes, dim)
      : splitSizes.tensors(this, sizes, dim);
  }
  chunk(chunks: number, dim = 0): Tensor[] {
    return chunk.tensors(this, chunks, dim);
  }
  narrow(dim: number, start: number, length: number): Tensor {
    return narrow.tensor(this, dim, start, length);
  }
  /** From `start` up to, not including, `end`; negative ones count from the end. */
  slice(dim: number, start: number | null = null, end: number | null = null, step = 1): Tensor {
    return slice.tensor(this, dim, start, end, step);
  }
  /** One place along a dimension, which disappears. */
  select(dim: number, place: number): Tensor {
    return select.tensor(this, dim, place);
  }
  gather(dim: number, indices: Tensor): Tensor {
    return gather.tensor(this, dim, indices);
  }
  scatter(dim: number, indices: Tensor, source: Tensor | number): Tensor {
    return scatter.by(source).tensor(this, dim, indices, source);
  }
  scatterAdd(dim: number, indices: Tensor, source: Tensor): Tensor {
    return scatterAdd.tensor(this, dim, indices, source);
  }
  indexSelect(dim: number, indices: Tensor): Tensor {
    return indexSelect.tensor(this, dim, indices);
  }
  indexAdd(dim: number, indices: Tensor, source: Tensor, alpha = 1): Tensor {
    return indexAdd.tensor(this, dim, indices, source, alpha);
  }
  /** Elements at the (broadcast) indices, one tensor per dimension; null takes a whole dimension. */
  index(indices: readonly (Tensor | null)[]): Tensor {
    return index.tensor(this, indices);
  }
  maskedSelect(mask: Tensor): Tensor {
    return maskedSelect.tensor(this, mask);
  }
  takeAlongDim(indices: Tensor, dim?: number): Tensor {
    return takeAlongDim.tensor(this, indices, dim);
  }
  flip(dims: Dims): Tensor {
    return flip.tensor(this, list(dims));
  }
  roll(shifts: Dims, dims: Dims): Tensor {
    return roll.tensor(this, list(shifts), list(dims));
  }
  tril(diagonalOffset = 0): Tensor {
    return tril.tensor(this, diagonalOffset);
  }
  triu(diagonalOffset = 0): Tensor {
    return triu.tensor(this, diagonalOffset);
  }
  diagonal(offset = 0, dim1 = 0, dim2 = 1): Tensor {
    return diagonal.tensor(this, offset, dim1, dim2);
  }
  /** Windows of `size` along a dimension, every `step`; they become a last dimension. */
  unfold(dim: number, size: number, step: number): Tensor {
    return unfold.tensor(this, dim, size, step);
  }
  asStrided(shape: readonly number[], strides: readonly number[], offset?: number): Tensor {
    return asStrided.tensor(this, shape, strides, offset);
  }
}
