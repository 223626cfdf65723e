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
import { NormalNoise } from '../random/noise.js';
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
  /** Steps whose terms are kept until they are read. */
  readonly rows: number;
}

const indexCopyInPlace = operator('index_copy_');

export class StepComputation {
  /** f32 [rows, terms] */
  readonly terms: Tensor;
  /** Samples of q(r|z) of the newest batch, f32 [M, N, d_r]. */
  readonly rules: Tensor;
  readonly #parts: StepParts;
  readonly #noise: NormalNoise;

  constructor(parts: StepParts) {
    this.#parts = parts;
    const { batchSize } = parts.config.optimizer;
    const { concepts, conceptSize, ruleSize } = parts.config.network;
    const { device } = parts;
    this.terms = keep(zeros([parts.rows, TERMS.length], { device }));
    this.rules = keep(zeros([concepts, batchSize, ruleSize], { device }));
    const perProblem = concepts * (9 * conceptSize + ruleSize);
    this.#noise = new NormalNoise(0, batchSize, perProblem, device);
  }

  /** Does the step whose inputs are loaded. */
  run(withPrior: boolean): void {
    const { optimizer, inputs } = this.#parts;
    scope(() => {
      optimizer.zeroGrad();
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
    const panels = pool.indexSelect(0, inputs.slots).to({ dtype: 'f32' }).div_(255); // [N, 9, 64, 64]
    const targets = { index: inputs.targetIndex, weight: inputs.targetWeight };
    const given = {
      noise: this.#drawNoise(),
      sigmaX,
      sigmaZ,
      prior: withPrior
        ? { tensors: prior.tensors, density: config.rulePrior.density, datasetSize }
        : null,
    };
    const evaluate = (): ObjectiveResult => evaluateObjective(model, { panels, targets }, given);
    return precision === 'bf16' ? autocast(device, 'bf16', evaluate) : evaluate();
  }

  #drawNoise(): Noise {
    const { concepts: m, conceptSize, ruleSize } = this.#parts.config.network;
    const n = this.#parts.config.optimizer.batchSize;
    const drawn = noGrad(() => this.#noise.draw(this.#parts.inputs.noiseKey)); // [N, M (9 d_z + d_r)]
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
    const { device, inputs } = this.#parts;
    const rulePrior = terms.rulePrior ?? zeros([], { device });
    const { reconstruction, ruleRegularizer, targetRegularizer } = terms;
    const row = stack([loss, reconstruction, ruleRegularizer, targetRegularizer, rulePrior]);
    indexCopyInPlace.call(this.terms, 0, inputs.row, row.unsqueeze(0)); // [1, terms] into [rows, terms]
    this.rules.copy_(rules);
  }

  dispose(): void {
    this.terms.dispose();
    this.rules.dispose();
    this.#noise.dispose();
  }
}
