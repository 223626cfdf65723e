/**
 * Every operator of operators.json by our own functions: positional arguments and named options of
 * a case, to the tensors that result. The other side of this table is OPERATORS in make_golden.py.
 */
import * as torch from '../../../src/torch/index.js';
import type { Device, DType, Tensor } from '../../../src/torch/index.js';

/** An argument of a case once its tensors are made. */
export type Argument = Tensor | number | string | null | Argument[];

/** Named options of a case. */
export type Options = Readonly<Record<string, unknown>>;

/** Where new tensors are made. */
interface Place {
  readonly device: Device;
  readonly dtype: DType;
}

type Adapter = (args: Argument[], options: Options, place: Place) => Tensor | Tensor[];

const t = (value: Argument): Tensor => value as Tensor;
const n = (value: Argument): number => value as number;
const list = (value: Argument): number[] => value as number[];
const tensors = (value: Argument): Tensor[] => value as Tensor[];
const operand = (value: Argument): Tensor | number => value as Tensor | number;
const optional = (value: Argument | undefined): Tensor | null => (value ?? null) as Tensor | null;
const cpu = (seed: Argument): torch.Generator => new torch.Generator('cpu', n(seed));

/** A method without arguments. */
function unary(method: (x: Tensor) => Tensor): Adapter {
  return ([x]) => method(t(x));
}

/** A method of another tensor or number. */
function binary(method: (x: Tensor, y: Tensor | number) => Tensor): Adapter {
  return ([x, y]) => method(t(x), operand(y));
}

/** A method of another tensor. */
function pairwise(method: (x: Tensor, y: Tensor) => Tensor): Adapter {
  return ([x, y]) => method(t(x), t(y));
}

/** A reduction over `dim`. */
function reduction<D>(
  method: (x: Tensor, dim: D | undefined, keepdim: boolean) => Tensor,
): Adapter {
  return ([x], { dim, keepdim }) => method(t(x), dim as D | undefined, keepdim === true);
}

const creation: Record<string, Adapter> = {
  zeros: ([shape], _, place) => torch.zeros(list(shape), place),
  ones: ([shape], _, place) => torch.ones(list(shape), place),
  full: ([shape, value], _, place) => torch.full(list(shape), n(value), place),
  arange: ([start, end, step], _, place) => torch.arange(n(start), n(end), n(step), place),
  linspace: ([start, end, steps], _, place) => torch.linspace(n(start), n(end), n(steps), place),
  eye: ([size], _, place) => torch.eye(n(size), n(size), place),
  zerosLike: ([x]) => torch.zerosLike(t(x)),
  onesLike: ([x]) => torch.onesLike(t(x)),
  rand: ([shape, seed], _, place) => torch.rand(list(shape), { ...place, generator: cpu(seed) }),
  randn: ([shape, seed], _, place) => torch.randn(list(shape), { ...place, generator: cpu(seed) }),
  randint: ([low, high, shape, seed]) =>
    torch.randint(n(low), n(high), list(shape), { generator: cpu(seed) }),
  randperm: ([count, seed]) => torch.randperm(n(count), { generator: cpu(seed) }),
  bernoulli: ([p, seed]) => torch.bernoulli(t(p), cpu(seed)),
};

const pointwise: Record<string, Adapter> = {
  exp: unary((x) => x.exp()),
  sin: unary((x) => x.sin()),
  cos: unary((x) => x.cos()),
  tanh: unary((x) => x.tanh()),
  sigmoid: unary((x) => x.sigmoid()),
  erf: unary((x) => x.erf()),
  square: unary((x) => x.square()),
  neg: unary((x) => x.neg()),
  expm1: unary((x) => x.expm1()),
  log: unary((x) => x.log()),
  log2: unary((x) => x.log2()),
  log1p: unary((x) => x.log1p()),
  sqrt: unary((x) => x.sqrt()),
  rsqrt: unary((x) => x.rsqrt()),
  reciprocal: unary((x) => x.reciprocal()),
  abs: unary((x) => x.abs()),
  sign: unary((x) => x.sign()),
  relu: unary((x) => x.relu()),
  floor: unary((x) => x.floor()),
  ceil: unary((x) => x.ceil()),
  round: unary((x) => x.round()),
  trunc: unary((x) => x.trunc()),
  logSigmoid: unary((x) => x.logSigmoid()),
  silu: unary((x) => x.silu()),
  gelu: unary((x) => torch.gelu(x)),
  elu: unary((x) => torch.elu(x)),
  softplus: ([x, beta, threshold]) =>
    torch.softplus(t(x), beta as number | undefined, threshold as number | undefined),
  leakyRelu: ([x, slope]) => torch.leakyRelu(t(x), slope as number | undefined),
  add: binary((x, y) => x.add(y)),
  sub: binary((x, y) => x.sub(y)),
  mul: binary((x, y) => x.mul(y)),
  div: binary((x, y) => x.div(y)),
  pow: binary((x, y) => x.pow(y)),
  maximum: pairwise((x, y) => x.maximum(y)),
  minimum: pairwise((x, y) => x.minimum(y)),
  eq: binary((x, y) => x.eq(y)),
  ne: binary((x, y) => x.ne(y)),
  lt: binary((x, y) => x.lt(y)),
  le: binary((x, y) => x.le(y)),
  gt: binary((x, y) => x.gt(y)),
  ge: binary((x, y) => x.ge(y)),
  logicalAnd: pairwise((x, y) => x.logicalAnd(y)),
  logicalOr: pairwise((x, y) => x.logicalOr(y)),
  logicalNot: unary((x) => x.logicalNot()),
  isfinite: unary((x) => x.isfinite()),
  isnan: unary((x) => x.isnan()),
  where: ([mask, x, y]) => torch.where(t(mask), t(x), t(y)),
  clamp: ([x, low, high]) => t(x).clamp(low as number | null, high as number | null),
  lerp: ([x, end, weight]) => t(x).lerp(t(end), n(weight)),
  maskedFill: ([x, mask, value]) => t(x).maskedFill(t(mask), n(value)),
};

/** Values and indices of min, max, sort and topk in PyTorch's order. */
function both({ values, indices }: torch.ValuesAndIndices): Tensor[] {
  return [values, indices];
}

const reductions: Record<string, Adapter> = {
  sum: reduction<number[]>((x, dim, keepdim) => x.sum(dim, keepdim)),
  mean: reduction<number[]>((x, dim, keepdim) => x.mean(dim, keepdim)),
  prod: reduction<number>((x, dim, keepdim) => x.prod(dim, keepdim)),
  var: ([x], { dim, ...rest }) => t(x).var(dim as number[], rest),
  std: ([x], { dim, ...rest }) => t(x).std(dim as number[], rest),
  min: ([x], { dim, keepdim }) =>
    dim === undefined ? t(x).min() : both(t(x).min(dim as number, keepdim === true)),
  max: ([x], { dim, keepdim }) =>
    dim === undefined ? t(x).max() : both(t(x).max(dim as number, keepdim === true)),
  amin: reduction<number[]>((x, dim, keepdim) => x.amin(dim, keepdim)),
  amax: reduction<number[]>((x, dim, keepdim) => x.amax(dim, keepdim)),
  argmin: reduction<number>((x, dim, keepdim) => x.argmin(dim, keepdim)),
  argmax: reduction<number>((x, dim, keepdim) => x.argmax(dim, keepdim)),
  any: reduction<number>((x, dim, keepdim) => x.any(dim, keepdim)),
  all: reduction<number>((x, dim, keepdim) => x.all(dim, keepdim)),
  logsumexp: reduction<number[]>((x, dim, keepdim) => x.logsumexp(dim ?? [], keepdim)),
  norm: reduction<number[]>((x, dim, keepdim) => x.norm(2, dim, keepdim)),
  cumsum: ([x], { dim }) => t(x).cumsum(dim as number),
  cumprod: ([x], { dim }) => t(x).cumprod(dim as number),
  sort: ([x], { dim, descending }) => both(t(x).sort(dim as number, descending === true)),
  argsort: ([x], { dim, descending }) => t(x).argsort(dim as number, descending === true),
  topk: ([x, k], { dim, largest }) => both(t(x).topk(n(k), dim as number, largest !== false)),
};

const shapes: Record<string, Adapter> = {
  reshape: ([x, shape]) => t(x).reshape(list(shape)),
  view: ([x, shape]) => t(x).view(list(shape)),
  permute: ([x, dims]) => t(x).permute(list(dims)),
  transpose: ([x, a, b]) => t(x).transpose(n(a), n(b)),
  expand: ([x, shape]) => t(x).expand(list(shape)),
  cat: ([parts, dim]) => torch.cat(tensors(parts), n(dim)),
  stack: ([parts, dim]) => torch.stack(tensors(parts), n(dim)),
  split: ([x, sizes, dim]) => t(x).split(sizes as number | number[], n(dim)),
  chunk: ([x, chunks, dim]) => t(x).chunk(n(chunks), n(dim)),
  narrow: ([x, dim, start, length]) => t(x).narrow(n(dim), n(start), n(length)),
  slice: ([x, dim, start, end, step]) => t(x).slice(n(dim), n(start), n(end), n(step)),
  select: ([x, dim, place]) => t(x).select(n(dim), n(place)),
  squeeze: ([x, dim]) => t(x).squeeze(n(dim)),
  unsqueeze: ([x, dim]) => t(x).unsqueeze(n(dim)),
  flatten: ([x, start, end]) => t(x).flatten(n(start), n(end)),
  repeat: ([x, counts]) => t(x).repeat(list(counts)),
  unbind: ([x, dim]) => t(x).unbind(n(dim)),
  gather: ([x, dim, index]) => t(x).gather(n(dim), t(index)),
  scatter: ([x, dim, index, source]) => t(x).scatter(n(dim), t(index), t(source)),
  scatterAdd: ([x, dim, index, source]) => t(x).scatterAdd(n(dim), t(index), t(source)),
  indexSelect: ([x, dim, index]) => t(x).indexSelect(n(dim), t(index)),
  indexAdd: ([x, dim, index, source]) => t(x).indexAdd(n(dim), t(index), t(source)),
  oneHot: ([x, classes]) => torch.oneHot(t(x), n(classes)),
  pad: ([x, sizes], options) => torch.pad(t(x), list(sizes), options),
  flip: ([x, dims]) => t(x).flip(list(dims)),
  roll: ([x, shifts, dims]) => t(x).roll(list(shifts), list(dims)),
  tril: ([x, offset]) => t(x).tril(n(offset)),
  triu: ([x, offset]) => t(x).triu(n(offset)),
  diagonal: ([x]) => t(x).diagonal(),
};

/** libtorch reads one triangle only; moving one element must move its mirror image too. */
function symmetric(x: Tensor): Tensor {
  return x.add(x.transpose(-1, -2)).div(2);
}

const linear: Record<string, Adapter> = {
  matmul: pairwise((x, y) => x.matmul(y)),
  bmm: pairwise((x, y) => x.bmm(y)),
  addmm: ([input, a, b], options) => torch.addmm(t(input), t(a), t(b), options),
  baddbmm: ([input, a, b], options) => torch.baddbmm(t(input), t(a), t(b), options),
  einsum: ([equation, parts]) => torch.einsum(equation as string, tensors(parts)),
  cholesky: unary((x) => symmetric(x).cholesky()),
  logdet: unary((x) => x.logdet()),
  inverse: unary((x) => x.inverse()),
  det: unary((x) => x.det()),
  solve: pairwise((x, y) => x.solve(y)),
  // Eigenvalues and a function of the matrix: neither depends on the sign of an eigenvector.
  svd: ([x]) => {
    const { s, vh } = t(x).svd();
    const exponentials = s.div(4).exp().unsqueeze(-1); // [..., K, 1], one for each row of vh
    return [s, vh.transpose(-1, -2).matmul(exponentials.mul(vh))];
  },
  qr: ([x]) => {
    const { q, r } = t(x).qr();
    return [q.matmul(r), r.abs()];
  },
  unique: ([x]) => {
    const { values, inverse, counts } = t(x).unique();
    return [values, inverse, counts];
  },
  quantile: ([x, q, dim]) => t(x).quantile(n(q), dim === undefined ? undefined : n(dim)),
  groupNorm: ([x, groups, weight, bias]) =>
    torch.groupNorm(t(x), n(groups), optional(weight), optional(bias)),
  unfold2d: ([x, kernel], options) => torch.unfold2d(t(x), n(kernel), options),
  bitwiseAnd: binary((x, y) => x.bitwiseAnd(y)),
  bitwiseOr: binary((x, y) => x.bitwiseOr(y)),
  bitwiseXor: binary((x, y) => x.bitwiseXor(y)),
  bitwiseNot: unary((x) => x.bitwiseNot()),
  eigh: ([x]) => {
    const { values, vectors } = symmetric(t(x)).eigh();
    const scaled = vectors.mul(values.div(4).exp().unsqueeze(-2));
    return [values, scaled.matmul(vectors.transpose(-1, -2))];
  },
};

const networks: Record<string, Adapter> = {
  linear: ([x, weight, bias]) => torch.linear(t(x), t(weight), optional(bias)),
  conv2d: ([x, weight, bias], options) => torch.conv2d(t(x), t(weight), optional(bias), options),
  convTranspose2d: ([x, weight, bias], options) =>
    torch.convTranspose2d(t(x), t(weight), optional(bias), options),
  batchNorm: ([x, mean, variance, weight, bias], options) =>
    torch.batchNorm(
      t(x),
      optional(mean),
      optional(variance),
      optional(weight),
      optional(bias),
      options,
    ),
  layerNorm: ([x, shape, weight, bias], { eps }) =>
    torch.layerNorm(t(x), list(shape), optional(weight), optional(bias), eps as number | undefined),
  maxPool2d: ([x, size], options) => torch.maxPool2d(t(x), n(size), options),
  avgPool2d: ([x, size], options) => torch.avgPool2d(t(x), n(size), options),
  adaptiveAvgPool2d: ([x, size]) => torch.adaptiveAvgPool2d(t(x), list(size) as [number, number]),
  interpolate: ([x], options) => torch.interpolate(t(x), options),
  embedding: ([indices, weight]) => torch.embedding(t(indices), t(weight)),
  dropoutOff: ([x]) => torch.dropout(t(x), 0.5, false),
  attention: ([query, key, value, mask]) =>
    torch.attention(t(query), t(key), t(value), optional(mask)),
  softmax: ([x, dim]) => torch.softmax(t(x), n(dim)),
  logSoftmax: ([x, dim]) => torch.logSoftmax(t(x), n(dim)),
  crossEntropy: ([x, target], options) => torch.crossEntropy(t(x), t(target), options),
  nllLoss: ([x, target], options) => torch.nllLoss(t(x), t(target), options),
  bce: ([x, target], options) => torch.bce(t(x), t(target), options),
  bceWithLogits: ([x, target], options) => torch.bceWithLogits(t(x), t(target), options),
  mse: ([x, target], options) => torch.mse(t(x), t(target), options),
  l1: ([x, target], options) => torch.l1(t(x), t(target), options),
  smoothL1: ([x, target], options) => torch.smoothL1(t(x), t(target), options),
};

/** Every operator by the name it has in operators.json. */
export const adapters: Readonly<Record<string, Adapter>> = {
  ...creation,
  ...pointwise,
  ...reductions,
  ...shapes,
  ...linear,
  ...networks,
};
