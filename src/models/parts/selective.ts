/**
 * Systems that choose among eight candidates for the ninth panel and are trained with the right answer: what
 * their models, their learning and their settings have in common. Such a system defines a network that gives
 * scores, and says what it is called and how it was trained.
 *
 * Presets: `paper` trains on 6,000 problems with RAVEN's candidates, as CRAB's authors trained the selective
 * systems of their Table 1; `endless` on fresh problems for as long as it trains.
 */
import { integer, nullable, number, object, oneOf, read, withDefault } from '../../base/index.js';
import type { Read, Reader } from '../../base/index.js';
import { crossEntropy, noGrad, type Tensor } from '../../torch/index.js';
import { VARIANTS, type Variant } from '../../matrix/index.js';
import { ConfigurationError, ModelError } from '../errors.js';
import { constant } from '../schedule.js';
import { SystemModel } from '../system.js';
import type {
  CreateOptions,
  ImageSize,
  Learner,
  Missing,
  OptimizerConfig,
  ProblemBatch,
  StepPlan,
  System,
} from '../system.js';
import { optimizerFields, presetSettings, problemFields, requireNoisyForm } from './settings.js';

const LAST = 8;
const PRESETS = ['paper', 'endless'] as const;
const PAPER_PROBLEMS = 6000;
const PAPER_RATE = 1e-4;
const PAPER_BATCH = 32;

/** A network that scores candidates for the ninth panel. */
export abstract class SelectiveModel extends SystemModel {
  /** Scores [N, 8] of candidates [N, 8, S, S] for a context [N, 8, S, S]; higher is better. */
  abstract forward(context: Tensor, candidates: Tensor): Tensor;

  override score(panels: Tensor, missing: Missing, candidates: Tensor): Tensor {
    if (missing.some((positions) => positions.length !== 1 || positions[0] !== LAST)) {
      throw new ModelError('this system answers for the ninth panel alone');
    }
    return noGrad(() => this.forward(panels.narrow(1, 0, LAST), candidates.squeeze(2)));
  }
}

/** Loss of scores [N, 8] with the right answers i64 [N]. */
export type ChoiceLoss = (scores: Tensor, answer: Tensor, batch: ProblemBatch) => Tensor;

/** Learns to score the right answer highest; by softmax cross-entropy unless told. */
export class ChoiceLearner implements Learner {
  readonly terms = ['accuracy'];
  readonly sizes = { integers: 0, floats: 0, weights: 0 };

  constructor(
    readonly model: SelectiveModel,
    readonly lossOf: ChoiceLoss = (scores, answer) => crossEntropy(scores, answer),
  ) {}

  begin(): StepPlan {
    return { form: '', weights: [] };
  }

  loss(batch: ProblemBatch) {
    const { panels, choice } = batch;
    if (choice === null) throw new ModelError('a selective system needs candidates');
    const scores = this.model.forward(panels, choice.candidates).to({ dtype: panels.dtype }); // [N, 8]
    const right = scores.detach().argmax(1).eq(choice.answer).to({ dtype: panels.dtype });
    return { loss: this.lossOf(scores, choice.answer, batch), terms: [right.mean()] };
  }

  dispose(): void {}
}

const data = object({
  /** Whose candidates it trains with. */
  candidates: oneOf(VARIANTS),
  /** Problems it trains on, again and again; null: fresh ones. */
  problems: nullable(integer({ min: 1 })),
});

const optimizer = object({
  ...optimizerFields,
  momentum: withDefault(number({ min: 0, max: 1 }), 0),
  weightDecay: withDefault(number({ min: 0 }), 0),
});

const sharedFields = object({
  preset: oneOf(PRESETS),
  ...problemFields,
  data,
  optimizer,
  network: (given) => given,
});

/** Settings of a selective system. */
export interface SelectiveConfig<N> extends Omit<Read<typeof sharedFields>, 'network'> {
  readonly network: N;
}

/** A selective system, without what they all share. */
export interface SelectiveDefinition<N extends object> {
  readonly name: string;
  readonly title: string;
  readonly imageSize: ImageSize;
  /** Sizes of its network, and their defaults. */
  readonly network: Reader<N>;
  readonly defaults: N;
  /** How it is trained, if not by Adam at 1e-4 in batches of 32. */
  readonly optimizer?: Partial<OptimizerConfig>;
  /** Whether it is told the rules. */
  readonly rules?: boolean;
  create(network: N, options: CreateOptions): SelectiveModel;
  readonly loss?: ChoiceLoss;
}

/** The system of a definition. */
export function selectiveSystem<N extends object>(
  definition: SelectiveDefinition<N>,
): System<SelectiveConfig<N>> {
  const { name, title, imageSize, network, defaults, rules = false } = definition;
  const reader: Reader<SelectiveConfig<N>> = (given) => {
    // Every key is known here; the type of N is not, so the network is read by itself.
    const config = { ...sharedFields(given), network: network(given.member('network')) };
    requireNoisyForm(given, config);
    return config;
  };
  const adam = { algorithm: 'adam', learningRate: constant(PAPER_RATE), batchSize: PAPER_BATCH };
  const paper: object = {
    data: { candidates: 'raven' satisfies Variant, problems: PAPER_PROBLEMS },
    optimizer: { ...adam, ...definition.optimizer },
    network: defaults,
  };
  const changes: Record<string, object[]> = {
    endless: [{ data: { problems: null } }],
  };
  return {
    name,
    title,
    presets: PRESETS,
    positions: 'last',
    can: [],
    config: (preset, configuration, options) => {
      const chosen = presetSettings(
        { preset, configuration },
        [paper, ...(changes[preset] ?? [])],
        options,
      );
      return read(reader, chosen, ConfigurationError, 'config');
    },
    reader,
    needs: (config) => ({ imageSize, rules, ...config.data }),
    criterion: () => 'selection-accuracy',
    create: (config, options) => definition.create(config.network, options),
    learner: (model) => new ChoiceLearner(model as SelectiveModel, definition.loss),
  };
}

/** Fields that several networks have. */
export const sizes = {
  width: integer({ min: 1, max: 4096 }),
  share: number({ min: 0, max: 0.99 }),
};
