/**
 * A model as an object of study: its solver, and what of its bundle experiments need beyond answers:
 * the statistics of selection, and rules parsed from whole matrices, q(r|z), which the solver, made to
 * imagine what is missing, has no use for. Runs on ONNX Runtime alone.
 */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, MATRIX_PANELS } from '../matrix/index.js';
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
import { folderSource, listZoo, nodeBackend, Solver, zooFolder } from '../solver/node.js';

/** What experiments ask of a solver; a made-up one serves as well. */
export type Thinker = Pick<SolverCore, 'manifest' | 'encode' | 'decode' | 'solveConcepts'>;

export interface Subject {
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

const AT_ONCE = 32;

type Reasoner = Awaited<ReturnType<Awaited<ReturnType<typeof nodeBackend>>['load']>>;

/** The reasoner by itself: what the solver leaves out is a matrix of which nothing is missing. */
async function loadReasoner({ manifest, files }: Bundle, threads?: number): Promise<Reasoner> {
  const { concepts, conceptSize, ruleSize } = manifest.sizes;
  const bytes = files.get('reasoner.onnx');
  if (bytes === undefined) throw new Error('a verified bundle has a reasoner');
  const nine = [null, MATRIX_PANELS, concepts, conceptSize];
  const rules = [null, concepts, ruleSize];
  return (await nodeBackend(threads)).load('reasoner.onnx', bytes, {
    inputs: { concepts: nine, mask: [null, MATRIX_PANELS], rules, use_rules: [null, concepts] },
    outputs: { rule_mean: rules, rule_deviation: rules, predicted: nine },
  });
}

/** Concepts of matrices as one array [n, 9, M, d_z]. */
function packed(matrices: readonly (readonly ConceptMeans[])[]): Float32Array {
  const [concepts, size] = [matrices[0][0].length, matrices[0][0][0].length];
  const all = new Float32Array(matrices.length * MATRIX_PANELS * concepts * size);
  let at = 0;
  for (const panels of matrices) {
    for (const means of panels) {
      for (const values of means) {
        all.set(values, at);
        at += size;
      }
    }
  }
  return all;
}

async function parseSlice(
  reasoner: Reasoner,
  matrices: readonly (readonly ConceptMeans[])[],
  { concepts, conceptSize, ruleSize }: Bundle['manifest']['sizes'],
): Promise<Rules> {
  const n = matrices.length;
  const zeros = (...shape: number[]) => ({
    data: new Float32Array(shape.reduce((product, size) => product * size, 1)),
    shape,
  });
  const { rule_mean: found } = await reasoner.run({
    concepts: { data: packed(matrices), shape: [n, MATRIX_PANELS, concepts, conceptSize] },
    mask: zeros(n, MATRIX_PANELS),
    rules: zeros(n, concepts, ruleSize),
    use_rules: zeros(n, concepts),
  });
  return Array.from({ length: n }, (_, i) =>
    Array.from({ length: concepts }, (_, m) => {
      const from = (i * concepts + m) * ruleSize;
      return Array.from(found.data.subarray(from, from + ruleSize));
    }),
  );
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
  // Loaded when first asked for: most experiments never do.
  let reasoner: Promise<Reasoner> | null = null;
  return {
    solver,
    statistics: selection === undefined ? null : parseSelection(selection, concepts, conceptSize),
    ruleMap: solver.ruleMap,
    history: solver.history,
    parseRules: async (matrices, signal) => {
      reasoner ??= loadReasoner(bundle, threads);
      const loaded = await reasoner;
      const rules: Rules = [];
      for (let from = 0; from < matrices.length; from += AT_ONCE) {
        signal?.throwIfAborted();
        const slice = matrices.slice(from, from + AT_ONCE);
        rules.push(...(await parseSlice(loaded, slice, bundle.manifest.sizes)));
      }
      return rules;
    },
    dispose: async () => {
      await solver.dispose();
      await reasoner?.then((loaded) => loaded.dispose());
    },
  };
}

const isFile = (file: string): Promise<boolean> =>
  stat(file).then(
    (found) => found.isFile(),
    () => false,
  );

async function locate(location: string, zoo: string): Promise<BundleSource> {
  if (await isFile(path.join(location, MANIFEST_FILE))) return folderSource(location);
  const names = await listZoo(zoo);
  if (names.includes(location)) return folderSource(path.join(zoo, location));
  throw new ArgumentError(
    `${location} is neither a folder with a ${MANIFEST_FILE} nor a bundle of the zoo (${names.join(', ') || 'none yet'})`,
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
