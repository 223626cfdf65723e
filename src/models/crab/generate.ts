/**
 * A trained CRAB at work: imagine missing panels at any position, by means or by sampling, with rules
 * of one's own where wanted; read out concepts and rules. The content of a missing panel never enters.
 * Positions are 0..8, row by row.
 */
import { cat, full, noGrad, randn, where } from '../../torch/index.js';
import type { Generator, Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import { sampled } from './distributions.js';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { contextTensor } from '../parts/target-sets.js';
import type { Missing } from '../system.js';
import type { CrabModel } from './model.js';
import { gatesOf, type Gaussian } from './rule-parser.js';

/** Rules that a person sets in place of the parsed ones. */
export interface ImposedRules {
  /** [M, N, d_r] */
  readonly rules: Tensor;
  /** bool [M, N]: where true, the given rule is used. */
  readonly use: Tensor;
}

export interface Prediction {
  /** p(r|z_C), [M, S, N, d_r] */
  readonly parsed: Gaussian;
  /** The rules that were used, [M, S, N, d_r]. */
  readonly rules: Tensor;
  /** Predicted means at every position, [M, S, N, 9, d_z]; those at missing positions are meant. */
  readonly predicted: Tensor;
}

/**
 * Predictions from concepts alone: means [M, N, 9, d_z], context [S, N, 9] (0 at missing panels). With
 * `noise` [M, S, N, d_r] rules are sampled, else their means are used.
 */
export function predictConcepts(
  model: CrabModel,
  means: Tensor,
  context: Tensor,
  options: { readonly noise?: Tensor; readonly imposed?: ImposedRules } = {},
): Prediction {
  const parsed = model.ruleParser.forward(means, gatesOf(context));
  let rules =
    options.noise === undefined
      ? parsed.mean
      : sampled(parsed.mean, parsed.deviation, options.noise);
  if (options.imposed !== undefined) {
    const { rules: given, use } = options.imposed;
    rules = where(use.unsqueeze(1).unsqueeze(3), given.unsqueeze(1), rules); // [M, S, N, d_r]
  }
  return { parsed, rules, predicted: model.targetPredictor.forward(means, context, rules) };
}

function requireUse(model: CrabModel, panels: Tensor, missing: Missing): void {
  if (model.training) {
    throw new ModelError('a model in training mode depends on its whole batch: call eval() first');
  }
  const [n, count] = panels.shape;
  if (count !== MATRIX_PANELS || n !== missing.length) {
    throw new ModelError(
      `panels [${panels.shape.join(', ')}]: expected [${missing.length}, 9, 64, 64], one for each list of missing positions`,
    );
  }
}

/** Panels with white paper in place of the missing ones, whatever stood there. */
function withoutMissing(panels: Tensor, context: Tensor): Tensor {
  const absent = context.select(0, 0).eq(0).unsqueeze(2).unsqueeze(3); // [N, 9, 1, 1]
  return panels.maskedFill(absent, 1);
}

export interface ImputeOptions {
  /** Draw this many answers by sampling r and z; without it, one answer from the means. */
  readonly sampling?: {
    readonly answers: number;
    readonly generator: Generator;
    readonly sigmaZ: number;
  };
  readonly imposed?: ImposedRules;
}

export interface Imputation {
  /** The given panels with the missing ones imagined, f32 [A, N, 9, 64, 64]. */
  readonly panels: Tensor;
  /** Encoded concepts of present panels and predicted ones of missing panels, [A, M, N, 9, d_z]. */
  readonly concepts: Tensor;
  /** The rules that were used, [A, M, N, d_r]. */
  readonly rules: Tensor;
  /** p(r|z_C), [M, N, d_r] */
  readonly parsed: Gaussian;
}

/** Imagines the missing panels of problems: panels f32 [N, 9, 64, 64]. */
export function impute(
  model: CrabModel,
  panels: Tensor,
  missing: Missing,
  options: ImputeOptions = {},
): Imputation {
  requireUse(model, panels, missing);
  return noGrad(() => {
    const { device } = panels;
    const context = contextTensor(missing, device); // [1, N, 9]
    const present = withoutMissing(panels, context);
    const means = model.encode(present); // [M, N, 9, d_z]
    const answers = options.sampling?.answers ?? 1;
    const results = Array.from({ length: answers }, () =>
      oneAnswer(model, present, means, context, options),
    );
    const { mean, deviation } = results[0].parsed;
    return {
      panels: cat(results.map((result) => result.panels)),
      concepts: cat(results.map((result) => result.concepts)),
      rules: cat(results.map((result) => result.rules)),
      parsed: { mean: mean.squeeze(1), deviation: deviation.squeeze(1) },
    };
  });
}

/** One entry of an imputation, each with a leading axis of one. */
function oneAnswer(
  model: CrabModel,
  present: Tensor,
  means: Tensor,
  context: Tensor,
  { sampling, imposed }: ImputeOptions,
): Imputation {
  const { concepts: m, ruleSize } = model.config;
  const { device } = present;
  const n = present.shape[0];
  const normal = (shape: number[]): Tensor =>
    randn(shape, { generator: sampling?.generator, device });
  const noise = sampling === undefined ? undefined : normal([m, 1, n, ruleSize]);
  const { parsed, rules, predicted } = predictConcepts(model, means, context, { noise, imposed });
  let targets = predicted.squeeze(1); // [M, N, 9, d_z]
  if (sampling !== undefined) targets = sampled(targets, sampling.sigmaZ, normal(targets.shape));
  const absent = context.eq(0); // [1, N, 9]
  const concepts = where(absent.unsqueeze(3), targets, means); // [M, N, 9, d_z]
  const drawn = model.decode(concepts); // [N, 9, 64, 64]
  const image = where(absent.squeeze(0).unsqueeze(2).unsqueeze(3), drawn, present);
  return {
    panels: image.unsqueeze(0),
    concepts: concepts.unsqueeze(0),
    rules: rules.squeeze(1).unsqueeze(0),
    parsed,
  };
}

/** Concepts (means, [M, N, 9, d_z]) and rules (q(r|z) of the complete matrix, [M, N, d_r]) of problems. */
export function readOut(
  model: CrabModel,
  panels: Tensor,
): { readonly concepts: Tensor; readonly rules: Gaussian } {
  if (model.training) throw new ModelError('readOut: call eval() first');
  return noGrad(() => {
    const concepts = model.encode(panels);
    const open = full([1, panels.shape[0], MATRIX_PANELS], 1, { device: panels.device });
    const { mean, deviation } = model.ruleParser.forward(concepts, gatesOf(open));
    return { concepts, rules: { mean: mean.squeeze(1), deviation: deviation.squeeze(1) } };
  });
}
