/**
 * CNN: all sixteen panels as the channels of one picture, and a classifier of the answer's place. A baseline
 * of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and Analogical Visual REasoNing", CVPR 2019).
 * Nothing in it knows of rows or of exchangeable candidates.
 */
import { object, type Read } from '../../base/index.js';
import { cat, nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import { Dropout } from '../parts/step-random.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Width of the hidden layer of the classifier. */
  hidden: sizes.width,
  dropout: sizes.share,
});

const PANELS = 16;
const CANDIDATES = 8;
/** Side of the last feature map of pictures of 80x80. */
const SIDE = 4;

class Cnn extends SelectiveModel {
  readonly features: Conv4;
  readonly classifier: nn.Sequential;

  constructor({ channels, hidden, dropout }: Read<typeof network>, options: CreateOptions) {
    super();
    this.features = new Conv4(PANELS, channels, options);
    this.classifier = new nn.Sequential(
      new nn.Linear(channels * SIDE * SIDE, hidden, options),
      new nn.ReLU(),
      new Dropout(dropout, options),
      new nn.Linear(hidden, CANDIDATES, options),
    );
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const features = this.features.forward(cat([context, candidates], 1)); // [N, channels, 4, 4]
    return this.classifier.forward(features.flatten(1)); // [N, 8]
  }
}

export const cnn = selectiveSystem({
  name: 'cnn',
  title: 'CNN, a baseline of RAVEN (Zhang et al. 2019)',
  imageSize: 80,
  network,
  defaults: { channels: 32, hidden: 512, dropout: 0.5 },
  create: (sizes, options) => new Cnn(sizes, options),
});
