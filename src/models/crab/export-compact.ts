/**
 * Smaller networks that do nearly the same. A large layer y = W x + b is replaced by two thin ones: with
 * the principal directions Q of the outputs y it really has on problems of its configuration,
 *
 *     y ≈ mean + Q'Q (W x + b - mean)
 *
 * which of all layers of that rank has the least squared error on those outputs (more than the nearest
 * matrix, which would mind errors that never occur). What may be lost is the smallest share of variance
 * with which the files, at one byte a weight, fit the size asked for; layers where a lost share harms the
 * answers more may lose less of it (TOLERANCE, measured on trained models), and those of the pair networks
 * and the convolutions, whose small directions carry what tells panels apart, lose nothing.
 */
import type { Configuration } from '../../matrix/index.js';
import type { CrabNetworks, Layer } from './export-networks.js';
import { probeLayers, type LayerSamples } from './export-probe.js';
import { principalComponents, type PrincipalComponents } from './principal-components.js';

export interface CompactOptions {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** Bytes of weights to aim at, and to stay below in any case. */
  readonly aim?: number;
  readonly limit?: number;
  /** Problems the layers are observed on. */
  readonly problems?: number;
  /** Layers with fewer weights are left as they are. */
  readonly smallest?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** What the default aims at, as a share of the weights at one byte each, and the most bytes it aims at. */
const USUAL_SHARE = 0.62;
const LARGEST_AIM = 5_900_000;
const DEFAULT_LIMIT = 7_000_000;
/** Configurations that lose too much at the usual size, and how much more they aim at (docs/training-notes.md). */
const LARGER_AIMS: Readonly<Partial<Record<Configuration, number>>> = { 'grid-3x3': 1.12 };
const DEFAULT_PROBLEMS = 384;
/** Shares of variance that a relation network may lose: no layer needs the first, and beyond the second
 * the limit counts instead of the aim. */
const BEST_LOSS = 1e-4;
const WORST_LOSS = 2e-2;
/** How much of that share layers may lose; others are left whole. */
const TOLERANCE: readonly (readonly [layers: RegExp, share: number])[] = [
  [/relation/, 1],
  [/^whole$/, 1 / 30],
  [/target/, 1 / 300],
];
const DEFAULT_SMALLEST = 12_000;

/** Bytes that a compact model of `whole` bytes aims at. */
export const usualAim = (configuration: Configuration, whole: number): number =>
  Math.min(USUAL_SHARE * whole, LARGEST_AIM) * (LARGER_AIMS[configuration] ?? 1);

const toleranceOf = (name: string): number =>
  TOLERANCE.find(([layers]) => layers.test(name))?.[1] ?? 0;

/** A layer that can be factored, with the components of its outputs. */
interface Candidate {
  readonly name: string;
  readonly layer: Layer;
  readonly components: PrincipalComponents;
  readonly tolerance: number;
}

const sizesOf = ({ weights: [{ data, shape }] }: Layer): { inputs: number; outputs: number } => ({
  outputs: shape[0],
  inputs: data.length / shape[0],
});

/** Bytes of a layer at a rank (0: not factored) with int8 weights. */
function bytesAt(layer: Layer, rank: number): number {
  const { inputs, outputs } = sizesOf(layer);
  const dense = inputs * outputs + 4 * outputs;
  return 4 * outputs + (rank === 0 ? dense : rank * (inputs + outputs) + 4 * (rank + outputs));
}

/** The rank at which at most a share of the variance is lost; 0 where factoring does not pay. */
function rankFor({ layer, components, tolerance }: Candidate, loss: number): number {
  const { variances, total } = components;
  const tolerated = loss * tolerance * total;
  let left = total;
  let rank = 0;
  while (rank < variances.length && left > tolerated) left -= variances[rank++];
  if (left > tolerated) return 0;
  const kept = Math.max(1, rank);
  return bytesAt(layer, kept) < bytesAt(layer, 0) ? kept : 0;
}

/** A layer as two: weights [rank, in...] and [out, rank]. */
export function factored(layer: Layer, components: PrincipalComponents, rank: number): Layer {
  const [{ data, shape }] = layer.weights;
  const { inputs, outputs } = sizesOf(layer);
  const { mean, directions } = components;
  const inner = new Float32Array(rank * inputs);
  const outer = new Float32Array(outputs * rank);
  const bias = Float64Array.from(mean);
  for (let r = 0; r < rank; r++) {
    const q = directions.subarray(r * outputs, (r + 1) * outputs);
    const row = new Float64Array(inputs);
    let offset = 0;
    for (let o = 0; o < outputs; o++) {
      const by = q[o];
      outer[o * rank + r] = by;
      offset += by * (layer.bias[o] - mean[o]);
      for (let i = 0, at = o * inputs; i < inputs; i++, at++) row[i] += by * data[at];
    }
    inner.set(row, r * inputs);
    for (let o = 0; o < outputs; o++) bias[o] += offset * q[o];
  }
  const outerShape = shape.length === 4 ? [outputs, rank, 1, 1] : [outputs, rank];
  return {
    weights: [
      { data: inner, shape: [rank, ...shape.slice(1)] },
      { data: outer, shape: outerShape },
    ],
    bias: Float32Array.from(bias),
  };
}

/** The smallest loss, up to `most`, with which all candidates fit `bytes`; null where none does. */
function lossFor(
  candidates: readonly Candidate[],
  others: number,
  bytes: number,
  most: number,
): number | null {
  const total = (loss: number): number =>
    candidates.reduce((sum, each) => sum + bytesAt(each.layer, rankFor(each, loss)), others);
  const steps = 60;
  for (let i = 0; i <= steps; i++) {
    const loss = BEST_LOSS * (most / BEST_LOSS) ** (i / steps);
    if (total(loss) <= bytes) return loss;
  }
  return null;
}

/** Every layer by name, in the order of the networks. */
function namedLayers(networks: CrabNetworks): Map<string, Layer> {
  const layers = new Map<string, Layer>();
  mapLayers(networks, (name, layer) => {
    layers.set(name, layer);
    return layer;
  });
  return layers;
}

/** The same networks with layers replaced. */
export function mapLayers(
  networks: CrabNetworks,
  change: (name: string, layer: Layer) => Layer,
): CrabNetworks {
  const { encoder, decoder } = networks;
  return {
    ...networks,
    encoder: {
      convolutions: encoder.convolutions.map((layer, i) => change(`conv${i}`, layer)),
      whole: change('whole', encoder.whole),
      head: change('head', encoder.head),
    },
    decoder: {
      dense: decoder.dense.map((layer, i) => change(`dense${i}`, layer)),
      transposed: decoder.transposed.map((layer, i) => change(`transposed${i}`, layer)),
    },
    concepts: networks.concepts.map((concept, m) => {
      const named = (part: string, layer: Layer): Layer => change(`concept${m}.${part}`, layer);
      return {
        pairFirst: named('pairFirst', concept.pairFirst),
        pairSecond: named('pairSecond', concept.pairSecond),
        pairHidden: named('pairHidden', concept.pairHidden),
        pairOut: named('pairOut', concept.pairOut),
        relation: concept.relation.map((layer, i) => named(`relation${i}`, layer)),
        target: concept.target.map((layer, i) => named(`target${i}`, layer)),
      };
    }),
  };
}

function componentsOf(layer: Layer, samples: LayerSamples): PrincipalComponents {
  const { inputs, outputs } = sizesOf(layer);
  const breakEven = Math.floor((inputs * outputs) / (inputs + outputs));
  return principalComponents(samples, breakEven);
}

/** Factors the large layers of networks. */
export async function compactNetworks(
  networks: CrabNetworks,
  options: CompactOptions,
): Promise<CrabNetworks> {
  const layers = namedLayers(networks);
  const whole = [...layers.values()].reduce((sum, layer) => sum + bytesAt(layer, 0), 0);
  const { configuration, problems = DEFAULT_PROBLEMS, smallest = DEFAULT_SMALLEST } = options;
  const { aim = usualAim(configuration, whole), limit = DEFAULT_LIMIT } = options;
  const large = new Set(
    [...layers]
      .filter(([name, layer]) => toleranceOf(name) > 0 && layer.weights[0].data.length >= smallest)
      .map(([name]) => name),
  );
  const candidates: Candidate[] = [];
  for await (const { name, samples } of probeLayers(networks, large, { ...options, problems })) {
    const layer = layers.get(name);
    if (layer === undefined) continue;
    const components = componentsOf(layer, samples);
    candidates.push({ name, layer, components, tolerance: toleranceOf(name) });
    options.onProgress?.(candidates.length / large.size);
    options.signal?.throwIfAborted();
    await new Promise(setImmediate);
  }
  const others = [...layers]
    .filter(([name]) => !large.has(name))
    .reduce((sum, [, layer]) => sum + bytesAt(layer, 0), 0);
  const loss =
    lossFor(candidates, others, aim, WORST_LOSS) ?? lossFor(candidates, others, limit, 1) ?? 1;
  const byName = new Map(candidates.map((candidate) => [candidate.name, candidate]));
  return mapLayers(networks, (name, layer) => {
    const candidate = byName.get(name);
    const rank = candidate === undefined ? 0 : rankFor(candidate, loss);
    return candidate === undefined || rank === 0
      ? layer
      : factored(layer, candidate.components, rank);
  });
}
