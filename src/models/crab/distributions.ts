/**
 * Densities and divergences of Gaussians, in single precision at least, as tensors: nothing is read back
 * from the device.
 */
import { productOf } from '../../base/index.js';
import type { Tensor } from '../../torch/index.js';
import type { Gaussian } from './rule-parser.js';

const LOG_TWO_PI = Math.log(2 * Math.PI);

/** mean + deviation * noise: a sample by the reparameterisation trick. */
export function sampled(mean: Tensor, deviation: Tensor | number, noise: Tensor): Tensor {
  return mean.add(noise.mul(deviation));
}

/** Element-wise KL divergence of Gaussians with diagonal covariance, in closed form. */
export function gaussianKl(q: Gaussian, p: Gaussian): Tensor {
  const ratio = q.deviation.div(p.deviation);
  const gap = q.mean.sub(p.mean).div(p.deviation);
  return ratio.square().add(gap.square()).sub(1).mul(0.5).sub(ratio.log());
}

/** Element-wise KL divergence of Gaussians with the same fixed deviation: a squared error. */
export function equalDeviationKl(q: Tensor, p: Tensor, deviation: number): Tensor {
  return q
    .sub(p)
    .square()
    .mul(0.5 / (deviation * deviation));
}

/** Element-wise log density of a Gaussian. */
function logDensity(x: Tensor, { mean, deviation }: Gaussian): Tensor {
  const scaled = x.sub(mean).div(deviation);
  return scaled
    .square()
    .mul(-0.5)
    .sub(deviation.log())
    .sub(0.5 * LOG_TWO_PI);
}

/** Sum over the last `axes` axes of the log density of a Gaussian with a fixed deviation. */
export function fixedLogLikelihood(
  x: Tensor,
  mean: Tensor,
  deviation: number,
  axes: number,
): Tensor {
  const trailing = x.shape.map((_, axis) => axis).slice(-axes);
  const count = productOf(x.shape.slice(-axes));
  const constant = count * (Math.log(deviation) + 0.5 * LOG_TWO_PI);
  const squares = x.sub(mean).square().sum(trailing);
  return squares.mul(-0.5 / (deviation * deviation)).sub(constant);
}

/**
 * Minibatch weighted sampling (Appendix A.3) of E_q(r)[log q(r)], for each concept:
 *
 *     1/N_B sum_i log( 1/(N_D N_B) sum_j q(r(i) | z(j)) )
 *
 * Samples [M, N, d_r] and Gaussians [M, N_B, d_r], those they are from among them; result [M]. The mean
 * over i is taken over the given samples, which may be a part of the batch.
 */
export function minibatchWeightedEntropy(
  samples: Tensor,
  { mean, deviation }: Gaussian,
  datasetSize: number,
): Tensor {
  const [, n] = mean.shape;
  const each = { mean: mean.unsqueeze(1), deviation: deviation.unsqueeze(1) }; // [M, 1, N_B (j), d_r]
  const pairwise = logDensity(samples.unsqueeze(2), each).sum(3); // [M, N (i), N_B (j)]
  return pairwise
    .logsumexp(2)
    .mean(1)
    .sub(Math.log(datasetSize * n));
}
