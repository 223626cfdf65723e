/**
 * ResNet-50: all sixteen panels as the channels of one picture, and a classifier of the answer's place. A
 * baseline of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and Analogical Visual REasoNing", CVPR
 * 2019), there with 18 layers; CRAB's Table 1 has 50. Deviation: pictures of 80x80 instead of 224x224, into
 * which the released code enlarges them.
 */
import { object, oneOf, type Read } from '../../base/index.js';
import { CANDIDATES, CONTEXT_PANELS } from '../../matrix/index.js';
import { cat, type nn, type Tensor } from '../../torch/index.js';
import { mlp } from '../parts/mlp.js';
import { ResNet } from '../parts/resnet.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Layers. */
  depth: oneOf([18, 50]),
  /** Channels of the first maps. */
  channels: sizes.width,
  /** Width of the hidden layer of the classifier. */
  hidden: sizes.width,
  dropout: sizes.share,
});

class ResNetChoice extends SelectiveModel {
  readonly features: ResNet;
  readonly classifier: nn.Sequential;

  constructor({ depth, channels, hidden, dropout }: Read<typeof network>, options: CreateOptions) {
    super();
    this.features = new ResNet(depth, CONTEXT_PANELS + CANDIDATES, channels, options);
    const widths = [this.features.width, hidden, CANDIDATES];
    this.classifier = mlp(widths, { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const features = this.features.forward(cat([context, candidates], 1)); // [N, width]
    return this.classifier.forward(features); // [N, 8]
  }
}

export const resnet = selectiveSystem({
  name: 'resnet',
  title: 'ResNet-50, a baseline of RAVEN (Zhang et al. 2019), on pictures of 80x80',
  imageSize: 80,
  network,
  defaults: { depth: 50, channels: 64, hidden: 512, dropout: 0.5 },
  create: (sizes, options) => new ResNetChoice(sizes, options),
});
