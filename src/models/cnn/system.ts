/**
 * CNN: all sixteen panels as the channels of one picture, and a classifier of the answer's place. A baseline
 * of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and Analogical Visual REasoNing", CVPR 2019).
 * Nothing in it knows of rows or of exchangeable candidates.
 */
import { object, type Read } from '../../base/index.js';
import { CANDIDATES, CONTEXT_PANELS } from '../../matrix/index.js';
import { cat, type nn, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { mlp } from '../parts/mlp.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

export const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Width of the hidden layer of the classifier. */
  hidden: sizes.width,
  dropout: sizes.share,
});

export class Cnn extends SelectiveModel {
  readonly features: Conv4;
  readonly classifier: nn.Sequential;

  constructor({ channels, hidden, dropout }: Read<typeof network>, options: CreateOptions) {
    super();
    this.features = new Conv4(CONTEXT_PANELS + CANDIDATES, channels, options);
    const widths = [this.features.width, hidden, CANDIDATES];
    this.classifier = mlp(widths, { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    return this.classifier.forward(this.embed(context, candidates)); // [N, 8]
  }

  /** All panels as one vector, [N, width]. */
  embed(context: Tensor, candidates: Tensor): Tensor {
    return this.features.forward(cat([context, candidates], 1)).flatten(1);
  }
}

export const defaults = { channels: 32, hidden: 512, dropout: 0.5 };

export const cnn = selectiveSystem({
  name: 'cnn',
  title: 'CNN, a baseline of RAVEN (Zhang et al. 2019)',
  imageSize: 80,
  network,
  defaults,
  create: (sizes, options) => new Cnn(sizes, options),
});
