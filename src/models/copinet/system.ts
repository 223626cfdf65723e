/**
 * CoPINet (Zhang et al., "Learning perceptual inference by contrasting", NeurIPS 2019), as in the released
 * code. Panels are summed to rows and columns, so that their order does not matter. From each candidate it
 * takes away, twice, what all candidates have in common; a second branch guesses rules from the context and
 * tells them to this contrast. The batch normalisations of rows and columns have an epsilon of 64, as released.
 * Maps have panels, lines or candidates first and problems second, so that sums over them copy nothing.
 */
import { number, object, type Read } from '../../base/index.js';
import { CONTEXT_PANELS } from '../../matrix/index.js';
import { arange, bceWithLogits, cat, nn, softmax, type Tensor } from '../../torch/index.js';
import { mlp } from '../parts/mlp.js';
import { COLUMNS, knownLineSums, lineSums, panelsFirst, ROWS } from '../parts/panels.js';
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
    new nn.BatchNorm2d(channels, { eps: lineEpsilon, leakyRelu: 0 }),
  );
}

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
    const [n] = context.shape;
    const panels = this.stem.forward(panelsFirst(context)).split(n); // eight [N, c, s, s]
    const rows = this.row.forward(knownLineSums(panels, ROWS)); // [2 * N, c, s, s]
    const columns = this.column.forward(knownLineSums(panels, COLUMNS));
    const evidence = rows.add(columns).mean([2, 3]).unflatten(0, [2, n]).sum(0); // [N, c]
    const logits = this.rules.forward(evidence).unflatten(1, [attributes, rules]);
    return this.basis.forward(softmax(logits, 2)).sum(1); // [N, c]
  }
}

/** Takes away what all candidates have in common, given the rules: [8, N, c, s, s] to the same shape. */
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
    const [, n, , side] = maps.shape;
    const told = this.rules.forward(rules).unsqueeze(2).unsqueeze(3); // [N, r, 1, 1]
    const everywhere = told.expand([n, told.shape[1], side, side]);
    const common = this.common.forward(cat([maps.sum(0), everywhere], 1)); // [N, c, s, s]
    return maps.sub(common);
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
    const [n] = context.shape;
    const sizes = [...Array<number>(CONTEXT_PANELS).fill(n), candidates.shape[1] * n];
    const panels = this.stem.forward(panelsFirst(context, candidates)).split(sizes);
    const [known, offered] = [panels.slice(0, CONTEXT_PANELS), panels[CONTEXT_PANELS]]; // [N, c, s, s], [8 * N, c, s, s]
    let maps = matrixSums(this.row.forward(lineSums(known, offered, ROWS)), n).add(
      matrixSums(this.column.forward(lineSums(known, offered, COLUMNS)), n),
    ); // [8, N, c, s, s]
    this.blocks.forEach((block, stage) => {
      const contrasted = this.contrasts[stage].forward(maps, rules).flatten(0, 1);
      maps = block.forward(contrasted).unflatten(0, [-1, n]); // [8, N, 2 c, s / 2, s / 2]
    });
    return this.judge
      .forward(maps.mean([3, 4]))
      .squeeze(2)
      .transpose(0, 1); // [N, 8]
  }
}

/** For each candidate the sum of its line and the two known ones: [(2 + 8) * N, ...] to [8, N, ...]. */
function matrixSums(lines: Tensor, n: number): Tensor {
  const [first, second, completed] = lines.split([n, n, lines.shape[0] - 2 * n]);
  return completed.unflatten(0, [-1, n]).add(first.add(second));
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
