/**
 * A trained run becomes a bundle, in three steps: the networks are written from the weights of a
 * checkpoint; the bundle so far is opened with the solver, which adds the statistics of selection, the
 * vocabulary, the names of concepts, the rule map and the measured accuracy; hashes come last. Needs neither libtorch
 * nor a GPU.
 */
import { layoutName, PAPER_VARIANTS } from '../matrix/index.js';
import { ArgumentError } from '../base/index.js';
import { readWeightState, SYSTEMS, systemNamed, type WeightFormat } from '../models/index.js';
import { formatSelection, formatVocabulary } from '../solver/index.js';
import type {
  BundleAccuracy,
  BundleFileName,
  BundleManifest,
  ManifestDraft,
  ConceptName,
} from '../solver/index.js';
import { bundlePlace, memoryBundle, writeBundle } from '../solver/node.js';
import {
  openRun,
  trainingFacts,
  type OpenedRun,
  type StoredWeights,
  type WhichWeights,
} from '../training/index.js';
import { bundleHistory, rounded, secondsAt } from './bundle-history.js';
import { knowledgeOf } from './bundle-rules.js';
import type { ConceptSubject } from './concept-subject.js';
import type { NamedConcept } from './evaluation.js';
import { generatedSource } from './metrics/generated-source.js';
import { selectionAccuracy } from './metrics/selection-accuracy.js';
import { NAME_MIXED, NAME_UNUSED, varianceDecline } from './metrics/variance-decline.js';
import { subjectFrom } from './open-subject.js';
import { sumOf } from './statistics.js';
import { findVocabulary, speaks } from './vocabulary/find.js';

export interface ExportOptions {
  readonly run: string;
  /** Folder of the bundle. */
  readonly out: string;
  readonly which?: WhichWeights;
  readonly format?: WeightFormat;
  /** Factor the large layers and store weights as int8. */
  readonly compact?: boolean;
  /** Problems of the statistics of selection, of their validation, and of the accuracy. */
  readonly problems?: number;
  readonly validation?: number;
  readonly judged?: number;
  /** Panels of each batch that concepts are named by. */
  readonly named?: number;
  readonly signal?: AbortSignal;
  /** What is done now, and how far it is, 0..1. */
  readonly onProgress?: (stage: string, share: number) => void;
}

export interface ExportReport {
  readonly folder: string;
  readonly name: string;
  readonly step: number;
  readonly bytes: number;
  readonly files: Readonly<Record<string, number>>;
  readonly accuracy: BundleAccuracy;
  /** Null if none is known. */
  readonly conceptNames: BundleManifest['conceptNames'];
}

type Files = Map<BundleFileName, Uint8Array>;

/** Problems that the accuracy of a bundle is measured on, unless told. */
export const DEFAULT_JUDGED = 1000;
const ACCURACY_SEED = 7_100_000_003;

/** How the system of a run writes bundles; runs of those that cannot are evaluated as they are. */
function exporterOf({ config, folder }: OpenedRun) {
  const { exports } = systemNamed(config.system);
  if (exports !== undefined) return exports;
  const able = SYSTEMS.filter((system) => system.exports !== undefined).map(({ name }) => name);
  throw new ArgumentError(
    `${folder} is a run of ${config.system}: only runs of ${able.join(' and ')} become bundles; crab evaluate --model takes the run itself`,
  );
}

async function writeNetworks(
  run: OpenedRun,
  { file, prefix }: StoredWeights,
  options: ExportOptions,
): Promise<Files> {
  const { compact = false, signal, onProgress } = options;
  const state = readWeightState(file, prefix);
  const written = await exporterOf(run).write(run.config.model, state, {
    format: formatOf(options),
    compact,
    signal,
    onProgress: (share) => onProgress?.('compact', share),
  });
  return new Map([
    ['encoder.onnx', written.encoder],
    ['reasoner.onnx', written.reasoner],
    ['decoder.onnx', written.decoder],
  ]);
}

const formatOf = ({ format, compact }: ExportOptions): WeightFormat =>
  format ?? (compact ? 'int8' : 'f32');

function draftOf(
  run: OpenedRun,
  step: number,
  seconds: number,
  options: ExportOptions,
): ManifestDraft {
  const { system, model } = run.config;
  const { configuration, noisy } = model;
  const { sizes, sigmaZ } = exporterOf(run).describe(model);
  return {
    system,
    name: layoutName({ configuration, noisy }),
    configuration,
    noisy,
    sizes,
    weights: formatOf(options),
    compact: options.compact ?? false,
    sigmaZ,
    conceptNames: Array.from({ length: sizes.concepts }, () => null),
    accuracy: null,
    training: trainingFacts(run.config, step, seconds),
  };
}

/** The accuracy that a bundle tells of itself. */
export async function bundleAccuracy(
  subject: ConceptSubject,
  options: Pick<ExportOptions, 'judged' | 'signal' | 'onProgress'> = {},
): Promise<BundleAccuracy> {
  const { judged = DEFAULT_JUDGED, signal, onProgress } = options;
  const { configuration, noisy } = subject.facts;
  const sa: Record<string, number> = {};
  const saL2: Record<string, number> = {};
  for (const [v, variant] of PAPER_VARIANTS.entries()) {
    const source = generatedSource({ configuration, noisy, variant, seed: ACCURACY_SEED }, judged);
    const result = await selectionAccuracy(subject, source, {
      signal,
      onProgress: (done) => onProgress?.('accuracy', (v + done / judged) / PAPER_VARIANTS.length),
    });
    sa[variant] = result.sa.value;
    saL2[variant] = result.saL2?.value ?? result.sa.value;
  }
  return { sa, saL2, problems: judged };
}

/**
 * Names as a bundle has them: concepts can be asked for by name, so those that share an attribute get
 * letters, `Num/Pos a` and `Num/Pos b`. `mixed` and `unused` are no names to ask by and stay as they are.
 */
export function bundleNames(names: readonly NamedConcept[]): ConceptName[] {
  const shared = (name: string): boolean =>
    name !== NAME_MIXED &&
    name !== NAME_UNUSED &&
    names.filter((each) => each.name === name).length > 1;
  const used = new Map<string, number>();
  return names.map(({ name, score }) => {
    const before = used.get(name) ?? 0;
    used.set(name, before + 1);
    const letter = shared(name) ? ` ${String.fromCharCode(97 + (before % 26))}` : '';
    return { name: `${name}${letter}`, score: rounded(score) };
  });
}

/** Opens what there is of a bundle, does something with it and frees it. */
async function withSubject<T>(
  draft: ManifestDraft,
  files: Files,
  use: (subject: ConceptSubject) => Promise<T>,
) {
  const subject = await subjectFrom(await memoryBundle(draft, files));
  try {
    return await use(subject);
  } finally {
    await subject.dispose();
  }
}

/** What the networks alone tell: statistics of selection and, if the system has them, rules, concepts and vocabulary. */
function explore(run: OpenedRun, weights: StoredWeights, options: ExportOptions) {
  const { problems, validation, named: panels, signal, onProgress } = options;
  const telling = (stage: string) => ({
    signal,
    onProgress: (share: number) => onProgress?.(stage, share),
  });
  return async (subject: ConceptSubject) => {
    const { can, sizes } = subject.facts;
    const known = await knowledgeOf(subject, run, weights, {
      ...{ problems, validation, ...telling('calibration') },
      rules: can.includes('rules'),
    });
    const conceptNames = can.includes('concepts')
      ? bundleNames((await varianceDecline(subject, { panels, ...telling('concepts') })).names)
      : Array.from({ length: sizes?.concepts ?? 0 }, () => null);
    const words = { problems, ...telling('vocabulary') };
    const vocabulary = speaks(subject.facts) ? await findVocabulary(subject, words) : null;
    return { ...known, conceptNames, vocabulary };
  };
}

/** Exports a run; nothing is written before everything is there. */
export async function exportRun(options: ExportOptions): Promise<ExportReport> {
  const { signal, onProgress } = options;
  const place = await bundlePlace(options.out);
  const run = await openRun(options.run);
  const weights = await run.weights(options.which ?? 'best');
  onProgress?.('networks', 0);
  const files = await writeNetworks(run, weights, options);
  const metrics = await run.metrics();
  files.set('history.json', bundleHistory(metrics));
  const draft = draftOf(run, weights.step, secondsAt(metrics, weights.step), options);
  const found = await withSubject(draft, files, explore(run, weights, options));
  const { conceptNames } = found;
  files.set('selection.safetensors', formatSelection(found.statistics));
  if (found.training !== null) {
    const { rules, imagined } = found.training;
    files.set('rules.json', rules);
    if (imagined !== null) files.set('imagined.png', imagined);
  }
  if (found.vocabulary !== null) {
    files.set('vocabulary.safetensors', formatVocabulary(found.vocabulary, draft.sizes));
  }
  const named = { ...draft, conceptNames };
  const accuracy = await withSubject(named, files, (subject) => bundleAccuracy(subject, options));
  signal?.throwIfAborted();
  await writeBundle(place, { ...named, accuracy }, files);
  const sizes = Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.length]));
  const bytes = sumOf(Object.values(sizes));
  const { step } = weights;
  return {
    folder: options.out,
    name: draft.name,
    step,
    bytes,
    files: sizes,
    accuracy,
    conceptNames,
  };
}
