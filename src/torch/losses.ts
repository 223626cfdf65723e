/** Losses, and attention. Each loss is reduced to its mean unless said otherwise. */
import { optionsFor, tensorHandle } from './handle.js';
import { aten } from './dispatch.js';
import { softmax } from './functional.js';
import { torchVersion } from './runtime.js';
import type { Tensor } from './tensor.js';

export type Reduction = 'none' | 'mean' | 'sum';

/** ATen's numbers. */
const REDUCTIONS: Readonly<Record<Reduction, number>> = { none: 0, mean: 1, sum: 2 };

export interface LossOptions {
  reduction?: Reduction;
}

export interface ClassLossOptions extends LossOptions {
  /** A weight for each class. */
  weight?: Tensor | null;
  /** Targets of this class count nothing. */
  ignoreIndex?: number;
}

/** A loss of one operator, from `x` and its target. */
function loss<Options extends LossOptions = LossOptions>(name: string, label: string) {
  const op = aten(name, label);
  return (x: Tensor, target: Tensor, options: Options = {} as Options): Tensor => {
    const { reduction = 'mean' } = optionsFor<LossOptions>(label, options);
    return op.with([x, target], { ...options, reduction: REDUCTIONS[reduction] });
  };
}

/** Logits [N, classes, ...] and classes [N, ...] (i64) or probabilities [N, classes, ...]. */
export const crossEntropy = loss<ClassLossOptions & { labelSmoothing?: number }>(
  'cross_entropy_loss',
  'crossEntropy',
);

/** Log probabilities [N, classes, ...] and classes [N, ...]. */
export const nllLoss = loss<ClassLossOptions>('nll_loss_nd', 'nllLoss');

/** Binary cross-entropy of probabilities. */
export const bce = loss('binary_cross_entropy', 'bce');

export const bceWithLogits = loss<LossOptions & { posWeight?: Tensor | null }>(
  'binary_cross_entropy_with_logits',
  'bceWithLogits',
);

export const mse = loss('mse_loss', 'mse');
export const l1 = loss('l1_loss', 'l1');
export const smoothL1 = loss<LossOptions & { beta?: number }>('smooth_l1_loss', 'smoothL1');

const attentionOp = aten('scaled_dot_product_attention', 'attention');

/**
 * softmax(q k^T / sqrt(features)), [..., L, S], of query [..., L, E] and key [..., S, E]. A boolean mask
 * [..., L, S] says what is forbidden; any other is added.
 */
export function attentionWeights(query: Tensor, key: Tensor, mask: Tensor | null = null): Tensor {
  const scale = 1 / Math.sqrt(query.size(-1));
  const scores = query.mul(scale).matmul(key.transpose(-1, -2));
  if (mask === null) return softmax(scores, -1);
  const masked = mask.dtype === 'bool' ? scores.maskedFill(mask, -Infinity) : scores.add(mask);
  return softmax(masked, -1);
}

/**
 * The values [..., S, F] mixed by these weights: [..., L, F]. A boolean mask says what may be looked at, as in
 * PyTorch. libtorch 2 fuses it.
 */
export function attention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  mask: Tensor | null = null,
): Tensor {
  for (const each of [query, key, value, ...(mask === null ? [] : [mask])]) {
    tensorHandle('attention', each);
  }
  if (torchVersion().major >= 2) return attentionOp.tensor(query, key, value, mask);
  const forbidden = mask?.dtype === 'bool' ? mask.logicalNot() : mask;
  return attentionWeights(query, key, forbidden).matmul(value);
}
