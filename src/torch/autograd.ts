/** Gradients of chosen inputs, and whether operations are recorded for them. */
import { guarded, wrap } from './dispatch.js';
import { optionsFor, synchronous, tensorHandle, tensorHandles } from './handle.js';
import { native } from './native.js';
import type { Tensor } from './tensor.js';

export interface GradOptions {
  /** Weights of the outputs, of their shapes; needed where an output has more than one element. */
  gradOutputs?: readonly (Tensor | null)[];
  retainGraph?: boolean;
  createGraph?: boolean;
  /** Give null for an input that the outputs do not depend on, instead of an error. */
  allowUnused?: boolean;
}

/** Gradients of the (weighted) sum of the outputs by each input; `grad` of tensors is left alone. */
export function grad(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  options: GradOptions & { allowUnused: true },
): (Tensor | null)[];
export function grad(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  options?: GradOptions,
): Tensor[];
export function grad(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  options: GradOptions = {},
): (Tensor | null)[] {
  const {
    gradOutputs = null,
    retainGraph = null,
    createGraph = false,
    allowUnused = false,
  } = optionsFor('grad', options);
  const handles = guarded('grad', (addon) =>
    addon.grad(
      tensorHandles('grad', outputs),
      tensorHandles('grad', inputs),
      gradOutputs?.map((tensor) => (tensor === null ? null : tensorHandle('grad', tensor))) ?? null,
      retainGraph,
      createGraph,
      allowUnused,
    ),
  );
  return handles.map((handle) => (handle === null ? null : wrap(handle)));
}

function withGradMode<T>(op: string, enabled: boolean, fn: () => T): T {
  const before = native().setGradEnabled(enabled);
  try {
    return synchronous(op, fn);
  } finally {
    native().setGradEnabled(before);
  }
}

/** Runs `fn` without recording operations for gradients. */
export function noGrad<T>(fn: () => T): T {
  return withGradMode('noGrad', false, fn);
}

/** Runs `fn` with recording, also inside noGrad. */
export function enableGrad<T>(fn: () => T): T {
  return withGradMode('enableGrad', true, fn);
}

export function isGradEnabled(): boolean {
  return native().isGradEnabled();
}
