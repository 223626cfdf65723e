/** Operations that change their tensor and return it. Random ones take an explicit generator. */
import { operator } from './dispatch.js';
import { Binary, PointwiseTensor } from './pointwise.js';
import type { Operand } from './pointwise.js';
import type { Generator } from './random.js';
import type { Tensor } from './tensor.js';

const add_ = new Binary('add_');
const sub_ = new Binary('sub_');
const mul_ = new Binary('mul_');
const div_ = new Binary('div_');
const pow_ = new Binary('pow_');
const lerp_ = new Binary('lerp_');
const maskedFill_ = new Binary('masked_fill_');
const fill_ = new Binary('fill_');
const clamp_ = operator('clamp_');
const addcmul_ = operator('addcmul_');
const addcdiv_ = operator('addcdiv_');
const copy_ = operator('copy_');
const uniform_ = operator('uniform_');
const normal_ = operator('normal_');
const bernoulli_ = operator('bernoulli_', 'float');
const exponential_ = operator('exponential_');
const random_ = operator('random_', 'from');
const indexAdd_ = operator('index_add_');
const indexCopy_ = operator('index_copy_');
const indexPut_ = operator('index_put_');
const scatter_ = new Binary('scatter_', 'src', 'value');
const scatterAdd_ = operator('scatter_add_');

export class InPlaceTensor extends PointwiseTensor {
  add_(other: Operand, alpha = 1): this {
    add_.run(this, other, alpha);
    return this;
  }
  sub_(other: Operand, alpha = 1): this {
    sub_.run(this, other, alpha);
    return this;
  }
  mul_(other: Operand): this {
    mul_.run(this, other);
    return this;
  }
  div_(other: Operand): this {
    div_.run(this, other);
    return this;
  }
  pow_(exponent: Operand): this {
    pow_.run(this, exponent);
    return this;
  }
  lerp_(end: Tensor, weight: Tensor | number): this {
    lerp_.by(weight).tensor(this, end, weight);
    return this;
  }
  clamp_(min: number | null, max: number | null = null): this {
    clamp_.tensor(this, min, max);
    return this;
  }
  addcmul_(a: Tensor, b: Tensor, value = 1): this {
    addcmul_.tensor(this, a, b, value);
    return this;
  }
  addcdiv_(a: Tensor, b: Tensor, value = 1): this {
    addcdiv_.tensor(this, a, b, value);
    return this;
  }
  fill_(value: Operand): this {
    fill_.run(this, value);
    return this;
  }
  maskedFill_(mask: Tensor, value: Tensor | number): this {
    maskedFill_.by(value).tensor(this, mask, value);
    return this;
  }
  /** Overwrites with the elements of `source`, broadcast and converted. */
  copy_(source: Tensor, nonBlocking = false): this {
    copy_.tensor(this, source, nonBlocking);
    return this;
  }

  indexAdd_(dim: number, index: Tensor, source: Tensor, alpha = 1): this {
    indexAdd_.tensor(this, dim, index, source, alpha);
    return this;
  }
  indexCopy_(dim: number, index: Tensor, source: Tensor): this {
    indexCopy_.tensor(this, dim, index, source);
    return this;
  }
  /** Sets (or adds to) the elements that `index` picks; null takes a whole dimension. */
  indexPut_(index: readonly (Tensor | null)[], values: Tensor, accumulate = false): this {
    indexPut_.tensor(this, index, values, accumulate);
    return this;
  }
  scatter_(dim: number, index: Tensor, source: Tensor | number): this {
    scatter_.by(source).tensor(this, dim, index, source);
    return this;
  }
  scatterAdd_(dim: number, index: Tensor, source: Tensor): this {
    scatterAdd_.tensor(this, dim, index, source);
    return this;
  }

  uniform_(low: number, high: number, generator: Generator | null = null): this {
    uniform_.tensor(this, low, high, generator);
    return this;
  }
  normal_(mean: number, std: number, generator: Generator | null = null): this {
    normal_.tensor(this, mean, std, generator);
    return this;
  }
  /** 1 with probability `p`, else 0. */
  bernoulli_(p: number, generator: Generator | null = null): this {
    bernoulli_.tensor(this, p, generator);
    return this;
  }
  exponential_(rate: number, generator: Generator | null = null): this {
    exponential_.tensor(this, rate, generator);
    return this;
  }
  /** Whole numbers from `low` to `high - 1`. */
  randint_(low: number, high: number, generator: Generator | null = null): this {
    random_.tensor(this, low, high, generator);
    return this;
  }
}
