/**
 * A trained CRAB as ONNX files, from the tensors of a checkpoint alone: neither libtorch nor a GPU is
 * needed. What makes a bundle of them (statistics, names, hashes) is added above this layer.
 */
import { SafetensorsFile } from '../../torch/index.js';
import { ModelError } from '../errors.js';
import type { Weight, WeightFormat } from '../onnx/graph.js';
import type { NetworkConfig } from './config.js';
import { decoderGraph, encoderGraph, reasonerGraph } from './export-graphs.js';
import { readNetworks, type CrabNetworks, type WeightState } from './export-networks.js';

/** The bytes of the three files. */
export interface NetworkFiles {
  readonly encoder: Uint8Array;
  readonly reasoner: Uint8Array;
  readonly decoder: Uint8Array;
}

/** Tensors of a safetensors file whose names begin with `prefix`, by the rest of their names. */
export function readWeightState(path: string, prefix = ''): WeightState {
  const file = SafetensorsFile.open(path);
  try {
    const state = new Map<string, Weight>();
    for (const name of file.names) {
      const { dtype, shape } = file.describe(name);
      if (!name.startsWith(prefix) || (dtype !== 'f32' && dtype !== 'f64')) continue;
      const { buffer } = file.readBytes(name);
      const data =
        dtype === 'f32' ? new Float32Array(buffer) : Float32Array.from(new Float64Array(buffer));
      state.set(name.slice(prefix.length), { data, shape });
    }
    return state;
  } finally {
    file.close();
  }
}

/** Writes networks in a format of weights. */
export function networkFiles(networks: CrabNetworks, format: WeightFormat): NetworkFiles {
  return {
    encoder: encoderGraph(networks, { format }),
    reasoner: reasonerGraph(networks, { format }),
    decoder: decoderGraph(networks, { format }),
  };
}

/** A model's configuration and tensors as ONNX files. */
export function exportNetworks(
  config: NetworkConfig,
  state: WeightState,
  format: WeightFormat = 'f32',
): NetworkFiles {
  if (state.size === 0) throw new ModelError('export: there are no weights to write');
  return networkFiles(readNetworks(config, state), format);
}
