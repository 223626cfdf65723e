/**
 * How far a result in bfloat16 or float16 may be from the exact one. Processors sum in different orders, and
 * some round after each step, so a constant fits no two of them. The bound comes from the operator itself:
 * each value that enters result y may be off by the unit roundoff u of the type, which moves y by at most
 * u Σ|∂y/∂xᵢ · xᵢ|. For a product of matrices that sum is the product of the absolute values, twice. A chain of
 * n roundings multiplies it by √n, because they go up as often as down (Higham and Mary, 2019). To that come the
 * roundings of steps inside the operator, which hold values as large as its results.
 */
import { grad } from '../../../src/torch/index.js';
import type { Tensor } from '../../../src/torch/index.js';

/** Half the distance from 1 to the next number. */
export const UNIT_ROUNDOFF = { bf16: 2 ** -8, f16: 2 ** -11 } as const;

/**
 * The largest error allowed for each element of `exact`, which has to be computed in f64 from `leaves`, with
 * gradients.
 */
export function roundingBounds(
  exact: Tensor,
  leaves: readonly Tensor[],
  dtype: keyof typeof UNIT_ROUNDOFF,
): number[] {
  const results = exact.flatten();
  const sizes = leaves.map((leaf) => leaf.toArray().map(Math.abs));
  const largest = exact.toArray().reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return exact.toArray().map((_, at) => {
    const effects = effectsOf(results.select(0, at), leaves, sizes);
    const total = effects.reduce((sum, effect) => sum + effect, 0);
    return UNIT_ROUNDOFF[dtype] * (largest + Math.sqrt(effects.length) * total);
  });
}

/** |∂y/∂xᵢ · xᵢ| for all xᵢ that take part in the result y. */
function effectsOf(
  result: Tensor,
  leaves: readonly Tensor[],
  sizes: readonly (readonly number[])[],
): number[] {
  if (leaves.length === 0) return [];
  const slopes = grad([result], [...leaves], { retainGraph: true, allowUnused: true });
  return slopes
    .flatMap((slope, i) => slope?.toArray().map((value, k) => Math.abs(value) * sizes[i][k]) ?? [])
    .filter((effect) => effect > 0);
}
