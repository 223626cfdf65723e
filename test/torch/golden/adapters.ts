/**
 * Every operator of operators.json by our own functions: positional arguments and named options of
 * a case, to the tensors that result. The other side of this table is OPERATORS in make_golden.py. Most
 * operators are methods or functions of the same name and the same arguments; the table has the others.
 */
import * as torch from '../../../src/torch/index.js';
import { Tensor } from '../../../src/torch/index.js';
import type { Device, DType } from '../../../src/torch/index.js';

/** An argument of a case once its tensors are made. */
export type Argument = Tensor | number | string | null | Argument[];

/** Named options of a case. */
export type Options = Readonly<Record<string, unknown>>;

/** Where new tensors are made. */
interface Place {
  readonly device: Device;
  readonly dtype: DType;
}

type Adapter = (args: Argument[], options: Options, place: Place) => unknown;
type Callable = (...args: unknown[]) => unknown;

const t = (value: Argument): Tensor => value as Tensor;
const cpu = (seed: Argument): torch.Generator => new torch.Generator('cpu', seed as number);

const functionNamed = (name: string): Callable => Reflect.get(torch, name) as Callable;
const isMethod = (name: string): boolean =>
  typeof Reflect.get(Tensor.prototype, name) === 'function';
const invoke = (x: Argument, name: string, args: readonly unknown[]): unknown =>
  Reflect.apply(Reflect.get(t(x), name) as Callable, x, args);

/** A method or function of that name, with the options behind the arguments. */
const byName =
  (name: string): Adapter =>
  (args, options) => {
    const all = [...args, ...(Object.keys(options).length > 0 ? [options] : [])];
    return isMethod(name)
      ? invoke(all[0] as Argument, name, all.slice(1))
      : functionNamed(name)(...all);
  };

/** Makes a tensor at a place, from random numbers if the last argument is a seed. */
const creation =
  (name: string): Adapter =>
  (args, _, place) =>
    functionNamed(name)(...args, place);
const random =
  (name: string, isPlaced: boolean): Adapter =>
  (args, _, place) =>
    functionNamed(name)(...args.slice(0, -1), {
      ...(isPlaced ? place : {}),
      generator: cpu(args[args.length - 1]),
    });

/** Named options of a case as positional arguments of a method. */
const positional =
  (name: string, ...names: string[]): Adapter =>
  (args, options) =>
    invoke(args[0], name, [...args.slice(1), ...names.map((option) => options[option])]);

/** A function whose options come in a fixed place, whether or not the arguments before are given. */
const optionsAt =
  (name: string, at: number): Adapter =>
  (args, options) =>
    functionNamed(name)(...Array.from({ length: at }, (_, i) => args[i] ?? null), options);

/** libtorch reads one triangle only; moving one element must move its mirror image too. */
const symmetric = (x: Argument): Tensor => t(x).add(t(x).transpose(-1, -2)).div(2);

const entries = (names: string, make: (name: string) => Adapter): Record<string, Adapter> =>
  Object.fromEntries(names.split(' ').map((name) => [name, make(name)]));

/** The operators that are called in a way of their own. */
export const special: Readonly<Record<string, Adapter>> = {
  ...entries('zeros ones full arange linspace', creation),
  eye: ([size], _, place) => torch.eye(size as number, size as number, place),
  ...entries('rand randn', (name) => random(name, true)),
  ...entries('randint randperm', (name) => random(name, false)),
  bernoulli: ([p, seed]) => torch.bernoulli(t(p), cpu(seed)),

  ...entries('sum mean prod min max amin amax argmin argmax any all', (name) =>
    positional(name, 'dim', 'keepdim'),
  ),
  ...entries('cumsum cumprod', (name) => positional(name, 'dim')),
  ...entries('sort argsort', (name) => positional(name, 'dim', 'descending')),
  topk: positional('topk', 'dim', 'largest'),
  logsumexp: ([x], { dim = [], keepdim }) => invoke(x, 'logsumexp', [dim, keepdim]),
  norm: ([x], { dim, keepdim }) => invoke(x, 'norm', [2, dim, keepdim]),
  ...entries(
    'var std',
    (name) =>
      ([x], { dim, ...rest }) =>
        invoke(x, name, [dim, rest]),
  ),

  cholesky: ([x]) => symmetric(x).cholesky(),
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
  eigh: ([x]) => {
    const { values, vectors } = symmetric(x).eigh();
    const scaled = vectors.mul(values.div(4).exp().unsqueeze(-2));
    return [values, scaled.matmul(vectors.transpose(-1, -2))];
  },

  conv2d: optionsAt('conv2d', 3),
  convTranspose2d: optionsAt('convTranspose2d', 3),
  batchNorm: optionsAt('batchNorm', 5),
  layerNorm: ([x, shape, weight = null, bias = null], { eps }) =>
    functionNamed('layerNorm')(x, shape, weight, bias, eps),
  dropoutOff: ([x]) => torch.dropout(t(x), 0.5, false),
};

/** The tensors that an operator gives for a case. */
export function applied(op: string, args: Argument[], options: Options, place: Place): Tensor[] {
  const result = (special[op] ?? byName(op))(args, options, place);
  if (result instanceof Tensor) return [result];
  return Object.values(result as Record<string, Tensor>);
}
