/**
 * Encoder and decoder of panels, which CRAB and other systems share, as plain layers and as graphs. Every
 * BatchNorm is folded into the convolution before it.
 */
import { productOf } from '../../base/index.js';
import type { Value } from './graph.js';
import { layer, transposed, type Layer, type StateReader } from './layers.js';
import { NetworkGraph, type GraphOptions } from './network-graph.js';

/** Sizes of both, as configurations have them. */
export interface CoderSizes {
  /** Channels of the encoder's convolutions, and of the decoder's transposed ones but the last. */
  readonly encoder: readonly number[];
  readonly decoder: readonly number[];
  readonly decoderSlope: number;
  /** M and d_z. */
  readonly concepts: number;
  readonly conceptSize: number;
}

interface EncoderNetwork {
  /** Convolutions of stride 2, weights [out, in, 4, 4]. */
  readonly convolutions: readonly Layer[];
  /** The last convolution, as large as its map, [out, in * 16]. */
  readonly whole: Layer;
  readonly head: Layer;
}

interface DecoderNetwork {
  /** 1x1 to a vector, [out, in]; then to a map of 4x4, [out * 16, in]. */
  readonly dense: readonly Layer[];
  /** Transposed convolutions of stride 2, weights [in, out, 4, 4]; the last one draws the pixels. */
  readonly transposed: readonly Layer[];
}

export interface CoderNetworks {
  readonly encoder: EncoderNetwork;
  readonly decoder: DecoderNetwork;
}

const EPSILON = 1e-5;
const KERNEL = 16;

/** Factor and summand of a BatchNorm for each channel. */
function normOf(
  reader: StateReader,
  name: string,
  channels: number,
): { factor: Float32Array; summand: Float32Array } {
  const read = (part: string): Float32Array => reader.take(`${name}.${part}`, [channels]);
  const [weight, bias, mean, variance] = ['weight', 'bias', 'running_mean', 'running_var'].map(
    read,
  );
  const factor = weight.map((value, c) => value / Math.sqrt(variance[c] + EPSILON));
  return { factor, summand: bias.map((value, c) => value - mean[c] * factor[c]) };
}

/** Multiplies the channels on axis 0, or 1, of a kernel. */
function scaled(
  kernel: Float32Array,
  [a, b, ...rest]: readonly number[],
  factor: Float32Array,
  axis: 0 | 1,
): Float32Array {
  const inner = productOf(rest);
  const out = new Float32Array(kernel.length);
  for (let i = 0; i < a; i++) {
    for (let j = 0; j < b; j++) {
      const by = factor[axis === 0 ? i : j];
      for (let k = 0, at = (i * b + j) * inner; k < inner; k++, at++) out[at] = kernel[at] * by;
    }
  }
  return out;
}

function readEncoder(reader: StateReader, sizes: CoderSizes, prefix: string): EncoderNetwork {
  const { encoder: channels, concepts, conceptSize } = sizes;
  const stages = channels.map((out, i) => {
    const shape = [out, i === 0 ? 1 : channels[i - 1], 4, 4];
    const kernel = reader.take(`${prefix}encoder.stages.${i}.conv.weight`, shape);
    const { factor, summand } = normOf(reader, `${prefix}encoder.stages.${i}.norm`, out);
    return layer(scaled(kernel, shape, factor, 0), shape, summand);
  });
  const last = channels.length - 1;
  const inputs = channels[last];
  const outputs = concepts * conceptSize;
  const { weights, bias } = stages[last];
  return {
    convolutions: stages.slice(0, last),
    whole: layer(weights[0].data, [inputs, channels[last - 1] * KERNEL], bias),
    head: reader.linear(`${prefix}encoder.head`, inputs, outputs),
  };
}

const repeated = (values: Float32Array, times: number): Float32Array =>
  Float32Array.from({ length: values.length * times }, (_, i) => values[Math.floor(i / times)]);

function readDecoder(reader: StateReader, sizes: CoderSizes, prefix: string): DecoderNetwork {
  const { decoder: channels, concepts, conceptSize } = sizes;
  const stages = channels.map((out, i) => {
    const side = i === 0 ? 1 : 4;
    const shape = [i === 0 ? concepts * conceptSize : channels[i - 1], out, side, side];
    const kernel = reader.take(`${prefix}decoder.stages.${i}.conv.weight`, shape);
    const { factor, summand } = normOf(reader, `${prefix}decoder.stages.${i}.norm`, out);
    return layer(scaled(kernel, shape, factor, 1), shape, summand);
  });
  const dense = stages.slice(0, 2).map(({ weights: [{ data, shape }], bias }, i) => {
    const [inputs, outputs] = [shape[0], shape[1] * (i === 0 ? 1 : KERNEL)];
    const matrix = transposed(data, inputs, outputs); // [out * taps, in]
    return layer(matrix, [outputs, inputs], i === 0 ? bias : repeated(bias, KERNEL));
  });
  const shape = [channels[channels.length - 1], 1, 4, 4];
  const last = layer(
    reader.take(`${prefix}decoder.last.weight`, shape),
    shape,
    reader.take(`${prefix}decoder.last.bias`, [1]),
  );
  return { dense, transposed: [...stages.slice(2), last] };
}

/** Reads both; `prefix` is where the checkpoint has them. */
export const readCoder = (reader: StateReader, sizes: CoderSizes, prefix = ''): CoderNetworks => ({
  encoder: readEncoder(reader, sizes, prefix),
  decoder: readDecoder(reader, sizes, prefix),
});

/** The same networks with layers replaced, by the names that the graphs give them. */
export const mapCoder = (
  { encoder, decoder }: CoderNetworks,
  change: (name: string, layer: Layer) => Layer,
): CoderNetworks => ({
  encoder: {
    convolutions: encoder.convolutions.map((each, i) => change(`conv${i}`, each)),
    whole: change('whole', encoder.whole),
    head: change('head', encoder.head),
  },
  decoder: {
    dense: decoder.dense.map((each, i) => change(`dense${i}`, each)),
    transposed: decoder.transposed.map((each, i) => change(`transposed${i}`, each)),
  },
});

/** images [N, 1, 64, 64] in [0, 1] to concepts [N, M, d_z]. */
export function encoderGraph(
  { encoder }: CoderNetworks,
  sizes: CoderSizes,
  options: GraphOptions,
): Uint8Array {
  const graph = new NetworkGraph('encoder', options);
  let x = graph.input('images', ['N', 1, 64, 64]);
  encoder.convolutions.forEach((layer, i) => {
    x = graph.relu(graph.convolution(`conv${i}`, x, layer));
  });
  const features = productOf(x.shape.slice(1).map(Number));
  x = graph.reshape('flat', x, [0, features], ['N', features]); // [N, C, 4, 4] → [N, C * 16]
  x = graph.relu(graph.layer('whole', x, encoder.whole, { fineOuter: true }));
  x = graph.layer('head', x, encoder.head); // [N, M * d_z]
  const { concepts, conceptSize } = sizes;
  const shape = ['N', concepts, conceptSize];
  graph.output('concepts', graph.reshape('means', x, [0, concepts, conceptSize], shape));
  return graph.finish('Panels to the means of their concepts.');
}

/** concepts [N, M, d_z] to images [N, 1, 64, 64] in (0, 1). */
export function decoderGraph(
  { decoder }: CoderNetworks,
  sizes: CoderSizes,
  options: GraphOptions,
): Uint8Array {
  const graph = new NetworkGraph('decoder', options);
  const { concepts, conceptSize, decoderSlope } = sizes;
  const leaky = (value: Value): Value =>
    graph.node('LeakyRelu', `${value.name}.leaky`, [value], value.shape, {
      alpha: { float: decoderSlope },
    });
  const input = graph.input('concepts', ['N', concepts, conceptSize]);
  const row = [0, concepts * conceptSize];
  let x = graph.reshape('row', input, row, ['N', row[1]]); // [N, M * d_z]
  decoder.dense.forEach((layer, i) => {
    x = leaky(graph.layer(`dense${i}`, x, layer));
  });
  const channels = Number(x.shape[1]) / 16;
  x = graph.reshape('map', x, [0, channels, 4, 4], ['N', channels, 4, 4]);
  decoder.transposed.forEach(({ weights: [weight], bias }, i) => {
    const name = `transposed${i}`;
    const out = weight.shape[1];
    const operands = [
      x,
      graph.weight(`${name}.weight`, weight, { channelAxis: 1 }),
      graph.constant(`${name}.bias`, bias, [out]),
    ];
    const side = Number(x.shape[2]) * 2;
    const drawn = graph.node('ConvTranspose', name, operands, ['N', out, side, side], {
      kernel_shape: [4, 4],
      strides: [2, 2],
      pads: [1, 1, 1, 1],
    });
    const last = i === decoder.transposed.length - 1;
    x = last ? graph.entrywise('Sigmoid', 'pixels', [drawn]) : leaky(drawn);
  });
  graph.output('images', x);
  return graph.finish('Concepts to the mean pixel values of their panels.');
}
