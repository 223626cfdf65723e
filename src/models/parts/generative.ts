/**
 * Systems that learn from the nine panels alone to foretell any of them: what their learning and their
 * settings have in common. Such a system defines a model and the terms of its objective, and says what its
 * paper trained it with.
 *
 * Presets: `paper` as CRAB's authors trained it for their Table 1, on 6,000 problems with one random target
 * each; `ours` with what made CRAB fast: small batches and many steps of Adam, several target sets for every
 * encoded matrix, and fresh problems for as long as it trains.
 */
import {
  integer,
  nullable,
  number,
  object,
  oneOf,
  productOf,
  read,
  withDefault,
} from '../../base/index.js';
import type { Read, Reader } from '../../base/index.js';
import type { Configuration } from '../../matrix/index.js';
import type { Tensor } from '../../torch/index.js';
import type { DeepPartial } from '../deep-partial.js';
import { ConfigurationError } from '../errors.js';
import type { BundleExport } from '../onnx/bundle-networks.js';
import { constant, schedule, valueAt, type Schedule } from '../schedule.js';
import type {
  Capability,
  CreateOptions,
  Learner,
  LearningContext,
  ProblemBatch,
  StepPlan,
  StepTensors,
  System,
  SystemModel,
} from '../system.js';
import {
  FALLING_RATE,
  optimizerFields,
  PAPER_PROBLEMS,
  presetSettings,
  problemFields,
} from './settings.js';
import { requireNoisyForm } from './settings.js';
import { contextOf, drawTargets, targetsReader } from './target-sets.js';

const PRESETS = ['paper', 'ours'] as const;

const sharedFields = object({
  preset: oneOf(PRESETS),
  ...problemFields,
  data: object({
    /** Problems it trains on, again and again; null: fresh ones. */
    problems: nullable(integer({ min: 1 })),
  }),
  targets: targetsReader,
  optimizer: object({
    ...optimizerFields,
    gradientLimit: withDefault(nullable(number({ above: 0 })), null),
  }),
  network: (given) => given,
  objective: (given) => given,
});
type SharedConfig = Omit<Read<typeof sharedFields>, 'network' | 'objective'>;

/** What every objective has: the deviation of pixels, and the weight of each regulariser by its name. */
export interface Objective {
  readonly sigmaX: number;
  readonly weights: Readonly<Record<string, Schedule>>;
}

export interface GenerativeConfig<N, O extends Objective> extends SharedConfig {
  readonly network: N;
  readonly objective: O;
}

/** A deviation or scale in a configuration. */
export const deviation = number({ min: 1e-6 });

/** Weights of regularisers, by their names. */
export const weightsReader = <const K extends string>(...names: readonly K[]) =>
  object(Object.fromEntries(names.map((name) => [name, schedule])) as Record<K, typeof schedule>);

/** A batch with S target sets for each of its N problems, each of up to T panels. */
export interface TargetBatch {
  /** Pixels in [0, 1], [N, 9, 64, 64]. */
  readonly panels: Tensor;
  /** Positions 0..8 of the targets, i64 [N, S, T]. */
  readonly index: Tensor;
  /** 1 for a target, 0 for an unused place, [N, S, T]. */
  readonly weight: Tensor;
  /** 1 at context panels, 0 at targets, [N, S, 9]. */
  readonly context: Tensor;
  /** Most targets of a set that the decoder paints. */
  readonly decoded: number;
  /** Standard normal numbers [N, ...shape]. */
  readonly noise: (...shape: number[]) => Tensor;
  /** Puts the same tensor of the other parts of the batch beside it, along a dimension, with gradients. */
  readonly gather: (own: Tensor, dim: number) => Tensor;
}

/** A generative system, without what they all share. */
interface GenerativeDefinition<N, O extends Objective, M extends SystemModel> {
  readonly name: string;
  readonly title: string;
  readonly can: readonly Capability[];
  readonly network: Reader<N>;
  readonly objective: Reader<O>;
  /** What its paper trained it with. */
  settings(configuration: Configuration): {
    readonly network: N;
    readonly objective: O;
    readonly optimizer: {
      readonly learningRate: number;
      readonly batchSize: number;
      readonly gradientLimit?: number;
    };
  };
  create(network: N, options: CreateOptions): M;
  /** Names of the log-likelihoods, which are maximised. */
  readonly likelihoods: readonly string[];
  /** The likelihoods and the regularisers of a batch by name: means over its problems, tensors of one value. */
  evaluate(model: M, batch: TargetBatch, objective: O): Readonly<Record<string, Tensor>>;
  /** How trained models become bundles. */
  readonly exports?: BundleExport<GenerativeConfig<NoInfer<N>, NoInfer<O>>>;
}

/** Minimises the weighted regularisers less the likelihoods. */
class GenerativeLearner<N, O extends Objective, M extends SystemModel> implements Learner {
  readonly terms: readonly string[];
  readonly sizes: Learner['sizes'];
  readonly #definition: GenerativeDefinition<N, O, M>;
  readonly #model: M;
  readonly #context: LearningContext<GenerativeConfig<N, O>>;
  readonly #weights: readonly Schedule[];

  constructor(
    definition: GenerativeDefinition<N, O, M>,
    model: M,
    context: LearningContext<GenerativeConfig<N, O>>,
  ) {
    const { targets, objective } = context.config;
    const places = targets.setsPerProblem * context.part.count * targets.max;
    this.#definition = definition;
    this.#model = model;
    this.#context = context;
    this.#weights = Object.values(objective.weights);
    this.terms = [...definition.likelihoods, ...Object.keys(objective.weights)];
    this.sizes = { integers: places, floats: places, weights: this.#weights.length };
  }

  draw(step: number, index: BigInt64Array, weight: Float32Array): void {
    const { config, seed, part } = this.#context;
    drawTargets(config.targets, seed, step, config.optimizer.batchSize, part, index, weight);
  }

  begin(step: number, totalSteps: number): StepPlan {
    return { form: '', weights: this.#weights.map((each) => valueAt(each, step, totalSteps)) };
  }

  loss({ panels }: ProblemBatch, { integers, floats, weights }: StepTensors) {
    const { config, part, random, gather } = this.#context;
    const { dtype } = panels;
    const shape = [config.targets.setsPerProblem, part.count, config.targets.max]; // [S, N, T]
    const targets = { index: integers.reshape(shape), weight: floats.reshape(shape) };
    const values = this.#definition.evaluate(
      this.#model,
      {
        panels,
        // Problems come first, so that a process with a part of the batch draws the same noise for them.
        index: targets.index.transpose(0, 1),
        weight: targets.weight.transpose(0, 1).to({ dtype }),
        context: contextOf(targets).transpose(0, 1).to({ dtype }),
        decoded: config.targets.decoded,
        noise: (...sizes) =>
          random
            .normal(productOf(sizes))
            .reshape([part.count, ...sizes])
            .to({ dtype }),
        gather,
      },
      config.objective,
    );
    const terms = this.terms.map((name) => values[name]);
    const { length } = this.#definition.likelihoods;
    const gains = terms.slice(0, length);
    const costs = terms.slice(length).map((term, i) => term.mul(weights[i]));
    return { loss: [...gains.map((gain) => gain.neg()), ...costs].reduce(added), terms };
  }

  dispose(): void {}
}

const added = (a: Tensor, b: Tensor): Tensor => a.add(b);

const PAPER_TARGETS = { sharedByBatch: false, min: 1, max: 1, setsPerProblem: 1, decoded: 8 };
/** Three of four target sets are single panels: most matrices are asked so, and several can be learnt beside. */
const OURS = {
  data: { problems: null },
  targets: { max: 3, setsPerProblem: 4, smallestSets: 3, decoded: 1 },
  optimizer: { learningRate: FALLING_RATE, batchSize: 128 },
} satisfies DeepPartial<SharedConfig>;

/** The system of a definition. */
export function generativeSystem<N extends object, O extends Objective, M extends SystemModel>(
  definition: GenerativeDefinition<N, O, M>,
): System<GenerativeConfig<N, O>> {
  const { name, title, can, network, objective } = definition;
  const reader: Reader<GenerativeConfig<N, O>> = (given) => {
    // The types of N and O are not known here, so both are read by themselves.
    const config = {
      ...sharedFields(given),
      network: network(given.member('network')),
      objective: objective(given.member('objective')),
    };
    requireNoisyForm(given, config);
    return config;
  };
  const paper = (configuration: Configuration): object => {
    const { optimizer, ...own } = definition.settings(configuration);
    const learningRate = constant(optimizer.learningRate);
    return {
      ...own,
      data: { problems: PAPER_PROBLEMS },
      targets: PAPER_TARGETS,
      optimizer: { algorithm: 'adam', ...optimizer, learningRate },
    };
  };
  return {
    name,
    title,
    presets: PRESETS,
    positions: 'any',
    can,
    config: (preset, configuration, options) => {
      const layers = [paper(configuration), ...(preset === 'ours' ? [OURS] : [])];
      const chosen = presetSettings({ preset, configuration }, layers, options);
      return read(reader, chosen, ConfigurationError, 'config');
    },
    reader,
    needs: ({ data }) => ({ imageSize: 64, candidates: null, rules: false, ...data }),
    // The authors keep the best weights by candidates; our own preset by what needs none.
    criterion: ({ preset }) =>
      preset === 'paper' ? 'selection-accuracy' : 'global-selection-accuracy',
    create: (config, options) => definition.create(config.network, options),
    learner: (model, context) => new GenerativeLearner(definition, model as M, context),
    exports: definition.exports,
  };
}
