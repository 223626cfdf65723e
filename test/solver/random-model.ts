/** Models with random weights, made without libtorch, and bundles of them. */
import { Random, type Configuration } from '../../src/matrix/index.js';
import { crabConfig, exportNetworks } from '../../src/models/index.js';
import type {
  CrabConfig,
  DeepPartial,
  PresetName,
  WeightFormat,
  WeightState,
} from '../../src/models/index.js';
import { readTransformer, transformerFiles } from '../../src/models/transformer/export.js';
import { formatSelection } from '../../src/solver/index.js';
import type { BundleFileName, ManifestDraft, SelectionStatistics } from '../../src/solver/index.js';

export const TINY_NETWORK = {
  conceptSize: 5,
  encoder: [4, 4, 6, 6, 8],
  decoder: [8, 6, 6, 4, 4],
  pairHidden: [10, 9],
  pairFeatures: 4,
  relationHidden: [12, 8],
  targetHidden: [7, 7, 7],
} as const;

export const tinyConfig = (
  configuration: Configuration = 'center',
  preset: PresetName = 'crab',
  overrides: DeepPartial<CrabConfig['network']> = {},
): CrabConfig =>
  crabConfig(preset, configuration, { overrides: { network: { ...TINY_NETWORK, ...overrides } } });

type Shapes = [name: string, shape: number[]][];

/** Tensors of an encoder and a decoder of so many values a panel. */
function coderShapes(
  { encoder, decoder }: Pick<CrabConfig['network'], 'encoder' | 'decoder'>,
  values: number,
): Shapes {
  const shapes: Shapes = [];
  const norm = (name: string, channels: number): void => {
    for (const part of ['weight', 'bias', 'running_mean', 'running_var']) {
      shapes.push([`${name}.norm.${part}`, [channels]]);
    }
  };
  encoder.forEach((out, i) => {
    shapes.push([`encoder.stages.${i}.conv.weight`, [out, i === 0 ? 1 : encoder[i - 1], 4, 4]]);
    norm(`encoder.stages.${i}`, out);
  });
  shapes.push(['encoder.head.weight', [values, encoder[4]]], ['encoder.head.bias', [values]]);
  decoder.forEach((out, i) => {
    const side = i === 0 ? 1 : 4;
    const inputs = i === 0 ? values : decoder[i - 1];
    shapes.push([`decoder.stages.${i}.conv.weight`, [inputs, out, side, side]]);
    norm(`decoder.stages.${i}`, out);
  });
  shapes.push(['decoder.last.weight', [decoder[4], 1, 4, 4]], ['decoder.last.bias', [1]]);
  return shapes;
}

/** Every tensor of a checkpoint of this network. */
function shapesOf(network: CrabConfig['network']): Shapes {
  const { concepts: m, conceptSize: z, ruleSize: r } = network;
  const shapes = coderShapes(network, m * z);
  const linear = (name: string, inputs: number, outputs: number, bias = true): void => {
    shapes.push([`rule_parser.${name}.weight`, [m, inputs, outputs]]);
    if (bias) shapes.push([`rule_parser.${name}.bias`, [m, 1, outputs]]);
  };
  linear('pair_first', z, network.pairHidden[0]);
  linear('pair_second', z, network.pairHidden[0], false);
  linear('pair_hidden', network.pairHidden[0], network.pairHidden[1]);
  linear('pair_out', network.pairHidden[1], network.pairFeatures);
  const widths = [81 * network.pairFeatures, ...network.relationHidden, 2 * r];
  widths.slice(1).forEach((width, i) => linear(`relation.${i}`, widths[i], width));
  const targets = [z + r, ...network.targetHidden, z];
  targets.slice(1).forEach((out, i) => {
    shapes.push([`target_predictor.layers.${i}.weight`, [m * out, targets[i], 3, 3]]);
    shapes.push([`target_predictor.layers.${i}.bias`, [m * out]]);
  });
  return shapes;
}

/** Random weights of sizes that keep activations lively. */
export const randomState = (network: CrabConfig['network'], seed = 1): WeightState =>
  randomTensors(shapesOf(network), seed);

function randomTensors(shapes: Shapes, seed: number): WeightState {
  const state = new Map<string, { data: Float32Array; shape: readonly number[] }>();
  shapes.forEach(([name, shape], index) => {
    const random = new Random(seed, index);
    const count = shape.reduce((product, size) => product * size, 1);
    const isNorm = /\.norm\./.test(name);
    const outputs = /rule_parser/.test(name) ? shape[shape.length - 1] * shape[0] : shape[0];
    const bound = isNorm ? 0.4 : 2.5 / Math.sqrt(Math.max(1, count / outputs));
    const centre = /norm\.weight|running_var/.test(name) ? 1 : 0;
    const data = Float32Array.from(
      { length: count },
      () => centre + bound * ((2 * random.next()) / 2 ** 32 - 1),
    );
    state.set(name, { data, shape });
  });
  return state;
}

/** Made-up statistics: variances that differ from value to value. */
export function diagonalStatistics(concepts: number, conceptSize: number): SelectionStatistics {
  const size = concepts * conceptSize;
  return new Map([
    [
      'last',
      {
        form: 'diagonal',
        shrinkage: 0.01,
        temperature: 1,
        mean: new Float32Array(size),
        covariance: Float32Array.from({ length: size }, (_, i) => 0.1 + (i % 3)),
      },
    ],
  ]);
}

/** A rule prior of two components for each concept, and no snapshots. */
export function ruleFile(config: CrabConfig): Uint8Array {
  const { concepts, ruleSize } = config.network;
  const row = (value: number): number[] => Array.from({ length: ruleSize }, () => value);
  const covariance = Array.from({ length: ruleSize }, (_, i) =>
    Array.from({ length: ruleSize }, (_, j) => (i === j ? 0.5 : 0.1)),
  );
  const mixture = {
    weights: [0.7, 0.3],
    means: [row(0), row(1)],
    covariances: [covariance, covariance],
  };
  const { configuration, noisy } = config;
  const text = {
    prior: Array.from({ length: concepts }, () => mixture),
    source: { configuration, noisy, seed: 1 },
    truth: [],
    snapshots: [],
  };
  return new TextEncoder().encode(JSON.stringify(text));
}

export interface TestBundle {
  readonly manifest: ManifestDraft;
  readonly files: Map<BundleFileName, Uint8Array>;
}

/** A whole bundle of a model with random weights. */
export function randomBundle(
  config = tinyConfig(),
  format: WeightFormat = 'f32',
  state = randomState(config.network),
): TestBundle {
  const networks = exportNetworks(config.network, state, format);
  const { concepts, conceptSize, ruleSize } = config.network;
  return {
    manifest: {
      name: config.configuration,
      configuration: config.configuration,
      noisy: config.noisy,
      sizes: { concepts, conceptSize, ruleSize },
      weights: format,
      compact: false,
      sigmaZ: config.objective.sigmaZ,
      conceptNames: Array.from({ length: concepts }, (_, m) =>
        m === 0 ? { name: 'Size', score: 0.9 } : null,
      ),
      accuracy: null,
      training: { preset: config.preset, steps: 0 },
    },
    files: new Map([
      ['encoder.onnx', networks.encoder],
      ['reasoner.onnx', networks.reasoner],
      ['decoder.onnx', networks.decoder],
      ['selection.safetensors', formatSelection(diagonalStatistics(concepts, conceptSize))],
      ['rules.json', ruleFile(config)],
      ['history.json', new TextEncoder().encode('{"curves":[]}')],
    ]),
  };
}

const TINY_TRANSFORMER = {
  coder: { encoder: TINY_NETWORK.encoder, decoder: TINY_NETWORK.decoder, decoderSlope: 0.02 },
  width: 12,
  blocks: 2,
  heads: 3,
  hidden: 16,
};

function transformerShapes({ coder, width, blocks, hidden }: typeof TINY_TRANSFORMER): Shapes {
  const linear = (name: string, inputs: number, outputs: number): Shapes => [
    [`${name}.weight`, [outputs, inputs]],
    [`${name}.bias`, [outputs]],
  ];
  const block = (i: number): Shapes => [
    ...['queries', 'keys', 'values', 'out'].flatMap((part) =>
      linear(`blocks.${i}.attention.${part}`, width, width),
    ),
    ...linear(`blocks.${i}.hidden.0`, width, hidden),
    ...linear(`blocks.${i}.hidden.2`, hidden, width),
    ...['attention_norm', 'hidden_norm'].flatMap((part) => norm(`blocks.${i}.${part}`)),
  ];
  const norm = (name: string): Shapes => [
    [`${name}.weight`, [width]],
    [`${name}.bias`, [width]],
  ];
  return [
    ...coderShapes(coder, width).map(([name, shape]): Shapes[number] => [`coder.${name}`, shape]),
    ['positions', [9, width]],
    ['missing', [width]],
    ...Array.from({ length: blocks }, (_, i) => block(i)).flat(),
    ...norm('norm'),
    ...linear('out', width, width),
  ];
}

/** A whole bundle of a Transformer with random weights. */
export function randomTransformer(): TestBundle {
  const state = randomTensors(transformerShapes(TINY_TRANSFORMER), 1);
  const networks = transformerFiles(readTransformer(TINY_TRANSFORMER, state), 'f32');
  const { width } = TINY_TRANSFORMER;
  const { manifest, files } = randomBundle();
  files.delete('rules.json');
  files.set('encoder.onnx', networks.encoder);
  files.set('reasoner.onnx', networks.reasoner);
  files.set('decoder.onnx', networks.decoder);
  files.set('selection.safetensors', formatSelection(diagonalStatistics(1, width)));
  const sizes = { concepts: 1, conceptSize: width, ruleSize: 0 };
  return { manifest: { ...manifest, system: 'transformer', sizes, conceptNames: [null] }, files };
}
