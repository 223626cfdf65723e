/**
 * LSTM: reads the sixteen panels one after the other and then says where the answer is. A baseline of Barrett
 * et al. ("Measuring abstract reasoning in neural networks", ICML 2018) and of RAVEN (Zhang et al., CVPR
 * 2019), as in the reimplementation by Fen9: each panel comes with a tag of its place.
 */
import { object, type Read } from '../../base/index.js';
import { CANDIDATES } from '../../matrix/index.js';
import { nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { eachPanel, PanelTags } from '../parts/panels.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Width of the memory. */
  hidden: sizes.width,
});

class Lstm extends SelectiveModel {
  readonly features: Conv4;
  readonly tags = new PanelTags();
  readonly memory: nn.LSTM;
  readonly classifier: nn.Linear;

  constructor({ channels, hidden }: Read<typeof network>, options: CreateOptions) {
    super();
    this.features = new Conv4(1, channels, options);
    this.memory = new nn.LSTM(this.features.width + PanelTags.width, hidden, options);
    this.classifier = new nn.Linear(hidden, CANDIDATES, options);
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const panels = eachPanel(context, candidates, (x) => this.features.forward(x).flatten(1));
    const read = this.memory.forward(this.tags.forward(panels)); // [N, 16, hidden]
    return this.classifier.forward(read.select(1, -1)); // [N, 8]
  }
}

export const lstm = selectiveSystem({
  name: 'lstm',
  title: 'LSTM, a baseline of Barrett et al. (2018) and RAVEN (Zhang et al. 2019)',
  imageSize: 80,
  network,
  defaults: { channels: 8, hidden: 96 },
  create: (sizes, options) => new Lstm(sizes, options),
});
