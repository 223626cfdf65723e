/** The nine panels of a matrix: where they stand, and means over those that are looked at. */
import { MATRIX_PANELS } from '../../matrix/index.js';
import { nn, tensor, type Tensor } from '../../torch/index.js';

/** Rows and columns of the nine panels, each -1, 0 or 1: [9, 2]. */
export function gridPositions(): nn.Buffer {
  const places = Array.from({ length: MATRIX_PANELS }, (_, n) => [
    Math.floor(n / 3) - 1,
    (n % 3) - 1,
  ]);
  return nn.buffer(tensor(places, { dtype: 'f32' }), { persistent: false });
}

/** The mean of those of nine vectors [..., 9, d] that are open: sets [..., G, 9], result [..., G, d]. */
export function openMean(vectors: Tensor, open: Tensor): Tensor {
  return open.div(open.sum(-1, true)).matmul(vectors);
}
