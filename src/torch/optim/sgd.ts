/**
 * Stochastic gradient descent with momentum, after PyTorch.
 */
import type { Tensor } from '../tensor.js';
import type { Kernels } from './kernels.js';
import { checkAtLeast, descend, Optimizer } from './optimizer.js';
import type { Batch, OptimizerOptions, StepScalars } from './optimizer.js';
import { TorchError } from '../errors.js';

export interface SGDOptions extends OptimizerOptions {
  readonly momentum?: number;
  readonly dampening?: number;
  readonly weightDecay?: number;
  readonly nesterov?: boolean;
}

export class SGD extends Optimizer<'momentum_buffer'> {
  protected readonly stateNames: readonly 'momentum_buffer'[];
  readonly #momentum: number;
  readonly #dampening: number;
  readonly #weightDecay: number;
  readonly #nesterov: boolean;

  constructor(parameters: Iterable<Tensor>, options: SGDOptions) {
    super(parameters, options);
    const { momentum = 0, dampening = 0, weightDecay = 0, nesterov = false } = options;
    checkAtLeast('momentum', momentum, 0);
    checkAtLeast('weightDecay', weightDecay, 0);
    if (nesterov && (momentum === 0 || dampening !== 0)) {
      throw new TorchError('optimizer', 'nesterov needs a momentum and no dampening');
    }
    this.#momentum = momentum;
    this.#dampening = dampening;
    this.#weightDecay = weightDecay;
    this.#nesterov = nesterov;
    this.stateNames = momentum === 0 ? [] : ['momentum_buffer'];
  }

  protected update(k: Kernels, batch: Batch<'momentum_buffer'>, scalars: StepScalars): void {
    const { parameters, state } = batch;
    let direction = batch.gradients;
    if (this.#weightDecay !== 0) direction = k.add(direction, parameters, this.#weightDecay);
    if (this.#momentum !== 0) {
      const velocity = state.momentum_buffer;
      if (scalars.isFirst) {
        k.copyInPlace(velocity, direction);
      } else {
        k.scaleInPlace(velocity, this.#momentum);
        k.addInPlace(velocity, direction, 1 - this.#dampening);
      }
      direction = this.#nesterov ? k.add(direction, velocity, this.#momentum) : velocity;
    }
    descend(
      k,
      parameters,
      direction,
      scalars.factor((_, rate) => rate),
    );
  }
}
