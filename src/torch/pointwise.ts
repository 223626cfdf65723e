/**
 * Operations element by element, with broadcasting, and those that change their tensor and return it (their
 * names end with `_`). Operations of two take a tensor or a number on the right; random ones an explicit
 * generator.
 */
import { aten } from './dispatch.js';
import { either, method, overloads, plain } from './methods.js';
import type { Operand } from './methods.js';
import type { Generator } from './random.js';
import { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';

export type RoundingMode = 'trunc' | 'floor';

const div = overloads('div');
const divMode = overloads('div', ['Tensor_mode', 'Scalar_mode']);
const clamp = overloads('clamp', ['Tensor', '']);
const equal = aten('equal');
const allclose = aten('allclose');

type Random = [generator?: Generator | null];

export const POINTWISE = {
  ...plain('acos asin atan cos cosh sin sinh tan tanh'),
  ...plain('exp exp2 expm1 log log10 log1p log2 reciprocal rsqrt sqrt square'),
  ...plain('abs ceil floor frac neg round sign trunc'),
  ...plain('digamma erf erfc erfinv lgamma logSigmoid relu sigmoid silu'),
  ...plain('bitwiseNot isfinite isinf isnan logicalNot'),
  ...plain('abs_ ceil_ exp_ floor_ log_ neg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ sqrt_'),
  ...plain('square_ tanh_ zero_'),

  /** this + alpha other */
  add: either<[other: Operand, alpha?: number]>('add'),
  /** this - alpha other */
  sub: either<[other: Operand, alpha?: number]>('sub'),
  /** other - this */
  rsub: either('rsub'),
  mul: either('mul'),
  div(this: TensorBase, other: Operand, roundingMode?: RoundingMode): Tensor {
    if (roundingMode === undefined) return div(other).tensor(this, other);
    return divMode(other).tensor(this, other, roundingMode);
  },
  pow: either<[exponent: Operand]>('pow', 0, ['Tensor_Tensor', 'Tensor_Scalar']),
  /** Remainder with the sign of this. */
  fmod: either('fmod'),
  /** Remainder with the sign of `other`. */
  remainder: either('remainder'),
  atan2: method<[other: Tensor]>('atan2'),
  maximum: method<[other: Tensor]>('maximum'),
  minimum: method<[other: Tensor]>('minimum'),

  eq: either('eq'),
  ne: either('ne'),
  lt: either('lt'),
  le: either('le'),
  gt: either('gt'),
  ge: either('ge'),
  /** Whether shape and elements are the same. */
  equal(this: TensorBase, other: Tensor): boolean {
    return equal.call(this, other) as boolean;
  },
  isclose: method<[other: Tensor, rtol?: number, atol?: number]>('isclose'),
  allclose(this: TensorBase, other: Tensor, rtol?: number, atol?: number): boolean {
    return allclose.call(this, other, rtol, atol) as boolean;
  },
  logicalAnd: method<[other: Tensor]>('logical_and'),
  logicalOr: method<[other: Tensor]>('logical_or'),
  logicalXor: method<[other: Tensor]>('logical_xor'),
  bitwiseAnd: either('bitwise_and'),
  bitwiseOr: either('bitwise_or'),
  bitwiseXor: either('bitwise_xor'),

  /** Limits to [min, max]; null leaves a side open. */
  clamp(this: TensorBase, min: number | Tensor | null, max: number | Tensor | null = null): Tensor {
    return clamp(min instanceof TensorBase ? min : max).tensor(this, min, max);
  },
  /** this + weight (end - this) */
  lerp: either<[end: Tensor, weight: Tensor | number]>('lerp', 1),
  /** this + value a b */
  addcmul: method<[a: Tensor, b: Tensor, value?: number]>('addcmul'),
  /** this + value a / b */
  addcdiv: method<[a: Tensor, b: Tensor, value?: number]>('addcdiv'),
  /** `value` where `mask` is true. */
  maskedFill: either<[mask: Tensor, value: Tensor | number]>('masked_fill', 1),
  nanToNum: method<[nan?: number]>('nan_to_num'),

  add_: either<[other: Operand, alpha?: number]>('add_'),
  sub_: either<[other: Operand, alpha?: number]>('sub_'),
  mul_: either('mul_'),
  div_: either('div_'),
  pow_: either<[exponent: Operand]>('pow_'),
  lerp_: either<[end: Tensor, weight: Tensor | number]>('lerp_', 1),
  clamp_: method<[min: number | null, max?: number | null]>('clamp_'),
  addcmul_: method<[a: Tensor, b: Tensor, value?: number]>('addcmul_'),
  addcdiv_: method<[a: Tensor, b: Tensor, value?: number]>('addcdiv_'),
  fill_: either<[value: Operand]>('fill_'),
  maskedFill_: either<[mask: Tensor, value: Tensor | number]>('masked_fill_', 1),
  /** Overwrites with the elements of `source`, broadcast and converted. */
  copy_: method<[source: Tensor, nonBlocking?: boolean]>('copy_'),
  indexAdd_: method<[dim: number, index: Tensor, source: Tensor, alpha?: number]>('index_add_'),
  indexCopy_: method<[dim: number, index: Tensor, source: Tensor]>('index_copy_'),
  /** Sets (or adds to) the elements that `index` picks; null takes a whole dimension. */
  indexPut_:
    method<[index: readonly (Tensor | null)[], values: Tensor, accumulate?: boolean]>('index_put_'),
  scatter_: either<[dim: number, index: Tensor, source: Tensor | number]>('scatter_', 2, [
    'src',
    'value',
  ]),
  scatterAdd_: method<[dim: number, index: Tensor, source: Tensor]>('scatter_add_'),

  uniform_: method<[low: number, high: number, ...Random]>('uniform_'),
  normal_: method<[mean: number, std: number, ...Random]>('normal_'),
  /** 1 with probability `p`, else 0. */
  bernoulli_: method<[p: number, ...Random]>('bernoulli_.float'),
  exponential_: method<[rate: number, ...Random]>('exponential_'),
  /** Whole numbers from `low` to `high - 1`. */
  randint_: method<[low: number, high: number, ...Random]>('random_.from', 'randint_'),
};
