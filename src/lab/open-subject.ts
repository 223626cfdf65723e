/**
 * Opens a model as a subject: a bundle on ONNX Runtime, or a run on libtorch, as it is. What a bundle brings
 * along and a run does not, the statistics it chooses by and its map of rules, is worked out on the same
 * problems as `crab export` takes, so that a run and its bundle give the same numbers.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { layoutName } from '../matrix/index.js';
import { ArgumentError } from '../base/index.js';
import { systemNamed } from '../models/index.js';
import {
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  Metrics,
  openBundle,
  parseHistory,
  parseRuleMap,
  systemOf,
  Vocabulary,
} from '../solver/index.js';
import type { Bundle, BundleManifest, BundleSource } from '../solver/index.js';
import { listZoo, locateBundle, Solver, zooFolder } from '../solver/node.js';
import type { Device } from '../torch/index.js';
import { isRun, openRun, trainingFacts } from '../training/index.js';
import type { OpenedRun, StoredWeights } from '../training/index.js';
import { bundleHistory, secondsAt } from './bundle-history.js';
import { knowledgeOf } from './bundle-rules.js';
import type { CalibrationOptions } from './calibration.js';
import { ConceptSubject } from './concept-subject.js';
import { manifestHash } from './conditions.js';
import { METRIC_NAMES, type MetricName } from './evaluation.js';
import { PictureSubject } from './picture-subject.js';
import { hasConcepts, RunSolver, TorchNetworks } from './run-solver.js';
import { rowAlgebra } from './row-algebra.js';
import type { Subject, SubjectFacts } from './subject.js';
import { findVocabulary, speaks } from './vocabulary/find.js';

export interface SubjectOptions {
  /** Folder of named bundles, that of this package unless told. */
  readonly zoo?: string;
  /** The argument that errors name for the model, `--model` unless told. */
  readonly argument?: string;
  /** Threads of ONNX Runtime. */
  readonly threads?: number;
  /** Where a run's model works, the CPU unless told. */
  readonly device?: Device;
  /** What will be measured, everything unless told: a run is prepared for no more than this. */
  readonly metrics?: readonly MetricName[];
  /** Problems that a run's own distance and rule prior are fitted to. */
  readonly calibration?: Pick<CalibrationOptions, 'problems' | 'validation'>;
  readonly signal?: AbortSignal;
  /** What is done now, and how far it is, 0..1. */
  readonly onProgress?: (stage: string, share: number) => void;
}

/** A subject whose solver is a whole one: it draws, chooses and explains as well. */
export type BundleSubject = ConceptSubject<Solver> & { readonly bundle: Bundle };

export const bundleFacts = (manifest: BundleManifest): SubjectFacts => ({
  name: manifest.name,
  system: systemOf(manifest),
  preset: String(manifest.training.preset ?? 'unknown'),
  configuration: manifest.configuration,
  noisy: manifest.noisy,
  imageSize: 64,
  positions: 'any',
  can: systemNamed(systemOf(manifest)).can,
  sizes: manifest.sizes,
  training: manifest.training,
  hash: manifestHash(manifest),
});

/** A verified bundle as a subject. */
export async function subjectOf(
  bundle: Bundle,
  { threads }: Pick<SubjectOptions, 'threads'> = {},
): Promise<BundleSubject> {
  const solver = await Solver.of(bundle, { threads });
  const { history } = solver;
  const facts = bundleFacts(bundle.manifest);
  const parts = { facts, history, bundle, dispose: () => solver.dispose() };
  return new ConceptSubject(solver, parts) as BundleSubject;
}

/** Opens a bundle wherever its files can be read. */
export async function subjectFrom(
  source: BundleSource,
  options: SubjectOptions = {},
): Promise<BundleSubject> {
  return subjectOf(await openBundle(source, options.signal), options);
}

/** Finds a bundle; an error names the argument. */
const locate = (
  location: string,
  { zoo, argument = '--model', signal }: Pick<SubjectOptions, 'zoo' | 'argument' | 'signal'>,
): Promise<BundleSource> =>
  locateBundle(location, { zoo, signal }).catch((cause: unknown) => {
    if (!(cause instanceof ArgumentError)) throw cause;
    throw new ArgumentError(`${argument} ${cause.message}`, { cause });
  });

/** Opens a bundle by its folder, its name in the zoo or its URL. */
export const openBundleSubject = async (
  location: string,
  options: SubjectOptions = {},
): Promise<BundleSubject> => subjectFrom(await locate(location, options), options);

async function fileHash(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

async function runFacts({ config, ...run }: OpenedRun, weights: StoredWeights) {
  const { model } = config;
  const system = systemNamed(config.system);
  const seconds = secondsAt(await run.metrics(), weights.step);
  const { imageSize, mixed = false } = system.needs(model);
  return {
    name: `${layoutName(model)}-${config.system}-${model.preset}`,
    system: config.system,
    preset: model.preset,
    configuration: model.configuration,
    noisy: model.noisy,
    mixed,
    imageSize,
    positions: system.positions,
    can: system.can,
    sizes: null,
    training: trainingFacts(config, weights.step, seconds),
    hash: await fileHash(weights.file),
  } satisfies SubjectFacts;
}

/** What a manifest would say of a run's networks; only systems with bundles state a deviation of concepts. */
const manifestOf = (
  { name, configuration, noisy, training }: SubjectFacts,
  sizes: BundleManifest['sizes'],
  { config }: OpenedRun,
): BundleManifest => ({
  format: BUNDLE_FORMAT,
  version: BUNDLE_VERSION,
  system: config.system,
  name,
  configuration,
  noisy,
  sizes,
  weights: 'f32',
  compact: false,
  sigmaZ: systemNamed(config.system).exports?.describe(config.model).sigmaZ ?? 1,
  conceptNames: Array.from({ length: sizes.concepts }, () => null),
  accuracy: null,
  training,
  files: {},
});

/** Metrics whose result depends on the vocabulary. */
const WITH_WORDS: readonly MetricName[] = ['readback', 'rules'];

/** Opens the best weights of a run. */
export async function openRunSubject(
  location: string,
  options: SubjectOptions = {},
): Promise<Subject> {
  const { device, signal, onProgress, metrics = METRIC_NAMES, calibration = {} } = options;
  const run = await openRun(location);
  const weights = await run.weights('best');
  const told = await runFacts(run, weights);
  const history = parseHistory(bundleHistory(await run.metrics()));
  const trained = await run.loadModel('best', device);
  const { model } = trained;
  if (!hasConcepts(model)) return new PictureSubject(model, told, history);
  try {
    const networks = new TorchNetworks(model, told.imageSize);
    const facts: SubjectFacts = { ...told, sizes: networks.sizes };
    const manifest = manifestOf(facts, networks.sizes, run);
    const free = (): Promise<void> => Promise.resolve(trained.dispose());
    const untold = RunSolver.of(networks, manifest, { history });
    const plain = new ConceptSubject(untold, { facts, history, dispose: free });
    if (metrics.length === 0) return plain;
    const { concepts, conceptSize, ruleSize } = networks.sizes;
    const anywhere = facts.positions === 'any' && metrics.includes('gsa');
    const known = await knowledgeOf(plain, run, weights, {
      ...calibration,
      ...(anywhere ? {} : { targetCounts: [] }),
      rules: facts.can.includes('rules') && metrics.includes('ari'),
      signal,
      onProgress: (share) => onProgress?.('calibration', share),
    });
    const ruleMap = known.training && parseRuleMap(known.training.rules, concepts, ruleSize);
    const wanted = WITH_WORDS.some((name) => metrics.includes(name));
    const words =
      wanted && speaks(facts)
        ? await findVocabulary(plain, {
            problems: calibration.problems,
            signal,
            onProgress: (share) => onProgress?.('vocabulary', share),
          })
        : null;
    const solver = RunSolver.of(networks, manifest, {
      metrics: new Metrics(known.statistics, concepts, conceptSize, rowAlgebra().lowerProducts),
      vocabulary: words && new Vocabulary(words, networks.sizes, manifest.sigmaZ),
      ruleMap,
      history,
    });
    return new ConceptSubject(solver, { facts, history, dispose: free });
  } catch (error) {
    trained.dispose();
    throw error;
  }
}

/** What is known of a model without loading it; a bundle is verified. */
export async function readFacts(location: string, signal?: AbortSignal): Promise<SubjectFacts> {
  if (await isRun(location)) {
    const run = await openRun(location);
    return runFacts(run, await run.weights('best'));
  }
  const { manifest } = await openBundle(await locate(location, { signal }), signal);
  return bundleFacts(manifest);
}

/** Opens a run by its folder, or a bundle by its folder, its name in the zoo or its URL. */
export const openSubject = async (
  location: string,
  options: SubjectOptions = {},
): Promise<Subject> =>
  (await isRun(location))
    ? openRunSubject(location, options)
    : openBundleSubject(location, options);

/** Refuses `--device` if none of some models is a run: bundles work on the processor alone. */
export async function requireRun(
  device: Device | undefined,
  locations: readonly string[],
  lack: string,
): Promise<void> {
  if (device === undefined || (await Promise.all(locations.map(isRun))).includes(true)) return;
  throw new ArgumentError(`--device is of a run: ${lack}`);
}

/** Names of the models in a folder: bundles, then runs. */
export async function modelsIn(folder: string): Promise<string[]> {
  const bundles = await listZoo(folder);
  const runs: string[] = [];
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    if (!bundles.includes(name) && (await isRun(path.join(folder, name)))) runs.push(name);
  }
  return [...bundles, ...runs];
}

/** A model with what it is called, and where `openSubject` finds it. */
interface NamedModel {
  readonly name: string;
  readonly location: string;
}

/** The models that a location stands for: all of a folder of models (`zoo`: that of this package), or itself. */
export async function modelsAt(location: string): Promise<NamedModel[]> {
  const folder = location === 'zoo' ? zooFolder() : location;
  const names = (await isRun(folder)) ? [] : await modelsIn(folder);
  return names.length === 0
    ? [{ name: location, location }]
    : names.map((name) => ({ name, location: path.join(folder, name) }));
}
