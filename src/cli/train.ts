/** `crab train`: trains a model without labels, or continues a training. */
import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { findLayout, type ConfigurationLayout } from '../matrix/index.js';
import { crabConfig, ModelError, PRESETS, type CrabConfig } from '../models/index.js';
import type { DeepPartial, PresetName } from '../models/index.js';
import { openRun, parseDuration, train } from '../training/index.js';
import type {
  Budget,
  NewRunOptions,
  Precision,
  RunConfig,
  StepEvent,
  TrainingObserver,
  TrainOptions,
  TrainOutcome,
  ValidationEvent,
} from '../training/index.js';
import { oneOf, wholeNumber } from './arguments.js';
import { Interrupted, UsageError } from './errors.js';
import { formatRate, formatSeconds, startProgress, type Progress } from './progress.js';

interface Options {
  config?: string;
  noisy?: boolean;
  data?: string;
  preset?: PresetName;
  overrides?: string;
  device?: string;
  steps?: number;
  epochs?: number;
  time?: number;
  out?: string;
  resume?: string;
  seed?: number;
  pool?: number;
  refresh?: number;
  precision?: Precision;
  deterministic?: boolean;
  threads?: number;
  workers?: number;
  validateEvery?: number;
  checkpointEvery?: number;
  logEvery?: number;
  json?: boolean;
  quiet?: boolean;
}

const DEFAULT_PRESET: PresetName = 'crab';
const DEFAULT_TIME_SECONDS = 20 * 60;

const HELP = `
Presets: crab (ours, the default), released (the authors' code), paper (Appendix C), small
(a computer without a GPU). Without --data, problems are generated for as long as it trains.

Examples:
  crab train --config center --preset small --time 10m
  crab train --config grid-3x3 --device cuda --time 20m --out runs/nine
  crab train --config center --data set.npz --preset released --steps 6000 --device cuda
  crab train --resume runs/nine`;

const duration = (text: string): number => parseDuration(text);

/** A number of at least 0. */
function amount(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new UsageError(`"${text}": expected a number, 0 or more`);
  }
  return value;
}

export function addTrainCommand(program: Command, signal: AbortSignal): void {
  program
    .command('train')
    .description('train a model without labels, or continue a training')
    .option('--config <name>', 'which configuration')
    .option('--noisy', "RAVEN's original noise, for the configurations with grids")
    .option(
      '--data <path>',
      'a set (.npz) or RAVEN folder to train on (default: generated problems)',
    )
    .option('--preset <name>', `${PRESETS.join(', ')} (default: ${DEFAULT_PRESET})`, oneOf(PRESETS))
    .option('--overrides <json>', 'changes to the preset: JSON, or a file of it')
    .option('--device <name>', 'cpu, cuda or cuda:n (default: cpu)')
    .option('--steps <n>', 'how many steps', wholeNumber(1))
    .option('--epochs <n>', 'how often to use every problem', amount)
    .option('--time <duration>', 'how long, e.g. 20m (the default)', duration)
    .option('--out <run>', 'folder of the run (default: runs/<config>-<preset>-<seed>)')
    .option('--resume <run>', 'continue a run with the settings stored in it')
    .option('--seed <n>', 'everything random follows from it (default: 0)', wholeNumber(0))
    .option('--pool <n>', 'generated problems kept at a time (default: 20000)', wholeNumber(1))
    .option('--refresh <n>', 'problems replaced in every step; 0 keeps the first ones', amount)
    .option('--precision <name>', 'f32 or bf16 (default: bf16 on cuda)', oneOf(['f32', 'bf16']))
    .option('--deterministic', 'repeat exactly on cuda too, at some cost')
    .option('--threads <n>', 'threads of one operation on the CPU', wholeNumber(1, 1024))
    .option('--workers <n>', 'threads that make problems', wholeNumber(1, 1024))
    .option('--validate-every <n>', 'steps between validations (default: 500)', wholeNumber(1))
    .option('--checkpoint-every <n>', 'steps between checkpoints', wholeNumber(1))
    .option('--log-every <n>', 'steps between lines of the metrics log', wholeNumber(1))
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', HELP)
    .action((options: Options) => run(options, signal));
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const request = options.resume === undefined ? await newRun(options) : await resumed(options);
  const display = new Display(options.quiet === true);
  let outcome: TrainOutcome;
  try {
    outcome = await train(request, display, signal);
  } finally {
    display.stop();
  }
  if (options.json) process.stdout.write(`${JSON.stringify(display.report(outcome))}\n`);
  else process.stderr.write(`${display.summary(outcome)}\n`);
  if (!outcome.finished) throw new Interrupted('stopped before the end');
}

function budgetOf({ steps, epochs, time }: Options): Budget {
  const given = Object.entries({ steps, epochs, time }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const names = given.map(([name]) => `--${name}`).join(' and ');
    throw new UsageError(`${names} do not go together: give one of them`);
  }
  if (steps !== undefined) return { kind: 'steps', steps };
  if (epochs !== undefined) return { kind: 'epochs', epochs };
  return { kind: 'time', seconds: time ?? DEFAULT_TIME_SECONDS };
}

async function readOverrides(given: string | undefined): Promise<DeepPartial<CrabConfig>> {
  if (given === undefined) return {};
  const inline = given.trimStart().startsWith('{');
  const text = inline ? given : await readFile(given, 'utf8');
  try {
    return JSON.parse(text) as DeepPartial<CrabConfig>;
  } catch {
    throw new UsageError(`--overrides: ${inline ? 'the text' : given} is not JSON`);
  }
}

async function modelOf(
  options: Options,
): Promise<{ model: CrabConfig; layout: ConfigurationLayout }> {
  if (options.config === undefined) throw new UsageError('--config is needed, or --resume');
  const layout = findLayout(options.config, options.noisy);
  const overrides = await readOverrides(options.overrides);
  try {
    const { configuration, noisy } = layout;
    const preset = options.preset ?? DEFAULT_PRESET;
    return { model: crabConfig(preset, configuration, { noisy, overrides }), layout };
  } catch (error) {
    if (error instanceof ModelError) throw new UsageError(`--overrides: ${error.message}`);
    throw error;
  }
}

async function newRun(options: Options): Promise<TrainOptions> {
  const { model, layout } = await modelOf(options);
  if (options.data !== undefined && (options.pool ?? options.refresh) !== undefined) {
    throw new UsageError('--pool and --refresh are for generated problems, not for --data');
  }
  const seed = options.seed ?? 0;
  const name = layout.configuration + (layout.noisy ? '-noisy' : '');
  const settings: NewRunOptions = {
    out: options.out ?? `runs/${name}-${model.preset}-${seed}`,
    model,
    budget: budgetOf(options),
    seed,
    data: options.data,
    pool: options.pool,
    refresh: options.refresh,
    device: options.device,
    precision: options.precision,
    deterministic: options.deterministic,
    threads: options.threads,
    logEvery: options.logEvery,
    validation: { every: options.validateEvery },
    checkpoints: { steps: options.checkpointEvery },
  };
  return { ...settings, workers: options.workers };
}

/** Flags that a stored run decides, each with whether a given value agrees with it. */
function disagreements(options: Options, config: RunConfig): string[] {
  const { model, budget, data } = config;
  const stream = data.kind === 'stream' ? data : null;
  const agrees: Record<string, boolean> = {
    config: options.config === undefined || isConfiguration(options, model),
    noisy: options.noisy === undefined || options.noisy === model.noisy,
    data: options.data === undefined,
    preset: options.preset === undefined || options.preset === model.preset,
    overrides: options.overrides === undefined,
    device: options.device === undefined || options.device === config.device,
    steps: isSame(options.steps, budget.kind === 'steps' ? budget.steps : null),
    epochs: isSame(options.epochs, budget.kind === 'epochs' ? budget.epochs : null),
    time: isSame(options.time, budget.kind === 'time' ? budget.seconds : null),
    out: options.out === undefined,
    seed: isSame(options.seed, config.seed),
    pool: isSame(options.pool, stream?.pool ?? null),
    refresh: isSame(options.refresh, stream?.refresh ?? null),
    precision: options.precision === undefined || options.precision === config.precision,
    deterministic: options.deterministic === undefined || config.deterministic,
    threads: isSame(options.threads, config.threads),
    'validate-every': isSame(options.validateEvery, config.validation.every),
    'checkpoint-every': isSame(options.checkpointEvery, config.checkpoints.steps),
    'log-every': isSame(options.logEvery, config.logEvery),
  };
  return Object.keys(agrees)
    .filter((flag) => !agrees[flag])
    .map((flag) => `--${flag}`);
}

const isSame = (given: number | undefined, stored: number | null): boolean =>
  given === undefined || given === stored;

function isConfiguration({ config, noisy }: Options, model: CrabConfig): boolean {
  const layout = findLayout(config ?? model.configuration, noisy);
  return layout.configuration === model.configuration && layout.noisy === model.noisy;
}

async function resumed(options: Options): Promise<TrainOptions> {
  const resume = options.resume ?? '';
  const { config } = await openRun(resume);
  const conflicts = disagreements(options, config);
  if (conflicts.length > 0) {
    const flags = conflicts.join(', ');
    throw new UsageError(
      `${flags} cannot be changed with --resume: ${resume} was started otherwise`,
    );
  }
  return { resume, workers: options.workers };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;

/** The terms worth a look while training, by short names. */
const SHORT_NAMES: Record<string, string> = {
  reconstruction: 'rec',
  ruleRegularizer: 'rule',
  targetRegularizer: 'target',
};

/** Shows a training on standard error. */
class Display implements TrainingObserver {
  #progress: Progress | null = null;
  #total: number | null = null;
  #first = 0;
  #run = '';
  #lastStep: StepEvent | null = null;
  #lastValidation: ValidationEvent | null = null;

  constructor(readonly quiet: boolean) {}

  readonly start: TrainingObserver['start'] = (event) => {
    this.#first = event.step;
    this.#run = event.run;
    this.#open(event.totalSteps);
    const size = `${(event.parameters / 1e6).toFixed(1)} million weights`;
    const from = event.step > 0 ? ` from step ${event.step}` : '';
    this.#say(`${event.run}: ${size} on ${event.device}${from}`);
  };

  readonly step: TrainingObserver['step'] = (event) => {
    this.#lastStep = event;
    if (event.totalSteps !== this.#total) this.#open(event.totalSteps);
    this.#progress?.update(event.step - this.#first, this.#noteOf(event));
  };

  readonly validation: TrainingObserver['validation'] = (event) => {
    this.#lastValidation = event;
  };

  readonly note: TrainingObserver['note'] = ({ level, text }) => {
    if (level === 'warning' || !this.quiet) this.#say(text);
  };

  #say(text: string): void {
    if (this.quiet && this.#progress === null) return;
    process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${text}\n`);
  }

  /** A bar over the steps of this process; before the length is known, without an end. */
  #open(totalSteps: number | null): void {
    this.#progress?.stop();
    this.#total = totalSteps;
    this.#progress = startProgress(
      (totalSteps ?? this.#first + 30) - this.#first,
      'steps',
      this.quiet,
    );
  }

  #noteOf({ terms, problemsPerSecond, secondsLeft }: StepEvent): string {
    const parts = Object.entries(SHORT_NAMES)
      .filter(([term]) => terms[term] !== undefined)
      .map(([term, name]) => `${name} ${terms[term].toPrecision(3)}`);
    const rate = `${formatRate(problemsPerSecond)} problems/s`;
    const left = secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} in all`;
    const judged = this.#lastValidation;
    const accuracy =
      judged === null
        ? ''
        : ` SA ${percent(judged.selectionAccuracy.raven)} GSA ${percent(judged.globalSelectionAccuracy)}`;
    return `| ${parts.join(' ')}${accuracy} | ${rate}${left}`;
  }

  stop(): void {
    this.#progress?.stop();
    this.#progress = null;
  }

  report(outcome: TrainOutcome): object {
    const { selectionAccuracy, globalSelectionAccuracy } = this.#lastValidation ?? {};
    return {
      ...outcome,
      terms: this.#lastStep?.terms ?? null,
      selectionAccuracy: selectionAccuracy ?? null,
      globalSelectionAccuracy: globalSelectionAccuracy ?? null,
      problemsPerSecond: this.#lastStep?.problemsPerSecond ?? null,
      feed: this.#lastStep?.feed ?? null,
    };
  }

  summary({ run, step, finished, best }: TrainOutcome): string {
    if (!finished) return `stopped after ${step} steps; continue with: crab train --resume ${run}`;
    const score = best === null ? '' : `, best ${percent(best.score)} at step ${best.step}`;
    const feed = this.#lastStep?.feed;
    const cost = feed
      ? `; a problem was used ${feed.uses.toFixed(1)} times, the feed took ${percent(feed.share)} of the time`
      : '';
    return `${this.#run}: ${step} steps${score}${cost}`;
  }
}
