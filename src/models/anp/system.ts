/**
 * ANP, an attentive neural process: the matrix is a function from grid position to panel. A global Gaussian
 * vector g plays the rule, and attention from a target's position to the context supplies detail (Kim et al.,
 * "Attentive Neural Processes", ICLR 2019). Panels are vectors of CRAB's encoder; the size of g and the rates
 * are those of the CRAB paper, the other sizes those of the released notebook.
 */
import { integer, object, type Read } from '../../base/index.js';
import { MATRIX_PANELS, type Configuration } from '../../matrix/index.js';
import { atLeastSingle, cat, nn, onesLike, type Tensor } from '../../torch/index.js';
import { gaussianKl, sampled } from '../crab/distributions.js';
import type { Gaussian } from '../crab/rule-parser.js';
import { Attention, AttentionBlock } from '../parts/attention.js';
import { ConceptModel } from '../parts/concept-model.js';
import { deviation, generativeSystem, weightsReader } from '../parts/generative.js';
import type { TargetBatch } from '../parts/generative.js';
import { gridPositions, openMean } from '../parts/grid.js';
import { mlp } from '../parts/mlp.js';
import { coderReader, CRAB_CODER, PanelCoder, zeroedAtMissing } from '../parts/panel-coder.js';
import { width } from '../parts/settings.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  coder: coderReader,
  /** Numbers that describe a panel. */
  represented: width,
  /** Width of the networks and of the attention. */
  width,
  heads: integer({ min: 1, max: 64 }),
  /** Size of g. */
  latent: width,
});
type Sizes = Read<typeof network>;

const objective = object({ sigmaX: deviation, weights: weightsReader('functionRegularizer') });

/** Layers of a network of a panel and its position, and layers of attention among panels behind it. */
const PAIR_LAYERS = 4;
const BLOCKS = 2;

/** Panels and their positions [B, 9, 2 + represented], looking at each other, as vectors [B, 9, width]. */
class PairEncoder extends nn.Module {
  readonly pairs: nn.Sequential;
  readonly blocks: readonly AttentionBlock[];

  constructor({ represented, width, heads }: Sizes, options: CreateOptions) {
    super();
    const hidden = Array.from({ length: PAIR_LAYERS }, () => width);
    this.pairs = mlp([2 + represented, ...hidden], options);
    const sizes = { width, heads, hidden: width, dropout: 0 };
    this.blocks = Array.from({ length: BLOCKS }, () => new AttentionBlock(sizes, options));
  }

  /** Pairs [N, 9, ...] under G sets of panels that are looked at, [N, G, 9]: [N * G, 9, width]. */
  forward(pairs: Tensor, open: Tensor): Tensor {
    const [n, g] = open.shape;
    const features = this.pairs.forward(pairs); // [N, 9, width]
    let x = features
      .unsqueeze(1)
      .expand([n, g, ...features.shape.slice(1)])
      .flatten(0, 1);
    for (const block of this.blocks) x = block.forward(x, open.flatten(0, 1));
    return x;
  }
}

export class Anp extends ConceptModel {
  readonly coder: PanelCoder;
  readonly latentPairs: PairEncoder;
  readonly latentHidden: nn.Sequential;
  readonly latentHead: nn.Linear;
  readonly detailPairs: PairEncoder;
  /** Queries and keys of the attention from a position to the context. */
  readonly places: nn.Sequential;
  readonly detail: Attention;
  readonly out: nn.Sequential;
  readonly grid: nn.Buffer;

  constructor(
    readonly sizes: Sizes,
    options: CreateOptions,
  ) {
    super();
    const { coder, represented, width, heads, latent } = sizes;
    const layer = (from: number, to: number): nn.Linear => new nn.Linear(from, to, options);
    const penultimate = Math.floor((width + latent) / 2);
    this.coder = new PanelCoder(coder, { outputs: represented, inputs: represented }, options);
    this.latentPairs = new PairEncoder(sizes, options);
    this.latentHidden = new nn.Sequential(layer(width, penultimate), new nn.ReLU());
    this.latentHead = layer(penultimate, 2 * latent);
    this.detailPairs = new PairEncoder(sizes, options);
    this.places = mlp([2, width, width], options);
    this.detail = new Attention(width, heads, { ...options, bias: false });
    this.out = mlp([width + latent + 2, width, width, represented], options);
    this.grid = gridPositions();
  }

  /** g of panels [N, 9, d] under G sets of panels that are looked at, [N, G, 9]: [N, G, latent]. */
  latents(vectors: Tensor, open: Tensor): Gaussian {
    const [n, g] = open.shape;
    const features = atLeastSingle(this.latentPairs.forward(this.#pairs(vectors), open));
    const pooled = openMean(features, open.reshape([n * g, 1, MATRIX_PANELS])); // [N * G, 1, width]
    const raw = atLeastSingle(this.latentHead.forward(this.latentHidden.forward(pooled)));
    const [mean, spread] = raw.reshape([n, g, -1]).split(this.sizes.latent, 2);
    return { mean, deviation: spread.sigmoid().mul(0.9).add(0.1) };
  }

  /** Vectors expected at every position, [N, S, 9, d], by g [N, S, latent] and context [N, S, 9]. */
  predict(vectors: Tensor, context: Tensor, latents: Tensor): Tensor {
    const [n, s] = context.shape;
    const known = this.detailPairs.forward(this.#pairs(vectors), context); // [N * S, 9, width]
    const places = this.places.forward(this.grid); // [9, width]
    const asked = places.unsqueeze(0).expand([n * s, ...places.shape]);
    const details = this.detail.forward(asked, asked, known, context.flatten(0, 1));
    const everywhere = [n * s, MATRIX_PANELS];
    const inputs = [
      atLeastSingle(details),
      latents.reshape([n * s, 1, -1]).expand([...everywhere, latents.shape[2]]),
      this.grid.unsqueeze(0).expand([...everywhere, 2]),
    ];
    return atLeastSingle(this.out.forward(cat(inputs, 2))).reshape([n, s, MATRIX_PANELS, -1]);
  }

  /** Positions and vectors side by side, [N, 9, 2 + d]. */
  #pairs(vectors: Tensor): Tensor {
    const positions = this.grid.unsqueeze(0).expand([vectors.shape[0], MATRIX_PANELS, 2]);
    return cat([positions, vectors], 2);
  }

  conceptsOf(panels: Tensor): Tensor {
    return this.coder.encode(panels).unsqueeze(2); // [N, P, 1, d]
  }

  predictConcepts(concepts: Tensor, context: Tensor): Tensor {
    const vectors = zeroedAtMissing(concepts.squeeze(2), context);
    const open = context.unsqueeze(1);
    const { mean } = this.latents(vectors, open);
    return this.predict(vectors, open, mean).squeeze(1).unsqueeze(2);
  }

  paint(concepts: Tensor): Tensor {
    return this.coder.decode(concepts.squeeze(2));
  }
}

/**
 * Targets are painted from what was foretold of them, with g of all nine panels; g of the context shall be
 * alike. Targets are also painted from their own vectors, so that what is foretold can be compared with those
 * of candidates.
 */
function evaluate(model: Anp, batch: TargetBatch, { sigmaX }: Read<typeof objective>) {
  const { panels, context, index, weight } = batch;
  const [n, s] = context.shape;
  const vectors = model.coder.encode(panels); // [N, 9, d]
  const open = cat([onesLike(context.narrow(1, 0, 1)), context], 1); // [N, 1 + S, 9]
  const { mean, deviation } = model.latents(vectors, open);
  const posterior = { mean: mean.narrow(1, 0, 1), deviation: deviation.narrow(1, 0, 1) };
  const prior = { mean: mean.narrow(1, 1, s), deviation: deviation.narrow(1, 1, s) };
  const noise = batch.noise(1, model.sizes.latent);
  const latents = sampled(posterior.mean, posterior.deviation, noise); // [N, 1, latent]
  const predicted = model.predict(vectors, context, latents.expand([n, s, latents.shape[2]]));
  // Both are painted at once, so that the decoder's normalisations see them together.
  const logs = model.coder.targetLikelihood(
    { ...batch, index: withFirst(index), weight: withFirst(weight) },
    cat([predicted, vectors.unsqueeze(1)], 1), // [N, S + 1, 9, d]
    sigmaX,
  );
  return {
    reconstruction: logs.narrow(0, 0, s).mean(),
    autoencoding: logs.select(0, s),
    functionRegularizer: gaussianKl(posterior, prior)
      .sum()
      .div(n * s),
  };
}

/** Target sets [N, S, T] and the first of them again. */
const withFirst = (sets: Tensor): Tensor => cat([sets, sets.narrow(1, 0, 1)], 1);

/** The CRAB paper's learning rates of ANP. */
const RATES: Readonly<Record<Configuration, number>> = {
  center: 5e-5,
  'left-right': 1e-5,
  'up-down': 1e-5,
  'out-in-center': 5e-6,
  'out-in-grid': 5e-6,
  'grid-2x2': 3e-5,
  'grid-3x3': 3e-5,
};

/**
 * The paper does not tell the deviation of pixels. With the 0.1 of the other systems the pixels of a target
 * outweigh the divergence so far that g tells the target itself, and nothing is foretold from the context.
 */
const SIGMA_X = 3;

export const anp = generativeSystem({
  name: 'anp',
  title: 'ANP, attentive neural process over the nine panels (Kim et al. 2019)',
  can: ['impute'],
  network,
  objective,
  settings: (configuration) => ({
    network: { coder: CRAB_CODER, represented: 256, width: 128, heads: 8, latent: 1024 },
    objective: { sigmaX: SIGMA_X, weights: { functionRegularizer: constant(1) } },
    optimizer: { learningRate: RATES[configuration], batchSize: 512 },
  }),
  create: (sizes, options) => new Anp(sizes, options),
  likelihoods: ['reconstruction', 'autoencoding'],
  evaluate,
});
