/**
 * A run on disk, for who exports, evaluates or shows it: its configuration, metrics, rule snapshots
 * and the weights of its newest or best checkpoint. Reading only; a run may be training meanwhile.
 */
import path from 'node:path';
import { parseJson } from '../base/index.js';
import { isFile } from '../base/node.js';
import { ArgumentError } from '../matrix/index.js';
import { systemNamed, type SystemModel } from '../models/index.js';
import { Generator, type Device } from '../torch/index.js';
import { parseRunConfig, type RunConfig } from './config.js';
import { requireDevice } from './environment.js';
import { RunFormatError } from './errors.js';
import type { RulesSnapshot } from './rules-snapshot.js';
import { loadWeights, MODEL_PREFIX, readExtra, readTotalSteps } from './run/checkpoint.js';
import { BEST, CHECKPOINTS, CONFIG_FILE, configFileOf, readText, RULES } from './run/folder.js';
import { readMetrics, type MetricsLine } from './run/logs.js';

export type WhichWeights = 'best' | 'latest';

/** A trained model taken from a run. */
export interface TrainedModel {
  readonly model: SystemModel;
  /** The learner's state, as JSON; of CRAB the rule prior. */
  readonly extra: unknown;
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
  /** The learner's state stored beside them, as JSON; of CRAB the rule prior. */
  readonly extra: unknown;
}

export interface OpenedRun {
  /** Absolute. */
  readonly folder: string;
  readonly config: RunConfig;
  /** Lines of the metrics log so far. */
  metrics(): Promise<MetricsLine[]>;
  /** Steps of the newest checkpoint and of the best weights; null if there is none yet. */
  steps(): Promise<{ readonly latest: number | null; readonly best: number | null }>;
  /** Steps that the run is to have, by its newest checkpoint: those done once it has ended; null if not known yet. */
  totalSteps(): Promise<number | null>;
  /** Rule snapshots, oldest first. */
  rules(): Promise<RulesSnapshot[]>;
  /** Where the weights are; `best` falls back to the latest if none was chosen yet. */
  weights(which: WhichWeights): Promise<StoredWeights>;
  /** The model in use mode; `best` falls back to the latest if none was chosen yet. */
  loadModel(which: WhichWeights, device?: Device): Promise<TrainedModel>;
}

async function readRules(folder: string): Promise<RulesSnapshot[]> {
  const snapshots: RulesSnapshot[] = [];
  for (const step of (await RULES.steps(folder)).reverse()) {
    const file = path.join(folder, RULES.name(step));
    snapshots.push(parseJson(await readText(file), RunFormatError, file) as RulesSnapshot);
  }
  return snapshots;
}

/** File and step of the weights asked for. */
async function weightsFile(
  folder: string,
  which: WhichWeights,
): Promise<{ file: string; step: number }> {
  const [best] = which === 'best' ? await BEST.steps(folder) : [];
  const step = best ?? (await CHECKPOINTS.steps(folder)).at(0);
  if (step === undefined) throw new ArgumentError(`${folder} has no checkpoint yet`);
  const name = best === undefined ? CHECKPOINTS.name(step) : BEST.name(step);
  return { file: path.join(folder, name), step };
}

function modelFrom(
  { system, model: settings }: RunConfig,
  file: string,
  step: number,
  device: Device,
): TrainedModel {
  const weights = loadWeights(file, device);
  const model = systemNamed(system).create(settings, { generator: new Generator('cpu', 0) });
  model.to({ device }).loadStateDict(weights.model);
  weights.dispose();
  return { model: model.eval(), extra: weights.extra, step, dispose: () => model.dispose() };
}

/** Whether a folder is that of a run. */
export const isRun = (folder: string): Promise<boolean> => isFile(path.join(folder, CONFIG_FILE));

/** Opens a run; nothing but its configuration is read until asked for. */
export async function openRun(run: string): Promise<OpenedRun> {
  const file = await configFileOf(run);
  const folder = path.dirname(file);
  const config = parseRunConfig(await readText(file), file);
  return {
    folder,
    config,
    metrics: () => readMetrics(folder),
    steps: async () => ({
      latest: (await CHECKPOINTS.steps(folder)).at(0) ?? null,
      best: (await BEST.steps(folder)).at(0) ?? null,
    }),
    totalSteps: async () => {
      const newest = (await CHECKPOINTS.steps(folder)).at(0);
      if (newest === undefined) return null;
      return readTotalSteps(path.join(folder, CHECKPOINTS.name(newest)));
    },
    rules: () => readRules(folder),
    weights: async (which) => {
      const { file, step } = await weightsFile(folder, which);
      return { file, step, prefix: MODEL_PREFIX, extra: readExtra(file) };
    },
    loadModel: async (which, device = 'cpu') => {
      requireDevice(device);
      const weights = await weightsFile(folder, which);
      return modelFrom(config, weights.file, weights.step, device);
    },
  };
}
