/** Losses, and attention. Each loss is reduced to its mean unless said otherwise. */
import { optionsFor, tensorHandle } from './handle.js';
import { operator } from './dispatch.js';
import { softmax } from './functional.js';
import { torchVersion } from './runtime.js';
import type { Tensor } from './tensor.js';

export type Reduction = 'none' | 'mean' | 'sum';

/** ATen's numbers. */
const REDUCTIONS: Readonly<Record<Reduction, number>> = { none: 0, mean: 1, sum: 2 };

export interface LossOptions {
  reduction?: Reduction;
}

const crossEntropyOp = operator('cross_entropy_loss', '', 'crossEntropy');
const nllOp = operator('nll_loss_nd', '', 'nllLoss');
const bceOp = operator('binary_cross_entropy', '', 'bce');
const bceWithLogitsOp = operator('binary_cross_entropy_with_logits', '', 'bceWithLogits');
const mseOp = operator('mse_loss', '', 'mse');
const l1Op = operator('l1_loss', '', 'l1');
const smoothL1Op = operator('smooth_l1_loss', '', 'smoothL1');
const attentionOp = operator('scaled_dot_product_attention', '', 'attention');

const number = (reduction: Reduction = 'mean'): number => REDUCTIONS[reduction];

export interface ClassLossOptions extends LossOptions {
  /** A weight for each class. */
  weight?: Tensor | null;
  /** Targets of this class count nothing. */
  ignoreIndex?: number;
}

/** Logits [N, classes, ...] and classes [N, ...] (i64) or probabilities [N, classes, ...]. */
export function crossEntropy(
  logits: Tensor,
  target: Tensor,
  options: ClassLossOptions & { labelSmoothing?: number } = {},
): Tensor {
  optionsFor('crossEntropy', options);
  const { weight = null, ignoreIndex = -100, labelSmoothing = 0 } = options;
  return crossEntropyOp.tensor(
    logits,
    target,
    weight,
    number(options.reduction),
    ignoreIndex,
    labelSmoothing,
  );
}

/** Log probabilities [N, classes, ...] and classes [N, ...]. */
export function nllLoss(
  logProbabilities: Tensor,
  target: Tensor,
  options: ClassLossOptions = {},
): Tensor {
  optionsFor('nllLoss', options);
  const { weight = null, ignoreIndex = -100 } = options;
  return nllOp.tensor(logProbabilities, target, weight, number(options.reduction), ignoreIndex);
}

/** Binary cross-entropy of probabilities. */
export function bce(probabilities: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  optionsFor('bce', options);
  return bceOp.tensor(probabilities, target, null, number(options.reduction));
}

export function bceWithLogits(
  logits: Tensor,
  target: Tensor,
  options: LossOptions & { posWeight?: Tensor | null } = {},
): Tensor {
  optionsFor('bceWithLogits', options);
  return bceWithLogitsOp.tensor(
    logits,
    target,
    null,
    options.posWeight ?? null,
    number(options.reduction),
  );
}

export function mse(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  optionsFor('mse', options);
  return mseOp.tensor(x, target, number(options.reduction));
}

export function l1(x: Tensor, target: Tensor, options: LossOptions = {}): Tensor {
  optionsFor('l1', options);
  return l1Op.tensor(x, target, number(options.reduction));
}

export function smoothL1(
  x: Tensor,
  target: Tensor,
  options: LossOptions & { beta?: number } = {},
): Tensor {
  optionsFor('smoothL1', options);
  return smoothL1Op.tensor(x, target, number(options.reduction), options.beta ?? 1);
}

/**
 * softmax(q k^T / sqrt(features)) v: query [..., L, E], key [..., S, E], value [..., S, F] -> [..., L, F].
 * A boolean mask [..., L, S] says what may be looked at; any other is added. libtorch 2 fuses it.
 */
export function attention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  mask: Tensor | null = null,
): Tensor {
  for (const each of [query, key, value]) tensorHandle('attention', each);
  if (torchVersion().major >= 2) return attentionOp.tensor(query, key, value, mask);
  const scale = 1 / Math.sqrt(query.size(-1));
  let scores = query.mul(scale).matmul(key.transpose(-1, -2)); // [..., L, S]
  if (mask !== null) tensorHandle('attention', mask);
  if (mask)
    scores =
      mask.dtype === 'bool' ? scores.maskedFill(mask.logicalNot(), -Infinity) : scores.add(mask);
  return softmax(scores, -1).matmul(value);
}
