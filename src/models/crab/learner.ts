/**
 * Algorithm 1 of the paper: how CRAB learns. Each step draws target sets and noise, evaluates the objective
 * and leaves the sampled rules of its batch behind. From time to time, every U steps once the prior's weight
 * is above zero, the rule prior is fitted anew to them ("Global Rule Abstraction").
 *
 * The fit runs on the host. On a GPU it does not hold up the device: rules are copied in the device's
 * queue, and the fit begins when the steps that were queued before are done.
 */
import { derivedSeed, STREAM } from '../../base/index.js';
import { copyLater, keep, noGrad, pinned, zeros, type Tensor } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import { drawTargets } from '../parts/target-sets.js';
import type { Learner, LearningContext, ProblemBatch, StepPlan, StepTensors } from '../system.js';
import type { CrabConfig } from './config.js';
import type { CrabModel } from './model.js';
import { evaluateObjective, lossWeightsAt, weightedLoss, type Noise } from './objective.js';
import { mixturesOf, RulePrior, type MixtureData } from './rule-prior.js';

const WITH_PRIOR = 'with the rule prior';

export class CrabLearner implements Learner {
  readonly terms = ['reconstruction', 'ruleRegularizer', 'targetRegularizer', 'rulePrior'];
  readonly sizes: Learner['sizes'];
  readonly prior: RulePrior;
  readonly #model: CrabModel;
  readonly #context: LearningContext<CrabConfig>;
  /** Samples of q(r|z) of the newest batch, the whole of it, [M, N, d_r]; and their copy on the host. */
  readonly #rules: Tensor;
  readonly #rulesOnHost: Tensor;
  #priorWeight = 0;
  #isPriorUsed = false;
  /** The step whose rules the prior is to be fitted to. */
  #due: number | null = null;

  constructor(model: CrabModel, context: LearningContext<CrabConfig>) {
    const { config, device, dtype, part } = context;
    const { concepts, ruleSize } = config.network;
    const { setsPerProblem, max } = config.targets;
    const places = setsPerProblem * part.count * max;
    this.sizes = { integers: places, floats: places, weights: 3 };
    this.#model = model;
    this.#context = context;
    this.prior = new RulePrior(concepts, ruleSize, config.rulePrior, device);
    const shape = [concepts, config.optimizer.batchSize, ruleSize];
    this.#rules = keep(zeros(shape, { device, dtype }));
    this.#rulesOnHost = context.stepsAhead === 0 ? this.#rules : pinned(shape, 'f32');
  }

  draw(step: number, index: BigInt64Array, weight: Float32Array): void {
    const { config, seed, part } = this.#context;
    drawTargets(config.targets, seed, step, config.optimizer.batchSize, part, index, weight);
  }

  begin(step: number, totalSteps: number): StepPlan {
    const { config, stepsAhead } = this.#context;
    if (this.#due !== null && step >= this.#due + stepsAhead) this.#fit();
    const { rule, target, prior } = lossWeightsAt(config.objective, step, totalSteps);
    this.#priorWeight = prior;
    this.#isPriorUsed = prior > 0 && this.prior.isFitted;
    return { form: this.#isPriorUsed ? WITH_PRIOR : '', weights: [rule, target, prior] };
  }

  loss({ panels }: ProblemBatch, { integers, floats, weights }: StepTensors) {
    const { config, part, gather, ranks, datasetSize } = this.#context;
    const { sigmaX, sigmaZ } = config.objective;
    const { setsPerProblem, max, decoded } = config.targets;
    const shape = [setsPerProblem, part.count, max]; // [S, N, T]
    const targets = { index: integers.reshape(shape), weight: floats.reshape(shape) };
    const { terms, rules } = evaluateObjective(
      this.#model,
      { panels, targets },
      {
        noise: this.#drawNoise(),
        sigmaX,
        sigmaZ,
        decoded,
        prior: this.#isPriorUsed
          ? {
              tensors: this.prior.tensors,
              density: config.rulePrior.density,
              datasetSize,
              gather: ranks > 1 ? gather : undefined,
            }
          : null,
      },
    );
    noGrad(() => this.#rules.copy_(gather(rules, 1)));
    const [rule, target, prior] = weights;
    const { device, dtype } = panels;
    return {
      loss: weightedLoss(terms, { rule, target, prior }),
      terms: [
        terms.reconstruction,
        terms.ruleRegularizer,
        terms.targetRegularizer,
        terms.rulePrior ?? zeros([], { device, dtype }),
      ],
    };
  }

  #drawNoise(): Noise {
    const { config, part, random, dtype } = this.#context;
    const { concepts: m, conceptSize, ruleSize } = config.network;
    const n = part.count;
    const ofConcepts = m * 9 * conceptSize;
    const drawn = random.normal(ofConcepts + m * ruleSize).to({ dtype }); // [N, M (9 d_z + d_r)]
    return {
      concepts: drawn
        .narrow(1, 0, ofConcepts)
        .reshape([n, m, 9, conceptSize])
        .permute([1, 0, 2, 3]), // [M, N, 9, d_z]
      rules: drawn
        .narrow(1, ofConcepts, m * ruleSize)
        .reshape([n, m, ruleSize])
        .permute([1, 0, 2]), // [M, N, d_r]
    };
  }

  end(step: number): void {
    if (!this.#isFitDue(step)) return;
    this.#due = step;
    if (this.#context.stepsAhead === 0) this.#fit();
    else copyLater(this.#rulesOnHost, this.#rules);
  }

  #isFitDue(step: number): boolean {
    if (!(this.#priorWeight > 0) || this.#due !== null) return false;
    return !this.prior.isFitted || (step + 1) % this.prior.config.refitEvery === 0;
  }

  settle(): void {
    if (this.#due !== null) this.#fit();
  }

  #fit(): void {
    const step = this.#due ?? 0;
    this.#due = null;
    const rules = this.#rulesOnHost.data() as Float32Array | Float64Array;
    // The trainer reports a loss that is not finite; its rules make no mixture.
    if (!rules.every(Number.isFinite)) return;
    this.prior.refit(rules, derivedSeed(this.#context.seed, STREAM.prior, step) % 2 ** 31);
  }

  state(): readonly MixtureData[] | null {
    return this.prior.isFitted ? this.prior.toJSON() : null;
  }

  load(state: unknown): void {
    const stored = storedPrior(state);
    if (stored !== null) this.prior.load(mixturesOf(stored));
  }

  dispose(): void {
    this.#rules.dispose();
    this.#rulesOnHost.dispose();
    this.prior.dispose();
  }
}

/** The rule prior in the state of a stored run; null if it was never fitted. */
export function storedPrior(state: unknown): readonly MixtureData[] | null {
  if (state === null || state === undefined) return null;
  if (!Array.isArray(state)) throw new ModelError('the stored rule prior is damaged');
  try {
    mixturesOf(state as MixtureData[]);
  } catch (cause) {
    throw new ModelError('the stored rule prior is damaged', { cause });
  }
  return state as MixtureData[];
}
