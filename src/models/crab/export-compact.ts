/**
 * A smaller CRAB (onnx/compact.ts): which layers may lose how much, measured on trained models, and the
 * size to aim at. The pair networks and the convolutions, whose small directions carry what tells panels
 * apart, lose nothing.
 */
import type { Configuration } from '../../matrix/index.js';
import { mapCoder } from '../onnx/coder.js';
import { factorLayers, layerBytes, type ChangeLayer, type Tolerances } from '../onnx/compact.js';
import type { Layer } from '../onnx/layers.js';
import type { ProbedProblems } from '../onnx/probe.js';
import type { CrabNetworks } from './export-networks.js';
import { probeLayers } from './export-probe.js';

export interface CompactOptions extends ProbedProblems {
  /** Bytes of weights to aim at, and to stay below in any case. */
  readonly aim?: number;
  readonly limit?: number;
  /** Layers with fewer weights are left as they are. */
  readonly smallest?: number;
  readonly onProgress?: (share: number) => void;
}

/** What the default aims at, as a share of the weights at one byte each, and the most bytes it aims at. */
const USUAL_SHARE = 0.62;
const LARGEST_AIM = 5_900_000;
const DEFAULT_LIMIT = 7_000_000;
/**
 * Configurations that bear a smaller size, or none: grid-3x3's five large concepts stay whole, or one panel in
 * fourteen that it imagines anywhere is wrong by it (docs/training-notes.md).
 */
const OTHER_AIMS: Readonly<Partial<Record<Configuration, number>>> = {
  'out-in-center': 5_000_000,
  'grid-3x3': 7_000_000,
};
/** How much of the share that a relation network may lose others may; those not named stay whole. */
const TOLERANCES: Tolerances = [
  [/relation/, 1],
  [/^whole$/, 1 / 30],
  [/target/, 1 / 300],
];

/** Bytes that a compact model of `whole` bytes aims at. */
export const usualAim = (configuration: Configuration, whole: number): number =>
  OTHER_AIMS[configuration] ?? Math.min(USUAL_SHARE * whole, LARGEST_AIM);

/** The same networks with layers replaced. */
const mapLayers = (networks: CrabNetworks, change: ChangeLayer): CrabNetworks => ({
  ...networks,
  ...mapCoder(networks, change),
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
});

/** Factors the large layers of networks. */
export function compactNetworks(
  networks: CrabNetworks,
  options: CompactOptions,
): Promise<CrabNetworks> {
  const map = (change: ChangeLayer): CrabNetworks => mapLayers(networks, change);
  const { aim = usualAim(options.configuration, layerBytes(map)), limit = DEFAULT_LIMIT } = options;
  const probe = (names: ReadonlySet<string>) => probeLayers(networks, names, options);
  return factorLayers(map, { ...options, tolerances: TOLERANCES, aim, limit, probe });
}
