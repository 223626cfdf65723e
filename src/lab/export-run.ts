/**
 * A trained run becomes a bundle, in three steps: the networks are written from the weights of a
 * checkpoint; the bundle so far is opened with the solver, which adds the statistics of selection and
 * its measured accuracy; hashes come last. Needs neither libtorch nor a GPU.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ArgumentError, formatLabel, layoutName, VARIANTS } from '../matrix/index.js';
import { compactNetworks, mixturesOf, networkFiles, readNetworks } from '../models/index.js';
import { readWeightState, type MixtureData, type WeightFormat } from '../models/index.js';
import { formatSelection } from '../solver/index.js';
import type { BundleAccuracy, BundleFileName, BundleManifest } from '../solver/index.js';
import { memoryBundle, Solver, writeBundle } from '../solver/node.js';
import { SafetensorsFile } from '../torch/index.js';
import { openRun, type MetricsLine, type OpenedRun, type WhichWeights } from '../training/index.js';
import { calibrate } from './calibration.js';
import { generatedSource, selectionAccuracy } from './selection-accuracy.js';

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
}

type Files = Map<BundleFileName, Uint8Array>;
type Draft = Omit<BundleManifest, 'format' | 'version' | 'files'>;

const MODEL_PREFIX = 'model.';
const ACCURACY_SEED = 7_100_000_003;
const MOST_SNAPSHOTS = 7;
const MOST_POINTS = 500;

/** Weights of a run: the best ones, or those of the newest checkpoint. */
async function weightsFile(
  folder: string,
  which: WhichWeights,
): Promise<{ readonly file: string; readonly step: number }> {
  const names = await readdir(folder);
  const newest = (pattern: RegExp): { name: string; step: number } | undefined =>
    names
      .flatMap((name) => {
        const match = pattern.exec(name);
        return match === null ? [] : [{ name, step: Number(match[1]) }];
      })
      .sort((a, b) => b.step - a.step)[0];
  const best = which === 'best' ? newest(/^checkpoint-best-(\d+)\.safetensors$/) : undefined;
  const found = best ?? newest(/^checkpoint-(\d+)\.safetensors$/);
  if (found === undefined) throw new ArgumentError(`${folder} has no checkpoint yet`);
  return { file: path.join(folder, found.name), step: found.step };
}

function priorOf(file: string): readonly MixtureData[] | null {
  const opened = SafetensorsFile.open(file);
  const text = opened.metadata.prior ?? 'null';
  opened.close();
  const prior = JSON.parse(text) as readonly MixtureData[] | null;
  if (prior !== null) mixturesOf(prior);
  return prior;
}

const rounded = (value: number): number => Number(value.toPrecision(5));

const json = (value: unknown): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'number' ? rounded(item) : item)),
  );

/** `rules.json`, of the newest snapshots of a run; undefined where it has none. */
async function ruleMap(
  run: OpenedRun,
  prior: readonly MixtureData[] | null,
): Promise<Uint8Array | undefined> {
  const all = await run.rules();
  if (all.length === 0) return undefined;
  const snapshots = all.slice(-MOST_SNAPSHOTS);
  const { source, truth } = snapshots[snapshots.length - 1];
  const { configuration, noisy, seed } = source;
  const text = {
    prior,
    source: { configuration, noisy },
    truth: truth.map((rules) => formatLabel(rules)),
    snapshots: snapshots.map(({ step, rules }) => ({ step: step.toString(), rules })),
  };
  // Seeds and steps must not be rounded as measured values are: they are put in afterwards.
  const encoded = new TextDecoder().decode(json(text));
  const parsed = JSON.parse(encoded) as { source: object; snapshots: { step: unknown }[] };
  const whole = {
    ...parsed,
    source: { ...parsed.source, seed },
    snapshots: parsed.snapshots.map((each) => ({ ...each, step: Number(each.step) })),
  };
  return new TextEncoder().encode(JSON.stringify(whole));
}

/** Named values of a line of the metrics log. */
function valuesOf(line: MetricsLine): [string, number][] {
  if (line.kind === 'train') return Object.entries(line.terms);
  const shares = Object.entries(line.selectionAccuracy);
  return [
    ...shares.map(([variant, share]): [string, number] => [`sa ${variant}`, share]),
    ['gsa', line.globalSelectionAccuracy],
  ];
}

/** `history.json`: every curve of the log, thinned out evenly. */
function history(lines: readonly MetricsLine[]): Uint8Array {
  const curves = new Map<string, { steps: number[]; values: number[] }>();
  for (const line of lines) {
    for (const [name, value] of valuesOf(line)) {
      if (!Number.isFinite(value)) continue;
      const curve = curves.get(name) ?? { steps: [], values: [] };
      curves.set(name, curve);
      curve.steps.push(line.step);
      curve.values.push(rounded(value));
    }
  }
  const thinned = [...curves].map(([name, { steps, values }]) => {
    const every = Math.max(1, Math.ceil(steps.length / MOST_POINTS));
    const kept = (_: number, i: number): boolean => i % every === 0 || i === steps.length - 1;
    return { name, steps: steps.filter(kept), values: values.filter(kept) };
  });
  return new TextEncoder().encode(JSON.stringify({ curves: thinned }));
}

async function writeNetworks(run: OpenedRun, file: string, options: ExportOptions): Promise<Files> {
  const { compact = false, signal, onProgress } = options;
  const { network } = run.config.model;
  let networks = readNetworks(network, readWeightState(file, MODEL_PREFIX));
  if (compact) {
    const { configuration, noisy } = run.config.model;
    networks = await compactNetworks(networks, {
      configuration,
      noisy,
      signal,
      onProgress: (share) => onProgress?.('compact', share),
    });
  }
  signal?.throwIfAborted();
  const written = networkFiles(networks, formatOf(options));
  return new Map([
    ['encoder.onnx', written.encoder],
    ['reasoner.onnx', written.reasoner],
    ['decoder.onnx', written.decoder],
  ]);
}

const formatOf = ({ format, compact }: ExportOptions): WeightFormat =>
  format ?? (compact ? 'int8' : 'f32');

function draftOf(run: OpenedRun, step: number, options: ExportOptions): Draft {
  const { model, seed, device, precision, software, data } = run.config;
  const { network, objective, preset, configuration, noisy } = model;
  const { concepts, conceptSize, ruleSize } = network;
  return {
    name: layoutName({ configuration, noisy }),
    configuration,
    noisy,
    sizes: { concepts, conceptSize, ruleSize },
    weights: formatOf(options),
    compact: options.compact ?? false,
    sigmaZ: objective.sigmaZ,
    conceptNames: Array.from({ length: concepts }, () => null),
    accuracy: null,
    training: { preset, steps: step, seed, device, precision, data: data.kind, ...software },
  };
}

async function measure(solver: Solver, options: ExportOptions): Promise<BundleAccuracy> {
  const { judged = 1000, signal, onProgress } = options;
  const { configuration, noisy } = solver.manifest;
  const sa: Record<string, number> = {};
  const saL2: Record<string, number> = {};
  for (const [v, variant] of VARIANTS.entries()) {
    const source = generatedSource({ configuration, noisy, variant, seed: ACCURACY_SEED }, judged);
    const result = await selectionAccuracy(solver, source, {
      signal,
      onProgress: (done) => onProgress?.('accuracy', (v + done / judged) / VARIANTS.length),
    });
    sa[variant] = result.sa;
    saL2[variant] = result.saL2;
  }
  return { sa, saL2, problems: judged };
}

/** Opens what there is of a bundle, does something with it and frees it. */
async function withSolver<T>(draft: Draft, files: Files, use: (solver: Solver) => Promise<T>) {
  const solver = await Solver.open(await memoryBundle(draft, files));
  try {
    return await use(solver);
  } finally {
    await solver.dispose();
  }
}

/** Exports a run; nothing is written before everything is there. */
export async function exportRun(options: ExportOptions): Promise<ExportReport> {
  const { signal, onProgress } = options;
  const run = await openRun(options.run);
  const { file, step } = await weightsFile(run.folder, options.which ?? 'best');
  onProgress?.('networks', 0);
  const files = await writeNetworks(run, file, options);
  const rules = await ruleMap(run, priorOf(file));
  if (rules !== undefined) files.set('rules.json', rules);
  files.set('history.json', history(await run.metrics()));
  const draft = draftOf(run, step, options);
  const statistics = await withSolver(draft, files, (solver) =>
    calibrate(solver, {
      problems: options.problems,
      validation: options.validation,
      signal,
      onProgress: (share) => onProgress?.('calibration', share),
    }),
  );
  files.set('selection.safetensors', formatSelection(statistics));
  const accuracy = await withSolver(draft, files, (solver) => measure(solver, options));
  signal?.throwIfAborted();
  await writeBundle(options.out, { ...draft, accuracy }, files);
  const sizes = Object.fromEntries([...files].map(([name, bytes]) => [name, bytes.length]));
  const bytes = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  return { folder: options.out, name: draft.name, step, bytes, files: sizes, accuracy };
}
