/**
 * WReN, the wild relation network (Barrett et al., "Measuring abstract reasoning in neural networks", ICML
 * 2018), as in the reimplementation by Fen9. One network looks at all ordered pairs of the context and of
 * context and candidate; another reads the sum. Each candidate is scored alone, so the pairs of the context are
 * computed once for all. The reimplementation also guesses annotations, with a loss of weight 10; the weight is
 * 0 by default here, since CRAB's Table 1 has WReN without annotations, and then nothing guesses them.
 */
import { object, type Read } from '../../base/index.js';
import { CONTEXT_PANELS, META_TARGET_LENGTH } from '../../matrix/index.js';
import { cat, nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { hiddenLayers, mlp } from '../parts/mlp.js';
import { eachPanel, PanelTags } from '../parts/panels.js';
import { SelectiveModel, selectiveSystem, sizes, type Verdict } from '../parts/selective.js';
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
  /** Weight of the loss by RAVEN's meta target. */
  metaTarget: sizes.weight,
});

class Wren extends SelectiveModel {
  readonly features: Conv4;
  readonly tags = new PanelTags();
  readonly describe: nn.Linear;
  readonly relate: nn.Sequential;
  readonly judge: nn.Sequential;

  constructor(sizes: Read<typeof network>, options: CreateOptions) {
    super();
    const { channels, panel, pair, pairHidden, dropout, metaTarget } = sizes;
    this.features = new Conv4(1, channels, options);
    this.describe = new nn.Linear(this.features.width + PanelTags.width, panel, options);
    this.relate = hiddenLayers([2 * panel, ...pairHidden, pair], options);
    const outputs = metaTarget > 0 ? 1 + META_TARGET_LENGTH : 1;
    this.judge = mlp([pair, pair, pair, outputs], { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    return this.verdict(context, candidates).scores; // [N, 8]
  }

  override verdict(context: Tensor, candidates: Tensor): Verdict {
    const features = eachPanel(context, candidates, (x) => this.features.forward(x).flatten(1));
    const panels = this.describe.forward(this.tags.forward(features)); // [N, 16, panel]
    const [known, offered] = panels.split(CONTEXT_PANELS, 1); // [N, 8, panel] each
    const pairs = [pairsOf(known, known), pairsOf(offered, known), pairsOf(known, offered)];
    const relations = this.relate.forward(cat(pairs, 1)); // [N, 24, 8, pair]
    const [within, before, behind] = relations.split(CONTEXT_PANELS, 1); // [N, 8, 8, pair] each
    const shared = within.sum([1, 2]).unsqueeze(1); // [N, 1, pair]
    const sums = before.sum(2).add(behind.sum(1)).add(shared); // [N, 8, pair]
    const judged = this.judge.forward(sums); // [N, 8, 1] or [N, 8, 1 + 9]
    const scores = judged.select(2, 0);
    if (judged.shape[2] === 1) return { scores };
    return { scores, metaTarget: judged.narrow(2, 1, META_TARGET_LENGTH).sum(1) };
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
  defaults: {
    channels: 32,
    panel: 256,
    pair: 256,
    pairHidden: [512, 512, 512],
    dropout: 0.5,
    metaTarget: 0,
  },
  create: (sizes, options) => new Wren(sizes, options),
});
