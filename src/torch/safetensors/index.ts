/**
 * Tensors from and to safetensors files.
 *
 *     saveSafetensors('model.safetensors', model.stateDict(), { step: '1000' });
 *     model.loadStateDict(loadSafetensors('model.safetensors').tensors);
 *
 * To read some tensors of a large file, open it with `SafetensorsFile` and take them by
 * `readTensor`: only their bytes are read.
 */
import { fromBits } from '../creation.js';
import { scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import { elementsOf } from '../types.js';
import type { Device } from '../types.js';
import { SafetensorsFile, writeSafetensorsFile } from './file.js';

export { SafetensorsFile, writeSafetensorsFile } from './file.js';
export type { TensorSource } from './file.js';
export { maximumHeaderBytes, SafetensorsError } from '../../base/index.js';
export type { SafetensorsProblem, StoredDType, StoredTensor } from '../../base/index.js';

/** What a file held. */
export interface LoadedSafetensors {
  readonly tensors: Map<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** All tensors of a file, on a device. */
export function loadSafetensors(path: string, device: Device = 'cpu'): LoadedSafetensors {
  const file = SafetensorsFile.open(path);
  try {
    const tensors = scope(
      () => new Map(file.names.map((name) => [name, readTensor(file, name, device)])),
    );
    return { tensors, metadata: file.metadata };
  } finally {
    file.close();
  }
}

/** One tensor of an open file. */
export function readTensor(file: SafetensorsFile, name: string, device: Device = 'cpu'): Tensor {
  const { dtype, shape } = file.describe(name);
  // The buffer is the tensor's alone, so its elements are aligned.
  return fromBits(elementsOf(dtype, file.readBytes(name).buffer), shape, dtype, device);
}

/** Writes tensors of any device, atomically and one at a time; views are stored dense. */
export function saveSafetensors(
  path: string,
  tensors: Iterable<readonly [string, Tensor]>,
  metadata: Readonly<Record<string, string>> = {},
): void {
  const sources = [...tensors].map(([name, tensor]) => ({
    name,
    dtype: tensor.dtype,
    shape: tensor.shape,
    bytes: () => new Uint8Array(tensor.bits().buffer),
  }));
  writeSafetensorsFile(path, sources, metadata);
}
