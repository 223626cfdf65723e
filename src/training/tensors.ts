/** Small helpers between arrays, pinned memory and tensors on a device. */
import {
  keep,
  operator,
  scope,
  tensor,
  zeros,
  type Device,
  type DType,
  type nn,
  type Tensor,
} from '../torch/index.js';

/** A tensor of a shape from an array of the matching type. */
export function deviceTensor(
  array: Float32Array | BigInt64Array | Uint8Array,
  shape: readonly number[],
  device: Device,
): Tensor {
  return tensor(array, { shape, device });
}

/** The type that a module computes in. */
export const dtypeOf = (module: nn.Module): DType => module.parameters()[0].dtype;

const pinMemory = operator('pin_memory');
const copyInto = operator('copy_');

/** A host tensor in pinned memory, which a CUDA device copies from and to on its own; never freed by a scope. */
export const pinned = (shape: readonly number[], dtype: DType): Tensor =>
  scope(() => keep(pinMemory.tensor(zeros(shape, { dtype, device: 'cpu' }))));

/** Copies between pinned memory and a CUDA device in the device's queue: the host does not wait. */
export function copyLater(into: Tensor, from: Tensor): void {
  copyInto.call(into, from, true);
}
