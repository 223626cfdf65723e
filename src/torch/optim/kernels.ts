/**
 * Arithmetic on lists of tensors: the vocabulary in which optimisers are written.
 *
 * `perTensor` applies libtorch's ordinary operators to one tensor after the other. It is the
 * faster one on the CPU, where a list kernel would stream through all of memory once for every
 * operation. `foreach` hands whole lists to libtorch's multi-tensor kernels: on CUDA a few
 * launches instead of thousands. A multi-tensor operator that the installed libtorch lacks is
 * done per tensor.
 */
import { operator } from '../dispatch.js';
import type { Operator } from '../dispatch.js';
import { TorchError } from '../errors.js';
import type { Tensor } from '../tensor.js';

type Tensors = readonly Tensor[];

/** A factor: a number, or a tensor of one value on the device of what it multiplies. */
export type Factor = number | Tensor;

/** Methods named `...InPlace` change their first list; the others make new tensors. */
export interface Kernels {
  /** a + alpha b */
  readonly add: (a: Tensors, b: Tensors, alpha: number) => Tensor[];
  readonly addInPlace: (a: Tensors, b: Tensors, alpha: number) => void;
  /** a + s */
  readonly addScalarInPlace: (a: Tensors, s: number) => void;
  /** s a */
  readonly scale: (a: Tensors, s: Factor) => Tensor[];
  readonly scaleInPlace: (a: Tensors, s: Factor) => void;
  /** a + value b c */
  readonly addcmul: (a: Tensors, b: Tensors, c: Tensors, value: number) => Tensor[];
  readonly addcmulInPlace: (a: Tensors, b: Tensors, c: Tensors, value: number) => void;
  /** a + value b / c */
  readonly addcdivInPlace: (a: Tensors, b: Tensors, c: Tensors, value: number) => void;
  /** a + weight (b - a) */
  readonly lerpInPlace: (a: Tensors, b: Tensors, weight: number) => void;
  /** max(a, b) */
  readonly maximumInPlace: (a: Tensors, b: Tensors) => void;
  readonly sqrt: (a: Tensors) => Tensor[];
  readonly sqrtInPlace: (a: Tensors) => void;
  readonly copyInPlace: (a: Tensors, b: Tensors) => void;
  /** Euclidean norm of each tensor */
  readonly norms: (a: Tensors) => Tensor[];
}

/** One tensor after the other. */
export const perTensor: Kernels = {
  add: (a, b, alpha) => a.map((x, i) => x.add(b[i], alpha)),
  addInPlace: (a, b, alpha) => a.forEach((x, i) => x.add_(b[i], alpha)),
  addScalarInPlace: (a, s) => a.forEach((x) => x.add_(s)),
  scale: (a, s) => a.map((x) => x.mul(s)),
  scaleInPlace: (a, s) => a.forEach((x) => x.mul_(s)),
  addcmul: (a, b, c, value) => a.map((x, i) => x.addcmul(b[i], c[i], value)),
  addcmulInPlace: (a, b, c, value) => a.forEach((x, i) => x.addcmul_(b[i], c[i], value)),
  addcdivInPlace: (a, b, c, value) => a.forEach((x, i) => x.addcdiv_(b[i], c[i], value)),
  lerpInPlace: (a, b, weight) => a.forEach((x, i) => x.lerp_(b[i], weight)),
  maximumInPlace: (a, b) => a.forEach((x, i) => x.copy_(x.maximum(b[i]))),
  sqrt: (a) => a.map((x) => x.sqrt()),
  sqrtInPlace: (a) => a.forEach((x) => x.sqrt_()),
  copyInPlace: (a, b) => a.forEach((x, i) => x.copy_(b[i])),
  norms: (a) => a.map((x) => x.norm()),
};

/** Whole lists at a time. */
export const foreach: Kernels = {
  add: list('_foreach_add', 'List', perTensor.add),
  addInPlace: list('_foreach_add_', 'List', perTensor.addInPlace),
  addScalarInPlace: list('_foreach_add_', 'Scalar', perTensor.addScalarInPlace),
  scale: (a, s) => (typeof s === 'number' ? scaleByNumber(a, s) : scaleByTensor(a, s)),
  scaleInPlace: (a, s) =>
    typeof s === 'number' ? scaleByNumberInPlace(a, s) : scaleByTensorInPlace(a, s),
  addcmul: list('_foreach_addcmul', 'Scalar', perTensor.addcmul),
  addcmulInPlace: list('_foreach_addcmul_', 'Scalar', perTensor.addcmulInPlace),
  addcdivInPlace: list('_foreach_addcdiv_', 'Scalar', perTensor.addcdivInPlace),
  lerpInPlace: list('_foreach_lerp_', 'Scalar', perTensor.lerpInPlace),
  maximumInPlace: list('_foreach_maximum_', 'List', perTensor.maximumInPlace),
  sqrt: list('_foreach_sqrt', '', perTensor.sqrt),
  sqrtInPlace: list('_foreach_sqrt_', '', perTensor.sqrtInPlace),
  copyInPlace: list('_foreach_copy_', '', perTensor.copyInPlace),
  norms: list('_foreach_norm', 'Scalar', perTensor.norms),
};

const scaleByNumber = list('_foreach_mul', 'Scalar', perTensor.scale);
const scaleByNumberInPlace = list('_foreach_mul_', 'Scalar', perTensor.scaleInPlace);
const scaleByTensor = list('_foreach_mul', 'Tensor', perTensor.scale);
const scaleByTensorInPlace = list('_foreach_mul_', 'Tensor', perTensor.scaleInPlace);

/** A function on lists by a multi-tensor operator, or by `otherwise` where libtorch has none. */
function list<Args extends readonly unknown[], Result>(
  name: string,
  overload: string,
  otherwise: (...args: Args) => Result,
): (...args: Args) => Result {
  const multiTensor = operator(name, overload);
  let chosen: ((...args: Args) => Result) | undefined;
  return (...args) => {
    chosen ??= isAvailable(multiTensor)
      ? (...all) => multiTensor.call(...all) as Result
      : otherwise;
    return chosen(...args);
  };
}

/** Whether the installed libtorch has an operator. */
export function isAvailable(candidate: Operator): boolean {
  try {
    candidate.schema();
    return true;
  } catch (error) {
    if (error instanceof TorchError) return false;
    throw error;
  }
}
