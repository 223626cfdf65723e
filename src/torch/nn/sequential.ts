/**
 * Layers one after the other.
 */
import { scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import { Module } from './module.js';

/** A module from one tensor to one tensor. */
export interface Layer extends Module {
  forward(x: Tensor): Tensor;
}

/**
 * Applies its layers in turn; their state is named `0`, `1`, ... as in PyTorch. What passes between
 * the layers is freed at once, as far as the backward pass does not need it; a layer that wants to
 * hold on to it calls `keep`.
 */
export class Sequential extends Module implements Layer {
  readonly layers: readonly Layer[];

  constructor(...layers: Layer[]) {
    super();
    this.layers = layers;
  }

  override stateFields(): Iterable<[string, unknown]> {
    return this.layers.map((layer, index) => [String(index), layer]);
  }

  forward(x: Tensor): Tensor {
    return scope(() => this.layers.reduce((value, layer) => layer.forward(value), x));
  }
}
