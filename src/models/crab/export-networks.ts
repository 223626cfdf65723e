/**
 * The networks of a trained CRAB as plain layers, ready to be written to a graph: read from the tensors
 * of a checkpoint, with the M concept-specific networks taken apart and the scale of pair features
 * multiplied in.
 */
import { readCoder, type CoderNetworks } from '../onnx/coder.js';
import {
  layer,
  scaledLayer,
  StateReader,
  transposed,
  type Layer,
  type WeightState,
} from '../onnx/layers.js';
import type { NetworkConfig } from './config.js';
import { PAIRS } from './rule-parser.js';

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

export interface CrabNetworks extends CoderNetworks {
  readonly config: NetworkConfig;
  readonly concepts: readonly ConceptNetworks[];
}

/** Weights of a 3x3 kernel. */
export const TAPS = 9;

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
    return scaledLayer(layer(own, [outputs, inputs], ownBias), scale);
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
  const widths = [PAIRS * pairFeatures, ...relationHidden, 2 * ruleSize];
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
    ...readCoder(reader, config),
    concepts: readConcepts(reader, config),
  };
}
