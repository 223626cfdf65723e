/**
 * A model as an object of study: its solver, and what of its bundle experiments need beyond answers,
 * such as the statistics of selection. Runs on ONNX Runtime alone.
 */
import path from 'node:path';
import { ArgumentError } from '../base/index.js';
import { isFile } from '../base/node.js';
import { MANIFEST_FILE, openBundle, parseSelection } from '../solver/index.js';
import type {
  Bundle,
  BundleSource,
  ConceptMeans,
  HistoryCurve,
  RuleMap,
  SelectionStatistics,
  SolverCore,
} from '../solver/index.js';
import { folderSource, listZoo, Solver, zooFolder } from '../solver/node.js';

/** What experiments ask of a solver; a made-up one serves as well. */
export type Thinker = Pick<SolverCore, 'manifest' | 'encode' | 'decode' | 'solveConcepts'>;

export interface Subject {
  /** What it was opened from; absent for made-up ones. Worker threads open it again. */
  readonly bundle?: Bundle;
  readonly solver: Thinker;
  /** Null where the bundle has none: only plain L2 can be used. */
  readonly statistics: SelectionStatistics | null;
  readonly ruleMap: RuleMap | null;
  readonly history: readonly HistoryCurve[];
  /** Means of q(r|z), [n][M][d_r], from the concepts of all nine panels of each matrix. */
  parseRules(matrices: readonly (readonly ConceptMeans[])[], signal?: AbortSignal): Promise<Rules>;
  dispose(): Promise<void>;
}

/** A subject whose solver is a whole one: it draws, chooses and explains as well. */
export interface OpenedSubject extends Subject {
  readonly bundle: Bundle;
  readonly solver: Solver;
}

/** Rules of problems: [n][M][d_r]. */
export type Rules = number[][][];

export interface SubjectOptions {
  /** Folder of named bundles, that of this package unless told. */
  readonly zoo?: string;
  readonly threads?: number;
  readonly signal?: AbortSignal;
}

/** A verified bundle as a subject. */
export async function subjectOf(
  bundle: Bundle,
  options: SubjectOptions = {},
): Promise<OpenedSubject> {
  const { threads } = options;
  const { concepts, conceptSize } = bundle.manifest.sizes;
  const selection = bundle.files.get('selection.safetensors');
  const solver = await Solver.of(bundle, { threads });
  return {
    bundle,
    solver,
    statistics: selection === undefined ? null : parseSelection(selection, concepts, conceptSize),
    ruleMap: solver.ruleMap,
    history: solver.history,
    parseRules: (matrices, signal) => solver.parseRules(matrices, { signal }),
    dispose: () => solver.dispose(),
  };
}

async function locate(location: string, zoo: string): Promise<BundleSource> {
  if (await isFile(path.join(location, MANIFEST_FILE))) return folderSource(location);
  const names = await listZoo(zoo);
  if (names.includes(location)) return folderSource(path.join(zoo, location));
  throw new ArgumentError(
    `--model ${location}: neither a folder with a ${MANIFEST_FILE} nor a bundle of the zoo (${names.join(', ') || 'none yet'})`,
  );
}

/** Opens a bundle by its folder or its name in the zoo. */
export async function openSubject(
  location: string,
  options: SubjectOptions = {},
): Promise<OpenedSubject> {
  const source = await locate(location, options.zoo ?? zooFolder());
  return subjectOf(await openBundle(source, options.signal), options);
}

/** Opens a bundle wherever its files can be read. */
export async function subjectFrom(
  source: BundleSource,
  options: SubjectOptions = {},
): Promise<OpenedSubject> {
  return subjectOf(await openBundle(source, options.signal), options);
}
