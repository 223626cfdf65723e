/**
 * Convolutions, their transposes, and M independent convolutions side by side. Each computes by the fastest
 * of several equal forms: kernels of our own, libtorch's, or products of matrices (convolution-forms.ts).
 * Weights are held channels-last, the order that convolutions on CPUs and GPUs are fastest in.
 */
import { operator } from '../dispatch.js';
import { layerBias, layerWeight } from '../init.js';
import { conv2d, convTranspose2d } from '../functional.js';
import type { Pair } from '../functional.js';
import type { Tensor } from '../tensor.js';
import type { MemoryFormat } from '../types.js';
import {
  doubledAsProduct,
  groupsAsProduct,
  halvedAsProduct,
  spreadMatrix,
  wholeAsProduct,
} from './convolution-forms.js';
import { drawn, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { buffer, Module, parameter } from './module.js';
import type { Buffer, Parameter } from './module.js';

export interface Conv2dOptions extends LayerOptions {
  readonly stride?: Pair;
  readonly padding?: Pair;
  readonly dilation?: Pair;
  readonly groups?: number;
  readonly bias?: boolean;
}

export interface ConvTranspose2dOptions extends Conv2dOptions {
  readonly outputPadding?: Pair;
}

function pair(value: Pair): [number, number] {
  return typeof value === 'number' ? [value, value] : [value[0], value[1]];
}

/** Geometry common to all convolutions, as pairs. */
interface Geometry {
  readonly stride: [number, number];
  readonly padding: [number, number];
  readonly dilation: [number, number];
  readonly groups: number;
}

function geometry({ stride = 1, padding = 0, dilation = 1, groups = 1 }: Conv2dOptions): Geometry {
  return { stride: pair(stride), padding: pair(padding), dilation: pair(dilation), groups };
}

const halvingConv = operator('crab::halving_conv', '', 'conv2d');
const doublingConv = operator('crab::doubling_conv', '', 'convTranspose2d');

const all = (values: readonly number[], value: number): boolean =>
  values.every((each) => each === value);

/** Whether a convolution of this geometry halves its maps exactly (its transpose doubles them). */
function halves(
  kernel: readonly number[],
  { stride, padding, dilation, groups }: Geometry,
): boolean {
  return all(kernel, 4) && all(stride, 2) && all(padding, 1) && all(dilation, 1) && groups === 1;
}

/**
 * On processors without AVX-512 the oneDNN of libtorch 1.13 writes beyond its memory in the gradient of a 1x1
 * convolution that skips pixels and has fewer input channels than this.
 */
const SAFE_CHANNELS = 8;

/** Weight and bias, drawn as PyTorch draws them. */
abstract class Convolution extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;

  constructor(
    readonly inChannels: number,
    readonly outChannels: number,
    shape: readonly number[],
    options: LayerOptions & { readonly bias?: boolean },
    outputs = outChannels,
    memoryFormat: MemoryFormat = 'channelsLast',
  ) {
    super();
    this.weight = parameter(drawn(shape, options, layerWeight).to({ memoryFormat }));
    this.bias =
      (options.bias ?? true)
        ? parameter(drawn([outputs], options, (t, g) => layerBias(t, shape, g)))
        : null;
  }
}

/**
 * Two-dimensional convolution.
 *
 * Input [N, inChannels, H, W], output [N, outChannels, H', W'];
 * weight [outChannels, inChannels / groups, kernel, kernel].
 */
export class Conv2d extends Convolution {
  readonly geometry: Geometry;
  readonly #kernel: readonly [number, number];
  readonly #halves: boolean;
  /** Whether there is one output if the kernel has the size of the map. */
  readonly #isPlain: boolean;
  /** Whether a CPU should pick the pixels that it looks at first. */
  readonly #picksPixels: boolean;

  constructor(inChannels: number, outChannels: number, kernelSize: Pair, options: Conv2dOptions) {
    requireGenerator('Conv2d', options);
    const shape = [outChannels, inChannels / (options.groups ?? 1), ...pair(kernelSize)];
    super(inChannels, outChannels, shape, options);
    this.geometry = geometry(options);
    this.#kernel = pair(kernelSize);
    const { padding, dilation, groups } = this.geometry;
    this.#halves = this.bias === null && halves(this.#kernel, this.geometry);
    this.#isPlain = all(padding, 0) && all(dilation, 1) && groups === 1;
    const skips = all(this.#kernel, 1) && !all(this.geometry.stride, 1);
    this.#picksPixels = skips && this.#isPlain && inChannels < SAFE_CHANNELS;
  }

  forward(x: Tensor): Tensor {
    const { weight, bias } = this;
    if (this.#halves) {
      const isImage = this.inChannels === 1 && x.device !== 'cpu' && !x.requiresGrad;
      return isImage && hasEvenMaps(x) ? halvedAsProduct(x, weight) : halvingConv.tensor(x, weight);
    }
    if (this.#isPlain && this.#coversMaps(x)) return wholeAsProduct(x, weight, bias);
    if (this.#picksPixels && x.device === 'cpu') {
      const [rows, columns] = this.geometry.stride;
      return conv2d(x.slice(2, null, null, rows).slice(3, null, null, columns), weight, bias);
    }
    return conv2d(x, weight, bias, this.geometry);
  }

  #coversMaps({ shape }: Tensor): boolean {
    const whole = [this.inChannels, ...this.#kernel];
    return shape.length === 4 && whole.every((size, i) => size === shape[i + 1]);
  }
}

/** Whether these are images of one channel that can be halved. */
const hasEvenMaps = ({ shape }: Tensor): boolean =>
  shape.length === 4 && shape[1] === 1 && shape[2] % 2 === 0 && shape[3] % 2 === 0;

/**
 * Two-dimensional transposed convolution ("deconvolution").
 *
 * Input [N, inChannels, H, W], output [N, outChannels, H', W'];
 * weight [inChannels, outChannels / groups, kernel, kernel].
 */
export class ConvTranspose2d extends Convolution {
  readonly geometry: Geometry & { readonly outputPadding: [number, number] };
  readonly #doubles: boolean;

  constructor(
    inChannels: number,
    outChannels: number,
    kernelSize: Pair,
    options: ConvTranspose2dOptions,
  ) {
    requireGenerator('ConvTranspose2d', options);
    const kernel = pair(kernelSize);
    super(
      inChannels,
      outChannels,
      [inChannels, outChannels / (options.groups ?? 1), ...kernel],
      options,
    );
    this.geometry = { ...geometry(options), outputPadding: pair(options.outputPadding ?? 0) };
    this.#doubles = all(this.geometry.outputPadding, 0) && halves(kernel, this.geometry);
  }

  forward(x: Tensor): Tensor {
    const { weight, bias } = this;
    if (this.#doubles) {
      const paintsImage = this.outChannels === 1 && x.device !== 'cpu';
      if (paintsImage && x.ndim === 4) return doubledAsProduct(x, weight, bias);
      if (bias === null) return doublingConv.tensor(x, weight);
    }
    return convTranspose2d(x, weight, bias, this.geometry);
  }
}

export interface BatchedConv2dOptions extends LayerOptions {
  /** Of zeros, on every side; half the kernel keeps the size of a map. */
  readonly padding?: number;
  readonly bias?: boolean;
  /** A ReLU behind it. */
  readonly relu?: boolean;
}

/** Positions of a map up to which a GPU takes all of them to all of them at once. */
const FEW_POSITIONS = 9;

/**
 * M independent convolutions as one, on a CPU a grouped one.
 *
 * Input [M, N, inChannels, H, W], output [M, N, outChannels, H', W'];
 * weight [M * outChannels, inChannels, kernel, kernel] and bias [M * outChannels], as of a grouped
 * convolution. Where one such layer follows another, nothing is copied in between.
 */
export class BatchedConv2d extends Convolution {
  /** See spreadMatrix; null if maps of the kernel's size are no case for it. */
  readonly spread: Buffer | null;
  readonly #padding: number;
  readonly #relu: boolean;

  constructor(
    readonly groups: number,
    inChannels: number,
    outChannels: number,
    readonly kernel: number,
    options: BatchedConv2dOptions,
  ) {
    requireGenerator('BatchedConv2d', options);
    const outputs = groups * outChannels;
    const shape = [outputs, inChannels, kernel, kernel];
    super(inChannels, outChannels, shape, options, outputs, 'contiguous');
    this.#padding = options.padding ?? 0;
    this.#relu = options.relu ?? false;
    const keepsSize = 2 * this.#padding === kernel - 1 && kernel * kernel <= FEW_POSITIONS;
    const { generator, device = generator.device, dtype } = options;
    this.spread = keepsSize
      ? buffer(spreadMatrix(kernel, kernel, this.#padding).to({ device, dtype }), {
          persistent: false,
        })
      : null;
  }

  forward(x: Tensor): Tensor {
    const [, , , height, width] = x.shape;
    const { kernel, spread } = this;
    const isSmall = spread !== null && height === kernel && width === kernel;
    return isSmall && x.device !== 'cpu' ? this.#product(x, spread) : this.#grouped(x);
  }

  #grouped(x: Tensor): Tensor {
    const { groups: m, inChannels, outChannels } = this;
    const [, n, , height, width] = x.shape;
    const sideBySide = x.transpose(0, 1).reshape([n, m * inChannels, height, width]);
    const options = { padding: this.#padding, groups: m };
    const y = this.#activated(conv2d(sideBySide, this.weight, this.bias, options)); // [N, M * out, H', W']
    return y.reshape([n, m, outChannels, y.shape[2], y.shape[3]]).transpose(0, 1);
  }

  #product(x: Tensor, spread: Tensor): Tensor {
    const { groups: m, inChannels, outChannels } = this;
    const [, n, , height, width] = x.shape;
    const positions = x.permute([0, 1, 3, 4, 2]).reshape([m, n, height * width * inChannels]);
    const y = this.#activated(groupsAsProduct(positions, this.weight, this.bias, spread));
    return y.reshape([m, n, height, width, outChannels]).permute([0, 1, 4, 2, 3]);
  }

  #activated(x: Tensor): Tensor {
    return this.#relu ? x.relu_() : x;
  }
}
