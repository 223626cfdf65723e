/**
 * Limits on gradients, in place. Neither reads anything back from the device.
 */
import { noGrad } from '../autograd.js';
import { stack } from '../creation.js';
import { TorchError } from '../errors.js';
import { scope } from '../scope.js';
import type { Tensor } from '../tensor.js';
import { foreach, perTensor } from './kernels.js';

function gradientsOf(parameters: Iterable<Tensor>): Tensor[] {
  return [...parameters].flatMap((parameter) => parameter.grad ?? []);
}

/**
 * Scales all gradients together so that their common Euclidean norm is at most `maxNorm`, and
 * returns the norm before that, a tensor of one value.
 */
export function clipGradNorm(parameters: Iterable<Tensor>, maxNorm: number): Tensor {
  return noGrad(() =>
    scope(() => {
      const gradients = gradientsOf(parameters);
      if (gradients.length === 0) throw new TorchError('clipGradNorm', 'there are no gradients');
      const kernels = gradients[0].device === 'cpu' ? perTensor : foreach;
      const total = stack(kernels.norms(gradients)).norm();
      const factor = total.add(1e-6).reciprocal().mul(maxNorm).clamp(null, 1);
      kernels.scaleInPlace(gradients, factor);
      return total;
    }),
  );
}

/** Clamps every element of every gradient to [-maxValue, maxValue]. */
export function clipGradValue(parameters: Iterable<Tensor>, maxValue: number): void {
  noGrad(() =>
    scope(() => {
      for (const gradient of gradientsOf(parameters)) gradient.clamp_(-maxValue, maxValue);
    }),
  );
}
