/**
 * Smaller networks that do nearly the same. A large layer y = W x + b is replaced by two thin ones: with
 * the principal directions Q of the outputs y it really has on problems of its configuration,
 *
 *     y ≈ mean + Q'Q (W x + b - mean)
 *
 * which of all layers of that rank has the least squared error on those outputs (more than the nearest
 * matrix, which would mind errors that never occur). What may be lost is the smallest share of variance
 * with which the files, at one byte a weight, fit the size asked for; layers where a lost share harms the
 * answers more may lose less of it, and those that a system does not name lose nothing.
 */
import type { Layer } from './layers.js';
import {
  principalComponents,
  type PrincipalComponents,
  type Samples,
} from './principal-components.js';

/** Values that a layer had, before its activation. */
export interface ProbedLayer {
  readonly name: string;
  readonly samples: Samples;
}

/** How much of the share of variance layers may lose; the first pattern that fits a name counts. */
export type Tolerances = readonly (readonly [layers: RegExp, share: number])[];

interface FactorOptions {
  readonly tolerances: Tolerances;
  /** Bytes of weights to aim at, and to stay below in any case. */
  readonly aim: number;
  readonly limit: number;
  /** Layers with fewer weights are left as they are. */
  readonly smallest?: number;
  /** Observes the layers of these names at work, one after the other. */
  readonly probe: (names: ReadonlySet<string>) => AsyncIterable<ProbedLayer>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** Shares of variance that a layer may lose: none needs the first, and beyond the second the limit counts
 * instead of the aim. */
const BEST_LOSS = 1e-4;
const WORST_LOSS = 2e-2;
const DEFAULT_SMALLEST = 12_000;

/** A layer by the name that graphs give it, changed or not. */
export type ChangeLayer = (name: string, layer: Layer) => Layer;

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

/** Every layer by name, in the order in which networks are mapped. */
function namedLayers(visit: (change: ChangeLayer) => unknown): Map<string, Layer> {
  const layers = new Map<string, Layer>();
  visit((name, layer) => {
    layers.set(name, layer);
    return layer;
  });
  return layers;
}

/** Components up to the largest rank that can be of use: beyond it factoring does not pay, or does not fit. */
function componentsOf(layer: Layer, samples: Samples, room: number): PrincipalComponents {
  const { inputs, outputs } = sizesOf(layer);
  const breakEven = Math.floor((inputs * outputs) / (inputs + outputs));
  const fitting = room > 0 ? Math.ceil(room / (inputs + outputs)) : breakEven;
  return principalComponents(samples, Math.min(breakEven, fitting));
}

/** Bytes of all layers that `visit` meets, at one byte a weight. */
export const layerBytes = (visit: (change: ChangeLayer) => unknown): number =>
  [...namedLayers(visit).values()].reduce((sum, layer) => sum + bytesAt(layer, 0), 0);

/**
 * Factors the large layers of networks that are larger than the aim; `map` gives the same networks with every
 * layer changed.
 */
export async function factorLayers<Networks>(
  map: (change: ChangeLayer) => Networks,
  options: FactorOptions,
): Promise<Networks> {
  const { tolerances, aim, limit, smallest = DEFAULT_SMALLEST, signal } = options;
  const toleranceOf = (name: string): number =>
    tolerances.find(([layers]) => layers.test(name))?.[1] ?? 0;
  if (layerBytes(map) <= aim) return map((_, layer) => layer);
  const layers = namedLayers(map);
  const large = new Set(
    [...layers]
      .filter(([name, layer]) => toleranceOf(name) > 0 && layer.weights[0].data.length >= smallest)
      .map(([name]) => name),
  );
  const others = [...layers]
    .filter(([name]) => !large.has(name))
    .reduce((sum, [, layer]) => sum + bytesAt(layer, 0), 0);
  const candidates: Candidate[] = [];
  for await (const { name, samples } of options.probe(large)) {
    const layer = layers.get(name);
    if (layer === undefined) continue;
    const components = componentsOf(layer, samples, Math.max(aim, limit) - others);
    candidates.push({ name, layer, components, tolerance: toleranceOf(name) });
    options.onProgress?.(candidates.length / large.size);
    signal?.throwIfAborted();
    await new Promise(setImmediate);
  }
  const loss =
    lossFor(candidates, others, aim, WORST_LOSS) ?? lossFor(candidates, others, limit, 1) ?? 1;
  const byName = new Map(candidates.map((candidate) => [candidate.name, candidate]));
  return map((name, layer) => {
    const candidate = byName.get(name);
    const rank = candidate === undefined ? 0 : rankFor(candidate, loss);
    return candidate === undefined || rank === 0
      ? layer
      : factored(layer, candidate.components, rank);
  });
}
