/**
 * The networks of a trained CRAB as plain layers, ready to be written to a graph: read from the tensors
 * of a checkpoint without libtorch, with every BatchNorm folded into the convolution before it, the M
 * concept-specific networks taken apart, and the scale of pair features multiplied in.
 */
import { ModelError } from '../errors.js';
import type { Weight } from '../onnx/graph.js';
import type { NetworkConfig } from './config.js';

/** Tensors of a model by their names in a checkpoint. */
export type WeightState = ReadonlyMap<string, Weight>;

/**
 * A linear layer or a convolution: the product of its weights, the first applied first, and a bias.
 * A second weight is there where the layer was factored; of a convolution it is 1x1.
 */
export interface Layer {
  readonly weights: readonly Weight[];
  readonly bias: Float32Array;
}

/** The networks of one concept; all weights [out, in]. */
export interface ConceptNetworks {
  readonly pairFirst: Layer;
  /** Without a bias of its own. */
  readonly pairSecond: Layer;
  readonly pairHidden: Layer;
  readonly pairOut: Layer;
  readonly relation: readonly Layer[];
  /** Inputs are the nine neighbours of a position, each with all its values. */
  readonly target: readonly Layer[];
}

export interface EncoderNetwork {
  /** Convolutions of stride 2, weights [out, in, 4, 4]. */
  readonly convolutions: readonly Layer[];
  /** The last convolution, as large as its map, [out, in * 16]. */
  readonly whole: Layer;
  readonly head: Layer;
}

export interface DecoderNetwork {
  /** 1x1 to a vector, [out, in]; then to a map of 4x4, [out * 16, in]. */
  readonly dense: readonly Layer[];
  /** Transposed convolutions of stride 2, weights [in, out, 4, 4]; the last one draws the pixels. */
  readonly transposed: readonly Layer[];
}

export interface CrabNetworks {
  readonly config: NetworkConfig;
  readonly encoder: EncoderNetwork;
  readonly decoder: DecoderNetwork;
  readonly concepts: readonly ConceptNetworks[];
}

const EPSILON = 1e-5;
const TAPS = 9;
const KERNEL = 16;

class StateReader {
  constructor(readonly state: WeightState) {}

  take(name: string, shape: readonly number[]): Float32Array {
    const found = this.state.get(name);
    if (found === undefined) throw new ModelError(`the checkpoint has no tensor ${name}`);
    if (found.shape.length !== shape.length || shape.some((size, i) => found.shape[i] !== size)) {
      throw new ModelError(
        `${name} is [${found.shape.join(', ')}] in the checkpoint, [${shape.join(', ')}] by its configuration`,
      );
    }
    if (!found.data.every(Number.isFinite)) {
      throw new ModelError(`${name} holds values that are not finite`);
    }
    return found.data;
  }

  /** Factor and summand of a BatchNorm for each channel. */
  norm(name: string, channels: number): { factor: Float32Array; summand: Float32Array } {
    const read = (part: string): Float32Array => this.take(`${name}.${part}`, [channels]);
    const [weight, bias, mean, variance] = ['weight', 'bias', 'running_mean', 'running_var'].map(
      read,
    );
    const factor = weight.map((value, c) => value / Math.sqrt(variance[c] + EPSILON));
    return { factor, summand: bias.map((value, c) => value - mean[c] * factor[c]) };
  }
}

/** Multiplies the channels on axis 0, or 1, of a kernel. */
function scaled(
  kernel: Float32Array,
  [a, b, ...rest]: readonly number[],
  factor: Float32Array,
  axis: 0 | 1,
): Float32Array {
  const inner = rest.reduce((product, size) => product * size, 1);
  const out = new Float32Array(kernel.length);
  for (let i = 0; i < a; i++) {
    for (let j = 0; j < b; j++) {
      const by = factor[axis === 0 ? i : j];
      for (let k = 0, at = (i * b + j) * inner; k < inner; k++, at++) out[at] = kernel[at] * by;
    }
  }
  return out;
}

/** [rows, columns] to [columns, rows]. */
export function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(data.length);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) out[j * rows + i] = data[i * columns + j];
  }
  return out;
}

const layer = (data: Float32Array, shape: readonly number[], bias: Float32Array): Layer => ({
  weights: [{ data, shape }],
  bias,
});

function readEncoder(reader: StateReader, config: NetworkConfig): EncoderNetwork {
  const { encoder: channels, concepts, conceptSize } = config;
  const stages = channels.map((out, i) => {
    const shape = [out, i === 0 ? 1 : channels[i - 1], 4, 4];
    const kernel = reader.take(`encoder.stages.${i}.conv.weight`, shape);
    const { factor, summand } = reader.norm(`encoder.stages.${i}.norm`, out);
    return layer(scaled(kernel, shape, factor, 0), shape, summand);
  });
  const last = channels.length - 1;
  const inputs = channels[last];
  const outputs = concepts * conceptSize;
  const { weights, bias } = stages[last];
  return {
    convolutions: stages.slice(0, last),
    whole: layer(weights[0].data, [inputs, channels[last - 1] * KERNEL], bias),
    head: layer(
      reader.take('encoder.head.weight', [outputs, inputs]),
      [outputs, inputs],
      reader.take('encoder.head.bias', [outputs]),
    ),
  };
}

const repeated = (values: Float32Array, times: number): Float32Array =>
  Float32Array.from({ length: values.length * times }, (_, i) => values[Math.floor(i / times)]);

function readDecoder(reader: StateReader, config: NetworkConfig): DecoderNetwork {
  const { decoder: channels, concepts, conceptSize } = config;
  const stages = channels.map((out, i) => {
    const side = i === 0 ? 1 : 4;
    const shape = [i === 0 ? concepts * conceptSize : channels[i - 1], out, side, side];
    const kernel = reader.take(`decoder.stages.${i}.conv.weight`, shape);
    const { factor, summand } = reader.norm(`decoder.stages.${i}.norm`, out);
    return layer(scaled(kernel, shape, factor, 1), shape, summand);
  });
  const dense = stages.slice(0, 2).map(({ weights: [{ data, shape }], bias }, i) => {
    const [inputs, outputs] = [shape[0], shape[1] * (i === 0 ? 1 : KERNEL)];
    const matrix = transposed(data, inputs, outputs); // [out * taps, in]
    return layer(matrix, [outputs, inputs], i === 0 ? bias : repeated(bias, KERNEL));
  });
  const shape = [channels[channels.length - 1], 1, 4, 4];
  const last = layer(
    reader.take('decoder.last.weight', shape),
    shape,
    reader.take('decoder.last.bias', [1]),
  );
  return { dense, transposed: [...stages.slice(2), last] };
}

/** Slices of concept-specific linear layers, [M, in, out] in a checkpoint, as [out, in] each. */
function conceptLinear(
  reader: StateReader,
  config: NetworkConfig,
  name: string,
  [inputs, outputs]: readonly [number, number],
  { bias = true, scale = 1 } = {},
): Layer[] {
  const m = config.concepts;
  const weight = reader.take(`rule_parser.${name}.weight`, [m, inputs, outputs]);
  const biases = bias
    ? reader.take(`rule_parser.${name}.bias`, [m, 1, outputs])
    : new Float32Array(m * outputs);
  const area = inputs * outputs;
  return Array.from({ length: m }, (_, c) => {
    const own = transposed(weight.subarray(c * area, (c + 1) * area), inputs, outputs);
    const ownBias = biases.slice(c * outputs, (c + 1) * outputs);
    return layer(
      scale === 1 ? own : own.map((value) => value * scale),
      [outputs, inputs],
      scale === 1 ? ownBias : ownBias.map((value) => value * scale),
    );
  });
}

/** Kernels [out, in, 3, 3] as matrices [out, taps * in]. */
function tapsFirst(kernel: Float32Array, outputs: number, inputs: number): Float32Array {
  const matrix = new Float32Array(kernel.length);
  for (let o = 0; o < outputs; o++) {
    for (let i = 0; i < inputs; i++) {
      for (let t = 0; t < TAPS; t++) {
        matrix[(o * TAPS + t) * inputs + i] = kernel[(o * inputs + i) * TAPS + t];
      }
    }
  }
  return matrix;
}

function readTargets(reader: StateReader, config: NetworkConfig): Layer[][] {
  const { concepts: m, conceptSize, ruleSize, targetHidden } = config;
  const widths = [conceptSize + ruleSize, ...targetHidden, conceptSize];
  return widths.slice(1).map((outputs, i) => {
    const inputs = widths[i];
    const name = `target_predictor.layers.${i}`;
    const kernels = reader.take(`${name}.weight`, [m * outputs, inputs, 3, 3]);
    const bias = reader.take(`${name}.bias`, [m * outputs]);
    const area = outputs * inputs * TAPS;
    return Array.from({ length: m }, (_, c) =>
      layer(
        tapsFirst(kernels.subarray(c * area, (c + 1) * area), outputs, inputs),
        [outputs, TAPS * inputs],
        bias.slice(c * outputs, (c + 1) * outputs),
      ),
    );
  });
}

function readConcepts(reader: StateReader, config: NetworkConfig): ConceptNetworks[] {
  const { conceptSize, pairHidden, pairFeatures, relationHidden, ruleSize, pairScale } = config;
  const linear = (
    name: string,
    inputs: number,
    outputs: number,
    options?: Parameters<typeof conceptLinear>[4],
  ): Layer[] => conceptLinear(reader, config, name, [inputs, outputs], options);
  const first = linear('pair_first', conceptSize, pairHidden[0]);
  const second = linear('pair_second', conceptSize, pairHidden[0], { bias: false });
  const hidden = linear('pair_hidden', pairHidden[0], pairHidden[1]);
  const out = linear('pair_out', pairHidden[1], pairFeatures, { scale: pairScale });
  const widths = [81 * pairFeatures, ...relationHidden, 2 * ruleSize];
  const relation = widths.slice(1).map((width, i) => linear(`relation.${i}`, widths[i], width));
  const target = readTargets(reader, config);
  return Array.from({ length: config.concepts }, (_, m) => ({
    pairFirst: first[m],
    pairSecond: second[m],
    pairHidden: hidden[m],
    pairOut: out[m],
    relation: relation.map((each) => each[m]),
    target: target.map((each) => each[m]),
  }));
}

/** Reads all networks; every tensor's shape must be what the configuration says. */
export function readNetworks(config: NetworkConfig, state: WeightState): CrabNetworks {
  const reader = new StateReader(state);
  return {
    config,
    encoder: readEncoder(reader, config),
    decoder: readDecoder(reader, config),
    concepts: readConcepts(reader, config),
  };
}
