/**
 * Stochastic gradient descent with momentum, after PyTorch.
 */
import { withDefaults } from '../handle.js';
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

type Settings = Required<Omit<SGDOptions, keyof OptimizerOptions>>;
const DEFAULTS = { momentum: 0, dampening: 0, weightDecay: 0, nesterov: false };

export class SGD extends Optimizer<'momentum_buffer'> {
  protected readonly stateNames: readonly 'momentum_buffer'[];
  readonly #settings: Settings;

  constructor(parameters: Iterable<Tensor>, options: SGDOptions) {
    super(parameters, options);
    this.#settings = withDefaults<Settings>(DEFAULTS, options);
    const { momentum, dampening, weightDecay, nesterov } = this.#settings;
    checkAtLeast('momentum', momentum, 0);
    checkAtLeast('weightDecay', weightDecay, 0);
    if (nesterov && (momentum === 0 || dampening !== 0)) {
      throw new TorchError('optimizer', 'nesterov needs a momentum and no dampening');
    }
    this.stateNames = momentum === 0 ? [] : ['momentum_buffer'];
  }

  protected update(k: Kernels, batch: Batch<'momentum_buffer'>, scalars: StepScalars): void {
    const { parameters, state } = batch;
    let direction = batch.gradients;
    if (this.#settings.weightDecay !== 0)
      direction = k.add(direction, parameters, this.#settings.weightDecay);
    if (this.#settings.momentum !== 0) {
      const velocity = state.momentum_buffer;
      if (scalars.isFirst) {
        k.copyInPlace(velocity, direction);
      } else {
        k.scaleInPlace(velocity, this.#settings.momentum);
        k.addInPlace(velocity, direction, 1 - this.#settings.dampening);
      }
      direction = this.#settings.nesterov
        ? k.add(direction, velocity, this.#settings.momentum)
        : velocity;
    }
    descend(k, parameters, direction, scalars.rate);
  }
}
