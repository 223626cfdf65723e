/**
 * CoPINet (Zhang et al., "Learning perceptual inference by contrasting", NeurIPS 2019), as in the released
 * code. Panels are summed to rows and columns, so that their order does not matter. From each candidate it
 * takes away, twice, what all candidates have in common; a second branch guesses rules from the context and
 * tells them to this contrast. The batch normalisations of rows and columns have an epsilon of 64, as released.
 */
import { number, object, type Read } from '../../base/index.js';
import { arange, bceWithLogits, cat, nn, softmax, type Tensor } from '../../torch/index.js';
import { mlp } from '../parts/mlp.js';
import { CONTEXT, COLUMNS, eachPanel, forEach, knownLineSums } from '../parts/panels.js';
import { lineSums, ROWS } from '../parts/panels.js';
import { plainConv, ResidualBlock, Stem } from '../parts/resnet.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { ChoiceLoss } from '../parts/selective.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of the first maps; the contrasts have once and twice, the last maps four times as many. */
  channels: sizes.width,
  /** Attributes that may have rules, and rules that each may have. */
  attributes: sizes.width,
  rules: sizes.width,
  /** Epsilon of the batch normalisation of rows and columns. */
  lineEpsilon: number({ min: 0 }),
});
type Sizes = Read<typeof network>;

/** Sums of panels along rows or columns, convolved: maps [n, channels, s, s] to the same shape. */
function lineLayers({ channels, lineEpsilon }: Sizes, options: CreateOptions): nn.Sequential {
  return new nn.Sequential(
    plainConv(channels, channels, 3, options),
    new nn.BatchNorm2d(channels, { eps: lineEpsilon }),
    new nn.ReLU(),
  );
}

/** Runs layers on each of the maps of a problem: [N, lines, c, s, s] to [N, lines, c', s', s']. */
const onEach = (layers: nn.Layer, maps: Tensor): Tensor =>
  layers.forward(maps.flatten(0, 1)).unflatten(0, maps.shape.slice(0, 2));

/** Guesses the rules of the context, softly: [N, 8, S, S] to [N, channels]. */
class Inference extends nn.Module {
  readonly stem: Stem;
  readonly row: nn.Sequential;
  readonly column: nn.Sequential;
  readonly rules: nn.Linear;
  readonly basis: nn.Linear;

  constructor(
    private readonly sizes: Sizes,
    options: CreateOptions,
  ) {
    super();
    const { channels, attributes, rules } = sizes;
    this.stem = new Stem(1, channels, options);
    this.row = lineLayers(sizes, options);
    this.column = lineLayers(sizes, options);
    this.rules = new nn.Linear(channels, attributes * rules, options);
    this.basis = new nn.Linear(rules, channels, { ...options, bias: false });
  }

  forward(context: Tensor): Tensor {
    const { attributes, rules } = this.sizes;
    const panels = onEach(this.stem, context.unsqueeze(2)); // [N, 8, c, s, s]
    const rows = onEach(this.row, knownLineSums(panels, ROWS)); // [N, 2, c, s, s]
    const columns = onEach(this.column, knownLineSums(panels, COLUMNS));
    const evidence = rows.add(columns).sum(1).mean([2, 3]); // [N, c]
    const logits = this.rules.forward(evidence).unflatten(1, [attributes, rules]);
    return this.basis.forward(softmax(logits, 2)).sum(1); // [N, c]
  }
}

/** Takes away what all candidates have in common, given the rules: [N, 8, c, s, s] to the same shape. */
class Contrast extends nn.Module {
  readonly rules: nn.Sequential;
  readonly common: nn.Sequential;

  constructor(channels: number, ruleWidth: number, options: CreateOptions) {
    super();
    this.rules = mlp([ruleWidth, ruleWidth, ruleWidth], options);
    this.common = new nn.Sequential(
      plainConv(channels + ruleWidth, channels, 3, options),
      new nn.BatchNorm2d(channels),
    );
  }

  forward(maps: Tensor, rules: Tensor): Tensor {
    const [n, , , side] = maps.shape;
    const told = this.rules.forward(rules).unsqueeze(2).unsqueeze(3); // [N, r, 1, 1]
    const everywhere = told.expand([n, told.shape[1], side, side]);
    const common = this.common.forward(cat([maps.sum(1), everywhere], 1)); // [N, c, s, s]
    return maps.sub(common.unsqueeze(1));
  }
}

class CoPINet extends SelectiveModel {
  readonly inference: Inference;
  readonly stem: Stem;
  readonly row: nn.Sequential;
  readonly column: nn.Sequential;
  readonly contrasts: Contrast[];
  readonly blocks: ResidualBlock[];
  readonly judge: nn.Sequential;

  constructor(sizes: Sizes, options: CreateOptions) {
    super();
    const { channels } = sizes;
    const widths = [channels, 2 * channels];
    this.inference = new Inference(sizes, options);
    this.stem = new Stem(1, channels, options);
    this.row = lineLayers(sizes, options);
    this.column = lineLayers(sizes, options);
    this.contrasts = widths.map((width) => new Contrast(width, channels, options));
    this.blocks = widths.map((width) => new ResidualBlock(width, 2 * width, 2, options));
    this.judge = mlp([4 * channels, 4 * channels, 1], options);
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const rules = this.inference.forward(context); // [N, c]
    const panels = eachPanel(context, candidates, (pictures) => this.stem.forward(pictures));
    const [known, offered] = panels.split(CONTEXT, 1); // [N, 8, c, s, s] each
    let maps = matrixSums(onEach(this.row, lineSums(known, offered, ROWS))).add(
      matrixSums(onEach(this.column, lineSums(known, offered, COLUMNS))),
    ); // [N, 8, c, s, s]
    this.blocks.forEach((block, n) => {
      maps = onEach(block, this.contrasts[n].forward(maps, rules)); // [N, 8, 2 c, s / 2, s / 2]
    });
    return this.judge.forward(maps.mean([3, 4])).squeeze(2); // [N, 8]
  }
}

/** For each candidate the sum of its line and the two known ones: [N, 2 + 8, ...] to [N, 8, ...]. */
function matrixSums(lines: Tensor): Tensor {
  const [known, completed] = lines.split([2, lines.shape[1] - 2], 1);
  return completed.add(forEach(completed, known.sum(1)));
}

/** Each candidate by itself is right or wrong: the paper's contrast loss with its baseline at zero. */
const contrastLoss: ChoiceLoss = (scores, answer) => {
  const places = arange(0, scores.shape[1], 1, { dtype: 'i64', device: scores.device });
  return bceWithLogits(scores, places.eq(answer.unsqueeze(1)).to({ dtype: scores.dtype }));
};

export const copinet = selectiveSystem({
  name: 'copinet',
  title: 'CoPINet, perceptual inference by contrasting (Zhang et al. 2019)',
  imageSize: 80,
  network,
  defaults: { channels: 64, attributes: 10, rules: 6, lineEpsilon: 64 },
  optimizer: { learningRate: constant(1e-3) },
  create: (sizes, options) => new CoPINet(sizes, options),
  loss: contrastLoss,
});
