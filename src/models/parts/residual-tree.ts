/**
 * The dynamic residual tree, DRT (Zhang et al., "RAVEN: A Dataset for Relational and Analogical Visual
 * REasoNing", CVPR 2019): features go up a small tree that has the shape of the problem's structure, each
 * node knows its name by a word vector, and what the root says is added to the features. Here a model is for
 * one configuration, so its tree is always the same one. The paper's word vectors are GloVe's; ours are random
 * ones, as wide and as large, and stay as they are.
 */
import { layoutOf, structureNames, type Configuration } from '../../matrix/index.js';
import { cat, Generator, nn, randn, scope, zeros, type Tensor } from '../../torch/index.js';
import type { CreateOptions } from '../system.js';

const WORD = 300;
/** Deviation of a component of GloVe's vectors. */
const WORD_SIZE = 0.4;
const WORD_SEED = 300;
/** Scene, structure, and name and layout of two components. */
const NODES = 6;
const ONE_COMPONENT = 4;

/** A random vector for each name, always the same one. */
function wordVector(name: string): Tensor {
  const seed = [...name].reduce(
    (hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 2 ** 31,
    WORD_SEED,
  );
  return randn([WORD], { generator: new Generator('cpu', seed) }).mul_(WORD_SIZE);
}

export class ResidualTree extends nn.Module {
  /** Vectors of the nodes' names in pre-order, [6, 300]; zero for nodes that are not there. */
  readonly words: nn.Buffer;
  readonly word: nn.Linear;
  readonly leaf: nn.Linear;
  readonly component: nn.Linear;
  readonly structure: nn.Linear;
  readonly root: nn.Linear;
  readonly #hasTwo: boolean;

  constructor(width: number, configuration: Configuration, options: CreateOptions) {
    super();
    const names = structureNames(layoutOf(configuration)).filter((name) => name !== '/');
    this.#hasTwo = names.length > ONE_COMPONENT;
    const words = scope(() => {
      const missing = zeros([NODES - names.length, WORD]);
      return cat([...names.map((name) => wordVector(name).unsqueeze(0)), missing], 0);
    });
    this.words = nn.buffer(words);
    const node = (): nn.Linear => new nn.Linear(WORD + width, width, options);
    this.word = new nn.Linear(WORD, WORD, options);
    [this.leaf, this.component, this.structure, this.root] = [node(), node(), node(), node()];
  }

  /** Features [N, width], and the same shape. */
  forward(features: Tensor): Tensor {
    const words = this.word.forward(this.words).unbind(0);
    const node = (layer: nn.Linear, word: number, below: Tensor): Tensor => {
      const name = words[word].to({ dtype: below.dtype }).expand([below.shape[0], WORD]);
      return layer.forward(cat([name, below], 1)).relu();
    };
    const branch = (component: number, layout: number): Tensor =>
      node(this.component, component, node(this.leaf, layout, features));
    const first = branch(2, 3);
    const parts = this.#hasTwo ? first.add(branch(4, 5)) : first;
    return features.add(node(this.root, 0, node(this.structure, 1, parts)));
  }
}
