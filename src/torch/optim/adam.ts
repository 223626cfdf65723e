/**
 * Adam (Kingma and Ba, 2014) and AdamW (Loshchilov and Hutter, 2017), after PyTorch.
 */
import { withDefaults } from '../handle.js';
import type { Tensor } from '../tensor.js';
import { FusedAdam } from './fused.js';
import { foreach } from './kernels.js';
import type { Kernels } from './kernels.js';
import { checkAtLeast, descendQuotient, Optimizer } from './optimizer.js';
import type { Batch, OptimizerOptions, StepScalars } from './optimizer.js';
import { TorchError } from '../errors.js';

export interface AdamOptions extends OptimizerOptions {
  /** Shares of the past in the running means of gradients and of their squares. */
  readonly betas?: readonly [number, number];
  readonly eps?: number;
  readonly weightDecay?: number;
  /** Divides by the largest running mean of squares so far. */
  readonly amsgrad?: boolean;
}

type Settings = Required<Omit<AdamOptions, keyof OptimizerOptions>>;
const DEFAULTS = { betas: [0.9, 0.999], eps: 1e-8, amsgrad: false } as const;

type StateName = 'exp_avg' | 'exp_avg_sq' | 'max_exp_avg_sq';

abstract class AdamBase extends Optimizer<StateName> {
  protected readonly stateNames: readonly StateName[];
  readonly #settings: Settings;
  readonly #fused: FusedAdam;

  /** @param decays what weight decay acts on: the gradient (Adam) or the weights themselves (AdamW) */
  constructor(
    parameters: Iterable<Tensor>,
    options: AdamOptions,
    readonly decays: 'gradient' | 'weights',
  ) {
    super(parameters, options);
    const weightDecay = decays === 'gradient' ? 0 : 0.01;
    this.#settings = withDefaults<Settings>({ ...DEFAULTS, weightDecay }, options);
    const { betas, eps, amsgrad } = this.#settings;
    if (!betas.every((beta) => beta >= 0 && beta < 1)) {
      throw new TorchError('optimizer', `betas = [${betas.join(', ')}]: expected 0 <= beta < 1`);
    }
    checkAtLeast('eps', eps, 0);
    checkAtLeast('weightDecay', this.#settings.weightDecay, 0);
    this.#fused = new FusedAdam(decays);
    this.stateNames = ['exp_avg', 'exp_avg_sq', ...(amsgrad ? (['max_exp_avg_sq'] as const) : [])];
  }

  protected update(k: Kernels, batch: Batch<StateName>, scalars: StepScalars): void {
    if (k === foreach && this.#tryFused(batch, scalars)) return;
    const { weightDecay } = this.#settings;
    if (weightDecay === 0) {
      this.#adapt(k, batch, batch.gradients, scalars);
    } else if (this.decays === 'gradient') {
      this.#adapt(k, batch, k.add(batch.gradients, batch.parameters, weightDecay), scalars);
    } else {
      k.scaleInPlace(
        batch.parameters,
        scalars.factor((ops, learningRate) => ops.affine(learningRate, -weightDecay, 1)),
      );
      this.#adapt(k, batch, batch.gradients, scalars);
    }
  }

  /** The whole step in one kernel, where that is possible. */
  #tryFused({ parameters, gradients, state }: Batch<StateName>, scalars: StepScalars): boolean {
    const lists = {
      parameters,
      gradients,
      firstMoments: state.exp_avg,
      secondMoments: state.exp_avg_sq,
      largestMoments: this.#settings.amsgrad ? state.max_exp_avg_sq : [],
    };
    return this.#fused.tryStep(lists, {
      rate: scalars.rate,
      step: scalars.step,
      ...this.#settings,
    });
  }

  /** The step along `gradients`. */
  #adapt(
    k: Kernels,
    { parameters, state }: Batch<StateName>,
    gradients: readonly Tensor[],
    scalars: StepScalars,
  ): void {
    const [beta1, beta2] = this.#settings.betas;
    k.lerpInPlace(state.exp_avg, gradients, 1 - beta1);
    k.scaleInPlace(state.exp_avg_sq, beta2);
    k.addcmulInPlace(state.exp_avg_sq, gradients, gradients, 1 - beta2);
    if (this.#settings.amsgrad) k.maximumInPlace(state.max_exp_avg_sq, state.exp_avg_sq);
    const deviation = k.sqrt(this.#settings.amsgrad ? state.max_exp_avg_sq : state.exp_avg_sq);
    const unbiased = scalars.factor((ops, _, step) => {
      const root = ops.sqrt(ops.oneMinusPower(beta2, step));
      return ops.div(ops.affine(root, 0, 1), root);
    });
    k.scaleInPlace(deviation, unbiased);
    k.addScalarInPlace(deviation, this.#settings.eps);
    const rate = scalars.factor((ops, learningRate, step) =>
      ops.div(learningRate, ops.oneMinusPower(beta1, step)),
    );
    descendQuotient(k, parameters, state.exp_avg, deviation, rate);
  }
}

/** Adam; weight decay is added to the gradient. */
export class Adam extends AdamBase {
  constructor(parameters: Iterable<Tensor>, options: AdamOptions) {
    super(parameters, options, 'gradient');
  }
}

/** Adam with weight decay apart from the gradient; 0.01 by default, as in PyTorch. */
export class AdamW extends AdamBase {
  constructor(parameters: Iterable<Tensor>, options: AdamOptions) {
    super(parameters, options, 'weights');
  }
}
