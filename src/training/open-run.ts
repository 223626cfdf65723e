/**
 * A run on disk, for who exports, evaluates or shows it: its configuration, metrics, rule snapshots
 * and the weights of its newest or best checkpoint. Reading only; a run may be training meanwhile.
 */
import path from 'node:path';
import { ArgumentError } from '../base/index.js';
import { CrabModel, mixturesOf, RulePrior, type MixtureData } from '../models/index.js';
import { Generator, loadSafetensors, SafetensorsFile } from '../torch/index.js';
import type { Device, Tensor } from '../torch/index.js';
import { CONFIG_FILE, parseRunConfig, type RunConfig } from './config.js';
import { RunFormatError } from './errors.js';
import { absolute } from './options.js';
import type { RulesSnapshot } from './rules-snapshot.js';
import { MODEL_PREFIX, parsePrior } from './run/checkpoint.js';
import { requireIntact } from './run/checksum.js';
import { diskFiles } from './run/files.js';
import {
  bestName,
  bestSteps,
  checkpointName,
  checkpointSteps,
  rulesName,
  rulesSteps,
} from './run/folder.js';
import { METRICS_FILE, parseMetrics, type MetricsLine } from './run/metrics-log.js';

export type WhichWeights = 'best' | 'latest';

/** A trained model taken from a run. */
export interface TrainedModel {
  readonly model: CrabModel;
  /** Null where the rule prior was never fitted. */
  readonly prior: RulePrior | null;
  /** Steps it was trained for. */
  readonly step: number;
  dispose(): void;
}

/** Where weights are stored, for who reads them without libtorch. */
export interface StoredWeights {
  readonly file: string;
  /** Steps they were trained for. */
  readonly step: number;
  /** What the names of the model's tensors begin with in that file. */
  readonly prefix: string;
  /** The rule prior stored beside them; null where it was never fitted. */
  readonly prior: readonly MixtureData[] | null;
}

export interface OpenedRun {
  /** Absolute. */
  readonly folder: string;
  readonly config: RunConfig;
  /** Lines of the metrics log so far. */
  metrics(): Promise<MetricsLine[]>;
  /** Steps of the newest checkpoint and of the best weights; null where there is none yet. */
  steps(): Promise<{ readonly latest: number | null; readonly best: number | null }>;
  /** Rule snapshots, oldest first. */
  rules(): Promise<RulesSnapshot[]>;
  /** Where the weights are; `best` falls back to the latest where none was chosen yet. */
  weights(which: WhichWeights): Promise<StoredWeights>;
  /** The model in use mode; `best` falls back to the latest where none was chosen yet. */
  loadModel(which: WhichWeights, device?: Device): Promise<TrainedModel>;
}

async function readRules(folder: string): Promise<RulesSnapshot[]> {
  const snapshots: RulesSnapshot[] = [];
  for (const step of await rulesSteps(diskFiles, folder)) {
    const file = path.join(folder, rulesName(step));
    const text = Buffer.from(await diskFiles.read(file)).toString('utf8');
    try {
      snapshots.push(JSON.parse(text) as RulesSnapshot);
    } catch {
      throw new RunFormatError(`${file}: not JSON`);
    }
  }
  return snapshots;
}

/** File and step of the weights asked for, which are those that were written. */
async function weightsFile(
  folder: string,
  which: WhichWeights,
): Promise<{ file: string; step: number }> {
  const [best] = which === 'best' ? await bestSteps(diskFiles, folder) : [];
  const step = best ?? (await checkpointSteps(diskFiles, folder)).at(0);
  if (step === undefined) throw new ArgumentError(`${folder} has no checkpoint yet`);
  const file = path.join(folder, best === undefined ? checkpointName(step) : bestName(step));
  requireIntact(file);
  return { file, step };
}

/** The rule prior in the metadata of a checkpoint. */
function storedPrior(file: string): readonly MixtureData[] | null {
  const opened = SafetensorsFile.open(file);
  try {
    return parsePrior(opened.metadata.prior, file);
  } finally {
    opened.close();
  }
}

function modelFrom(config: RunConfig, file: string, step: number, device: Device): TrainedModel {
  const { tensors, metadata } = loadSafetensors(file, device);
  const { network, rulePrior } = config.model;
  const model = new CrabModel(network, { generator: new Generator('cpu', 0) });
  const data = parsePrior(metadata.prior, file);
  const prior = data === null ? null : priorFrom(data, network, rulePrior, device);
  const state = [...tensors].filter(([name]) => name.startsWith(MODEL_PREFIX));
  const weights = new Map<string, Tensor>(
    state.map(([name, tensor]) => [name.slice(MODEL_PREFIX.length), tensor]),
  );
  model.to({ device }).loadStateDict(weights);
  for (const tensor of tensors.values()) tensor.dispose();
  model.eval();
  const dispose = (): void => {
    model.dispose();
    prior?.dispose();
  };
  return { model, prior, step, dispose };
}

function priorFrom(
  data: readonly MixtureData[],
  { concepts, ruleSize }: RunConfig['model']['network'],
  config: RunConfig['model']['rulePrior'],
  device: Device,
): RulePrior {
  const prior = new RulePrior(concepts, ruleSize, config, device);
  prior.load(mixturesOf(data));
  return prior;
}

/** Opens a run; nothing but its configuration is read until asked for. */
export async function openRun(run: string): Promise<OpenedRun> {
  const folder = absolute(run);
  const file = path.join(folder, CONFIG_FILE);
  if ((await diskFiles.size(file)) === null) {
    throw new ArgumentError(`${run} is not a run: it has no ${CONFIG_FILE}`);
  }
  const config = parseRunConfig(Buffer.from(await diskFiles.read(file)).toString('utf8'), file);
  const log = path.join(folder, METRICS_FILE);
  return {
    folder,
    config,
    metrics: async () =>
      (await diskFiles.size(log)) === null ? [] : parseMetrics(await diskFiles.read(log), log),
    steps: async () => ({
      latest: (await checkpointSteps(diskFiles, folder)).at(0) ?? null,
      best: (await bestSteps(diskFiles, folder)).at(0) ?? null,
    }),
    rules: () => readRules(folder),
    weights: async (which) => {
      const { file, step } = await weightsFile(folder, which);
      return { file, step, prefix: MODEL_PREFIX, prior: storedPrior(file) };
    },
    loadModel: async (which, device = 'cpu') => {
      const weights = await weightsFile(folder, which);
      return modelFrom(config, weights.file, weights.step, device);
    },
  };
}
