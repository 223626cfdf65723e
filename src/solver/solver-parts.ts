/** The parts of a solver, read and checked from the files of a bundle. */
import type { Backend } from './backend.js';
import type { Bundle, BundleManifest } from './bundle.js';
import { BundleError } from './errors.js';
import { parseHistory, type HistoryCurve } from './history.js';
import { parseImagined } from './imagined-file.js';
import { loadNetworks, type Networks } from './networks.js';
import type { Panel } from './panels.js';
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
  /** Reads what it painted while it was trained; null if the bundle does not keep it. */
  readonly imagined: (() => Panel[][]) | null;
  readonly metrics: Metrics | null;
  readonly vocabulary: Vocabulary | null;
}

/** An error with a file, told with the name of its bundle. */
const blaming = (source: string, error: unknown): unknown =>
  error instanceof BundleError
    ? new BundleError(`${source}: ${error.message}`, { cause: error })
    : error;

export async function partsOf(
  { manifest, files, source }: Bundle,
  backend: Backend,
): Promise<SolverParts> {
  const { concepts, conceptSize, ruleSize } = manifest.sizes;
  const rules = files.get('rules.json');
  const curves = files.get('history.json');
  const film = files.get('imagined.png');
  const selection = files.get('selection.safetensors');
  const words = files.get('vocabulary.safetensors');
  try {
    const ruleMap = rules === undefined ? null : parseRuleMap(rules, concepts, ruleSize);
    const history = curves === undefined ? [] : parseHistory(curves);
    const imagined =
      film === undefined
        ? null
        : (): Panel[][] => {
            try {
              return parseImagined(film, ruleMap?.snapshots.length ?? 0);
            } catch (error) {
              throw blaming(source, error);
            }
          };
    const metrics =
      selection === undefined
        ? null
        : new Metrics(parseSelection(selection, concepts, conceptSize), concepts, conceptSize);
    const vocabulary =
      words === undefined
        ? null
        : new Vocabulary(parseVocabulary(words, manifest.sizes), manifest.sizes, manifest.sigmaZ);
    const networks = await loadNetworks(files, manifest.sizes, backend);
    const told = { ruleMap, history, imagined, metrics, vocabulary };
    return { manifest, backend: backend.name, networks, ...told };
  } catch (error) {
    throw blaming(source, error);
  }
}
