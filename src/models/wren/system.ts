/**
 * WReN, the wild relation network (Barrett et al., "Measuring abstract reasoning in neural networks", ICML
 * 2018), as in the reimplementation by Fen9, without the loss by annotations. One network looks at all
 * ordered pairs of the context and of context and candidate; another reads the sum. Each candidate is scored
 * alone, so the pairs of the context are computed once for all.
 */
import { object, type Read } from '../../base/index.js';
import { cat, nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { hiddenLayers, mlp } from '../parts/mlp.js';
import { CONTEXT, eachPanel, PanelTags } from '../parts/panels.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Values that a panel is described by, and those that a pair, and their sum, are. */
  panel: sizes.width,
  pair: sizes.width,
  /** Widths of the hidden layers that look at a pair. */
  pairHidden: sizes.widths,
  dropout: sizes.share,
});

/** Side of the last feature map of pictures of 80x80. */
const SIDE = 4;

class Wren extends SelectiveModel {
  readonly features: Conv4;
  readonly tags = new PanelTags();
  readonly describe: nn.Linear;
  readonly relate: nn.Sequential;
  readonly judge: nn.Sequential;

  constructor(sizes: Read<typeof network>, options: CreateOptions) {
    super();
    const { channels, panel, pair, pairHidden, dropout } = sizes;
    this.features = new Conv4(1, channels, options);
    this.describe = new nn.Linear(channels * SIDE * SIDE + PanelTags.width, panel, options);
    this.relate = hiddenLayers([2 * panel, ...pairHidden, pair], options);
    this.judge = mlp([pair, pair, pair, 1], { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const features = eachPanel(context, candidates, (x) => this.features.forward(x).flatten(1));
    const panels = this.describe.forward(this.tags.forward(features)); // [N, 16, panel]
    const [known, offered] = panels.split(CONTEXT, 1); // [N, 8, panel] each
    const pairs = [pairsOf(known, known), pairsOf(offered, known), pairsOf(known, offered)];
    const relations = this.relate.forward(cat(pairs, 1)); // [N, 24, 8, pair]
    const [within, before, behind] = relations.split(CONTEXT, 1); // [N, 8, 8, pair] each
    const shared = within.sum([1, 2]).unsqueeze(1); // [N, 1, pair]
    const sums = before.sum(2).add(behind.sum(1)).add(shared); // [N, 8, pair]
    return this.judge.forward(sums).squeeze(2); // [N, 8]
  }
}

/** All pairs of a first and a second panel: [N, 8, d] twice to [N, 8, 8, 2 d]. */
function pairsOf(first: Tensor, second: Tensor): Tensor {
  const [n, a, d] = first.shape;
  const shape = [n, a, second.shape[1], d];
  return cat([first.unsqueeze(2).expand(shape), second.unsqueeze(1).expand(shape)], 3);
}

export const wren = selectiveSystem({
  name: 'wren',
  title: 'WReN, the wild relation network (Barrett et al. 2018)',
  imageSize: 80,
  network,
  defaults: { channels: 32, panel: 256, pair: 256, pairHidden: [512, 512, 512], dropout: 0.5 },
  create: (sizes, options) => new Wren(sizes, options),
});
