/**
 * What a system is: one of the ways to solve Raven's matrices that can be trained, evaluated and compared
 * here. A system is a folder of this layer with its networks, its loss and its settings, and one line in
 * registry.ts. The trainer and the lab know systems only through these types, and ask a model only for
 * what it can do.
 */
import type { Reader } from '../base/index.js';
import type { Configuration, Variant } from '../matrix/index.js';
import { nn, type Device, type Generator, type Tensor } from '../torch/index.js';
import type { BundleExport } from './onnx/bundle-networks.js';
import type { StepRandom } from './parts/step-random.js';
import type { Schedule } from './schedule.js';

/** Pixels of a side of a panel, as a system sees it. */
export type ImageSize = 64 | 80 | 160;

/** What a system learns from. */
export interface Needs {
  readonly imageSize: ImageSize;
  /** Which data set's candidates it sees while it trains; null: it learns from the nine panels alone. */
  readonly candidates: Variant | null;
  /** Whether it is told the rules. */
  readonly rules: boolean;
  /** Problems it trains on, again and again; null: fresh ones for as long as it trains. */
  readonly problems: number | null;
  /** Whether its problems are of all configurations in turn, with RAVEN's own noise; else of the run's own. */
  readonly mixed?: boolean;
}

/** What the best weights are chosen by: accuracy on RAVEN's candidates, or among panels of other problems. */
export type Criterion = 'selection-accuracy' | 'global-selection-accuracy';

export interface OptimizerConfig {
  readonly algorithm: 'rmsprop' | 'adam' | 'adamw' | 'sgd';
  readonly learningRate: Schedule;
  readonly batchSize: number;
  readonly momentum?: number;
  readonly weightDecay?: number;
  /** Greatest Euclidean norm of a step's gradient; null or absent: no limit. */
  readonly gradientLimit?: number | null;
}

/** The settings that every system has. */
export interface SystemConfig {
  readonly preset: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly optimizer: OptimizerConfig;
}

export interface ConfigOptions {
  readonly noisy?: boolean;
  /** Changes to the preset; unknown keys are errors. */
  readonly overrides?: object;
}

export interface System<C extends SystemConfig = SystemConfig> {
  /** As in `crab train --system NAME`. */
  readonly name: string;
  /** One line: what it is, and where it was published. */
  readonly title: string;
  /** The default first. */
  readonly presets: readonly string[];
  /** Which panels it can answer for: any, or the last one alone. */
  readonly positions: 'any' | 'last';
  /** What its models can do beside choosing. */
  readonly can: readonly Capability[];
  /** The settings of a preset. */
  config(preset: string, configuration: Configuration, options?: ConfigOptions): C;
  /** Checks settings from outside, such as parsed JSON. */
  readonly reader: Reader<C>;
  needs(config: C): Needs;
  criterion(config: C): Criterion;
  create(config: C, options: CreateOptions): SystemModel;
  /** How a model of this system learns. */
  learner(model: SystemModel, context: LearningContext<C>): Learner;
  /** How its trained models become bundles; without it, runs are only used as they are. */
  readonly exports?: BundleExport<C>;
}

export interface CreateOptions {
  /** The source of the first weights. */
  readonly generator: Generator;
  /** Random numbers of a training step, for dropout; a model that is only used needs none. */
  readonly random?: StepRandom;
}

/** What a model can do beside choosing: paint missing panels, describe panels by concepts, parse rules. */
export type Capability = 'impute' | 'concepts' | 'rules';

/** Positions (0..8) that are missing, for each problem. */
export type Missing = readonly (readonly number[])[];

/** A model of a system. What it can do beside choosing is in its optional methods. */
export abstract class SystemModel extends nn.Module {
  /**
   * How well candidates fit, [N, C], higher is better: panels [N, 9, S, S] in [0, 1], of which the missing
   * ones are not looked at, and candidates [N, C, T, S, S], one panel for each of the T missing positions.
   */
  abstract score(panels: Tensor, missing: Missing, candidates: Tensor): Tensor;

  /** The panels with the missing ones painted, [N, 9, S, S]. */
  impute?(panels: Tensor, missing: Missing): Tensor;

  /** Panels [N, P, S, S] as M concepts of d values, [N, P, M, d]. */
  conceptsOf?(panels: Tensor): Tensor;

  /** The concepts expected at every position, [N, 9, M, d], from those of the context; mask [N, 9], 0 at missing. */
  predictConcepts?(concepts: Tensor, context: Tensor): Tensor;

  /** Concepts [N, P, M, d] painted, [N, P, S, S]. */
  paint?(concepts: Tensor): Tensor;

  /** Rules [N, M, d_r] from the concepts of nine panels [N, 9, M, d]; a mask [N, 9] is 0 at missing ones. */
  rulesOf?(concepts: Tensor, context?: Tensor): Tensor;

  /** Moves the model to a device, laid out as is fastest there. */
  place(device: Device): this {
    return this.to({ device });
  }
}

/** Some problems, as a step trains on them. Pixels are in [0, 1]. */
export interface ProblemBatch {
  /** [N, 9, S, S], the answer last; [N, 8, S, S], without it, if there are candidates. */
  readonly panels: Tensor;
  readonly choice: {
    /** [N, 8, S, S] */
    readonly candidates: Tensor;
    /** Index of the answer among them, i64 [N]. */
    readonly answer: Tensor;
  } | null;
  readonly labels: RuleLabels | null;
}

/** What a system may be told of the rules. */
export interface RuleLabels {
  /** i64 [N, 2, 4, 3], by component and group (Number/Position, Type, Size, Color); see feed/record.ts. */
  readonly rules: Tensor;
  /** RAVEN's meta target: which rules and attributes occur, [N, 9]. */
  readonly metaTarget: Tensor;
  /** RAVEN's meta structure: which parts the layout has, [N, 21]. */
  readonly metaStructure: Tensor;
}

/** A contiguous part of the whole batch: all of it in a run of one process. */
export interface BatchPart {
  readonly first: number;
  readonly count: number;
}

/** What a learner is given for a whole training. */
export interface LearningContext<C extends SystemConfig = SystemConfig> {
  readonly config: C;
  readonly seed: number;
  readonly device: Device;
  readonly dtype: 'f32' | 'f64';
  /** The part of the batch that this process computes. */
  readonly part: BatchPart;
  /** Problems that training draws from. */
  readonly datasetSize: number;
  /** Steps that the host may be ahead of the device; 0: it waits for every step. */
  readonly stepsAhead: number;
  readonly random: StepRandom;
  /** Puts the same tensor of the other parts of the batch beside it, along a dimension, with gradients. */
  readonly gather: (own: Tensor, dim: number) => Tensor;
  readonly ranks: number;
}

/** A step's own values on the device: those of `draw`, and the loss weights, f32 [1] each. */
export interface StepTensors {
  readonly integers: Tensor;
  readonly floats: Tensor;
  readonly weights: readonly Tensor[];
}

/** What a step is about to do. */
export interface StepPlan {
  /** A captured CUDA graph serves steps of one form only. */
  readonly form: string;
  /** Weights of the loss's terms at this step. */
  readonly weights: readonly number[];
}

/**
 * How a model learns: the loss of a batch, and what happens around the steps. A step runs on a CPU as it
 * is, or is captured once as a CUDA graph and replayed. So whatever changes from step to step goes through
 * `draw` and the loss weights, and nothing is read back to the host inside `loss`.
 */
export interface Learner {
  /** Names of the terms that `loss` gives beside the loss itself. */
  readonly terms: readonly string[];
  /** How many values `draw` writes, and how many loss weights there are. */
  readonly sizes: { readonly integers: number; readonly floats: number; readonly weights: number };
  /** Draws what is random in a step: a function of the step's number alone. */
  draw?(step: number, integers: BigInt64Array, floats: Float32Array): void;
  /** Called before a step of a run of `totalSteps` (Infinity while unknown). */
  begin(step: number, totalSteps: number): StepPlan;
  /** The loss, and the terms in the order of `terms`: tensors of one value, means over the batch. */
  loss(
    batch: ProblemBatch,
    values: StepTensors,
  ): { readonly loss: Tensor; readonly terms: readonly Tensor[] };
  /** Called when a step's work is in the device's queue. */
  end?(step: number): void;
  /** Called when the device is done with all steps so far. */
  settle?(): void;
  /** What a checkpoint must keep beside weights and optimiser, as JSON. */
  state?(): unknown;
  /** Takes over what `state` gave; nothing in it is trusted. */
  load?(state: unknown): void;
  dispose(): void;
}
