/**
 * A panel as a vector of numbers and back, by CRAB's encoder and decoder with channels of one's own; and how
 * well target panels are painted.
 */
import { list, number, object, type Read } from '../../base/index.js';
import { MATRIX_PANELS, SMALL_SIZE } from '../../matrix/index.js';
import { atLeastSingle, nn, type Tensor } from '../../torch/index.js';
import { fixedLogLikelihood } from '../crab/distributions.js';
import { Decoder, Encoder } from '../crab/networks.js';
import type { TargetBatch } from './generative.js';
import { width } from './settings.js';

const five = list(width, { min: 5, max: 5 });

export const coderReader = object({
  /** Channels of the encoder's five convolutions. */
  encoder: five,
  /** Channels of the decoder's first five transposed convolutions. */
  decoder: five,
  /** Slope of the decoder's ReLU for negative values. */
  decoderSlope: number({ min: 0, max: 1 }),
});
export type CoderConfig = Read<typeof coderReader>;

/** Encoder and decoder as CRAB's authors have them. */
export const CRAB_CODER: CoderConfig = {
  encoder: [32, 64, 128, 256, 512],
  decoder: [128, 64, 64, 32, 32],
  decoderSlope: 0.02,
};

export class PanelCoder extends nn.Module {
  readonly encoder: Encoder;
  readonly decoder: Decoder;

  /** Panels become `outputs` numbers; the decoder paints from `inputs`. */
  constructor(
    config: CoderConfig,
    { outputs, inputs }: { readonly outputs: number; readonly inputs: number },
    options: nn.LayerOptions,
  ) {
    super();
    this.encoder = new Encoder({ ...config, concepts: 1, conceptSize: outputs }, options);
    this.decoder = new Decoder({ ...config, concepts: 1, conceptSize: inputs }, options);
  }

  /** Panels [N, P, 64, 64] to vectors [N, P, outputs], f32. */
  encode(panels: Tensor): Tensor {
    const [n, p] = panels.shape;
    const images = panels.reshape([n * p, 1, SMALL_SIZE, SMALL_SIZE]);
    return atLeastSingle(this.encoder.forward(images)).reshape([n, p, -1]);
  }

  /** Vectors [..., inputs] to mean pixel values [..., 64, 64], f32. */
  decode(vectors: Tensor): Tensor {
    const leading = vectors.shape.slice(0, -1);
    const rows = vectors.reshape([-1, vectors.shape[leading.length]]);
    return this.decoder.forward(rows).reshape([...leading, SMALL_SIZE, SMALL_SIZE]);
  }

  /**
   * Log-likelihood of the target panels, painted from the vectors at their positions: vectors [N, S, 9,
   * inputs] for the first S target sets of a batch; the sum over a set's targets, mean over problems, [S].
   */
  targetLikelihood(batch: PaintedBatch, vectors: Tensor, sigmaX: number): Tensor {
    const { chosen, images, counts } = paintedTargets(batch, vectors);
    const logs = fixedLogLikelihood(images, this.decode(chosen), sigmaX, 2); // [N, S, T']
    return logs.mul(counts).sum([0, 2]).div(vectors.shape[0]);
  }
}

type PaintedBatch = Pick<TargetBatch, 'panels' | 'index' | 'weight' | 'decoded'>;

/**
 * The targets that are painted, for vectors [N, S, 9, inputs] of the first S target sets: the first `decoded` of
 * a set stand for all, as their places are in random order. Vectors at their positions [N, S, T', inputs], their
 * true pixels [N, S, T', 64, 64], and how many targets each stands for [N, S, T'].
 */
export function paintedTargets(
  { panels, index, weight, decoded }: PaintedBatch,
  vectors: Tensor,
): { readonly chosen: Tensor; readonly images: Tensor; readonly counts: Tensor } {
  const [n, s, , inputs] = vectors.shape;
  const places = Math.min(decoded, index.shape[2]);
  const weights = weight.narrow(1, 0, s); // [N, S, T]
  const painted = weights.narrow(2, 0, places); // [N, S, T']
  const share = weights.sum(2, true).div(painted.sum(2, true)); // [N, S, 1]
  const at = index.narrow(1, 0, s).narrow(2, 0, places); // [N, S, T']
  const pixels = SMALL_SIZE * SMALL_SIZE;
  return {
    chosen: vectors.gather(2, at.unsqueeze(3).expand([n, s, places, inputs])),
    images: panels
      .reshape([n, MATRIX_PANELS, pixels])
      .gather(1, at.reshape([n, s * places, 1]).expand([n, s * places, pixels]))
      .reshape([n, s, places, SMALL_SIZE, SMALL_SIZE]),
    counts: painted.mul(share),
  };
}

/** Squared differences at targets, [N, S, 9] of them for every set: summed over targets, a mean over sets and problems. */
export function meanOverSets(errors: Tensor, context: Tensor): Tensor {
  const [n, s] = context.shape;
  return errors
    .mul(context.rsub(1))
    .sum()
    .div(n * s);
}

/** Concepts [N, 9, ...] with zeros at missing panels, whatever stood there; mask [N, ..., 9]. */
export function zeroedAtMissing(values: Tensor, context: Tensor): Tensor {
  const open = context.reshape([
    ...context.shape,
    ...values.shape.slice(context.ndim).map(() => 1),
  ]);
  return values.maskedFill(open.eq(0), 0);
}
