/**
 * `docs/measured/systems/SYSTEM-PRESET-CONFIGURATION[-TAG].json`: one training of any system, with how it
 * was made, how it went and what its model was measured to do, so that tables and figures of results need
 * nothing else. A tag says in what a training differs from its preset: `context-blind`, `i-raven`, `seed-2`.
 * Files are checked when they are read; shares are fractions 0..1.
 */
import { cpus } from 'node:os';
import path from 'node:path';
import {
  ArgumentError,
  dictionary,
  FormatError,
  integer,
  list,
  nullable,
  number,
  objectWith,
  oneOf,
  optional,
  parseJson,
  read,
  text,
  type Read,
  type Reader,
} from '../../base/index.js';
import { CONFIGURATIONS } from '../../matrix/index.js';
import { overridesOf, SYSTEM_NAMES, systemNamed } from '../../models/index.js';
import { Generator, torchInfo } from '../../torch/index.js';
import { trainingFacts } from '../../training/index.js';
import type { MetricsLine, OpenedRun, RunConfig, ValidationMetrics } from '../../training/index.js';
import { rounded } from '../bundle-history.js';
import { trainCommand } from '../card/training-facts.js';
import { measured, selection, type ModelEvaluation } from '../evaluation.js';
import { summaryJson, type EvaluationSummary } from '../summary.js';
import { readJsonFiles, sixDigits } from './files.js';
import { measuredOf } from './measured.js';

export const TRAINING_FORMAT = 'crab-training';
export const TRAINING_VERSION = 1;

const MOST_POINTS = 60;
const TAG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

const share = number({ min: 0, max: 1 });
const count = integer({ min: 0 });
/** Mean squared errors, which have no bound in principle. */
const error = objectWith({ meanSquared: objectWith({ value: number({ min: 0 }) }) });

/** What tables and figures look at; the files keep everything that was measured. */
const evaluation = objectWith({
  sa: optional(share),
  saL2: optional(share),
  selection: optional(selection),
  gsa: optional(
    list(
      objectWith({
        targets: count,
        candidates: count,
        accuracy: share,
        accuracyL2: optional(share),
      }),
    ),
  ),
  errors: optional(
    objectWith({
      reconstruction: optional(error),
      prediction: error,
      predictionAnywhere: optional(error),
      meanPanel: optional(error),
    }),
  ),
  readback: optional(
    objectWith({
      problems: count,
      obeys: measured,
      unreadable: measured,
      reconstructedObeys: optional(measured),
      missing: optional(list(objectWith({ targets: count, obeys: measured }))),
    }),
  ),
});

const tag: Reader<string> = (given) => {
  const told = text(60)(given);
  return TAG.test(told) ? told : given.expected('words of small letters and digits joined by -');
};

/** A line of `curve`: accuracies on the run's validation problems. */
const point = objectWith({
  step: count,
  raven: nullable(share),
  iRaven: nullable(share),
  gsa: nullable(share),
});
export type CurvePoint = Read<typeof point>;

const fields = objectWith({
  format: oneOf([TRAINING_FORMAT]),
  version: oneOf([TRAINING_VERSION]),
  system: oneOf(SYSTEM_NAMES),
  preset: text(),
  /** For a joint training merely a part of its name. */
  configuration: oneOf(CONFIGURATIONS),
  tag: nullable(tag),
  command: text(10_000),
  seed: integer(),
  /** Steps trained, and those after which the weights that were measured were kept. */
  steps: count,
  bestStep: count,
  /** Of a training that was stopped before its end: the steps that it was to have. */
  planned: optional(count),
  /** Time of the training on the clock. */
  seconds: number({ min: 0 }),
  /** Trainings that ran on the same device at the same time. */
  beside: count,
  device: text(),
  parameters: count,
  /** Problems it trained on, again and again; null: fresh ones for as long as it trained. */
  problems: nullable(count),
  /** What it changed of its preset. */
  overrides: dictionary((given) => given.value),
  curve: list(point, { max: MOST_POINTS }),
  evaluation,
});

/** A training as tables and figures see it. */
export type MeasuredTraining = Read<typeof fields>;
/** The same with everything that was measured, as it is written. */
export type WrittenTraining = Omit<MeasuredTraining, 'evaluation'> & {
  readonly evaluation: EvaluationSummary;
};

/** The name of a training's file, without `.json`. */
export const trainingName = ({
  system,
  preset,
  configuration,
  tag: told,
}: Pick<MeasuredTraining, 'system' | 'preset' | 'configuration' | 'tag'>): string =>
  [system, preset, configuration, ...(told === null ? [] : [told])].join('-');

/**
 * The tag in the name of a file for what a run measures; ArgumentError if the file is not named after the run,
 * or if a training on other problems than its preset's has no tag.
 */
export function tagIn(
  file: string,
  { system, model }: Pick<RunConfig, 'system' | 'model'>,
): string | null {
  const plain = trainingName({ ...model, system, tag: null });
  const base = path.basename(file, '.json');
  const rest = base.slice(plain.length + 1);
  if (base === `${plain}-${rest}` && TAG.test(rest)) return rest;
  if (base !== plain) {
    throw new ArgumentError(`${file}: call it ${plain}.json, or ${plain}-TAG.json with a tag`);
  }
  if (model.noisy || 'data' in overridesOf(model, system)) {
    throw new ArgumentError(
      `${file}: the run had other problems than its preset has: call it ${plain}-TAG.json with a tag that says so`,
    );
  }
  return null;
}

const isValidation = (line: MetricsLine): line is ValidationMetrics => line.kind === 'validation';

/** Accuracies while it trained: at most 60 points, evenly chosen, the first and the last among them. */
export function trainingCurve(lines: readonly MetricsLine[]): CurvePoint[] {
  const all = lines.filter(isValidation);
  const kept = Math.min(all.length, MOST_POINTS);
  const every = (all.length - 1) / Math.max(1, kept - 1);
  const value = (found: number | null | undefined): number | null =>
    found === null || found === undefined ? null : rounded(found);
  return Array.from({ length: kept }, (_, i) => all[Math.round(i * every)]).map((line) => ({
    step: line.step,
    raven: value(line.selectionAccuracy.raven),
    iRaven: value(line.selectionAccuracy['i-raven']),
    gsa: value(line.globalSelectionAccuracy),
  }));
}

/** The hardware behind a run's `cuda` or `cpu`, as far as this machine can tell. */
function deviceName(device: string): string {
  if (device === 'cpu') return cpus().at(0)?.model.trim() ?? device;
  const { info } = torchInfo();
  return info?.devices.at(Number(device.split(':').at(1) ?? 0))?.name ?? device;
}

function parameterCount({ system, model }: RunConfig): number {
  const made = systemNamed(system).create(model, { generator: new Generator('cpu', 0) });
  try {
    return made.parameterCount();
  } finally {
    made.dispose();
  }
}

/** Problems a run trained on again and again; null if they were fresh ones. */
function problemsOf({ data }: RunConfig): number | null {
  if (data.kind === 'set') return data.problems;
  return data.refresh === 0 ? data.pool : null;
}

export interface TrainingOptions {
  readonly tag?: string | null;
  /** Trainings that ran beside it, none unless told. */
  readonly beside?: number;
}

/** A run and what its model was measured to do, as one object to keep. */
export async function measuredTraining(
  run: OpenedRun,
  found: ModelEvaluation,
  options: TrainingOptions = {},
): Promise<WrittenTraining> {
  const { config } = run;
  const { system, model, seed } = config;
  const lines = await run.metrics();
  const { latest, best } = await run.steps();
  const steps = latest ?? lines.at(-1)?.step ?? 0;
  const planned = (await run.totalSteps()) ?? steps;
  const seconds = lines.at(-1)?.wall.seconds ?? 0;
  const overrides = overridesOf(model, system) as Record<string, unknown>;
  const training = trainingFacts(config, steps, seconds);
  return {
    format: TRAINING_FORMAT,
    version: TRAINING_VERSION,
    system,
    preset: model.preset,
    configuration: model.configuration,
    tag: options.tag ?? null,
    command: trainCommand({ ...model, system, training, overrides }),
    seed,
    steps,
    bestStep: best ?? steps,
    ...(steps < planned && { planned }),
    seconds: Math.round(seconds),
    beside: options.beside ?? 0,
    device: deviceName(config.device),
    parameters: parameterCount(config),
    problems: problemsOf(config),
    overrides,
    curve: trainingCurve(lines),
    evaluation: summaryJson({ ...found, ...measuredOf(found) }),
  };
}

export const formatTraining = (training: WrittenTraining): string =>
  `${JSON.stringify(training, sixDigits, 1)}\n`;

export function parseTraining(json: string, file: string): MeasuredTraining {
  const training = read(fields, parseJson(json, FormatError, file), FormatError, file);
  const name = trainingName(training);
  if (path.basename(file, '.json') === name) return training;
  throw new FormatError(`${file}: what it holds is called ${name}.json`);
}

/** All trainings of a folder, by name; none if there is no such folder. */
export const readTrainings = (folder: string): Promise<MeasuredTraining[]> =>
  readJsonFiles(folder, parseTraining);
