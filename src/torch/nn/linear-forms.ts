/**
 * M linear layers (weight [M, in, out], bias [M, 1, out] or none) as one product, results side by side. A GPU is
 * faster at one large product than at M small ones with copies before and behind them. `BatchedLinear` chooses
 * these forms; nobody else needs to know.
 */
import { eye } from '../creation.js';
import { linear, pad } from '../functional.js';
import type { Tensor } from '../tensor.js';

/** How many are missing to a multiple of eight: fast products need rows that begin at multiples of 16 bytes. */
const missing = (width: number): number => (8 - (width % 8)) % 8;

/** Of the same inputs for all M: [..., in] to [..., M * out]. */
export function sameAsProduct(x: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  const inputs = weight.shape[1];
  const matrix = weight.transpose(1, 2).reshape([-1, inputs]); // [M * out, in]
  const zeros = [0, missing(inputs)];
  return linear(pad(x, zeros), pad(matrix, zeros), bias?.flatten());
}

/** Of inputs side by side: [..., M * in] to [..., M * out]. The matrix has M blocks, and zeros elsewhere. */
export function blocksAsProduct(x: Tensor, weight: Tensor, bias: Tensor | null): Tensor {
  const [m, inputs, outputs] = weight.shape;
  const { dtype, device } = weight;
  const isOwn = eye(m, m, { dtype, device }).reshape([m, 1, m, 1]);
  const matrix = weight
    .transpose(1, 2)
    .unsqueeze(2) // [M, out, 1, in]
    .mul(isOwn) // [M, out, M, in]
    .reshape([m * outputs, m * inputs]);
  const zeros = [0, missing(m * outputs)];
  return linear(x, pad(matrix, [0, 0, ...zeros]), bias === null ? null : pad(bias.flatten(), zeros)) //
    .narrow(-1, 0, m * outputs);
}
