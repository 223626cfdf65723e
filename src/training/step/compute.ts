/**
 * One optimisation step as tensor operations, from the slots of its problems to the changed weights.
 * Nothing is read back to the host: the same function runs step by step on a CPU and is captured as a
 * CUDA graph on a GPU.
 */
import {
  evaluateObjective,
  weightedLoss,
  type CrabConfig,
  type CrabModel,
  type Noise,
  type ObjectiveResult,
  type RulePrior,
} from '../../models/index.js';
import {
  autocast,
  cat,
  keep,
  noGrad,
  operator,
  scope,
  stack,
  zeros,
  type Device,
  type optim,
  type Tensor,
} from '../../torch/index.js';
import type { Precision } from '../config.js';
import type { Reduction, Team } from '../parallel/team.js';
import { NormalNoise } from '../random/noise.js';
import type { BatchPart } from '../random/selection.js';
import type { StepInputs } from './inputs.js';

/** What is logged of every step, in this order. */
export const TERMS = [
  'loss',
  'reconstruction',
  'ruleRegularizer',
  'targetRegularizer',
  'rulePrior',
] as const;

export interface StepParts {
  readonly config: CrabConfig;
  readonly model: CrabModel;
  readonly optimizer: optim.Optimizer;
  readonly prior: RulePrior;
  readonly inputs: StepInputs;
  /** u8 [slots, 9, 64, 64] */
  readonly pool: Tensor;
  /** N_D of minibatch weighted sampling. */
  readonly datasetSize: number;
  readonly device: Device;
  readonly precision: Precision;
  /** Who computes the other parts of the batch. */
  readonly team: Team;
  /** Whether batch normalisations use the statistics of the whole batch. */
  readonly syncBatchNorm: boolean;
  /** Steps whose terms are kept until they are read. */
  readonly rows: number;
}

const indexCopyInPlace = operator('index_copy_');

export class StepComputation {
  /** Means over the whole batch, [rows, terms]. */
  readonly terms: Tensor;
  /** Samples of q(r|z) of the newest batch, the whole of it: [M, N, d_r]. */
  readonly rules: Tensor;
  readonly #parts: StepParts;
  readonly #noise: NormalNoise;
  readonly #part: BatchPart;
  readonly #dtype: 'f32' | 'f64';
  /** Made with the first step, on the stream that steps use. */
  #reduction: Reduction | null | undefined;

  constructor(parts: StepParts) {
    this.#parts = parts;
    const { batchSize } = parts.config.optimizer;
    const { concepts, conceptSize, ruleSize } = parts.config.network;
    const { device, team } = parts;
    this.#part = team.partOf(batchSize);
    this.#dtype = parts.precision === 'f64' ? 'f64' : 'f32';
    const placed = { device, dtype: this.#dtype };
    this.terms = keep(zeros([parts.rows, TERMS.length], placed));
    this.rules = keep(zeros([concepts, batchSize, ruleSize], placed));
    const perProblem = concepts * (9 * conceptSize + ruleSize);
    const { first, count } = this.#part;
    this.#noise = new NormalNoise(first, count, perProblem, device);
    if (parts.syncBatchNorm) team.synchronise(parts.model);
  }

  /** Does the step whose inputs are loaded. */
  run(withPrior: boolean): void {
    const { optimizer, inputs } = this.#parts;
    this.#reduction ??= this.#parts.team.reduction(optimizer.parameters);
    scope(() => {
      optimizer.zeroGrad();
      this.#reduction?.begin();
      const result = this.#objective(withPrior);
      const [rule, target, prior] = inputs.weights.map((weight) => weight.squeeze(0));
      const loss = weightedLoss(result.terms, { rule, target, prior });
      loss.backward();
      optimizer.step();
      noGrad(() => this.#keepResults(loss, result));
    });
  }

  #objective(withPrior: boolean): ObjectiveResult {
    const { config, model, inputs, pool, prior, datasetSize, device, precision } = this.#parts;
    const { sigmaX, sigmaZ } = config.objective;
    const { team } = this.#parts;
    const panels = pool.indexSelect(0, inputs.slots).to({ dtype: this.#dtype }).div_(255); // [n, 9, 64, 64]
    const targets = { index: inputs.targetIndex, weight: inputs.targetWeight };
    const given = {
      noise: this.#drawNoise(),
      sigmaX,
      sigmaZ,
      decoded: config.targets.decoded,
      prior: withPrior
        ? {
            tensors: prior.tensors,
            density: config.rulePrior.density,
            datasetSize,
            gather: team.size > 1 ? (own: Tensor, dim: number) => team.gather(own, dim) : undefined,
          }
        : null,
    };
    const evaluate = (): ObjectiveResult => evaluateObjective(model, { panels, targets }, given);
    return precision === 'bf16' ? autocast(device, 'bf16', evaluate) : evaluate();
  }

  #drawNoise(): Noise {
    const { concepts: m, conceptSize, ruleSize } = this.#parts.config.network;
    const n = this.#part.count;
    const drawn = noGrad(() =>
      this.#noise.draw(this.#parts.inputs.noiseKey).to({ dtype: this.#dtype }),
    ); // [n, M (9 d_z + d_r)]
    const ofConcepts = m * 9 * conceptSize;
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

  #keepResults(loss: Tensor, { terms, rules }: ObjectiveResult): void {
    const { device, inputs, team } = this.#parts;
    const rulePrior = terms.rulePrior ?? zeros([], { device, dtype: this.#dtype });
    const { reconstruction, ruleRegularizer, targetRegularizer } = terms;
    const row = stack([loss, reconstruction, ruleRegularizer, targetRegularizer, rulePrior]);
    const mean = team.average_(row).unsqueeze(0);
    indexCopyInPlace.call(this.terms, 0, inputs.row, mean); // [1, terms] into [rows, terms]
    this.rules.copy_(team.gather(rules, 1));
    if (!this.#parts.syncBatchNorm && team.size > 1) this.#averageStatistics();
  }

  /**
   * Running statistics of the ranks' own batches, averaged: they are linear in those of the batches, so
   * that this is the running average of the averages, and all ranks hold the same model.
   */
  #averageStatistics(): void {
    const held = [...this.#parts.model.namedBuffers().values()].filter(
      (one) => one.isFloatingPoint,
    );
    const flat = this.#parts.team.average_(cat(held.map((one) => one.reshape([-1]))));
    let offset = 0;
    for (const one of held) {
      one.copy_(flat.narrow(0, offset, one.numel).reshape(one.shape));
      offset += one.numel;
    }
  }

  dispose(): void {
    this.terms.dispose();
    this.rules.dispose();
    this.#noise.dispose();
    this.#reduction?.dispose();
  }
}
