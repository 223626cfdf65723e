/**
 * LSTM with the dynamic residual tree of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and Analogical
 * Visual REasoNing", CVPR 2019) on the features of every panel. As in RAVEN's released code, it has more
 * channels than the LSTM of the other folder, and panels carry no tags.
 */
import { object, type Read } from '../../base/index.js';
import type { Configuration } from '../../matrix/index.js';
import { CANDIDATES } from '../../matrix/index.js';
import { nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { eachPanel } from '../parts/panels.js';
import { ResidualTree } from '../parts/residual-tree.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Width of the memory. */
  hidden: sizes.width,
});

class LstmDrt extends SelectiveModel {
  readonly features: Conv4;
  readonly tree: ResidualTree;
  readonly memory: nn.LSTM;
  readonly classifier: nn.Linear;

  constructor(
    { channels, hidden }: Read<typeof network>,
    options: CreateOptions,
    configuration: Configuration,
  ) {
    super();
    this.features = new Conv4(1, channels, options);
    const { width } = this.features;
    this.tree = new ResidualTree(width, configuration, options);
    this.memory = new nn.LSTM(width, hidden, options);
    this.classifier = new nn.Linear(hidden, CANDIDATES, options);
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const panels = eachPanel(context, candidates, (pictures) =>
      this.tree.forward(this.features.forward(pictures).flatten(1)),
    ); // [N, 16, width]
    return this.classifier.forward(this.memory.forward(panels).select(1, -1)); // [N, 8]
  }
}

export const lstmDrt = selectiveSystem({
  name: 'lstm-drt',
  title: 'LSTM with the dynamic residual tree of RAVEN (Zhang et al. 2019)',
  imageSize: 80,
  isForOne: true,
  network,
  defaults: { channels: 16, hidden: 96 },
  create: (sizes, options, configuration) => new LstmDrt(sizes, options, configuration),
});
