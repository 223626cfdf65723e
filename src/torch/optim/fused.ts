/**
 * Adam's whole step as libtorch's one fused kernel, for CUDA: parameters, gradients and state are read and
 * written once instead of once for each operation. RMSprop is the case of no first moment and no
 * correction of bias. Where the installed libtorch lacks the kernel, or refuses the tensors (it wants
 * gradients and state laid out as their parameters), the caller takes the ordinary path.
 */
import { full } from '../creation.js';
import { operator } from '../dispatch.js';
import type { Operator } from '../dispatch.js';
import { OutOfMemoryError, TorchError } from '../errors.js';
import type { Tensor } from '../tensor.js';
import { isAvailable } from './kernels.js';
import type { Factor } from './kernels.js';

export interface FusedLists {
  readonly parameters: readonly Tensor[];
  readonly gradients: readonly Tensor[];
  readonly firstMoments: readonly Tensor[];
  readonly secondMoments: readonly Tensor[];
  /** With amsgrad; else empty. */
  readonly largestMoments: readonly Tensor[];
}

export interface FusedNumbers {
  readonly rate: Factor;
  /** The number of this step, from 1. */
  readonly step: Factor;
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weightDecay: number;
}

function isLaidOutAs(a: Tensor, b: Tensor): boolean {
  const [ofA, ofB] = [a.strides, b.strides];
  return (
    ofA.length === ofB.length &&
    ofA.every((stride, dim) => stride === ofB[dim]) &&
    a.numel === b.numel &&
    a.dtype === b.dtype
  );
}

export class FusedAdam {
  readonly #byNumber: Operator;
  readonly #byTensor: Operator;
  #usable: boolean | undefined;
  readonly #fitting = new WeakSet<readonly Tensor[]>();

  /** @param decay whether weight decay adds to the gradient (Adam) or shrinks the weights (AdamW) */
  constructor(decay: 'gradient' | 'weights') {
    const name = decay === 'gradient' ? '_fused_adam_' : '_fused_adamw_';
    this.#byNumber = operator(name);
    this.#byTensor = operator(name, 'tensor_lr');
  }

  /** Does the step; false if it cannot, with nothing changed. */
  tryStep(lists: FusedLists, numbers: FusedNumbers): boolean {
    this.#usable ??= isAvailable(this.#byTensor);
    if (!this.#usable || !this.#fit(lists)) return false;
    try {
      this.#step(lists, numbers);
    } catch (error) {
      // libtorch looks at all the tensors before it changes any.
      if (!(error instanceof TorchError) || error instanceof OutOfMemoryError) throw error;
      if (/CUDA error/.test(error.message)) throw error;
      this.#usable = false;
    }
    return this.#usable;
  }

  /** Not every version of the kernel looks at the layout; state, which stays, is looked at once. */
  #fit({ parameters, gradients, ...state }: FusedLists): boolean {
    if (!gradients.every((gradient, i) => isLaidOutAs(gradient, parameters[i]))) return false;
    for (const list of Object.values<readonly Tensor[]>(state)) {
      if (list === gradients || this.#fitting.has(list)) continue;
      if (!list.every((one, i) => isLaidOutAs(one, parameters[i]))) return false;
      this.#fitting.add(list);
    }
    return true;
  }

  #step(lists: FusedLists, { rate, step, betas, eps, weightDecay }: FusedNumbers): void {
    const { parameters, gradients, firstMoments, secondMoments, largestMoments } = lists;
    const count =
      typeof step === 'number' ? full([], step, { device: parameters[0].device }) : step;
    const fused = typeof rate === 'number' ? this.#byNumber : this.#byTensor;
    fused.call(
      ...[parameters, gradients, firstMoments, secondMoments, largestMoments],
      parameters.map(() => count),
      ...[rate, betas[0], betas[1], weightDecay, eps, largestMoments.length > 0, false],
    );
  }
}
