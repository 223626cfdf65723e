/**
 * Between the host and a CUDA device without waiting: through pinned memory, which the device copies from and
 * to on its own, in the order of its queue.
 */
import { tensor, zeros } from './creation.js';
import { operator } from './dispatch.js';
import { keep, scope } from './scope.js';
import type { Tensor } from './tensor.js';
import type { DType } from './types.js';

const pinMemory = operator('pin_memory');

/** A host tensor in pinned memory; never freed by a scope. */
export const pinned = (shape: readonly number[], dtype: DType): Tensor =>
  scope(() => keep(pinMemory.tensor(zeros(shape, { dtype, device: 'cpu' }))));

/** Copies between pinned memory and a CUDA device in the device's queue: the host does not wait. */
export function copyLater(into: Tensor, from: Tensor): void {
  into.copy_(from, true);
}

/**
 * Overwrites a tensor with values in row-major order; of a CUDA device in the order of its queue. The values
 * may be changed at once, and libtorch keeps the pinned memory until they have arrived.
 */
export function uploadLater(into: Tensor, values: Float32Array): void {
  if (into.device === 'cpu') {
    into.copyFrom_(values);
    return;
  }
  scope(() => copyLater(into, pinMemory.tensor(tensor(values, { shape: into.shape }))));
}
