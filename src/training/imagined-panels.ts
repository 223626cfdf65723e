/** The last panel of matrices as a model paints it, as bytes: what a training keeps and shows of it. */
import { greyByte, MATRIX_PANELS } from '../matrix/index.js';
import type { SystemModel } from '../models/index.js';
import { noGrad, scope, type Tensor } from '../torch/index.js';

const LAST = MATRIX_PANELS - 1;

/** Of panels [N, 9, S, S] in [0, 1], u8 [N, S, S]; null for a model that does not paint. */
export function imagineLast(model: SystemModel, panels: Tensor): Uint8Array | null {
  if (model.impute === undefined) return null;
  const missing = Array.from({ length: panels.shape[0] }, () => [LAST]);
  return noGrad(() =>
    scope(() => {
      const painted = model.impute?.(panels, missing).select(1, LAST).to({ device: 'cpu' });
      return Uint8Array.from(painted?.contiguous().data() as Float32Array, greyByte);
    }),
  );
}
