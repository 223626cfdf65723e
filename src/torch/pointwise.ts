/**
 * Operations element by element, with broadcasting. Those of one tensor are one table (UNARY, IN_PLACE);
 * those of two take a tensor or a number on the right.
 */
import { operator } from './dispatch.js';
import type { Operator } from './dispatch.js';
import type { TensorHandle } from './native.js';
import { TensorBase } from './tensor-base.js';
import type { Tensor } from './tensor.js';

/** The right-hand side of an operation of two. */
export type Operand = Tensor | number | bigint | boolean;

/** Operations of one tensor, by TypeScript's name and ATen's where they differ. */
const UNARY = {
  abs: 'abs',
  acos: 'acos',
  asin: 'asin',
  atan: 'atan',
  bitwiseNot: 'bitwise_not',
  ceil: 'ceil',
  cos: 'cos',
  cosh: 'cosh',
  digamma: 'digamma',
  erf: 'erf',
  erfc: 'erfc',
  erfinv: 'erfinv',
  exp: 'exp',
  exp2: 'exp2',
  expm1: 'expm1',
  floor: 'floor',
  frac: 'frac',
  isfinite: 'isfinite',
  isinf: 'isinf',
  isnan: 'isnan',
  lgamma: 'lgamma',
  log: 'log',
  log10: 'log10',
  log1p: 'log1p',
  log2: 'log2',
  logSigmoid: 'log_sigmoid',
  logicalNot: 'logical_not',
  neg: 'neg',
  reciprocal: 'reciprocal',
  relu: 'relu',
  round: 'round',
  rsqrt: 'rsqrt',
  sigmoid: 'sigmoid',
  sign: 'sign',
  silu: 'silu',
  sin: 'sin',
  sinh: 'sinh',
  sqrt: 'sqrt',
  square: 'square',
  tan: 'tan',
  tanh: 'tanh',
  trunc: 'trunc',
} as const;

/** The same in place. */
const IN_PLACE = {
  abs_: 'abs_',
  ceil_: 'ceil_',
  exp_: 'exp_',
  floor_: 'floor_',
  log_: 'log_',
  neg_: 'neg_',
  reciprocal_: 'reciprocal_',
  relu_: 'relu_',
  round_: 'round_',
  rsqrt_: 'rsqrt_',
  sigmoid_: 'sigmoid_',
  sqrt_: 'sqrt_',
  square_: 'square_',
  tanh_: 'tanh_',
  zero_: 'zero_',
} as const;

type UnaryMethods = Record<keyof typeof UNARY | keyof typeof IN_PLACE, () => Tensor>;

/** TensorBase with a method for each entry of the tables. */
function withUnary(): new (handle: TensorHandle) => TensorBase & UnaryMethods {
  class UnaryTensor extends TensorBase {}
  for (const [method, name] of Object.entries({ ...UNARY, ...IN_PLACE })) {
    const op = operator(name, '', method);
    Object.defineProperty(UnaryTensor.prototype, method, {
      value: function (this: TensorBase): Tensor {
        return op.tensor(this);
      },
      writable: true,
      configurable: true,
    });
  }
  return UnaryTensor as unknown as new (handle: TensorHandle) => TensorBase & UnaryMethods;
}

/** An operation with one overload for a tensor and one for a number as its last operand. */
export class Binary {
  readonly #tensor: Operator;
  readonly #scalar: Operator;

  constructor(name: string, tensor = 'Tensor', scalar = 'Scalar') {
    this.#tensor = operator(name, tensor);
    this.#scalar = operator(name, scalar);
  }

  /** `self` and the operand that decides, then further arguments. */
  run(self: TensorBase, other: unknown, ...rest: unknown[]): Tensor {
    return this.by(other).tensor(self, other, ...rest);
  }

  /** The overload for an operand of that kind. */
  by(operand: unknown): Operator {
    return operand instanceof TensorBase ? this.#tensor : this.#scalar;
  }
}

const add = new Binary('add');
const sub = new Binary('sub');
const rsub = new Binary('rsub');
const mul = new Binary('mul');
const div = new Binary('div');
const divMode = new Binary('div', 'Tensor_mode', 'Scalar_mode');
const pow = new Binary('pow', 'Tensor_Tensor', 'Tensor_Scalar');
const fmod = new Binary('fmod');
const remainder = new Binary('remainder');
const eq = new Binary('eq');
const ne = new Binary('ne');
const lt = new Binary('lt');
const le = new Binary('le');
const gt = new Binary('gt');
const ge = new Binary('ge');
const bitwiseAnd = new Binary('bitwise_and');
const bitwiseOr = new Binary('bitwise_or');
const bitwiseXor = new Binary('bitwise_xor');
const lerp = new Binary('lerp');
const maskedFill = new Binary('masked_fill');
const maximum = operator('maximum');
const minimum = operator('minimum');
const atan2 = operator('atan2');
const logicalAnd = operator('logical_and');
const logicalOr = operator('logical_or');
const logicalXor = operator('logical_xor');
const clamp = operator('clamp');
const clampTensor = operator('clamp', 'Tensor');
const addcmul = operator('addcmul');
const addcdiv = operator('addcdiv');
const nanToNum = operator('nan_to_num');
const isclose = operator('isclose');
const allclose = operator('allclose');
const equal = operator('equal');

export type RoundingMode = 'trunc' | 'floor';

export class PointwiseTensor extends withUnary() {
  /** this + alpha other */
  add(other: Operand, alpha = 1): Tensor {
    return add.run(this, other, alpha);
  }
  /** this - alpha other */
  sub(other: Operand, alpha = 1): Tensor {
    return sub.run(this, other, alpha);
  }
  /** other - this */
  rsub(other: Operand): Tensor {
    return rsub.run(this, other);
  }
  mul(other: Operand): Tensor {
    return mul.run(this, other);
  }
  div(other: Operand, roundingMode?: RoundingMode): Tensor {
    return roundingMode === undefined
      ? div.run(this, other)
      : divMode.run(this, other, roundingMode);
  }
  pow(exponent: Operand): Tensor {
    return pow.run(this, exponent);
  }
  /** Remainder with the sign of this. */
  fmod(other: Operand): Tensor {
    return fmod.run(this, other);
  }
  /** Remainder with the sign of `other`. */
  remainder(other: Operand): Tensor {
    return remainder.run(this, other);
  }
  atan2(other: Tensor): Tensor {
    return atan2.tensor(this, other);
  }
  maximum(other: Tensor): Tensor {
    return maximum.tensor(this, other);
  }
  minimum(other: Tensor): Tensor {
    return minimum.tensor(this, other);
  }

  eq(other: Operand): Tensor {
    return eq.run(this, other);
  }
  ne(other: Operand): Tensor {
    return ne.run(this, other);
  }
  lt(other: Operand): Tensor {
    return lt.run(this, other);
  }
  le(other: Operand): Tensor {
    return le.run(this, other);
  }
  gt(other: Operand): Tensor {
    return gt.run(this, other);
  }
  ge(other: Operand): Tensor {
    return ge.run(this, other);
  }
  /** Whether shape and elements are the same. */
  equal(other: Tensor): boolean {
    return equal.call(this, other) as boolean;
  }
  isclose(other: Tensor, rtol = 1e-5, atol = 1e-8): Tensor {
    return isclose.tensor(this, other, rtol, atol);
  }
  allclose(other: Tensor, rtol = 1e-5, atol = 1e-8): boolean {
    return allclose.call(this, other, rtol, atol) as boolean;
  }

  logicalAnd(other: Tensor): Tensor {
    return logicalAnd.tensor(this, other);
  }
  logicalOr(other: Tensor): Tensor {
    return logicalOr.tensor(this, other);
  }
  logicalXor(other: Tensor): Tensor {
    return logicalXor.tensor(this, other);
  }
  bitwiseAnd(other: Operand): Tensor {
    return bitwiseAnd.run(this, other);
  }
  bitwiseOr(other: Operand): Tensor {
    return bitwiseOr.run(this, other);
  }
  bitwiseXor(other: Operand): Tensor {
    return bitwiseXor.run(this, other);
  }

  /** Limits to [min, max]; null leaves a side open. */
  clamp(min: number | Tensor | null, max: number | Tensor | null = null): Tensor {
    const op = min instanceof TensorBase || max instanceof TensorBase ? clampTensor : clamp;
    return op.tensor(this, min, max);
  }
  /** this + weight (end - this) */
  lerp(end: Tensor, weight: Tensor | number): Tensor {
    return lerp.by(weight).tensor(this, end, weight);
  }
  /** this + value a b */
  addcmul(a: Tensor, b: Tensor, value = 1): Tensor {
    return addcmul.tensor(this, a, b, value);
  }
  /** this + value a / b */
  addcdiv(a: Tensor, b: Tensor, value = 1): Tensor {
    return addcdiv.tensor(this, a, b, value);
  }
  /** `value` where `mask` is true. */
  maskedFill(mask: Tensor, value: Tensor | number): Tensor {
    return maskedFill.by(value).tensor(this, mask, value);
  }
  nanToNum(nan = 0): Tensor {
    return nanToNum.tensor(this, nan);
  }
}
