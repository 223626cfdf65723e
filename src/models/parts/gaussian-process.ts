/**
 * Regression with Gaussian processes over the nine panels of a matrix, for any panels that are missing: shapes
 * never depend on which, and nothing is read back to the host, so that a step can be captured as a CUDA graph.
 * libtorch's own factorisations are not: on a GPU they check their result on the host.
 */
import { eye, noGrad, zerosLike, type Tensor } from '../../torch/index.js';

/** Added to the variance of every known value, so that equal inputs can be told apart. */
const JITTER = 1e-4;
/** Least variance of a regression, so that its root has a derivative. */
const LEAST_VARIANCE = 1e-6;

/** exp(-|x_i - x_j|^2 / 2) of features [..., n, d]: [..., n, n]. */
export function squaredExponential(features: Tensor): Tensor {
  const gaps = features.unsqueeze(-2).sub(features.unsqueeze(-3)); // [..., n, n, d]
  return gaps.square().sum(-1).mul(-0.5).exp();
}

/**
 * Values at every position given those that are known: kernel [..., n, n], values [..., n], known [..., n] (0
 * or 1), all of one type and broadcast. What stands at unknown positions does not matter. In double precision,
 * as near-equal inputs make a kernel near-singular.
 */
export function regress(
  kernel: Tensor,
  values: Tensor,
  known: Tensor,
): { readonly mean: Tensor; readonly variance: Tensor } {
  const { dtype } = kernel;
  const [k, open] = [kernel, known].map((each) => each.to({ dtype: 'f64' }));
  const given = values.maskedFill(known.eq(0), 0).to({ dtype: 'f64' });
  // Rows and columns of unknown values are those of the identity: the inverse is that of the known part.
  const both = open.unsqueeze(-1).mul(open.unsqueeze(-2)); // [..., n, n]
  const diagonal = eye(k.shape[k.ndim - 1], undefined, { dtype: 'f64', device: k.device });
  const among = k.mul(both).add(
    diagonal.mul(
      open
        .unsqueeze(-1)
        .mul(JITTER - 1)
        .add(1),
    ),
  );
  const towards = k.mul(open.unsqueeze(-2)); // from every position to the known ones
  const factors = towards.matmul(inverseOf(among)); // [..., n, n]
  const mean = factors.mul(given.unsqueeze(-2)).sum(-1);
  const explained = factors.mul(towards).sum(-1);
  const variance = k.diagonal(0, -2, -1).sub(explained).clamp(LEAST_VARIANCE);
  return { mean: mean.to({ dtype }), variance: variance.to({ dtype }) };
}

/**
 * The inverse P of symmetric positive definite matrices K, [..., n, n], with first derivatives. P itself is
 * computed without gradients; 2P - P K P, one step of Newton's method, has the value of the inverse and its
 * derivative -P dK P.
 */
export function inverseOf(matrix: Tensor): Tensor {
  const fixed = noGrad(() => eliminated(matrix));
  return fixed.mul(2).sub(fixed.matmul(matrix).matmul(fixed));
}

/** The inverse by Gauss-Jordan elimination, which needs no pivots for such matrices. */
function eliminated(matrix: Tensor): Tensor {
  const n = matrix.shape[matrix.ndim - 1];
  const unit = eye(n, undefined, { dtype: matrix.dtype, device: matrix.device });
  let left = matrix;
  let right = zerosLike(matrix).add(unit);
  for (let i = 0; i < n; i++) {
    const scale = left.narrow(-1, i, 1).narrow(-2, i, 1).reciprocal(); // [..., 1, 1]
    const [rowLeft, rowRight] = [left, right].map((each) => each.narrow(-2, i, 1).mul(scale));
    // Row i becomes the scaled one, all others lose what they have in column i.
    const column = left.narrow(-1, i, 1).sub(unit.narrow(1, i, 1)); // [..., n, 1]
    left = left.sub(column.mul(rowLeft));
    right = right.sub(column.mul(rowRight));
  }
  return right;
}
