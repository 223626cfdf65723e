/**
 * Convolutions, their transposes, and M independent convolutions as one grouped one.
 */
import { operator } from '../dispatch.js';
import { layerBias, layerWeight } from '../init.js';
import { conv2d, convTranspose2d } from '../functional.js';
import type { Pair } from '../functional.js';
import type { Tensor } from '../tensor.js';
import { drawn, drawnEach, requireGenerator } from './drawing.js';
import type { LayerOptions } from './drawing.js';
import { Module, parameter } from './module.js';
import type { Parameter } from './module.js';

export interface Conv2dOptions extends LayerOptions {
  readonly stride?: Pair;
  readonly padding?: Pair;
  readonly dilation?: Pair;
  readonly groups?: number;
  readonly bias?: boolean;
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

/** Whether a convolution of this geometry halves its maps exactly (its transpose doubles them). */
function halves(
  kernel: readonly number[],
  { stride, padding, dilation, groups }: Geometry,
): boolean {
  const all = (values: readonly number[], value: number): boolean =>
    values.every((each) => each === value);
  return all(kernel, 4) && all(stride, 2) && all(padding, 1) && all(dilation, 1) && groups === 1;
}

/**
 * Two-dimensional convolution.
 *
 * Input [N, inChannels, H, W], output [N, outChannels, H', W'];
 * weight [outChannels, inChannels / groups, kernel, kernel].
 */
export class Conv2d extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;
  readonly geometry: Geometry;
  readonly #halves: boolean;

  constructor(
    readonly inChannels: number,
    readonly outChannels: number,
    kernelSize: Pair,
    options: Conv2dOptions,
  ) {
    super();
    requireGenerator('Conv2d', options);
    this.geometry = geometry(options);
    const shape = [outChannels, inChannels / this.geometry.groups, ...pair(kernelSize)];
    this.weight = parameter(drawn(shape, options, layerWeight));
    this.bias =
      (options.bias ?? true)
        ? parameter(drawn([outChannels], options, (t, g) => layerBias(t, shape, g)))
        : null;
    this.#halves = this.bias === null && halves(pair(kernelSize), this.geometry);
  }

  forward(x: Tensor): Tensor {
    if (this.#halves) return halvingConv.tensor(x, this.weight);
    return conv2d(x, this.weight, this.bias, this.geometry);
  }
}

export interface ConvTranspose2dOptions extends Conv2dOptions {
  readonly outputPadding?: Pair;
}

/**
 * Two-dimensional transposed convolution ("deconvolution").
 *
 * Input [N, inChannels, H, W], output [N, outChannels, H', W'];
 * weight [inChannels, outChannels / groups, kernel, kernel].
 */
export class ConvTranspose2d extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;
  readonly geometry: Geometry & { readonly outputPadding: [number, number] };
  readonly #doubles: boolean;

  constructor(
    readonly inChannels: number,
    readonly outChannels: number,
    kernelSize: Pair,
    options: ConvTranspose2dOptions,
  ) {
    super();
    requireGenerator('ConvTranspose2d', options);
    this.geometry = { ...geometry(options), outputPadding: pair(options.outputPadding ?? 0) };
    const shape = [inChannels, outChannels / this.geometry.groups, ...pair(kernelSize)];
    this.weight = parameter(drawn(shape, options, layerWeight));
    this.bias =
      (options.bias ?? true)
        ? parameter(drawn([outChannels], options, (t, g) => layerBias(t, shape, g)))
        : null;
    const { outputPadding } = this.geometry;
    const isPlain = this.bias === null && outputPadding.every((extra) => extra === 0);
    this.#doubles = isPlain && halves(pair(kernelSize), this.geometry);
  }

  forward(x: Tensor): Tensor {
    if (this.#doubles) return doublingConv.tensor(x, this.weight);
    return convTranspose2d(x, this.weight, this.bias, this.geometry);
  }
}

/**
 * M independent convolutions as one grouped convolution.
 *
 * Input [M, N, inChannels, H, W], output [M, N, outChannels, H', W'];
 * weight [M, outChannels, inChannels, kernel, kernel], each slice that of a `Conv2d`;
 * bias [M, outChannels].
 */
export class BatchedConv2d extends Module {
  readonly weight: Parameter;
  readonly bias: Parameter | null;
  readonly geometry: Geometry;

  constructor(
    readonly groups: number,
    readonly inChannels: number,
    readonly outChannels: number,
    kernelSize: Pair,
    options: Omit<Conv2dOptions, 'groups'>,
  ) {
    super();
    requireGenerator('BatchedConv2d', options);
    this.geometry = { ...geometry(options), groups };
    const shape = [outChannels, inChannels, ...pair(kernelSize)];
    const [weight, bias] = drawnEach(groups, [shape, [outChannels]], options, (tensors, g) => {
      layerWeight(tensors[0], g);
      if (options.bias ?? true) layerBias(tensors[1], shape, g);
    });
    this.weight = parameter(weight);
    this.bias = (options.bias ?? true) ? parameter(bias) : null;
  }

  forward(x: Tensor): Tensor {
    const [, batch, , height, width] = x.shape;
    const sideBySide = x
      .transpose(0, 1) // [N, M, C, H, W]
      .reshape([batch, this.groups * this.inChannels, height, width]);
    const weight = this.weight.flatten(0, 1); // [M * out, in, k, k]
    const bias = this.bias === null ? null : this.bias.flatten(0, 1);
    const y = conv2d(sideBySide, weight, bias, this.geometry); // [N, M * out, H', W']
    return y
      .reshape([batch, this.groups, this.outChannels, y.shape[2], y.shape[3]])
      .transpose(0, 1); // [M, N, out, H', W']
  }
}
