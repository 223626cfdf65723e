/** The parts of a solver, read and checked from the files of a bundle. */
import type { Backend } from './backend.js';
import type { Bundle, BundleManifest } from './bundle.js';
import { BundleError } from './errors.js';
import { parseHistory, type HistoryCurve } from './history.js';
import { loadNetworks, type Networks } from './networks.js';
import { parseRuleMap, type RuleMap } from './rule-map.js';
import { Metrics, parseSelection } from './selection.js';
import { Vocabulary } from './vocabulary.js';
import { parseVocabulary } from './vocabulary-file.js';

/** What a solver is put together from. */
export interface SolverParts {
  readonly manifest: BundleManifest;
  readonly backend: string;
  readonly networks: Networks;
  readonly ruleMap: RuleMap | null;
  readonly history: readonly HistoryCurve[];
  readonly metrics: Metrics | null;
  readonly vocabulary: Vocabulary | null;
}

export async function partsOf(
  { manifest, files, source }: Bundle,
  backend: Backend,
): Promise<SolverParts> {
  const { concepts, conceptSize, ruleSize } = manifest.sizes;
  const rules = files.get('rules.json');
  const curves = files.get('history.json');
  const selection = files.get('selection.safetensors');
  const words = files.get('vocabulary.safetensors');
  try {
    const ruleMap = rules === undefined ? null : parseRuleMap(rules, concepts, ruleSize);
    const history = curves === undefined ? [] : parseHistory(curves);
    const metrics =
      selection === undefined
        ? null
        : new Metrics(parseSelection(selection, concepts, conceptSize), concepts, conceptSize);
    const vocabulary =
      words === undefined
        ? null
        : new Vocabulary(parseVocabulary(words, manifest.sizes), manifest.sizes, manifest.sigmaZ);
    const networks = await loadNetworks(files, manifest.sizes, backend);
    return { manifest, backend: backend.name, networks, ruleMap, history, metrics, vocabulary };
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    throw new BundleError(`${source}: ${error.message}`, { cause: error });
  }
}
