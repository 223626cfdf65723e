/**
 * The encoder f_enc and the decoder f_dec (Appendix C): images to the means of their concepts and
 * back. A convolution in front of a BatchNorm has no bias: the normalisation would take it out again.
 */
import { atLeastSingle, nn, type Tensor } from '../../torch/index.js';
import type { NetworkConfig } from './config.js';

type EncoderConfig = Pick<NetworkConfig, 'encoder' | 'concepts' | 'conceptSize'>;
type DecoderConfig = Pick<NetworkConfig, 'decoder' | 'decoderSlope' | 'concepts' | 'conceptSize'>;

/** A convolution (or its transpose), the normalisation of its output, and a leaky ReLU. */
class Stage extends nn.Module {
  readonly norm: nn.BatchNorm2d;

  /** `slope`: of the leaky ReLU, 0 for a ReLU. */
  constructor(
    readonly conv: nn.Conv2d | nn.ConvTranspose2d,
    slope: number,
    { device }: nn.LayerOptions,
  ) {
    super();
    this.norm = new nn.BatchNorm2d(conv.outChannels, { leakyRelu: slope, device });
  }

  forward(x: Tensor): Tensor {
    return this.norm.forward(this.conv.forward(x));
  }
}

const HALVING = { stride: 2, padding: 1 } as const;
const WHOLE = { stride: 1, padding: 0 } as const;

/** Input images [B, 1, 64, 64]; output means of concepts [B, M * d_z]. */
export class Encoder extends nn.Module {
  readonly stages: readonly Stage[];
  readonly head: nn.Linear;

  constructor(config: EncoderConfig, options: nn.LayerOptions) {
    super();
    const { encoder: channels, concepts, conceptSize } = config;
    // 64 → 32 → 16 → 8 → 4 by stride 2, then 4 → 1 by a kernel as large as the map.
    this.stages = channels.map((out, i) => {
      const inputs = i === 0 ? 1 : channels[i - 1];
      const geometry = i === channels.length - 1 ? WHOLE : HALVING;
      const conv = new nn.Conv2d(inputs, out, 4, { ...options, ...geometry, bias: false });
      return new Stage(conv, 0, options);
    });
    this.head = new nn.Linear(channels[channels.length - 1], concepts * conceptSize, options);
  }

  forward(images: Tensor): Tensor {
    let x = images;
    for (const stage of this.stages) x = stage.forward(x);
    return this.head.forward(x.flatten(1)); // from [B, channels, 1, 1]
  }
}

/** Input concepts [B, M * d_z]; output mean pixel values [B, 1, 64, 64] in (0, 1), f32. */
export class Decoder extends nn.Module {
  readonly stages: readonly Stage[];
  readonly last: nn.ConvTranspose2d;

  constructor(config: DecoderConfig, options: nn.LayerOptions) {
    super();
    const { decoder: channels, concepts, conceptSize, decoderSlope } = config;
    // 1 → 1 by a 1x1 kernel, 1 → 4 by a 4x4 one, then 4 → 8 → 16 → 32 → 64 by stride 2.
    this.stages = channels.map((out, i) => {
      const inputs = i === 0 ? concepts * conceptSize : channels[i - 1];
      const geometry = { ...options, ...(i < 2 ? WHOLE : HALVING), bias: false };
      const conv = new nn.ConvTranspose2d(inputs, out, i === 0 ? 1 : 4, geometry);
      return new Stage(conv, decoderSlope, options);
    });
    const inputs = channels[channels.length - 1];
    this.last = new nn.ConvTranspose2d(inputs, 1, 4, { ...options, ...HALVING });
  }

  forward(concepts: Tensor): Tensor {
    let x = concepts.unsqueeze(-1).unsqueeze(-1); // [B, M * d_z, 1, 1]
    for (const stage of this.stages) x = stage.forward(x);
    // The likelihood of pixels needs more digits than a half-precision sigmoid has.
    return atLeastSingle(this.last.forward(x)).sigmoid();
  }
}
