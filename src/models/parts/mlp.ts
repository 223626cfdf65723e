/** Linear layers with ReLU between them: the small networks of many systems. */
import { nn, noGrad } from '../../torch/index.js';
import type { CreateOptions } from '../system.js';
import { Dropout } from './step-random.js';

interface MlpOptions extends CreateOptions {
  /** Makes a layer; absent: a linear one. */
  readonly layer?: (from: number, to: number) => nn.Layer;
  /** Whether batch normalisation comes before each ReLU. */
  readonly batchNorm?: boolean;
  /** Dropout after the last ReLU; absent: none. */
  readonly dropout?: number;
}

/** Layers with ReLU after each: input [rows, first width], output [rows, last width]. */
export const hiddenLayers = (widths: readonly number[], options: MlpOptions): nn.Sequential =>
  new nn.Sequential(...hidden(widths, options));

/** The same with one more layer, which has no ReLU and gives the last width. */
export function mlp(widths: readonly number[], options: MlpOptions): nn.Sequential {
  const [from, to] = widths.slice(-2);
  return new nn.Sequential(...hidden(widths.slice(0, -1), options), layerOf(from, to, options));
}

/** The square of He's bound for weights before a ReLU is so many times that of the library. */
const HE = 6;

/**
 * One such network for each concept, with He's first weights before each ReLU: what differs between inputs keeps
 * its size on the way.
 */
export function sizeKeepingMlp(
  widths: readonly number[],
  concepts: number,
  options: CreateOptions,
): nn.Sequential {
  let made = 0;
  const layer = (from: number, to: number): nn.Layer => {
    const own = new nn.BatchedLinear(concepts, from, to, options);
    if (++made < widths.length - 1) noGrad(() => own.weight.mul_(Math.sqrt(HE)));
    return own;
  };
  return mlp(widths, { ...options, layer });
}

/**
 * Batch normalisation and ReLU in one pass, of maps [N, C, H, W] or rows [N, C]. The second layer stands for the
 * ReLU: without it the layers behind would have other numbers, and so other names, in stored weights.
 */
export const normRelu = (channels: number): nn.Layer[] => [
  new nn.BatchNorm2d(channels, { leakyRelu: 0 }),
  new nn.Identity(),
];

const layerOf = (from: number, to: number, { layer, ...options }: MlpOptions): nn.Layer =>
  layer?.(from, to) ?? new nn.Linear(from, to, options);

function hidden(widths: readonly number[], options: MlpOptions): nn.Layer[] {
  const { batchNorm = false, dropout } = options;
  const layers = widths
    .slice(1)
    .flatMap((to, n): nn.Layer[] => [
      layerOf(widths[n], to, options),
      ...(batchNorm ? normRelu(to) : [new nn.ReLU()]),
    ]);
  return dropout === undefined ? layers : [...layers, new Dropout(dropout, options)];
}
