/**
 * Why an operation's shapes do not fit, in one line: "matmul: [8, 3] x [4, 5]: 3 ≠ 4". Called only after
 * libtorch refused, so a good call pays nothing for it.
 */
import { productOf } from '../base/index.js';
import { Holder } from './handle.js';

type Shape = readonly number[];
type Explainer = (args: readonly unknown[]) => string | null;

/** The shape of a tensor; Tensor itself would be a cycle of imports. */
function shapeOf(value: unknown): Shape | null {
  return value instanceof Holder && !value.isFreed && 'shape' in value
    ? (value.shape as Shape)
    : null;
}

/** The shapes of those arguments that are tensors. */
const shapesAmong = (args: readonly unknown[]): Shape[] =>
  args.map(shapeOf).filter((shape) => shape !== null);

const text = (shape: Shape): string => `[${shape.join(', ')}]`;

const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');

/** " (shapes [2, 3], [4])", or nothing where no argument is a tensor. */
export function shapesOf(args: readonly unknown[]): string {
  const shapes = shapesAmong(args.flat());
  if (shapes.length === 0) return '';
  const shown = shapes.slice(0, 6).map(text).join(', ');
  return ` (shapes ${shown}${shapes.length > 6 ? ', …' : ''})`;
}

/** The two sizes that keep shapes from broadcasting, or null if they broadcast. */
function broadcastConflict(a: Shape, b: Shape): [number, number] | null {
  for (let i = 1; i <= Math.min(a.length, b.length); i++) {
    const [x, y] = [a[a.length - i], b[b.length - i]];
    if (x !== y && x !== 1 && y !== 1) return [x, y];
  }
  return null;
}

const explainBroadcast: Explainer = (args) => {
  const shapes = shapesAmong(args);
  for (let i = 1; i < shapes.length; i++) {
    const conflict = broadcastConflict(shapes[i - 1], shapes[i]);
    if (conflict === null) continue;
    const both = `${text(shapes[i - 1])} and ${text(shapes[i])}`;
    return `${both}: cannot broadcast ${conflict[0]} with ${conflict[1]}`;
  }
  return null;
};

/** For an operation of two tensors or more, the first two of which matter. */
const ofTwo =
  (explain: (a: Shape, b: Shape, args: readonly unknown[]) => string | null): Explainer =>
  (args) => {
    const [a, b] = args.slice(0, 2).map(shapeOf);
    return a && b ? explain(a, b, args) : null;
  };

const explainMatmul = ofTwo((a, b) => {
  const both = `${text(a)} x ${text(b)}`;
  if (a.length === 0 || b.length === 0) return `${both}: a scalar has no product`;
  const [inner, outer] = [a[a.length - 1], b[Math.max(0, b.length - 2)]];
  if (inner !== outer) return `${both}: ${inner} ≠ ${outer}`;
  const conflict = broadcastConflict(a.slice(0, -2), b.slice(0, -2));
  return conflict ? `${both}: batches ${conflict[0]} ≠ ${conflict[1]}` : null;
});

const explainBmm = ofTwo((a, b) => {
  const both = `${text(a)} x ${text(b)}`;
  if (a.length !== 3 || b.length !== 3) return `${both}: both must have 3 dimensions`;
  if (a[0] !== b[0]) return `${both}: batches ${a[0]} ≠ ${b[0]}`;
  return a[2] === b[1] ? null : `${both}: ${a[2]} ≠ ${b[1]}`;
});

/** A bias [out] beside a weight [out, ...]. */
function explainBias(weight: Shape, bias: Shape | null): string | null {
  if (bias === null || (bias.length === 1 && bias[0] === weight[0])) return null;
  return `weight ${text(weight)}, bias ${text(bias)}: ${weight[0]} ≠ ${bias[0]}`;
}

/** linear(input [..., in], weight [out, in], bias [out]) */
const explainLinear = ofTwo((input, weight, [, , bias]) => {
  const [given, features] = [input[input.length - 1], weight[weight.length - 1]];
  if (given === features) return explainBias(weight, shapeOf(bias));
  return `input ${text(input)}, weight ${text(weight)}: ${given} ≠ ${features}`;
});

/** conv2d(input [N, in, H, W], weight [out, in / groups, h, w], bias, stride, padding, dilation, groups) */
const explainConv2d = ofTwo((input, weight, args) => {
  const both = `input ${text(input)}, weight ${text(weight)}`;
  if (weight.length !== 4) return `${both}: the weight must have 4 dimensions`;
  if (input.length !== 4 && input.length !== 3) return `${both}: the input must have 4 dimensions`;
  const groups = typeof args[6] === 'number' ? args[6] : 1;
  const channels = input[input.length - 3];
  if (channels === weight[1] * groups) return explainBias(weight, shapeOf(args[2]));
  const expected = groups === 1 ? `${weight[1]}` : `${weight[1]} x ${groups} groups`;
  return `${both}: ${channels} channels ≠ ${expected}`;
});

/** For a list of tensors: what is wrong with one beside the first. */
const ofList =
  (explain: (first: Shape, other: Shape, dim: number) => string | null): Explainer =>
  ([tensors, dim]) => {
    if (!Array.isArray(tensors)) return null;
    const [first, ...others] = shapesAmong(tensors);
    if (first === undefined) return 'there are no tensors';
    const along = typeof dim === 'number' ? dim : 0;
    const axis = along < 0 ? along + first.length : along;
    for (const other of others) {
      const reason = explain(first, other, axis);
      if (reason !== null) return `${text(first)} and ${text(other)}: ${reason}`;
    }
    return null;
  };

/** The shapes must agree everywhere except in `dim`. */
const explainCat = ofList((first, other, dim) => {
  if (other.length !== first.length) return `${first.length} ≠ ${other.length} dimensions`;
  const i = first.findIndex((size, d) => d !== dim && size !== other[d]);
  return i < 0 ? null : `${first[i]} ≠ ${other[i]} in dimension ${i}`;
});

const explainReshape: Explainer = ([tensor, target]) => {
  const shape = shapeOf(tensor);
  if (!shape || !isShape(target)) return null;
  const both = `${text(shape)} to ${text(target)}`;
  const known = target.filter((size) => size !== -1);
  if (target.length - known.length > 1) return `${both}: only one size can be -1`;
  if (known.some((size) => size < -1)) return `${both}: a size is negative`;
  const [count, rest] = [productOf(shape), productOf(known)];
  const fits = target.includes(-1) ? rest > 0 && count % rest === 0 : count === rest;
  return fits ? null : `${both}: ${count} elements do not fit`;
};

const BROADCASTING = new Set(
  (
    'add sub mul div pow fmod remainder maximum minimum atan2 where lerp addcmul addcdiv copy_ eq ne lt le ' +
    'gt ge logicalAnd logicalOr logicalXor bitwiseAnd bitwiseOr maskedFill mseLoss'
  ).split(' '),
);

const EXPLAINERS: Readonly<Record<string, Explainer>> = {
  matmul: explainMatmul,
  mm: explainMatmul,
  bmm: explainBmm,
  baddbmm: (args) => explainBmm(args.slice(1)),
  batchedLinear: explainBmm,
  linear: explainLinear,
  conv2d: explainConv2d,
  cat: explainCat,
  stack: ofList((first, other) => (text(first) === text(other) ? null : 'shapes differ')),
  reshape: explainReshape,
  view: explainReshape,
};

/** One line on the shapes of a failed call, or null where they are not the reason (or not known here). */
export function explain(op: string, args: readonly unknown[]): string | null {
  const base = op.endsWith('_') && op !== 'copy_' ? op.slice(0, -1) : op;
  if (EXPLAINERS[base]) return EXPLAINERS[base](args);
  return BROADCASTING.has(base) ? explainBroadcast(args) : null;
}
