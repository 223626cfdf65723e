/**
 * RMSprop (Hinton, 2012), after PyTorch: the paper's optimiser.
 */
import { operator } from '../dispatch.js';
import { withDefaults } from '../handle.js';
import type { Tensor } from '../tensor.js';
import { FusedAdam } from './fused.js';
import { foreach, perTensor } from './kernels.js';
import type { Kernels } from './kernels.js';
import { checkAtLeast, descend, descendQuotient, Optimizer } from './optimizer.js';
import type { Batch, OptimizerOptions, StepScalars } from './optimizer.js';

export interface RMSpropOptions extends OptimizerOptions {
  /** Share of the past in the running mean of squares. */
  readonly alpha?: number;
  readonly eps?: number;
  readonly weightDecay?: number;
  readonly momentum?: number;
  /** Divides by the deviation instead of the root mean square. */
  readonly centered?: boolean;
}

/** A number of steps after which Adam no longer corrects for bias: RMSprop never does. */
const NO_CORRECTION = 1e9;

/** The whole step of one parameter in one pass over memory. */
const onePass = operator('crab::rmsprop_', '', 'RMSprop');

type Settings = Required<Omit<RMSpropOptions, keyof OptimizerOptions>>;
const DEFAULTS = { alpha: 0.99, eps: 1e-8, weightDecay: 0, momentum: 0, centered: false };

type StateName = 'square_avg' | 'momentum_buffer' | 'grad_avg';

export class RMSprop extends Optimizer<StateName> {
  protected readonly stateNames: readonly StateName[];
  readonly #settings: Settings;
  readonly #fused: FusedAdam | null;

  constructor(parameters: Iterable<Tensor>, options: RMSpropOptions) {
    super(parameters, options);
    this.#settings = withDefaults<Settings>(DEFAULTS, options);
    const { alpha, eps, weightDecay, momentum, centered } = this.#settings;
    const positive = { alpha, eps, weightDecay, momentum };
    for (const [name, value] of Object.entries(positive)) checkAtLeast(name, value, 0);
    const isPlain = momentum === 0 && !centered && weightDecay === 0 && alpha < 1;
    this.#fused = isPlain ? new FusedAdam('gradient') : null;
    this.stateNames = [
      'square_avg',
      ...(momentum > 0 ? (['momentum_buffer'] as const) : []),
      ...(centered ? (['grad_avg'] as const) : []),
    ];
  }

  protected update(k: Kernels, batch: Batch<StateName>, scalars: StepScalars): void {
    if (k === foreach && this.#tryFused(batch, scalars)) return;
    if (k === perTensor && this.#tryOnePass(batch, scalars)) return;
    const { parameters, state } = batch;
    let { gradients } = batch;
    if (this.#settings.weightDecay !== 0)
      gradients = k.add(gradients, parameters, this.#settings.weightDecay);
    k.scaleInPlace(state.square_avg, this.#settings.alpha);
    k.addcmulInPlace(state.square_avg, gradients, gradients, 1 - this.#settings.alpha);
    const deviation = this.#deviation(k, gradients, state);
    k.addScalarInPlace(deviation, this.#settings.eps);
    const { rate } = scalars;
    if (this.#settings.momentum > 0) {
      k.scaleInPlace(state.momentum_buffer, this.#settings.momentum);
      k.addcdivInPlace(state.momentum_buffer, gradients, deviation, 1);
      descend(k, parameters, state.momentum_buffer, rate);
    } else {
      descendQuotient(k, parameters, gradients, deviation, rate);
    }
  }

  /** Adam without a first moment, whose place the gradient itself takes: it is written as it was. */
  #tryFused({ parameters, gradients, state }: Batch<StateName>, scalars: StepScalars): boolean {
    if (this.#fused === null) return false;
    const lists = {
      parameters,
      gradients,
      firstMoments: gradients,
      secondMoments: state.square_avg,
      largestMoments: [],
    };
    return this.#fused.tryStep(lists, {
      rate: scalars.rate,
      step: NO_CORRECTION,
      betas: [0, this.#settings.alpha],
      eps: this.#settings.eps,
      weightDecay: 0,
    });
  }

  #tryOnePass({ parameters, gradients, state }: Batch<StateName>, scalars: StepScalars): boolean {
    const rate = scalars.rate;
    if (this.#fused === null || typeof rate !== 'number') return false;
    parameters.forEach((parameter, i) => {
      onePass.call(
        parameter,
        gradients[i],
        state.square_avg[i],
        rate,
        this.#settings.alpha,
        this.#settings.eps,
      );
    });
    return true;
  }

  #deviation(
    k: Kernels,
    gradients: readonly Tensor[],
    state: Batch<StateName>['state'],
  ): readonly Tensor[] {
    if (!this.#settings.centered) return k.sqrt(state.square_avg);
    k.lerpInPlace(state.grad_avg, gradients, 1 - this.#settings.alpha);
    const variance = k.addcmul(state.square_avg, state.grad_avg, state.grad_avg, -1);
    k.sqrtInPlace(variance);
    return variance;
  }
}
