/**
 * libtorch for TypeScript: tensors with gradients on the CPU and on CUDA. Node only.
 *
 * Conventions
 * - Operations have PyTorch's names in camelCase. What belongs to one tensor is a method (`x.sum([1])`),
 *   what makes or joins tensors or belongs to networks is a function (`zeros`, `cat`, `conv2d`).
 * - `dim` takes a number or an array; sizes and shapes are arrays. Rarer arguments are named options.
 * - Every result is a Tensor of its own, also where memory is shared. Names ending in `_` change their
 *   tensor and return it.
 * - Tensors are freed by `dispose()`, by the `scope(() => …)` they were made in, or by the collector.
 * - Randomness takes a `Generator`. There is one thread until `setNumThreads`.
 * - Failures are TorchError ("matmul: [8, 3] x [4, 5]: 3 ≠ 4") and OutOfMemoryError; without libtorch,
 *   the first use throws TorchUnavailableError. Importing this never fails.
 * - Any operator of libtorch: `operator('_foreach_add_', 'Scalar').call(tensors, 1)`.
 */
export * from './autograd.js';
export * from './creation.js';
export * from './cuda-graph.js';
export { Operator, operator } from './dispatch.js';
export type { OpResult } from './dispatch.js';
export * from './distributed.js';
export { rendezvousOf, type Rendezvous } from './distributed-environment.js';
export * from './errors.js';
export * from './functional.js';
export { addmm, baddbmm, bmm, einsum, matmul } from './linalg.js';
export type { ProductOptions } from './linalg.js';
export * from './losses.js';
export type { CudaMemory, NumberArray } from './native.js';
export { copyLater, pinned, uploadLater } from './pinned.js';
export type { Dims, Operand } from './methods.js';
export type { RoundingMode } from './pointwise.js';
export * from './random.js';
export type { ValuesAndIndices, VarianceOptions } from './reductions.js';
export * from './runtime.js';
export { keep, liveTensors, scope } from './scope.js';
export { packageScript, SETUP_TORCH } from './setup-command.js';
export type { BackwardOptions, Nested, ToOptions } from './tensor-base.js';
export { Tensor } from './tensor.js';
export { productOf as elementCount } from '../base/index.js';
export { BYTES_PER_ELEMENT, DTYPES, isFloating } from './types.js';
export type { DType, Device, MemoryFormat } from './types.js';
export * as init from './init.js';
export * as nn from './nn/index.js';
export * as optim from './optim/index.js';
export * from './safetensors/index.js';
