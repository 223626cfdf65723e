/**
 * Adam (Kingma and Ba, 2014) and AdamW (Loshchilov and Hutter, 2017), after PyTorch.
 */
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

type StateName = 'exp_avg' | 'exp_avg_sq' | 'max_exp_avg_sq';

abstract class AdamBase extends Optimizer<StateName> {
  protected readonly stateNames: readonly StateName[];
  readonly #betas: readonly [number, number];
  readonly #eps: number;
  readonly #amsgrad: boolean;

  constructor(parameters: Iterable<Tensor>, options: AdamOptions) {
    super(parameters, options);
    const { betas = [0.9, 0.999], eps = 1e-8, amsgrad = false } = options;
    for (const beta of betas) {
      if (!(beta >= 0 && beta < 1)) {
        throw new TorchError('optimizer', `betas = [${betas.join(', ')}]: expected 0 <= beta < 1`);
      }
    }
    checkAtLeast('eps', eps, 0);
    this.#betas = betas;
    this.#eps = eps;
    this.#amsgrad = amsgrad;
    this.stateNames = ['exp_avg', 'exp_avg_sq', ...(amsgrad ? (['max_exp_avg_sq'] as const) : [])];
  }

  /** The whole step in one kernel, where that is possible. */
  protected tryFused(
    fused: FusedAdam,
    k: Kernels,
    { parameters, gradients, state }: Batch<StateName>,
    scalars: StepScalars,
    weightDecay: number,
  ): boolean {
    if (k !== foreach) return false;
    const lists = {
      parameters,
      gradients,
      firstMoments: state.exp_avg,
      secondMoments: state.exp_avg_sq,
      largestMoments: this.#amsgrad ? state.max_exp_avg_sq : [],
    };
    return fused.tryStep(lists, {
      rate: scalars.factor((_, learningRate) => learningRate),
      step: scalars.factor((_, __, step) => step),
      betas: this.#betas,
      eps: this.#eps,
      weightDecay,
    });
  }

  /** The step along `gradients`, common to both forms of weight decay. */
  protected adapt(
    k: Kernels,
    { parameters, state }: Batch<StateName>,
    gradients: readonly Tensor[],
    scalars: StepScalars,
  ): void {
    const [beta1, beta2] = this.#betas;
    k.lerpInPlace(state.exp_avg, gradients, 1 - beta1);
    k.scaleInPlace(state.exp_avg_sq, beta2);
    k.addcmulInPlace(state.exp_avg_sq, gradients, gradients, 1 - beta2);
    if (this.#amsgrad) k.maximumInPlace(state.max_exp_avg_sq, state.exp_avg_sq);
    const deviation = k.sqrt(this.#amsgrad ? state.max_exp_avg_sq : state.exp_avg_sq);
    const unbiased = scalars.factor((ops, _, step) => {
      const root = ops.sqrt(ops.oneMinusPower(beta2, step));
      return ops.div(ops.affine(root, 0, 1), root);
    });
    k.scaleInPlace(deviation, unbiased);
    k.addScalarInPlace(deviation, this.#eps);
    const rate = scalars.factor((ops, learningRate, step) =>
      ops.div(learningRate, ops.oneMinusPower(beta1, step)),
    );
    descendQuotient(k, parameters, state.exp_avg, deviation, rate);
  }
}

/** Adam; weight decay is added to the gradient. */
export class Adam extends AdamBase {
  readonly #weightDecay: number;
  readonly #fused = new FusedAdam('gradient');

  constructor(parameters: Iterable<Tensor>, options: AdamOptions) {
    super(parameters, options);
    this.#weightDecay = options.weightDecay ?? 0;
    checkAtLeast('weightDecay', this.#weightDecay, 0);
  }

  protected update(k: Kernels, batch: Batch<StateName>, scalars: StepScalars): void {
    if (this.tryFused(this.#fused, k, batch, scalars, this.#weightDecay)) return;
    const gradients =
      this.#weightDecay === 0
        ? batch.gradients
        : k.add(batch.gradients, batch.parameters, this.#weightDecay);
    this.adapt(k, batch, gradients, scalars);
  }
}

/** Adam with weight decay apart from the gradient; 0.01 by default, as in PyTorch. */
export class AdamW extends AdamBase {
  readonly #weightDecay: number;
  readonly #fused = new FusedAdam('weights');

  constructor(parameters: Iterable<Tensor>, options: AdamOptions) {
    super(parameters, options);
    this.#weightDecay = options.weightDecay ?? 0.01;
    checkAtLeast('weightDecay', this.#weightDecay, 0);
  }

  protected update(k: Kernels, batch: Batch<StateName>, scalars: StepScalars): void {
    const weightDecay = this.#weightDecay;
    if (this.tryFused(this.#fused, k, batch, scalars, weightDecay)) return;
    if (weightDecay !== 0) {
      k.scaleInPlace(
        batch.parameters,
        scalars.factor((ops, learningRate) => ops.affine(learningRate, -weightDecay, 1)),
      );
    }
    this.adapt(k, batch, batch.gradients, scalars);
  }
}
