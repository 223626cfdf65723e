/**
 * How far M concepts are from being independent of each other, estimated from one batch (Chen et al.,
 * "Isolating Sources of Disentanglement in VAEs", NeurIPS 2018).
 */
import type { Tensor } from '../../torch/index.js';

/**
 * Mean over samples i of log q(z_i) - sum over concepts m of log q(z_i^m), with q(z) the mean over the panels
 * j of a batch of N(means_j, deviation^2): samples [M, I, d], means [M, J, d]. A tensor of one value.
 */
export function totalCorrelation(samples: Tensor, means: Tensor, deviation: number): Tensor {
  const [m, panels] = means.shape;
  // Normalising constants are the same in both logarithms and cancel.
  const logs = samples
    .unsqueeze(2)
    .sub(means.unsqueeze(1)) // [M, I, J, d]
    .square()
    .sum(3)
    .mul(-0.5 / (deviation * deviation)); // [M, I, J]
  const together = logs.sum(0).logsumexp(1); // [I]
  const apart = logs.logsumexp(2).sum(0); // [I]
  return together
    .sub(apart)
    .mean()
    .add((m - 1) * Math.log(panels));
}
