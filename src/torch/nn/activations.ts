/**
 * Layers without weights: activations, dropout, and changes of shape, for use in `Sequential`.
 */
import * as F from '../functional.js';
import { requireProbability } from '../handle.js';
import type { Generator } from '../random.js';
import type { Tensor } from '../tensor.js';
import { requireGenerator } from './drawing.js';
import { Module } from './module.js';

export class Identity extends Module {
  forward(x: Tensor): Tensor {
    return x;
  }
}

export class ReLU extends Module {
  forward(x: Tensor): Tensor {
    return x.relu();
  }
}

export class LeakyReLU extends Module {
  constructor(readonly slope = 0.01) {
    super();
  }

  forward(x: Tensor): Tensor {
    return F.leakyRelu(x, this.slope);
  }
}

export class Sigmoid extends Module {
  forward(x: Tensor): Tensor {
    return x.sigmoid();
  }
}

export class Tanh extends Module {
  forward(x: Tensor): Tensor {
    return x.tanh();
  }
}

export class GELU extends Module {
  forward(x: Tensor): Tensor {
    return F.gelu(x);
  }
}

export class SiLU extends Module {
  forward(x: Tensor): Tensor {
    return x.silu();
  }
}

export class ELU extends Module {
  constructor(readonly alpha = 1) {
    super();
  }

  forward(x: Tensor): Tensor {
    return F.elu(x, this.alpha);
  }
}

export class Softplus extends Module {
  forward(x: Tensor): Tensor {
    return F.softplus(x);
  }
}

export class Softmax extends Module {
  constructor(readonly dim: number) {
    super();
  }

  forward(x: Tensor): Tensor {
    return F.softmax(x, this.dim);
  }
}

/** Input [N, ...], output [N, product of the rest] by default. */
export class Flatten extends Module {
  constructor(
    readonly startDim = 1,
    readonly endDim = -1,
  ) {
    super();
  }

  forward(x: Tensor): Tensor {
    return x.flatten(this.startDim, this.endDim);
  }
}

/** Input [..., product of sizes, ...], output [..., ...sizes, ...]. */
export class Unflatten extends Module {
  constructor(
    readonly dim: number,
    readonly sizes: readonly number[],
  ) {
    super();
  }

  forward(x: Tensor): Tensor {
    const axis = this.dim < 0 ? this.dim + x.shape.length : this.dim;
    return x.reshape([...x.shape.slice(0, axis), ...this.sizes, ...x.shape.slice(axis + 1)]);
  }
}

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
    return F.dropout(x, this.p, true, this.#generator);
  }
}
