/**
 * The encoder f_enc and the decoder f_dec (Appendix C): images to the means of their concepts and
 * back. A convolution in front of a BatchNorm has no bias: the normalisation would take it out again.
 */
import { SMALL_SIZE } from '../../matrix/index.js';
import { bmm, linear, nn, pad, stack, type Tensor } from '../../torch/index.js';
import type { NetworkConfig } from './config.js';
import { atLeastSingle } from './distributions.js';

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

  /** `slope`: of the leaky ReLU behind it, 0 for a ReLU. */
  forward(x: Tensor, slope: number): Tensor {
    return this.norm.forwardLeakyRelu(this.conv.forward(x), slope);
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
    const [first, ...rest] = this.stages;
    const last = rest[rest.length - 1];
    // With one channel a GPU's convolution kernels waste nearly all of their work.
    const asProduct = images.device !== 'cpu' && !images.requiresGrad;
    const map = asProduct
      ? convolvedAsProduct(images, first.conv.weight)
      : first.conv.forward(images);
    let x = first.norm.forwardLeakyRelu(map, 0);
    for (const stage of rest.slice(0, -1)) x = stage.forward(x, 0);
    // A kernel as large as its map is one product; convolution kernels are several times slower at it.
    const flat = linear(flattened(x), flattened(last.conv.weight)); // [B, channels]
    return this.head.forward(last.norm.forwardLeakyRelu(flat, 0));
  }
}

/** The side of a kernel. */
const KERNEL = 4;
const HALF = SMALL_SIZE / 2;

/**
 * The halving convolution of images [B, 1, 64, 64] to maps [B, C, 32, 32] (weight [C, 1, 4, 4]) as a
 * product with the 4x4 squares of pixels; the gradient of the weight is then a product for each image.
 */
export function convolvedAsProduct(images: Tensor, weight: Tensor): Tensor {
  const [b] = images.shape;
  const channels = weight.shape[0];
  const border = SMALL_SIZE + 2;
  const squares = pad(images, [1, 1, 1, 1]) // [B, 1, 66, 66]
    .asStrided([b, HALF, HALF, KERNEL, KERNEL], [border * border, 2 * border, 2, border, 1])
    .reshape([b, HALF * HALF, KERNEL * KERNEL]);
  const columns = weight.reshape([1, channels, KERNEL * KERNEL]).transpose(1, 2); // [1, 16, C]
  return bmm(squares, columns.expand([b, KERNEL * KERNEL, channels])) // [B, 1024, C]
    .reshape([b, HALF, HALF, channels])
    .permute([0, 3, 1, 2]); // [B, C, 32, 32], channels-last
}

/**
 * The doubling transposed convolution of maps [B, C, 32, 32] to images [B, 1, 64, 64] (weight
 * [C, 1, 4, 4], bias [1]) as the 4x4 squares that each place paints, and their sum where they overlap.
 */
export function paintedAsProduct(maps: Tensor, weight: Tensor, bias: Tensor): Tensor {
  const [b, channels] = maps.shape;
  const rows = weight.reshape([1, channels, KERNEL * KERNEL]).transpose(1, 2); // [1, 16, C]
  const places = maps
    .permute([0, 2, 3, 1])
    .reshape([b, HALF * HALF, channels])
    .transpose(1, 2); // [B, C, 1024]
  const squares = bmm(rows.expand([b, KERNEL * KERNEL, channels]), places); // [B, 16, 1024]
  const painted = atLeastSingle(squares).reshape([b, KERNEL, KERNEL, HALF, HALF]);
  const inRows = overlapped(painted, 3); // [B, 4, 32, 2, 32]
  return overlapped(inRows.reshape([b, KERNEL, SMALL_SIZE, HALF]), 3) // [B, 64, 32, 2]
    .reshape([b, 1, SMALL_SIZE, SMALL_SIZE])
    .add(bias);
}

/**
 * Sums what overlaps along one axis. `x` has four lines of paint in axis 1 for each place along `axis`;
 * lines 1 and 2 of a place fall on its own two pixels, line 3 on the first pixel of the next place and
 * line 0 on the second of the one before. Axis 1 goes; the two pixels come behind `axis`.
 */
function overlapped(x: Tensor, axis: number): Tensor {
  const [before, first, second, after] = [0, 1, 2, 3].map((line) => x.select(1, line));
  const at = axis - 1; // axis 1 is gone
  const behind = x.ndim - 1 - axis;
  const border = Array.from({ length: 2 * behind }, () => 0);
  const fromPrevious = pad(after, [...border, 1, 0]).narrow(at, 0, HALF);
  const fromNext = pad(before, [...border, 0, 1]).narrow(at, 1, HALF);
  return stack([first.add(fromPrevious), second.add(fromNext)], at + 1);
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
    for (const stage of this.stages) x = stage.forward(x, this.slope);
    const { weight, bias } = this.last;
    const asProduct = x.device !== 'cpu' && bias !== null;
    const painted = asProduct ? paintedAsProduct(x, weight, bias) : this.last.forward(x);
    // The likelihood of pixels needs more digits than a half-precision sigmoid has.
    return atLeastSingle(painted).sigmoid();
  }
}
