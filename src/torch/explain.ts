/**
 * Why an operation's shapes do not fit, in one line: "matmul: [8, 3] x [4, 5]: 3 ≠ 4". Called only after
 * libtorch refused, so a good call pays nothing for it.
 */
import { Holder } from './handle.js';

type Shape = readonly number[];

/** A tensor as far as this file cares; Tensor itself would be a cycle of imports. */
interface Shaped {
  readonly shape: number[];
}

function isShaped(value: unknown): value is Shaped {
  return value instanceof Holder && !value.isFreed && 'shape' in value;
}

function shapeOf(value: unknown): Shape | null {
  return isShaped(value) ? value.shape : null;
}

const text = (shape: Shape): string => `[${shape.join(', ')}]`;

const isShape = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'number');

/** " (shapes [2, 3], [4])", or nothing where no argument is a tensor. */
export function shapesOf(args: readonly unknown[]): string {
  const shapes = args
    .flatMap((arg) => (Array.isArray(arg) ? (arg as unknown[]) : [arg]))
    .map(shapeOf)
    .filter((shape) => shape !== null);
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

function explainBroadcast(args: readonly unknown[]): string | null {
  const shapes = args.map(shapeOf).filter((shape) => shape !== null);
  for (let i = 1; i < shapes.length; i++) {
    const conflict = broadcastConflict(shapes[i - 1], shapes[i]);
    if (conflict) {
      const both = `${text(shapes[i - 1])} and ${text(shapes[i])}`;
      return `${both}: cannot broadcast ${conflict[0]} with ${conflict[1]}`;
    }
  }
  return null;
}

function explainMatmul([first, second]: readonly unknown[]): string | null {
  const [a, b] = [shapeOf(first), shapeOf(second)];
  if (!a || !b) return null;
  const both = `${text(a)} x ${text(b)}`;
  if (a.length === 0 || b.length === 0) return `${both}: a scalar has no product`;
  const [inner, outer] = [a[a.length - 1], b[Math.max(0, b.length - 2)]];
  if (inner !== outer) return `${both}: ${inner} ≠ ${outer}`;
  const conflict = broadcastConflict(a.slice(0, -2), b.slice(0, -2));
  return conflict ? `${both}: batches ${conflict[0]} ≠ ${conflict[1]}` : null;
}

function explainBmm(args: readonly unknown[]): string | null {
  const [a, b] = [shapeOf(args[0]), shapeOf(args[1])];
  if (!a || !b) return null;
  const both = `${text(a)} x ${text(b)}`;
  if (a.length !== 3 || b.length !== 3) return `${both}: both must have 3 dimensions`;
  if (a[0] !== b[0]) return `${both}: batches ${a[0]} ≠ ${b[0]}`;
  return a[2] === b[1] ? null : `${both}: ${a[2]} ≠ ${b[1]}`;
}

/** linear(input [..., in], weight [out, in], bias [out]) */
function explainLinear(args: readonly unknown[]): string | null {
  const [input, weight, bias] = args.map(shapeOf);
  if (!input || !weight) return null;
  const features = weight[weight.length - 1];
  const given = input[input.length - 1];
  if (given !== features)
    return `input ${text(input)}, weight ${text(weight)}: ${given} ≠ ${features}`;
  if (bias && bias[0] !== weight[0]) {
    return `weight ${text(weight)}, bias ${text(bias)}: ${weight[0]} ≠ ${bias[0]}`;
  }
  return null;
}

/** conv2d(input [N, in, H, W], weight [out, in / groups, h, w], bias, stride, padding, dilation, groups) */
function explainConv2d(args: readonly unknown[]): string | null {
  const [input, weight, bias] = args.map(shapeOf);
  if (!input || !weight) return null;
  const both = `input ${text(input)}, weight ${text(weight)}`;
  if (weight.length !== 4) return `${both}: the weight must have 4 dimensions`;
  if (input.length !== 4 && input.length !== 3) return `${both}: the input must have 4 dimensions`;
  const groups = typeof args[6] === 'number' ? args[6] : 1;
  const channels = input[input.length - 3];
  if (channels !== weight[1] * groups) {
    const product = groups === 1 ? `${weight[1]}` : `${weight[1]} x ${groups} groups`;
    return `${both}: ${channels} channels ≠ ${product}`;
  }
  if (bias && (bias.length !== 1 || bias[0] !== weight[0])) {
    return `weight ${text(weight)}, bias ${text(bias)}: ${weight[0]} ≠ ${bias[0]}`;
  }
  return null;
}

/** The shapes must agree everywhere except in `dim`. */
function explainCat([tensors, dim]: readonly unknown[]): string | null {
  if (!Array.isArray(tensors)) return null;
  if (tensors.length === 0) return 'there are no tensors';
  const shapes = (tensors as unknown[]).map(shapeOf).filter((shape) => shape !== null);
  const along = typeof dim === 'number' ? dim : 0;
  const first = shapes[0];
  for (const shape of shapes.slice(1)) {
    if (shape.length !== first.length) {
      return `${text(first)} and ${text(shape)}: ${first.length} ≠ ${shape.length} dimensions`;
    }
    const axis = along < 0 ? along + first.length : along;
    const i = first.findIndex((size, d) => d !== axis && size !== shape[d]);
    if (i >= 0)
      return `${text(first)} and ${text(shape)}: ${first[i]} ≠ ${shape[i]} in dimension ${i}`;
  }
  return null;
}

function explainStack([tensors]: readonly unknown[]): string | null {
  if (!Array.isArray(tensors)) return null;
  if (tensors.length === 0) return 'there are no tensors';
  const shapes = (tensors as unknown[]).map(shapeOf).filter((shape) => shape !== null);
  const other = shapes.find((shape) => text(shape) !== text(shapes[0]));
  return other ? `${text(shapes[0])} and ${text(other)}: shapes differ` : null;
}

function explainReshape([tensor, target]: readonly unknown[]): string | null {
  const shape = shapeOf(tensor);
  if (!shape || !isShape(target)) return null;
  const count = shape.reduce((product, size) => product * size, 1);
  const known = target.filter((size) => size !== -1).reduce((product, size) => product * size, 1);
  const both = `${text(shape)} to ${text(target)}`;
  if (target.filter((size) => size === -1).length > 1) return `${both}: only one size can be -1`;
  if (target.some((size) => size < -1)) return `${both}: a size is negative`;
  const fits = target.includes(-1) ? known > 0 && count % known === 0 : count === known;
  return fits ? null : `${both}: ${count} elements do not fit`;
}

const BROADCASTING = new Set(
  (
    'add sub mul div pow fmod remainder maximum minimum atan2 where lerp addcmul addcdiv copy_ eq ne lt le ' +
    'gt ge logicalAnd logicalOr logicalXor bitwiseAnd bitwiseOr maskedFill mseLoss'
  ).split(' '),
);

const EXPLAINERS: Readonly<Record<string, (args: readonly unknown[]) => string | null>> = {
  matmul: explainMatmul,
  mm: explainMatmul,
  bmm: explainBmm,
  baddbmm: (args) => explainBmm(args.slice(1)),
  batchedLinear: explainBmm,
  linear: explainLinear,
  conv2d: explainConv2d,
  cat: explainCat,
  stack: explainStack,
  reshape: explainReshape,
  view: explainReshape,
};

/** One line on the shapes of a failed call, or null where they are not the reason (or not known here). */
export function explain(op: string, args: readonly unknown[]): string | null {
  const base = op.endsWith('_') && op !== 'copy_' ? op.slice(0, -1) : op;
  if (EXPLAINERS[base]) return EXPLAINERS[base](args);
  return BROADCASTING.has(base) ? explainBroadcast(args) : null;
}
