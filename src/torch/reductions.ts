/** Sums and their kin, order statistics, and cumulative sums. `dim` absent: over all elements. */
import { optionsFor } from './handle.js';
import { operator } from './dispatch.js';
import { InPlaceTensor } from './in-place.js';
import type { Tensor } from './tensor.js';
import type { DType } from './types.js';

/** One dimension or several; negative ones count from the end. */
export type Dims = number | readonly number[];

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

const sum = operator('sum');
const sumDim = operator('sum', 'dim_IntList');
const mean = operator('mean');
const meanDim = operator('mean', 'dim');
const prod = operator('prod');
const prodDim = operator('prod', 'dim_int');
const variance = operator('var', 'correction');
const std = operator('std', 'correction');
const min = operator('min');
const minDim = operator('min', 'dim');
const max = operator('max');
const maxDim = operator('max', 'dim');
const amin = operator('amin');
const amax = operator('amax');
const argmin = operator('argmin');
const argmax = operator('argmax');
const any = operator('any');
const anyDim = operator('any', 'dim');
const all = operator('all');
const allDim = operator('all', 'dim');
const logsumexp = operator('logsumexp');
const cumsum = operator('cumsum');
const cumprod = operator('cumprod');
const logcumsumexp = operator('logcumsumexp');
const norm = operator('linalg_vector_norm', '', 'norm');
const sort = operator('sort');
const argsort = operator('argsort');
const topk = operator('topk');
const median = operator('median');
const quantile = operator('quantile', 'scalar');
const countNonzero = operator('count_nonzero', 'dim_IntList');
const nonzero = operator('nonzero');
const unique = operator('_unique2', '', 'unique');
const bincount = operator('bincount');

const list = (dims: Dims): readonly number[] => (typeof dims === 'number' ? [dims] : dims);

function valuesAndIndices([values, indices]: Tensor[]): ValuesAndIndices {
  return { values, indices };
}

export class ReducingTensor extends InPlaceTensor {
  sum(dim?: Dims, keepdim = false, dtype?: DType): Tensor {
    return dim === undefined
      ? sum.tensor(this, dtype)
      : sumDim.tensor(this, list(dim), keepdim, dtype);
  }
  mean(dim?: Dims, keepdim = false, dtype?: DType): Tensor {
    return dim === undefined
      ? mean.tensor(this, dtype)
      : meanDim.tensor(this, list(dim), keepdim, dtype);
  }
  prod(dim?: number, keepdim = false): Tensor {
    return dim === undefined ? prod.tensor(this) : prodDim.tensor(this, dim, keepdim);
  }
  var(dim?: Dims, options: VarianceOptions = {}): Tensor {
    const { correction = 1, keepdim = false } = optionsFor('var', options);
    return variance.tensor(this, dim === undefined ? null : list(dim), correction, keepdim);
  }
  std(dim?: Dims, options: VarianceOptions = {}): Tensor {
    const { correction = 1, keepdim = false } = optionsFor('std', options);
    return std.tensor(this, dim === undefined ? null : list(dim), correction, keepdim);
  }

  /** The least element; along a dimension, with its index. */
  min(): Tensor;
  min(dim: number, keepdim?: boolean): ValuesAndIndices;
  min(dim?: number, keepdim = false): Tensor | ValuesAndIndices {
    return dim === undefined
      ? min.tensor(this)
      : valuesAndIndices(minDim.tensors(this, dim, keepdim));
  }
  /** The greatest element; along a dimension, with its index. */
  max(): Tensor;
  max(dim: number, keepdim?: boolean): ValuesAndIndices;
  max(dim?: number, keepdim = false): Tensor | ValuesAndIndices {
    return dim === undefined
      ? max.tensor(this)
      : valuesAndIndices(maxDim.tensors(this, dim, keepdim));
  }
  /** Least elements; among equals the gradient is shared. */
  amin(dim: Dims = [], keepdim = false): Tensor {
    return amin.tensor(this, list(dim), keepdim);
  }
  /** Greatest elements; among equals the gradient is shared. */
  amax(dim: Dims = [], keepdim = false): Tensor {
    return amax.tensor(this, list(dim), keepdim);
  }
  argmin(dim?: number, keepdim = false): Tensor {
    return argmin.tensor(this, dim, keepdim);
  }
  argmax(dim?: number, keepdim = false): Tensor {
    return argmax.tensor(this, dim, keepdim);
  }
  median(): Tensor {
    return median.tensor(this);
  }
  quantile(q: number, dim?: number, keepdim = false): Tensor {
    return quantile.tensor(this, q, dim, keepdim);
  }
  any(dim?: number, keepdim = false): Tensor {
    return dim === undefined ? any.tensor(this) : anyDim.tensor(this, dim, keepdim);
  }
  all(dim?: number, keepdim = false): Tensor {
    return dim === undefined ? all.tensor(this) : allDim.tensor(this, dim, keepdim);
  }
  logsumexp(dim: Dims, keepdim = false): Tensor {
    return logsumexp.tensor(this, list(dim), keepdim);
  }
  /** (sum |x|^p)^(1/p) */
  norm(p = 2, dim?: Dims, keepdim = false): Tensor {
    return norm.tensor(this, p, dim === undefined ? null : list(dim), keepdim);
  }
  cumsum(dim: number): Tensor {
    return cumsum.tensor(this, dim);
  }
  cumprod(dim: number): Tensor {
    return cumprod.tensor(this, dim);
  }
  logcumsumexp(dim: number): Tensor {
    return logcumsumexp.tensor(this, dim);
  }

  sort(dim = -1, descending = false): ValuesAndIndices {
    return valuesAndIndices(sort.tensors(this, dim, descending));
  }
  argsort(dim = -1, descending = false): Tensor {
    return argsort.tensor(this, dim, descending);
  }
  topk(k: number, dim = -1, largest = true, sorted = true): ValuesAndIndices {
    return valuesAndIndices(topk.tensors(this, k, dim, largest, sorted));
  }
  countNonzero(dim: Dims = []): Tensor {
    return countNonzero.tensor(this, list(dim));
  }
  /** Indices of the elements that are not zero, [count, ndim]. */
  nonzero(): Tensor {
    return nonzero.tensor(this);
  }
  /** Distinct elements in order, with the place of each element among them and how often each occurs. */
  unique(): { values: Tensor; inverse: Tensor; counts: Tensor } {
    const [values, inverse, counts] = unique.tensors(this, true, true, true);
    return { values, inverse, counts };
  }
  bincount(minlength = 0): Tensor {
    return bincount.tensor(this, null, minlength);
  }
}
