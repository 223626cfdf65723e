/**
 * A trained Transformer as ONNX files, from the tensors of a checkpoint alone. Its vector of a panel is one
 * concept of `width` values, and there are no rules. Compact: the encoder's largest layer, a third of all
 * weights, is factored until the bundle is small enough; the rest stays whole.
 */
import { MATRIX_PANELS } from '../../matrix/index.js';
import type { Configuration } from '../../matrix/index.js';
import type { BundleExport, NetworkFiles } from '../onnx/bundle-networks.js';
import {
  decoderGraph,
  encoderGraph,
  mapCoder,
  readCoder,
  type CoderNetworks,
  type CoderSizes,
} from '../onnx/coder.js';
import { factorLayers, type ChangeLayer, type Tolerances } from '../onnx/compact.js';
import type { Value, WeightFormat } from '../onnx/graph.js';
import { scaledLayer, StateReader, type Layer, type WeightState } from '../onnx/layers.js';
import { NetworkGraph, type GraphOptions } from '../onnx/network-graph.js';
import { probeEncoder, type ProbedProblems } from '../onnx/probe.js';
import type { CoderConfig } from '../parts/panel-coder.js';

/** Sizes that the files depend on. */
interface TransformerSizes {
  readonly coder: CoderConfig;
  readonly width: number;
  readonly blocks: number;
  readonly heads: number;
  readonly hidden: number;
}

/** Factor and summand of a layer norm, [width] each. */
interface Norm {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

interface Block {
  readonly attentionNorm: Norm;
  /** With the scale of attention multiplied in. */
  readonly queries: Layer;
  readonly keys: Layer;
  readonly values: Layer;
  readonly out: Layer;
  readonly hiddenNorm: Norm;
  readonly hidden: readonly [Layer, Layer];
}

interface TransformerNetworks extends CoderNetworks {
  readonly sizes: TransformerSizes;
  /** [9, width] */
  readonly positions: Float32Array;
  /** [width] */
  readonly missing: Float32Array;
  readonly blocks: readonly Block[];
  readonly norm: Norm;
  readonly out: Layer;
}

const EPSILON = 1e-5;
/** Bytes of weights to aim at: with its statistics and curves a bundle then has less than 7 MB. */
const AIM = 5_900_000;
const TOLERANCES: Tolerances = [[/^whole$/, 1 / 100]];

const coderSizes = ({ coder, width }: TransformerSizes): CoderSizes => ({
  ...coder,
  concepts: 1,
  conceptSize: width,
});

function readBlock(reader: StateReader, { width, heads, hidden }: TransformerSizes, i: number) {
  const name = `blocks.${i}`;
  const square = (part: string): Layer => reader.linear(`${name}.attention.${part}`, width, width);
  return {
    attentionNorm: readNorm(reader, `${name}.attention_norm`, width),
    queries: scaledLayer(square('queries'), Math.sqrt(heads / width)),
    keys: square('keys'),
    values: square('values'),
    out: square('out'),
    hiddenNorm: readNorm(reader, `${name}.hidden_norm`, width),
    hidden: [
      reader.linear(`${name}.hidden.0`, width, hidden),
      reader.linear(`${name}.hidden.2`, hidden, width), // 1 is the ReLU
    ],
  } satisfies Block;
}

const readNorm = (reader: StateReader, name: string, width: number): Norm => ({
  weight: reader.take(`${name}.weight`, [width]),
  bias: reader.take(`${name}.bias`, [width]),
});

/** Reads all networks; every tensor's shape must be what the configuration says. */
export function readTransformer(sizes: TransformerSizes, state: WeightState): TransformerNetworks {
  const reader = new StateReader(state);
  const { width, blocks } = sizes;
  return {
    sizes,
    ...readCoder(reader, coderSizes(sizes), 'coder.'),
    positions: reader.take('positions', [MATRIX_PANELS, width]),
    missing: reader.take('missing', [width]),
    blocks: Array.from({ length: blocks }, (_, i) => readBlock(reader, sizes, i)),
    norm: readNorm(reader, 'norm', width),
    out: reader.linear('out', width, width),
  };
}

/** Attention among the nine tokens of each matrix: rows [N * 9, width] to the same. */
function attention(
  graph: NetworkGraph,
  { width, heads }: TransformerSizes,
  name: string,
  rows: Value,
  block: Block,
): Value {
  const size = width / heads;
  const part = (of: 'queries' | 'keys' | 'values', perm: readonly number[]): Value => {
    const all = graph.layer(`${name}.${of}`, rows, block[of]);
    const shape = [MATRIX_PANELS, heads, size];
    const apart = graph.reshape(`${name}.${of}.apart`, all, [-1, ...shape], ['N', ...shape]);
    return graph.transpose(`${name}.${of}.heads`, apart, perm);
  };
  const queries = part('queries', [0, 2, 1, 3]); // [N, heads, 9, size]
  const keys = part('keys', [0, 2, 3, 1]); // [N, heads, size, 9]
  const values = part('values', [0, 2, 1, 3]);
  const square = ['N', heads, MATRIX_PANELS, MATRIX_PANELS];
  const scores = graph.node('MatMul', `${name}.scores`, [queries, keys], square);
  const weights = graph.node('Softmax', `${name}.weights`, [scores], square, { axis: -1 });
  const mixed = graph.node('MatMul', `${name}.mixed`, [weights, values], values.shape);
  const beside = graph.transpose(`${name}.beside`, mixed, [0, 2, 1, 3]); // [N, 9, heads, size]
  const joined = graph.reshape(`${name}.rows`, beside, [-1, width], ['N*9', width]);
  return graph.layer(`${name}.out`, joined, block.out);
}

function normed(graph: NetworkGraph, name: string, x: Value, { weight, bias }: Norm): Value {
  const operands = [
    x,
    graph.constant(`${name}.weight`, weight, [weight.length]),
    graph.constant(`${name}.bias`, bias, [bias.length]),
  ];
  return graph.node('LayerNormalization', name, operands, x.shape, {
    axis: -1,
    epsilon: { float: EPSILON },
  });
}

/**
 * Inputs: concepts [N, 9, 1, width] (anything at missing panels) and mask [N, 9] (1 = missing). Output:
 * predicted [N, 9, 1, width].
 */
function reasonerGraph(networks: TransformerNetworks, options: GraphOptions): Uint8Array {
  const { sizes, blocks } = networks;
  const { width } = sizes;
  const graph = new NetworkGraph('reasoner', options);
  const nine = ['N', MATRIX_PANELS, width];
  let x = startRows(graph, networks);
  const added = (name: string, more: Value): Value => graph.entrywise('Add', name, [x, more]);
  blocks.forEach((block, i) => {
    const name = `block${i}`;
    const tokens = normed(graph, `${name}.attentionNorm`, x, block.attentionNorm);
    x = added(`${name}.attended`, attention(graph, sizes, name, tokens, block));
    const read = normed(graph, `${name}.hiddenNorm`, x, block.hiddenNorm);
    const wide = graph.relu(graph.layer(`${name}.hidden0`, read, block.hidden[0]));
    x = added(`${name}.result`, graph.layer(`${name}.hidden1`, wide, block.hidden[1]));
  });
  const filled = graph.layer('out', normed(graph, 'norm', x, networks.norm), networks.out);
  const shape = [nine[0], MATRIX_PANELS, 1, width];
  graph.output('predicted', graph.reshape('panels', filled, [-1, MATRIX_PANELS, 1, width], shape));
  return graph.finish('Vectors of the context to those of missing panels.');
}

/** The tokens that the first block reads, [N * 9, width]: the panel's vector or that of a missing one, and its position. */
function startRows(
  graph: NetworkGraph,
  { sizes: { width }, positions, missing }: TransformerNetworks,
): Value {
  const nine = ['N', MATRIX_PANELS, width];
  const concepts = graph.input('concepts', ['N', MATRIX_PANELS, 1, width]);
  const mask = graph.input('mask', ['N', MATRIX_PANELS]);
  const half = graph.constant('half', new Float32Array([0.5]), [1]);
  const masked = graph.entrywise('Greater', 'masked', [mask, half], 'bool');
  const last = graph.integers('last', [2]);
  const column = ['N', MATRIX_PANELS, 1];
  const absent = graph.node('Unsqueeze', 'absent', [masked, last], column, {}, 'bool');
  const vectors = graph.reshape('vectors', concepts, [0, MATRIX_PANELS, width], nine);
  const blank = graph.constant('missing', missing, [1, 1, width]);
  const known = graph.entrywise('Where', 'known', [absent, blank, vectors]);
  const places = graph.constant('positions', positions, [1, MATRIX_PANELS, width]);
  const placed = graph.entrywise('Add', 'placed', [known, places]);
  return graph.reshape('tokens', placed, [-1, width], ['N*9', width]);
}

/** The same networks with layers replaced. */
const mapLayers = (networks: TransformerNetworks, change: ChangeLayer): TransformerNetworks => ({
  ...networks,
  ...mapCoder(networks, change),
  blocks: networks.blocks.map((block, i) => {
    const named = (part: string, layer: Layer): Layer => change(`block${i}.${part}`, layer);
    return {
      ...block,
      queries: named('queries', block.queries),
      keys: named('keys', block.keys),
      values: named('values', block.values),
      out: named('out', block.out),
      hidden: [named('hidden0', block.hidden[0]), named('hidden1', block.hidden[1])],
    };
  }),
  out: change('out', networks.out),
});

/** Factors the encoder's largest layer if the weights do not fit otherwise. */
export function compactTransformer(
  networks: TransformerNetworks,
  options: ProbedProblems & {
    readonly aim?: number;
    readonly smallest?: number;
  },
): Promise<TransformerNetworks> {
  const map = (change: ChangeLayer): TransformerNetworks => mapLayers(networks, change);
  async function* probe(names: ReadonlySet<string>) {
    yield* (await probeEncoder(networks, coderSizes(networks.sizes), names, options)).layers;
  }
  const { aim = AIM } = options;
  return factorLayers(map, { ...options, aim, limit: aim, tolerances: TOLERANCES, probe });
}

/** Writes networks in a format of weights. */
export function transformerFiles(
  networks: TransformerNetworks,
  format: WeightFormat,
): NetworkFiles {
  const sizes = coderSizes(networks.sizes);
  return {
    encoder: encoderGraph(networks, sizes, { format }),
    reasoner: reasonerGraph(networks, { format }),
    decoder: decoderGraph(networks, sizes, { format }),
  };
}

/** What it needs of a configuration. */
interface Config {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly network: TransformerSizes;
  readonly objective: { readonly sigmaZ: number };
}

export const transformerExport: BundleExport<Config> = {
  describe: ({ network: { width }, objective: { sigmaZ } }) => ({
    sizes: { concepts: 1, conceptSize: width, ruleSize: 0 },
    sigmaZ,
  }),
  write: async ({ network, configuration, noisy }, state, { format, compact, ...options }) => {
    const networks = readTransformer(network, state);
    const chosen = compact
      ? await compactTransformer(networks, { configuration, noisy, ...options })
      : networks;
    options.signal?.throwIfAborted();
    return transformerFiles(chosen, format);
  },
};
