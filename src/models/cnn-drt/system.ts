/**
 * CNN with the dynamic residual tree of RAVEN (Zhang et al., "RAVEN: A Dataset for Relational and Analogical
 * Visual REasoNing", CVPR 2019) before its classifier.
 */
import type { Read } from '../../base/index.js';
import type { Configuration } from '../../matrix/index.js';
import type { Tensor } from '../../torch/index.js';
import { Cnn, defaults, network } from '../cnn/system.js';
import { ResidualTree } from '../parts/residual-tree.js';
import { selectiveSystem } from '../parts/selective.js';
import type { CreateOptions } from '../system.js';

class CnnDrt extends Cnn {
  readonly tree: ResidualTree;

  constructor(sizes: Read<typeof network>, options: CreateOptions, configuration: Configuration) {
    super(sizes, options);
    this.tree = new ResidualTree(this.features.width, configuration, options);
  }

  override embed(context: Tensor, candidates: Tensor): Tensor {
    return this.tree.forward(super.embed(context, candidates)); // [N, width]
  }
}

export const cnnDrt = selectiveSystem({
  name: 'cnn-drt',
  title: 'CNN with the dynamic residual tree of RAVEN (Zhang et al. 2019)',
  imageSize: 80,
  isForOne: true,
  network,
  defaults,
  create: (sizes, options, configuration) => new CnnDrt(sizes, options, configuration),
});
