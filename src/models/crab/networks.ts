/**
 * The encoder f_enc and the decoder f_dec (Appendix C): images to the means of their concepts and
 * back. A convolution in front of a BatchNorm has no bias: the normalisation would take it out again.
 */
import { leakyRelu, linear, nn, type Tensor } from '../../torch/index.js';
import type { NetworkConfig } from './config.js';
import { atLeastSingle } from './distributions.js';

/** Side of an image. */
export const IMAGE_SIZE = 64;

/** A convolution (or its transpose) and the normalisation of its output. */
class Stage extends nn.Module {
  readonly norm: nn.BatchNorm2d;

  constructor(
    readonly conv: nn.Conv2d | nn.ConvTranspose2d,
    channels: number,
    device: nn.LayerOptions['device'],
  ) {
    super();
    this.norm = new nn.BatchNorm2d(channels, { device });
  }

  forward(x: Tensor): Tensor {
    return this.norm.forward(this.conv.forward(x));
  }
}

const HALVING = { stride: 2, padding: 1 } as const;
const WHOLE = { stride: 1, padding: 0 } as const;

/**
 * Input images [B, 1, 64, 64]; output means of concepts [B, M * d_z]. Weights and maps are held
 * channels-last, the order that convolutions on CPUs and GPUs are fastest in.
 */
export class Encoder extends nn.Module {
  readonly stages: readonly Stage[];
  readonly head: nn.Linear;

  constructor(config: NetworkConfig, options: nn.LayerOptions) {
    super();
    const { encoder: channels, concepts, conceptSize } = config;
    // 64 → 32 → 16 → 8 → 4 by stride 2, then 4 → 1 by a kernel as large as the map.
    this.stages = channels.map((out, i) => {
      const geometry = i === channels.length - 1 ? WHOLE : HALVING;
      const inputs = i === 0 ? 1 : channels[i - 1];
      const conv = new nn.Conv2d(inputs, out, 4, { ...options, ...geometry, bias: false });
      return new Stage(conv, out, options.device);
    });
    this.head = new nn.Linear(channels[channels.length - 1], concepts * conceptSize, options);
    this.to({ memoryFormat: 'channelsLast' });
  }

  forward(images: Tensor): Tensor {
    let x = images;
    for (const stage of this.stages.slice(0, -1)) x = stage.forward(x).relu_();
    // A kernel as large as its map is one product; convolution kernels are several times slower at it.
    const { conv, norm } = this.stages[this.stages.length - 1];
    const flat = linear(flattened(x), flattened(conv.weight)); // [B, channels]
    return this.head.forward(norm.forward(flat).relu_());
  }
}

/** [B, C, H, W] to [B, H * W * C]: no copy if it is channels-last. */
const flattened = (x: Tensor): Tensor => x.permute([0, 2, 3, 1]).flatten(1);

/** Input concepts [B, M * d_z]; output mean pixel values [B, 1, 64, 64] in (0, 1), f32. */
export class Decoder extends nn.Module {
  readonly stages: readonly Stage[];
  readonly last: nn.ConvTranspose2d;
  readonly slope: number;

  constructor(config: NetworkConfig, options: nn.LayerOptions) {
    super();
    const { decoder: channels, concepts, conceptSize } = config;
    this.slope = config.decoderSlope;
    // 1 → 1 by a 1x1 kernel, 1 → 4 by a 4x4 one, then 4 → 8 → 16 → 32 → 64 by stride 2.
    this.stages = channels.map((out, i) => {
      const inputs = i === 0 ? concepts * conceptSize : channels[i - 1];
      const geometry = i < 2 ? WHOLE : HALVING;
      const shape = { ...options, ...geometry, bias: false };
      return new Stage(
        new nn.ConvTranspose2d(inputs, out, i === 0 ? 1 : 4, shape),
        out,
        options.device,
      );
    });
    this.last = new nn.ConvTranspose2d(channels[channels.length - 1], 1, 4, {
      ...options,
      ...HALVING,
    });
    this.to({ memoryFormat: 'channelsLast' });
  }

  forward(concepts: Tensor): Tensor {
    let x = concepts.unsqueeze(-1).unsqueeze(-1); // [B, M * d_z, 1, 1]
    for (const stage of this.stages) x = leakyRelu(stage.forward(x), this.slope);
    // The likelihood of pixels needs more digits than a half-precision sigmoid has.
    return atLeastSingle(this.last.forward(x)).sigmoid();
  }
}
