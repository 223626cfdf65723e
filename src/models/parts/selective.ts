/**
 * Systems that choose among eight candidates for the ninth panel and are trained with the right answer: what
 * their models, their learning and their settings have in common. Such a system defines a network that gives
 * scores, and says what it is called and how it was trained.
 *
 * Presets: `paper` trains on 6,000 problems with RAVEN's candidates, as CRAB's authors trained the selective
 * systems of their Table 1; `endless` on fresh problems for as long as it trains; `joint` on 42,000 problems of
 * all seven configurations, as most of these systems were published. The configuration of a joint run is
 * no more than a part of its name.
 *
 * With `data.context` "white" a system is trained, validated and tested with white panels in place of the
 * context: what it still gets right it found in the candidates alone.
 */
import {
  boolean,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  read,
  withDefault,
} from '../../base/index.js';
import type { Read, Reader } from '../../base/index.js';
import {
  bceWithLogits,
  crossEntropy,
  noGrad,
  onesLike,
  type Device,
  type Tensor,
} from '../../torch/index.js';
import {
  CONFIGURATIONS,
  CONTEXT_PANELS,
  MATRIX_PANELS,
  VARIANTS,
  type Configuration,
  type Variant,
} from '../../matrix/index.js';
import { ConfigurationError, ModelError } from '../errors.js';
import { constant } from '../schedule.js';
import { SystemModel } from '../system.js';
import type {
  CreateOptions,
  ImageSize,
  Learner,
  LearningContext,
  Missing,
  OptimizerConfig,
  ProblemBatch,
  StepPlan,
  StepTensors,
  System,
} from '../system.js';
import { drawOrders, inNewOrder, ORDER } from './reordering.js';
import {
  optimizerFields,
  PAPER_PROBLEMS,
  presetSettings,
  problemFields,
  requireNoisyForm,
} from './settings.js';

const LAST = MATRIX_PANELS - 1;
const PRESETS = ['paper', 'endless', 'joint'] as const;
const JOINT_PROBLEMS = CONFIGURATIONS.length * PAPER_PROBLEMS;
const PAPER_RATE = 1e-4;
const PAPER_BATCH = 32;

/** What a network says of a problem: scores [N, 8], and logits of RAVEN's annotations if it guesses them. */
export interface Verdict {
  readonly scores: Tensor;
  /** [N, 9] */
  readonly metaTarget?: Tensor;
  /** [N, 21] */
  readonly metaStructure?: Tensor;
}

/** A network that scores candidates for the ninth panel. */
export abstract class SelectiveModel extends SystemModel {
  /** Scores [N, 8] of candidates [N, 8, S, S] for a context [N, 8, S, S]; higher is better. */
  abstract forward(context: Tensor, candidates: Tensor): Tensor;

  /** Whether it is shown white panels in place of the context, as a control. */
  isBlind = false;

  /** The context as this model is shown it, [N, 8, S, S]. */
  shown(context: Tensor): Tensor {
    return this.isBlind ? onesLike(context) : context;
  }

  /** The same, with what only the loss looks at. */
  verdict(context: Tensor, candidates: Tensor): Verdict {
    return { scores: this.forward(context, candidates) };
  }

  override score(panels: Tensor, missing: Missing, candidates: Tensor): Tensor {
    if (missing.some((positions) => positions.length !== 1 || positions[0] !== LAST)) {
      throw new ModelError('this system answers for the ninth panel alone');
    }
    const context = panels.narrow(1, 0, CONTEXT_PANELS);
    return noGrad(() => this.forward(this.shown(context), candidates.squeeze(2)));
  }

  /** Convolutions on a GPU are fastest with the channels last. */
  override place(device: Device): this {
    return device === 'cpu'
      ? this.to({ device })
      : this.to({ device, memoryFormat: 'channelsLast' });
  }
}

/** Loss of scores [N, 8] with the right answers i64 [N]. */
export type ChoiceLoss = (scores: Tensor, answer: Tensor) => Tensor;

/** Weights of the losses by RAVEN's annotations beside that of the choice, as settings of a network. */
type AnnotationWeights = Partial<Record<'metaTarget' | 'metaStructure', number>>;

/** How a system learns, if not as most do. */
interface ChoiceOptions {
  /** Softmax cross-entropy unless told. */
  readonly loss?: ChoiceLoss;
  readonly annotations: AnnotationWeights;
  /** Whether each step sees its problems with candidates shuffled, and rows 1 and 2 often exchanged. */
  readonly reorder?: boolean;
}

/** Learns to score the right answer highest. */
class ChoiceLearner implements Learner {
  readonly terms = ['accuracy'];
  readonly sizes: Learner['sizes'];
  readonly #model: SelectiveModel;
  readonly #context: LearningContext;
  readonly #options: ChoiceOptions;

  constructor(model: SelectiveModel, context: LearningContext, options: ChoiceOptions) {
    this.#model = model;
    this.#context = context;
    this.#options = options;
    const integers = options.reorder ? context.part.count * ORDER : 0;
    this.sizes = { integers, floats: 0, weights: 0 };
  }

  draw(step: number, integers: BigInt64Array): void {
    if (!this.#options.reorder) return;
    const { seed, part, config } = this.#context;
    drawOrders(seed, step * config.optimizer.batchSize + part.first, integers);
  }

  begin(): StepPlan {
    return { form: '', weights: [] };
  }

  loss(batch: ProblemBatch, { integers }: Pick<StepTensors, 'integers'>) {
    const { panels, choice, labels } = this.#options.reorder ? inNewOrder(batch, integers) : batch;
    if (choice === null) throw new ModelError('a selective system needs candidates');
    const { dtype } = panels;
    const verdict = this.#model.verdict(this.#model.shown(panels), choice.candidates);
    const scores = verdict.scores.to({ dtype }); // [N, 8]
    const right = scores.detach().argmax(1).eq(choice.answer).to({ dtype });
    const { loss: lossOf = crossEntropy, annotations } = this.#options;
    let loss = lossOf(scores, choice.answer);
    for (const name of ['metaTarget', 'metaStructure'] as const) {
      const [weight, logits] = [annotations[name] ?? 0, verdict[name]?.to({ dtype })];
      if (weight === 0 || logits === undefined || labels === null) continue;
      loss = loss.add(bceWithLogits(logits, labels[name]), weight);
    }
    return { loss, terms: [right.mean()] };
  }

  dispose(): void {}
}

const data = object({
  /** Whose candidates it trains with. */
  candidates: oneOf(VARIANTS),
  /** Problems it trains on, again and again; null: fresh ones. */
  problems: nullable(integer({ min: 1 })),
  /** Whether they are of all configurations in turn, with RAVEN's own noise. */
  mixed: withDefault(boolean, false),
  /** White: panels without anything in place of the context. */
  context: withDefault(oneOf(['shown', 'white']), 'shown'),
});

const optimizer = object({
  ...optimizerFields,
  /** Absent: what the algorithm has by default. */
  momentum: optional(number({ min: 0, max: 1 })),
  weightDecay: optional(number({ min: 0 })),
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
interface SelectiveDefinition<N extends object> {
  readonly name: string;
  readonly title: string;
  readonly imageSize: ImageSize;
  /** Sizes of its network, and their defaults; what guesses annotations has their weights among them. */
  readonly network: Reader<N>;
  readonly defaults: NoInfer<N>;
  /** How it is trained, if not by Adam at 1e-4 in batches of 32. */
  readonly optimizer?: Partial<OptimizerConfig>;
  create(network: N, options: CreateOptions, configuration: Configuration): SelectiveModel;
  readonly loss?: ChoiceLoss;
  readonly reorder?: boolean;
  /** Whether its network is made for the one configuration, so that it cannot train on all of them. */
  readonly isForOne?: boolean;
}

/** The system of a definition. */
export function selectiveSystem<N extends object>(
  definition: SelectiveDefinition<N>,
): System<SelectiveConfig<N>> {
  const { name, title, imageSize, network, defaults, loss, reorder } = definition;
  const reader: Reader<SelectiveConfig<N>> = (given) => {
    // Every key is known here; the type of N is not, so the network is read by itself.
    const config = { ...sharedFields(given), network: network(given.member('network')) };
    requireNoisyForm(given, config);
    if (definition.isForOne && config.data.mixed) {
      given.member('data').fail(`${name} is made for one configuration: it has no joint training`);
    }
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
    joint: [{ data: { problems: JOINT_PROBLEMS, mixed: true } }],
  };
  return {
    name,
    title,
    presets: PRESETS.filter((preset) => preset !== 'joint' || !definition.isForOne),
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
    needs: ({ data: { candidates, problems, mixed }, network }) => ({
      imageSize,
      rules: learnsAnnotations(network),
      candidates,
      problems,
      mixed,
    }),
    criterion: () => 'selection-accuracy',
    create: (config, options) => {
      const model = definition.create(config.network, options, config.configuration);
      model.isBlind = config.data.context === 'white';
      return model;
    },
    learner: (model, context) => {
      const annotations: AnnotationWeights = context.config.network;
      return new ChoiceLearner(model as SelectiveModel, context, { loss, annotations, reorder });
    },
  };
}

const learnsAnnotations = ({ metaTarget = 0, metaStructure = 0 }: AnnotationWeights): boolean =>
  metaTarget + metaStructure > 0;

/** Fields that several networks have. */
export const sizes = {
  width: integer({ min: 1, max: 4096 }),
  widths: list(integer({ min: 1, max: 4096 }), { min: 1, max: 10 }),
  share: number({ min: 0, max: 0.99 }),
  weight: number({ min: 0 }),
};
