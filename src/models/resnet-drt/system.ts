/**
 * ResNet-18 with the dynamic residual tree of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and
 * Analogical Visual REasoNing", CVPR 2019) before its classifier. Beside the answer the classifier guesses
 * RAVEN's annotations; the weights of their losses are 0 by default, as in the released code. Deviation:
 * pictures of 80x80 instead of 224x224.
 */
import { object, oneOf, type Read } from '../../base/index.js';
import {
  CANDIDATES,
  CONTEXT_PANELS,
  META_STRUCTURE_LENGTH,
  META_TARGET_LENGTH,
  type Configuration,
} from '../../matrix/index.js';
import { cat, type nn, type Tensor } from '../../torch/index.js';
import { mlp } from '../parts/mlp.js';
import { ResidualTree } from '../parts/residual-tree.js';
import { ResNet } from '../parts/resnet.js';
import { SelectiveModel, selectiveSystem, sizes, type Verdict } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Layers. */
  depth: oneOf([18, 50]),
  /** Channels of the first maps. */
  channels: sizes.width,
  /** Width of the hidden layer of the classifier. */
  hidden: sizes.width,
  dropout: sizes.share,
  /** Weights of the losses by RAVEN's meta target and meta structure. */
  metaTarget: sizes.weight,
  metaStructure: sizes.weight,
});

/** The scores, and the bits of meta target and meta structure. */
const OUTPUTS = [CANDIDATES, META_TARGET_LENGTH, META_STRUCTURE_LENGTH];

class ResNetDrt extends SelectiveModel {
  readonly features: ResNet;
  readonly tree: ResidualTree;
  readonly classifier: nn.Sequential;

  constructor(
    { depth, channels, hidden, dropout }: Read<typeof network>,
    options: CreateOptions,
    configuration: Configuration,
  ) {
    super();
    this.features = new ResNet(depth, CONTEXT_PANELS + CANDIDATES, channels, options);
    const { width } = this.features;
    this.tree = new ResidualTree(width, configuration, options);
    const outputs = OUTPUTS.reduce((sum, size) => sum + size);
    this.classifier = mlp([width, hidden, outputs], { ...options, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    return this.verdict(context, candidates).scores; // [N, 8]
  }

  override verdict(context: Tensor, candidates: Tensor): Verdict {
    const features = this.features.forward(cat([context, candidates], 1)); // [N, width]
    const logits = this.classifier.forward(this.tree.forward(features)); // [N, 38]
    const [scores, metaTarget, metaStructure] = logits.split(OUTPUTS, 1);
    return { scores, metaTarget, metaStructure };
  }
}

export const resnetDrt = selectiveSystem({
  name: 'resnet-drt',
  title:
    'ResNet-18 with the dynamic residual tree of RAVEN (Zhang et al. 2019), on pictures of 80x80',
  imageSize: 80,
  isForOne: true,
  network,
  defaults: {
    depth: 18,
    channels: 64,
    hidden: 512,
    dropout: 0.5,
    metaTarget: 0,
    metaStructure: 0,
  },
  create: (sizes, options, configuration) => new ResNetDrt(sizes, options, configuration),
});
