/**
 * Layers without weights: a function of one tensor whose further arguments are given once, at construction.
 * For use in `Sequential`.
 */
import * as F from '../functional.js';
import { requireProbability } from '../handle.js';
import type { Generator } from '../random.js';
import type { Tensor } from '../tensor.js';
import { requireGenerator } from './drawing.js';
import { Module } from './module.js';
import type { Layer } from './sequential.js';

/** The class of layers that compute `compute(x, ...args)`. */
function layer<Args extends unknown[]>(
  compute: (x: Tensor, ...args: Args) => Tensor,
): new (...args: Args) => Layer {
  return class extends Module {
    readonly #args: Args;

    constructor(...args: Args) {
      super();
      this.#args = args;
    }

    forward(x: Tensor): Tensor {
      return compute(x, ...this.#args);
    }
  };
}

export const Identity = layer((x) => x);
export const ReLU = layer((x) => x.relu());
export const LeakyReLU = layer(F.leakyRelu);
export const Sigmoid = layer((x) => x.sigmoid());
export const Tanh = layer((x) => x.tanh());
export const GELU = layer(F.gelu);
export const SiLU = layer((x) => x.silu());
export const ELU = layer(F.elu);
export const Softplus = layer(F.softplus);
export const Softmax = layer(F.softmax);

export const MaxPool2d = layer(F.maxPool2d);
export const AvgPool2d = layer(F.avgPool2d);
export const AdaptiveAvgPool2d = layer(F.adaptiveAvgPool2d);

/** Input [N, ...], output [N, product of the rest] by default. */
export const Flatten = layer((x, startDim?: number, endDim?: number) =>
  x.flatten(startDim ?? 1, endDim),
);

/** Input [..., product of sizes, ...], output [..., ...sizes, ...]. */
export const Unflatten = layer((x, dim: number, sizes: readonly number[]) =>
  x.unflatten(dim, sizes),
);

/** In training, zeroes each value with probability `p` and scales the others up to keep the mean. */
export class Dropout extends Module {
  readonly #generator: Generator;

  constructor(
    readonly p: number,
    options: { readonly generator: Generator },
  ) {
    super();
    requireGenerator('Dropout', options);
    requireProbability('Dropout', p);
    this.#generator = options.generator;
  }

  forward(x: Tensor): Tensor {
    if (!this.training || this.p === 0) return x;
    return this.drop(x, this.#generator);
  }

  protected drop(x: Tensor, generator: Generator): Tensor {
    return F.dropout(x, this.p, true, generator);
  }
}

/** The same for whole maps: input [N, C, ...] loses channels, not single values. */
export class Dropout2d extends Dropout {
  protected override drop(x: Tensor, generator: Generator): Tensor {
    return F.dropout2d(x, this.p, true, generator);
  }
}
