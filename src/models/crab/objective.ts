/**
 * What CRAB maximises (Method, "Parameter Learning"; Appendix A):
 *
 *     L_r - beta_r R_r - beta_t R_t - beta_cls R_cls
 *
 * with one sample of q(h|x). All terms are means over the problems of a batch, as tensors of one value:
 * nothing is read back from the device, so that a step can be captured in a CUDA graph, and logarithms
 * and divergences are in f32 whatever autocast does. Noise is an argument.
 */
import { cat, onesLike, randn, type Generator, type Tensor } from '../../torch/index.js';
import { valueAt } from '../schedule.js';
import type { NetworkConfig, ObjectiveConfig, RulePriorConfig } from './config.js';
import { equalDeviationKl, fixedLogLikelihood, gaussianKl } from './distributions.js';
import { minibatchWeightedEntropy, sampled } from './distributions.js';
import { MATRIX_PANELS } from '../../matrix/index.js';
import { contextOf, type TargetSets } from '../parts/target-sets.js';
import type { CrabModel } from './model.js';
import { logRulePrior, type PriorTensors } from './rule-prior.js';
import { gatesOf, type Gaussian } from './rule-parser.js';

/** Standard normal noise for one batch. */
export interface Noise {
  /** [M, N, 9, d_z] */
  readonly concepts: Tensor;
  /** [M, N, d_r] */
  readonly rules: Tensor;
}

/** Standard normal noise, on the generator's device. */
export function drawNoise(
  { concepts, conceptSize, ruleSize }: NetworkConfig,
  problems: number,
  generator: Generator,
): Noise {
  return {
    concepts: randn([concepts, problems, MATRIX_PANELS, conceptSize], { generator }),
    rules: randn([concepts, problems, ruleSize], { generator }),
  };
}

export interface TargetedBatch {
  /** Pixel values in [0, 1], f32 [N, 9, 64, 64]. */
  readonly panels: Tensor;
  readonly targets: TargetSets;
}

export interface ObjectiveInputs {
  readonly noise: Noise;
  readonly sigmaX: number;
  readonly sigmaZ: number;
  /** Most targets of a problem that are decoded; all unless given. */
  readonly decoded?: number;
  /** The rule prior, or null to leave its term out. */
  readonly prior: {
    readonly tensors: PriorTensors;
    readonly density: RulePriorConfig['density'];
    /** N_D: problems of the data set, or of the pool of a stream. */
    readonly datasetSize: number;
    /**
     * Where this is a part of a larger batch: puts the same tensor of the other parts beside it, along a
     * dimension, with gradients. Minibatch weighted sampling then sees the posteriors of the whole batch.
     */
    readonly gather?: (own: Tensor, dim: number) => Tensor;
  } | null;
}

/** Each a tensor of one value. */
export interface ObjectiveTerms {
  /** L_r, to be maximised. */
  readonly reconstruction: Tensor;
  /** R_r */
  readonly ruleRegularizer: Tensor;
  /** R_t */
  readonly targetRegularizer: Tensor;
  /** R_cls */
  readonly rulePrior: Tensor | null;
}

export interface ObjectiveResult {
  readonly terms: ObjectiveTerms;
  /** Samples of q(r|z), [M, N, d_r], detached: what the rule prior is refitted to. */
  readonly rules: Tensor;
}

/** The terms of the objective for one batch. */
export function evaluateObjective(
  model: CrabModel,
  batch: TargetedBatch,
  { noise, sigmaX, sigmaZ, prior, decoded = MATRIX_PANELS }: ObjectiveInputs,
): ObjectiveResult {
  const { panels, targets } = batch;
  const context = contextOf(targets); // [S, N, 9]
  const sets = context.shape[0];

  // Inference (Appendix A.2): z ~ q(z|x), r ~ q(r|z); the context's p(r|z_C) from the same pairs.
  const means = model.encode(panels); // [M, N, 9, d_z]
  const concepts = sampled(means, sigmaZ, noise.concepts);
  const open = onesLike(context.narrow(0, 0, 1)); // [1, N, 9]
  const gates = gatesOf(cat([open, context], 0)); // [1 + S, N, 81]
  const parsed = model.ruleParser.forward(concepts, gates); // [M, 1 + S, N, d_r]
  const posterior = slice(parsed, 0, 1);
  const conditional = slice(parsed, 1, sets);
  const rules = sampled(posterior.mean, posterior.deviation, noise.rules.unsqueeze(1)); // [M, 1, N, d_r]

  // p(z_T | r, z_C) of every target set.
  const [m, , n, ruleSize] = rules.shape;
  const predicted = model.targetPredictor.forward(
    concepts,
    context,
    rules.expand([m, sets, n, ruleSize]),
  );

  const samples = rules.squeeze(1); // [M, N, d_r]
  const terms = {
    reconstruction: reconstruction(model, batch, concepts, sigmaX, decoded),
    ruleRegularizer: gaussianKl(posterior, conditional)
      .sum()
      .div(sets * n),
    targetRegularizer: targetRegularizer(means, predicted, context, sigmaZ),
    rulePrior: prior === null ? null : rulePriorTerm(samples, posterior, prior),
  };
  return { terms, rules: samples.detach() };
}

/** Some sets of gates out of [M, G, N, d_r]. */
function slice({ mean, deviation }: Gaussian, from: number, count: number): Gaussian {
  return { mean: mean.narrow(1, from, count), deviation: deviation.narrow(1, from, count) };
}

/**
 * L_r = sum over targets of log p(x_t | z_t), z_t sampled from q(z_t|x_t). Of several target sets the
 * first serves, and of its targets the first `decoded` for all: their places are in random order, so that
 * the estimate stays unbiased where sets are drawn alike, and the decoder paints less. Where some sets are
 * the smallest the first is one of these, and L_r is that of so many targets.
 */
function reconstruction(
  model: CrabModel,
  { panels, targets }: TargetedBatch,
  concepts: Tensor,
  sigmaX: number,
  decoded: number,
): Tensor {
  const places = Math.min(decoded, targets.index.shape[2]);
  const index = targets.index.select(0, 0).narrow(1, 0, places); // [N, T']
  const weight = targets.weight.select(0, 0); // [N, T]
  const painted = weight.narrow(1, 0, places); // [N, T']
  const share = weight.sum(1, true).div(painted.sum(1, true)); // [N, 1]
  const [n] = index.shape;
  const [m, , , size] = concepts.shape;
  const [, , height, width] = panels.shape;
  const chosen = concepts.gather(2, index.reshape([1, n, places, 1]).expand([m, n, places, size]));
  const images = panels.gather(
    1,
    index.reshape([n, places, 1, 1]).expand([n, places, height, width]),
  );
  const logs = fixedLogLikelihood(images, model.decode(chosen), sigmaX, 2); // [N, T']
  return logs.mul(painted).mul(share).sum().div(n);
}

/** R_t: KL of q(z_T|x_T) and p(z_T|r, z_C), summed over targets and concepts. */
function targetRegularizer(
  means: Tensor,
  predicted: Tensor,
  context: Tensor,
  sigmaZ: number,
): Tensor {
  const [sets, n] = context.shape;
  const errors = equalDeviationKl(means.unsqueeze(1), predicted, sigmaZ).sum([0, 4]); // [S, N, 9]
  return errors
    .mul(context.rsub(1))
    .sum()
    .div(sets * n);
}

/** R_cls = sum over concepts of KL(q(r) || p(r)), by minibatch weighted sampling (Appendix A.3). */
function rulePriorTerm(
  samples: Tensor,
  posterior: Gaussian,
  { tensors, density, datasetSize, gather }: NonNullable<ObjectiveInputs['prior']>,
): Tensor {
  const own = { mean: posterior.mean.squeeze(1), deviation: posterior.deviation.squeeze(1) };
  const aggregated = gather === undefined ? own : gathered(own, gather);
  const negativeEntropy = minibatchWeightedEntropy(samples, aggregated, datasetSize); // [M]
  const expectedLogPrior = logRulePrior(samples, tensors, density).mean(1); // [M]
  return negativeEntropy.sub(expectedLogPrior).sum();
}

/** Gaussians [M, N, d_r] of all parts of a batch, in one exchange. */
function gathered(
  { mean, deviation }: Gaussian,
  gather: (own: Tensor, dim: number) => Tensor,
): Gaussian {
  const size = mean.shape[2];
  const both = gather(cat([mean, deviation], 2), 1); // [M, N_B, 2 d_r]
  return { mean: both.narrow(2, 0, size), deviation: both.narrow(2, size, size) };
}

/** beta_r, beta_t and beta_cls: numbers, or tensors of one value that a captured graph reads anew. */
export interface LossWeights<T extends number | Tensor = number | Tensor> {
  readonly rule: T;
  readonly target: T;
  readonly prior: T;
}

/** The weights at a step (from 0) of a run of `totalSteps`. */
export function lossWeightsAt(
  config: ObjectiveConfig,
  step: number,
  totalSteps: number,
): LossWeights<number> {
  return {
    rule: valueAt(config.ruleWeight, step, totalSteps),
    target: valueAt(config.targetWeight, step, totalSteps),
    prior: valueAt(config.priorWeight, step, totalSteps),
  };
}

/** What an optimiser minimises: the negative of the objective. */
export function weightedLoss(terms: ObjectiveTerms, weights: LossWeights): Tensor {
  const loss = terms.ruleRegularizer
    .mul(weights.rule)
    .add(terms.targetRegularizer.mul(weights.target))
    .sub(terms.reconstruction);
  return terms.rulePrior === null ? loss : loss.add(terms.rulePrior.mul(weights.prior));
}
