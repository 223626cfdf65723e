/** Sums and their kin, order statistics, and cumulative sums. `dim` absent: over all elements. */
import { aten } from './dispatch.js';
import { list, method, named } from './methods.js';
import type { Dims } from './methods.js';
import type { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';
import type { DType } from './types.js';

/** Elements and where they were. */
export interface ValuesAndIndices {
  values: Tensor;
  indices: Tensor;
}

export interface VarianceOptions {
  /** What is subtracted from the number of elements: 1 by default, 0 for the biased variance. */
  correction?: number;
  keepdim?: boolean;
}

/** Over all elements by one overload, along dimensions by another. */
function overAllOr<Dim extends Dims>(name: string, along: string) {
  const [whole, partial] = [aten(name), aten(`${name}.${along}`)];
  return function (this: unknown, dim?: Dim, keepdim = false): Tensor {
    return dim === undefined ? whole.tensor(this) : partial.tensor(this, dim, keepdim);
  };
}

/** The same for an overload that takes several dimensions, and the dtype of the result. */
function summed(name: string, along: string) {
  const [whole, partial] = [aten(name), aten(`${name}.${along}`)];
  return function (this: unknown, dim?: Dims, keepdim = false, dtype?: DType): Tensor {
    if (dim === undefined) return whole.tensor(this, dtype);
    return partial.tensor(this, list(dim), keepdim, dtype);
  };
}

function spread(name: string) {
  const op = aten(`${name}.correction`);
  return function (this: unknown, dim?: Dims, options: VarianceOptions = {}): Tensor {
    return op.with([this, dim === undefined ? null : list(dim)], options);
  };
}

interface Extreme {
  (): Tensor;
  (dim: number, keepdim?: boolean): ValuesAndIndices;
}

/** One of the elements: itself, or along a dimension elements with their indices. */
function extreme(name: string): Extreme {
  const [whole, partial] = [aten(name), aten(`${name}.dim`)];
  const find: unknown = function (this: unknown, dim?: number, keepdim = false) {
    if (dim === undefined) return whole.tensor(this);
    const [values, indices] = partial.tensors(this, dim, keepdim);
    return { values, indices };
  };
  return find as Extreme;
}

/** Along dimensions; along all of them by default. */
function along(name: string) {
  const op = aten(name);
  return function (this: unknown, dim: Dims = [], keepdim = false): Tensor {
    return op.tensor(this, list(dim), keepdim);
  };
}

const norm = aten('linalg_vector_norm', 'norm');
const countNonzero = aten('count_nonzero.dim_IntList');
const unique = aten('_unique2', 'unique');
const bincount = aten('bincount');
const PLACES = ['values', 'indices'] as const;

export const REDUCTIONS = {
  sum: summed('sum', 'dim_IntList'),
  mean: summed('mean', 'dim'),
  prod: overAllOr<number>('prod', 'dim_int'),
  any: overAllOr<number>('any', 'dim'),
  all: overAllOr<number>('all', 'dim'),
  var: spread('var'),
  std: spread('std'),
  /** The least element; along a dimension, with its index. */
  min: extreme('min'),
  /** The greatest element; along a dimension, with its index. */
  max: extreme('max'),
  /** The lower of two in the middle; along a dimension, with its index. */
  median: extreme('median'),
  /** Least elements; among equals the gradient is shared. */
  amin: along('amin'),
  /** Greatest elements; among equals the gradient is shared. */
  amax: along('amax'),
  argmin: method<[dim?: number, keepdim?: boolean]>('argmin'),
  argmax: method<[dim?: number, keepdim?: boolean]>('argmax'),
  quantile: method<[q: number, dim?: number, keepdim?: boolean]>('quantile.scalar'),
  logsumexp: along('logsumexp'),
  /** (sum |x|^p)^(1/p) */
  norm(this: TensorBase, p = 2, dim?: Dims, keepdim = false): Tensor {
    return norm.tensor(this, p, dim === undefined ? null : list(dim), keepdim);
  },
  cumsum: method<[dim: number]>('cumsum'),
  cumprod: method<[dim: number]>('cumprod'),
  logcumsumexp: method<[dim: number]>('logcumsumexp'),

  sort: named<[dim?: number, descending?: boolean], 'values' | 'indices'>('sort', PLACES),
  argsort: method<[dim?: number, descending?: boolean]>('argsort'),
  topk: named<[k: number, dim?: number, largest?: boolean, sorted?: boolean], 'values' | 'indices'>(
    'topk',
    PLACES,
  ),
  countNonzero(this: TensorBase, dim: Dims = []): Tensor {
    return countNonzero.tensor(this, list(dim));
  },
  /** Indices of the elements that are not zero, [count, ndim]. */
  nonzero: method('nonzero'),
  /** Distinct elements in order, with the place of each element among them and how often each occurs. */
  unique(this: TensorBase): { values: Tensor; inverse: Tensor; counts: Tensor } {
    const [values, inverse, counts] = unique.tensors(this, true, true, true);
    return { values, inverse, counts };
  },
  bincount(this: TensorBase, minlength = 0): Tensor {
    return bincount.tensor(this, null, minlength);
  },
};
