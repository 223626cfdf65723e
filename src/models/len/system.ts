/**
 * LEN, the logic embedding network (Zheng, Zha and Wei, "Abstract reasoning with distracting features",
 * NeurIPS 2019), as in the released code, without its teacher and without the loss by annotations. It extends
 * WReN from pairs to all 84 triples of the nine panels, with one network for rows and columns and one for
 * the other triples; an embedding of all sixteen panels goes with every triple.
 *
 * Deviations: batch normalisation sees all triples of a batch in one call, the two empty triples of the
 * released code are left out, and momentum and weight decay stay as they begin. The learning rate falls to
 * a fifth after each fifth of the run; the released code does so every ten epochs, without an end.
 */
import { object, type Read } from '../../base/index.js';
import { CANDIDATES, CONTEXT_PANELS } from '../../matrix/index.js';
import { cat, nn, tensor, type Tensor } from '../../torch/index.js';
import { Conv4 } from '../parts/conv4.js';
import { hiddenLayers, mlp } from '../parts/mlp.js';
import { COLUMNS, eachPanel, ROWS } from '../parts/panels.js';
import { SelectiveModel, selectiveSystem, sizes } from '../parts/selective.js';
import { fallingBy } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  /** Channels of each convolution. */
  channels: sizes.width,
  /** Values that a panel, and all panels together, are described by. */
  panel: sizes.width,
  /** Widths of the layers that look at a triple, and of those that read the sum. */
  triple: sizes.widths,
  judge: sizes.widths,
  dropout: sizes.share,
});
type Sizes = Read<typeof network>;

const IMAGE_SIZE = 160;

class Len extends SelectiveModel {
  readonly panel: nn.Sequential;
  readonly whole: nn.Sequential;
  readonly lines: Triples;
  readonly others: Triples;
  readonly judge: nn.Sequential;

  constructor(sizes: Sizes, options: CreateOptions) {
    super();
    const { channels, panel, triple, judge, dropout } = sizes;
    const embedding = (inputs: number): nn.Sequential => {
      const features = new Conv4(inputs, channels, options, IMAGE_SIZE);
      const summary = hiddenLayers([features.width, panel], { ...options, batchNorm: true });
      return new nn.Sequential(features, new nn.Flatten(), summary);
    };
    this.panel = embedding(1);
    this.whole = embedding(CONTEXT_PANELS + CANDIDATES);
    const isLine = (places: readonly number[]): boolean => LINES.has(places.join());
    this.lines = new Triples(isLine, sizes, options);
    this.others = new Triples((places) => !isLine(places), sizes, options);
    const widths = [triple[triple.length - 1], ...judge, 1];
    this.judge = mlp(widths, { ...options, batchNorm: true, dropout });
  }

  forward(context: Tensor, candidates: Tensor): Tensor {
    const panels = eachPanel(context, candidates, (x) => this.panel.forward(x)); // [N, 16, d]
    const whole = this.whole.forward(cat([context, candidates], 1)); // [N, d]
    const sums = this.lines.forward(panels, whole).add(this.others.forward(panels, whole)); // [N, 8, t]
    return this.judge.forward(sums.flatten(0, 1)).reshape([-1, CANDIDATES]); // [N, 8]
  }
}

/** Places (0 to 8) of the panels of every row and column, as text. */
const LINES = new Set(
  [ROWS, COLUMNS].flatMap(({ complete, open }) =>
    [...complete, [...open, CONTEXT_PANELS]].map((places) => places.join()),
  ),
);

/** Three different places out of 0 to 8, rising: all 84. */
const TRIPLES: readonly (readonly number[])[] = [0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((c) =>
  Array.from({ length: c }, (_, b) => Array.from({ length: b }, (_, a) => [a, b, c])).flat(),
);

/** A network for some of the triples: for each candidate, the sum over those with and without it. */
class Triples extends nn.Module {
  readonly layers: nn.Sequential;
  /** Panels (0 to 15) of the triples of the context, then of those of each candidate: i64 [all * 3]. */
  readonly places: nn.Buffer;
  readonly #known: number;

  constructor(
    isMine: (places: readonly number[]) => boolean,
    { panel, triple, dropout }: Sizes,
    options: CreateOptions,
  ) {
    super();
    const mine = TRIPLES.filter(isMine);
    const known = mine.filter(([, , last]) => last < CONTEXT_PANELS);
    const open = mine.filter(([, , last]) => last === CONTEXT_PANELS);
    const offered = Array.from({ length: CANDIDATES }, (_, candidate) =>
      open.map(([a, b]) => [a, b, CONTEXT_PANELS + candidate]),
    ).flat();
    const places = tensor([...known, ...offered].flat(), { dtype: 'i64' });
    this.places = nn.buffer(places, { persistent: false });
    this.#known = known.length;
    this.layers = hiddenLayers([4 * panel, ...triple], { ...options, batchNorm: true, dropout });
  }

  /** Panels [N, 16, d] and the embedding of all, [N, d]; sums [N, 8, t]. */
  forward(panels: Tensor, whole: Tensor): Tensor {
    const [n, , d] = panels.shape;
    const triples = panels.indexSelect(1, this.places).reshape([n, -1, 3 * d]); // [N, all, 3 d]
    const all = triples.shape[1];
    const seen = cat([triples, whole.unsqueeze(1).expand([n, all, d])], 2); // [N, all, 4 d]
    const relations = this.layers.forward(seen.flatten(0, 1)).unflatten(0, [n, all]); // [N, all, t]
    const [known, offered] = relations.split([this.#known, all - this.#known], 1);
    return offered.unflatten(1, [CANDIDATES, -1]).sum(2).add(known.sum(1, true));
  }
}

export const len = selectiveSystem({
  name: 'len',
  title: 'LEN, the logic embedding network, without its teacher (Zheng et al. 2019)',
  imageSize: IMAGE_SIZE,
  network,
  defaults: {
    channels: 32,
    panel: 256,
    triple: [1024, 768, 512, 512],
    judge: [256, 256],
    dropout: 0.5,
  },
  optimizer: {
    algorithm: 'sgd',
    learningRate: fallingBy(0.01, 0.2, 4),
    momentum: 0.8,
    weightDecay: 5e-4,
  },
  create: (sizes, options) => new Len(sizes, options),
});
