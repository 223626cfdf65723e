/**
 * A trained CRAB as ONNX files, from the tensors of a checkpoint alone: neither libtorch nor a GPU is
 * needed. What makes a bundle of them (statistics, names, hashes) is added above this layer.
 */
import type { BundleExport, NetworkFiles } from '../onnx/bundle-networks.js';
import { decoderGraph, encoderGraph } from '../onnx/coder.js';
import type { WeightFormat } from '../onnx/graph.js';
import type { WeightState } from '../onnx/layers.js';
import type { CrabConfig, NetworkConfig } from './config.js';
import { compactNetworks } from './export-compact.js';
import { reasonerGraph } from './export-graphs.js';
import { readNetworks, type CrabNetworks } from './export-networks.js';

/** Writes networks in a format of weights. */
export function networkFiles(networks: CrabNetworks, format: WeightFormat): NetworkFiles {
  return {
    encoder: encoderGraph(networks, networks.config, { format }),
    reasoner: reasonerGraph(networks, { format }),
    decoder: decoderGraph(networks, networks.config, { format }),
  };
}

/** A model's configuration and tensors as ONNX files. */
export const exportNetworks = (
  config: NetworkConfig,
  state: WeightState,
  format: WeightFormat = 'f32',
): NetworkFiles => networkFiles(readNetworks(config, state), format);

export const crabExport: BundleExport<CrabConfig> = {
  describe: ({ network: { concepts, conceptSize, ruleSize }, objective: { sigmaZ } }) => ({
    sizes: { concepts, conceptSize, ruleSize },
    sigmaZ,
  }),
  write: async ({ network, configuration, noisy }, state, { format, compact, ...options }) => {
    const networks = readNetworks(network, state);
    const chosen = compact
      ? await compactNetworks(networks, { configuration, noisy, ...options })
      : networks;
    options.signal?.throwIfAborted();
    return networkFiles(chosen, format);
  },
};
