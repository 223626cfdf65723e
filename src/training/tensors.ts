/** Small helpers between arrays and tensors on a device. */
import { tensor, type Device, type DType, type nn, type Tensor } from '../torch/index.js';

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
