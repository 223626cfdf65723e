/**
 * LGPP: each panel is M single numbers, and for each of them a Gaussian process over learnt coordinates of rows
 * and columns ties the nine panels together, so that a missing one is regression from the others (Shi, Li and
 * Xue, "Raven's Progressive Matrices Completion with Latent Gaussian Process Priors", AAAI 2021). Sizes are
 * those of its released code and of the CRAB paper.
 */
import { integer, object, type Read } from '../../base/index.js';
import { MATRIX_PANELS, SMALL_SIZE } from '../../matrix/index.js';
import { arange, atLeastSingle, autocast, cat, nn, where, type Tensor } from '../../torch/index.js';
import { fixedLogLikelihood, sampled } from '../crab/distributions.js';
import type { Gaussian } from '../crab/rule-parser.js';
import { ForetellingModel } from '../parts/concept-model.js';
import { regress, squaredExponential } from '../parts/gaussian-process.js';
import { deviation, generativeSystem, weightsReader } from '../parts/generative.js';
import type { TargetBatch } from '../parts/generative.js';
import { mlp, normRelu } from '../parts/mlp.js';
import { coderReader, paintedTargets, PanelCoder, zeroedAtMissing } from '../parts/panel-coder.js';
import { width, widths } from '../parts/settings.js';
import { constant } from '../schedule.js';
import type { CreateOptions } from '../system.js';

const network = object({
  coder: coderReader,
  concepts: integer({ min: 1, max: 64 }),
  /** Channels of the convolutions of the axis encoder. */
  axisEncoder: widths,
  /** Width of the hidden layer from nine encoded panels to the coordinates of an axis. */
  axisHidden: width,
  /** Numbers of a coordinate. */
  coordinate: width,
  /** Hidden layers of the networks of a coordinate. */
  coordinateHidden: widths,
  /** Hidden layers of the networks of the features that the kernel compares. */
  featureHidden: widths,
});
type Sizes = Read<typeof network>;

const objective = object({
  sigmaX: deviation,
  /**
   * Panels painted from their own concepts, which stand for all of the context. The released code paints all
   * eight; two have the same mean and take half the time of a step.
   */
  paintedContext: integer({ min: 1, max: MATRIX_PANELS }),
  weights: weightsReader('conceptRegularizer', 'axisRegularizer'),
});

/** Rows of a matrix, and columns. */
const SIDE = 3;

/** Panels as seen by the encoder of coordinates: convolutions, each halving, and one over the last 4x4. */
function axisEncoder(channels: readonly number[], options: CreateOptions): nn.Sequential {
  const stages = channels.map((out, i) => {
    const geometry = i === channels.length - 1 ? {} : { stride: 2, padding: 1 };
    const inputs = i === 0 ? 1 : channels[i - 1];
    return [
      new nn.Conv2d(inputs, out, 4, { ...options, ...geometry, bias: false }),
      ...normRelu(out),
    ];
  });
  return new nn.Sequential(...stages.flat(), new nn.Flatten());
}

export class Lgpp extends ForetellingModel {
  readonly coder: PanelCoder;
  readonly axisEncoder: nn.Sequential;
  /** Rows, and columns. */
  readonly axisHeads: readonly nn.Sequential[];
  readonly coordinates: readonly nn.Sequential[];
  readonly features: nn.Sequential;

  constructor(
    readonly sizes: Sizes,
    options: CreateOptions,
  ) {
    super();
    const { coder, concepts: m, axisHidden, coordinate, coordinateHidden, featureHidden } = sizes;
    const axes = [0, 1];
    const encoded = MATRIX_PANELS * sizes.axisEncoder[sizes.axisEncoder.length - 1];
    const layer = (from: number, to: number): nn.Layer =>
      new nn.BatchedLinear(m, from, to, options);
    const each = { ...options, layer };
    this.coder = new PanelCoder(coder, { outputs: 2 * m, inputs: m }, options);
    this.axisEncoder = axisEncoder(sizes.axisEncoder, options);
    const headWidths = [encoded, axisHidden, m * SIDE * coordinate * 2];
    this.axisHeads = axes.map(() => mlp(headWidths, options));
    const coordinateWidths = [coordinate, ...coordinateHidden, coordinate];
    this.coordinates = axes.map(() => mlp(coordinateWidths, each));
    this.features = mlp([2 * coordinate, ...featureHidden, 2 * coordinate], each);
  }

  /** Concepts of panels [N, P, 64, 64]: [N, P, M]. */
  encode(panels: Tensor): Gaussian {
    const [mean, logDeviation] = this.coder.encode(panels).split(this.sizes.concepts, 2);
    return { mean, deviation: logDeviation.exp() };
  }

  /** Coordinates of rows and of columns by the context: [N, S, 2 (axis), M, 3, coordinate]. */
  axes(panels: Tensor, context: Tensor): Gaussian {
    const [n, s] = context.shape;
    const { concepts, coordinate } = this.sizes;
    const images = panels.reshape([n * MATRIX_PANELS, 1, SMALL_SIZE, SMALL_SIZE]);
    const seen = this.axisEncoder.forward(images).reshape([n, 1, MATRIX_PANELS, -1]);
    const all = seen.expand([n, s, ...seen.shape.slice(2)]);
    const slots = zeroedAtMissing(all, context).flatten(2); // [N, S, 9 * channels]
    const raw = cat(
      this.axisHeads.map((head) => atLeastSingle(head.forward(slots)).unsqueeze(2)),
      2,
    ).reshape([n, s, 2, concepts, SIDE, 2 * coordinate]);
    const [mean, logDeviation] = raw.split(coordinate, 5);
    return { mean, deviation: logDeviation.exp() };
  }

  /** Covariances of the nine panels' concepts, [N, S, M, 9, 9], by coordinates [N, S, 2, M, 3, c]. */
  kernel(axes: Tensor): Tensor {
    const [n, s, , m, , c] = axes.shape;
    const [rows, columns] = this.coordinates.map((each, axis) => {
      const given = axes.select(2, axis).permute([2, 0, 1, 3, 4]); // [M, N, S, 3, c]
      return each.forward(given.reshape([m, n * s * SIDE, c])).reshape([m, n * s, SIDE, c]);
    });
    const grid = [m, n * s, SIDE, SIDE, c];
    const places = cat([rows.unsqueeze(3).expand(grid), columns.unsqueeze(2).expand(grid)], 4);
    const features = this.features
      .forward(places.reshape([m, n * s * MATRIX_PANELS, 2 * c]))
      .tanh();
    const each = features.reshape([m, n, s, MATRIX_PANELS, 2 * c]).permute([1, 2, 0, 3, 4]);
    return squaredExponential(each); // [N, S, M, 9, 9]
  }

  /** Regression of concepts [N, 9, M] by their context [N, S, 9] and axes: at every position [N, S, 9, M]. */
  regress(concepts: Tensor, context: Tensor, axes: Tensor): Gaussian {
    // A kernel must be exact to be invertible, and is small.
    return autocast(
      concepts.device,
      'bf16',
      () => {
        const given = concepts.transpose(1, 2).unsqueeze(1); // [N, 1, M, 9]
        const { mean, variance } = regress(this.kernel(axes), given, context.unsqueeze(2));
        return { mean: mean.transpose(2, 3), deviation: variance.sqrt().transpose(2, 3) };
      },
      false,
    );
  }

  conceptsOf(panels: Tensor): Tensor {
    return this.encode(panels).mean.unsqueeze(3); // [N, P, M, 1]
  }

  override foretell(panels: Tensor, context: Tensor): Tensor {
    const open = context.unsqueeze(1); // [N, 1, 9]
    const { mean } = this.regress(this.encode(panels).mean, open, this.axes(panels, open).mean);
    return mean.squeeze(1).unsqueeze(3); // [N, 9, M, 1]
  }

  paint(concepts: Tensor): Tensor {
    return this.coder.decode(concepts.squeeze(3));
  }
}

/**
 * Panels that are painted from their own concepts and stand for the context of all target sets: the `count`
 * panels behind the first target, [N, count], and for how many each stands, summed over sets. As targets are in
 * random order, every panel stands for its share on average. With nine of them each stands for itself.
 */
export function paintedContext(
  { index, context }: Pick<TargetBatch, 'index' | 'context'>,
  count: number,
): { readonly positions: Tensor; readonly counts: Tensor } {
  const first = index.select(1, 0).narrow(1, 0, 1); // [N, 1]
  const steps = arange(1, count + 1, 1, { dtype: 'i64', device: index.device });
  const positions = first.add(steps).remainder(MATRIX_PANELS); // [N, count]
  const inSets = context.sum(1); // in the context of how many sets each panel is, [N, 9]
  const own = inSets.gather(1, positions);
  const share = inSets.sum(1, true).div(own.sum(1, true).clamp(1));
  return { positions, counts: own.mul(share) };
}

/**
 * The likelihood of all nine panels, a mean over target sets: those of the context painted from their own
 * concepts, targets from what regression foretells; a target's own concepts never count.
 */
function paintedLikelihood(
  { coder }: Lgpp,
  batch: TargetBatch,
  known: Tensor, // [N, 9, M]
  foretold: Tensor, // [N, S, 9, M]
  { sigmaX, paintedContext: count }: Read<typeof objective>,
): Tensor {
  const [n, s] = batch.context.shape;
  const { positions, counts } = paintedContext(batch, count);
  const along = (values: Tensor): Tensor => {
    const size = values.shape[2];
    return values.gather(1, positions.unsqueeze(2).expand([n, count, size]));
  };
  const own = along(batch.panels.flatten(2)).reshape([n, count, SMALL_SIZE, SMALL_SIZE]);
  const targets = paintedTargets(batch, foretold);
  // All are painted at once, so that the decoder's normalisations see them together.
  const painted = coder.decode(cat([along(known), targets.chosen.flatten(1, 2)], 1));
  const images = cat([own, targets.images.flatten(1, 2)], 1); // [N, count + S T', 64, 64]
  return fixedLogLikelihood(images, painted, sigmaX, 2)
    .mul(cat([counts, targets.counts.flatten(1, 2)], 1))
    .sum()
    .div(n * s * MATRIX_PANELS);
}

export function evaluate(model: Lgpp, batch: TargetBatch, own: Read<typeof objective>) {
  const { panels, context } = batch;
  const [n, s] = context.shape;
  const { concepts: m, coordinate } = model.sizes;
  const encoded = model.encode(panels); // [N, 9, M]
  const axes = model.axes(panels, context);
  const axisNoise = batch.noise(s, 2, m, SIDE, coordinate);
  const known = sampled(encoded.mean, encoded.deviation, batch.noise(MATRIX_PANELS, m));
  const places = sampled(axes.mean, axes.deviation, axisNoise);
  const foretold = model.regress(known, context, places); // [N, S, 9, M]
  const noise = batch.noise(s, MATRIX_PANELS, m);
  const isTarget = context.eq(0).unsqueeze(3); // [N, S, 9, 1]
  const targets = sampled(foretold.mean, foretold.deviation, noise);
  const divergences = where(
    isTarget,
    divergenceFromUnit(foretold),
    divergenceFromUnit(encoded).unsqueeze(1),
  );
  const sets = n * s;
  return {
    reconstruction: paintedLikelihood(model, batch, known, targets, own),
    conceptRegularizer: divergences.sum().div(sets * MATRIX_PANELS),
    axisRegularizer: divergenceFromUnit(axes).sum().div(sets),
  };
}

/** Element-wise KL divergence from the standard normal distribution. */
const divergenceFromUnit = ({ mean, deviation }: Gaussian): Tensor =>
  mean.square().add(deviation.square()).sub(1).mul(0.5).sub(deviation.log());

export const lgpp = generativeSystem({
  name: 'lgpp',
  title: 'LGPP, concepts that follow Gaussian processes (Shi, Li and Xue 2021)',
  can: ['impute', 'concepts'],
  network,
  objective,
  settings: (configuration) => ({
    network: {
      coder: { encoder: [32, 32, 64, 128, 256], decoder: [256, 64, 32, 32, 32], decoderSlope: 0 },
      concepts: configuration === 'center' ? 5 : 10,
      axisEncoder: [32, 32, 32, 64, 64],
      axisHidden: 128,
      coordinate: 4,
      coordinateHidden: [64, 64],
      featureHidden: [128, 128, 128, 128],
    },
    objective: {
      sigmaX: Math.exp(-2),
      paintedContext: 2,
      weights: { conceptRegularizer: constant(10), axisRegularizer: constant(10) },
    },
    optimizer: { learningRate: 5e-4, batchSize: 256, gradientLimit: 10 },
  }),
  create: (sizes, options) => new Lgpp(sizes, options),
  likelihoods: ['reconstruction'],
  evaluate,
});
