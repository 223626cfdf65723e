/**
 * SCL, the scattering compositional learner (Wu et al., "The Scattering Compositional Learner: Discovering
 * Objects, Attributes, Relationships in Analogical Reasoning", 2020), as in the released code. Each network is
 * small and shared: first by the parts of a picture, then by attributes. The nine values of each attribute
 * are sorted into soft relations, and a last network reads all relations. Each candidate is scored alone.
 */
import { object, type Read } from '../../base/index.js';
import { CONTEXT_PANELS } from '../../matrix/index.js';
import {
  atLeastSingle,
  autocast,
  init,
  nn,
  softmax,
  zeros,
  type Tensor,
} from '../../torch/index.js';
import { mlp } from '../parts/mlp.js';
import { completed, eachPanel } from '../parts/panels.js';
import { ResidualFeedforward } from '../parts/residual-feedforward.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of the four convolutions. */
  channels: sizes.widths,
  /** Parts that a picture is split into, and attributes of each. */
  parts: sizes.width,
  attributes: sizes.width,
  /** Width of the hidden layer that finds attributes, and of the one that reads the relations. */
  partHidden: sizes.width,
  judgeHidden: sizes.width,
  /** Kinds of relations, and widths of the hidden layers that recognise one. */
  relations: sizes.width,
  relationHidden: sizes.widths,
});

const SIDE = 160;
const PANELS_OF_MATRIX = 9;

class Scl extends SelectiveModel {
  readonly convolutions: nn.ConvStages;
  readonly scatter: nn.Linear;
  readonly part: nn.Sequential;
  readonly attributes: ResidualFeedforward;
  readonly relations: Relations;
  readonly judge: nn.Sequential;

  constructor(
    private readonly sizes: Read<typeof network>,
    options: CreateOptions,
  ) {
    super();
    const { channels, parts, attributes, partHidden, judgeHidden, relations } = sizes;
    this.convolutions = new nn.ConvStages([1, ...channels], 3, {
      ...options,
      stride: 2,
      padding: 1,
    });
    const side = SIDE / 2 ** channels.length;
    const values = parts * attributes;
    this.scatter = new nn.Linear(side * side, values, options);
    this.part = new nn.Sequential(
      mlp([attributes * channels[channels.length - 1], partHidden, attributes], options),
      new ResidualFeedforward(attributes, options),
    );
    this.attributes = new ResidualFeedforward(values, options);
    this.relations = new Relations(relations, sizes.relationHidden, options);
    this.judge = mlp([values * relations, judgeHidden, 1], options);
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const maps = eachPanel(context, candidates, (pictures) => this.convolutions.forward(pictures));
    // Scores of candidates hardly differ at first, by less than bf16 rounds.
    return autocast(maps.device, 'bf16', () => this.compare(atLeastSingle(maps)), false);
  }

  /** Maps of all panels [N, 16, channels, s, s]; scores [N, 8]. */
  compare(maps: Tensor): Tensor {
    const [n, panels] = maps.shape;
    const attributes = this.describe(maps.flatten(0, 1)).unflatten(0, [n, panels]); // [N, 16, A]
    const [known, offered] = attributes.split(CONTEXT_PANELS, 1); // [N, 8, A] each
    const matrices = completed(known, offered).transpose(2, 3); // [N, 8, A, 9]
    const relations = this.relations.forward(matrices); // [N, 8, A, R]
    return this.judge.forward(relations.flatten(2)).squeeze(2); // [N, 8]
  }

  /** Maps [n, channels, s, s] by the values of A attributes, [n, A]. */
  describe(maps: Tensor): Tensor {
    const { parts, attributes } = this.sizes;
    const scattered = this.scatter
      .forward(maps.flatten(2)) // [n, channels, A]: one layer for every channel
      .unflatten(2, [parts, attributes]) // [n, channels, parts, attributes of a part]
      .transpose(1, 2) // [n, parts, channels, attributes of a part]
      .flatten(2); // [n, parts, channels * attributes of a part]
    return this.attributes.forward(this.part.forward(scattered).flatten(1)); // [n, A]
  }
}

/** R experts, each for one relation among nine values; all attributes share them. */
class Relations extends nn.Module {
  readonly layers: nn.BatchedLinear[];
  /** All that R(1) can learn, since normalising a single number leaves a constant. */
  readonly offset: nn.Parameter;

  constructor(count: number, hidden: readonly number[], options: CreateOptions) {
    super();
    const widths = [PANELS_OF_MATRIX, ...hidden, 1];
    this.layers = widths
      .slice(1)
      .map((to, n) => new nn.BatchedLinear(count, widths[n], to, options));
    // R(1) begins as the bias of a layer with one input, so within 1 and not 0: experts begin unequal.
    this.offset = nn.parameter(init.uniform(zeros([count]), -1, 1, options.generator));
  }

  /** Values [N, 8, A, 9]; how likely each relation is, [N, 8, A, R]. */
  forward(values: Tensor): Tensor {
    const [first, ...others] = this.layers;
    let x = first.ofSame(values); // [N, 8, A, R * width]
    for (const layer of others) x = layer.sideBySide(x.relu());
    return softmax(x.add(this.offset), 3);
  }
}

export const scl = selectiveSystem({
  name: 'scl',
  title: 'SCL, the scattering compositional learner (Wu et al. 2020)',
  imageSize: SIDE,
  network,
  defaults: {
    channels: [16, 16, 32, 32],
    parts: 10,
    attributes: 8,
    partHidden: 128,
    judgeHidden: 128,
    relations: 5,
    relationHidden: [64, 32],
  },
  optimizer: {
    algorithm: 'adamw',
    learningRate: constant(0.005),
    weightDecay: 0.01,
    batchSize: 128,
  },
  create: (sizes, options) => new Scl(sizes, options),
});
