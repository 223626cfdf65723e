/**
 * SRAN, the stratified rule-aware network (Hu et al., "Stratified rule-aware network for abstract visual
 * reasoning", AAAI 2021), as in the released code. Evidence of rules comes from single panels, from rows and
 * from pairs of rows, and is merged level by level into a rule vector for each pair of rows. The right
 * candidate makes a third row that has, with row 1 and with row 2, the rule of these two. It trains with
 * candidates shuffled and rows 1 and 2 exchanged in half of the problems. The weight of the loss by RAVEN's
 * meta target is 0 by default, as released. Deviation: pictures of 80x80 instead of 224x224.
 */
import { object, type Read } from '../../base/index.js';
import { CONTEXT_PANELS, META_TARGET_LENGTH } from '../../matrix/index.js';
import { cat, type nn, type Tensor } from '../../torch/index.js';
import { hiddenLayers, mlp } from '../parts/mlp.js';
import { eachPanel, forEach, linesOf, ROWS } from '../parts/panels.js';
import { ResNet } from '../parts/resnet.js';
import { SelectiveModel, selectiveSystem, sizes, type Verdict } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of the first maps of the three ResNet-18; their features, and rules, are 8 times as wide. */
  channels: sizes.width,
  dropout: sizes.share,
  /** Weight of the loss by RAVEN's meta target. */
  metaTarget: sizes.weight,
});

class Sran extends SelectiveModel {
  readonly panel: ResNet;
  readonly row: ResNet;
  readonly pair: ResNet;
  readonly rowFusion: nn.Sequential;
  readonly pairFusion: nn.Sequential;
  readonly rule: nn.Sequential;
  readonly #width: number;

  constructor({ channels, dropout }: Read<typeof network>, options: CreateOptions) {
    super();
    const encoder = (inputs: number): ResNet => new ResNet(18, inputs, channels, options);
    [this.panel, this.row, this.pair] = [encoder(1), encoder(3), encoder(6)];
    const { width } = this.panel;
    this.#width = width;
    this.rowFusion = hiddenLayers([3 * width, 3 * width, width], options);
    this.pairFusion = hiddenLayers([4 * width, 4 * width, width], options);
    const widths = [2 * width, 2 * width, width, width, width + META_TARGET_LENGTH];
    this.rule = mlp(widths, { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    return this.verdict(context, candidates).scores; // [N, 8]
  }

  override verdict(context: Tensor, candidates: Tensor): Verdict {
    const pictures = linesOf(context, candidates, ROWS); // [N, 10, 3, S, S]
    const panels = eachPanel(context, candidates, (x) => this.panel.forward(x)); // [N, 16, w]
    const [known, offered] = panels.split(CONTEXT_PANELS, 1);
    const byPanel = this.rowFusion.forward(linesOf(known, offered, ROWS).flatten(2)); // [N, 10, w]
    const rows = cat([byPanel, encoded(this.row, pictures)], 2); // [N, 10, 2 w]
    const byRow = inBothOrders(rows, (pairs) => this.pairFusion.forward(pairs)); // [N, 17, w]
    const byPair = inBothOrders(pictures, (pairs) => encoded(this.pair, pairs)); // [N, 17, w]
    const rules = this.rule.forward(cat([byRow, byPair], 2)); // [N, 17, w + 9]
    const vectors = rules.narrow(2, 0, this.#width);
    const [expected, found] = vectors.split([1, vectors.shape[1] - 1], 1); // [N, 1, w], [N, 16, w]
    const [withFirst, withSecond] = found.mul(expected).sum(2).chunk(2, 1); // [N, 8] each
    return {
      scores: withFirst.add(withSecond),
      metaTarget: rules.select(1, 0).narrow(1, this.#width, META_TARGET_LENGTH),
    };
  }
}

/** Features of stacks of pictures: [N, stacks, channels, S, S] to [N, stacks, w]. */
const encoded = (encoder: ResNet, stacks: Tensor): Tensor =>
  encoder.forward(stacks.flatten(0, 1)).unflatten(0, stacks.shape.slice(0, 2));

/**
 * What a network makes of row 1 with row 2, row 1 with each third row, and row 2 with each, summed over both
 * orders: rows [N, 2 + C, d, ...] to [N, 1 + 2 C, w]. The network sees [N, 1 + 2 C, 2 d, ...].
 */
function inBothOrders(rows: Tensor, network: (pairs: Tensor) => Tensor): Tensor {
  const [one, two, thirds] = rows.split([1, 1, rows.shape[1] - 2], 1);
  const repeated = (row: Tensor): Tensor => forEach(thirds, row.squeeze(1)); // [N, C, d, ...]
  const first = cat([one, repeated(one), repeated(two)], 1);
  const second = cat([two, thirds, thirds], 1);
  return network(cat([first, second], 2)).add(network(cat([second, first], 2)));
}

export const sran = selectiveSystem({
  name: 'sran',
  title: 'SRAN, the stratified rule-aware network (Hu et al. 2021), on pictures of 80x80',
  imageSize: 80,
  network,
  defaults: { channels: 64, dropout: 0.5, metaTarget: 0 },
  create: (sizes, options) => new Sran(sizes, options),
  reorder: true,
});
