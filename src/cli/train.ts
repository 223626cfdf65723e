/** `crab train`: trains a model without labels, or continues a training. */
import type { Command } from 'commander';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { findLayout, type ConfigurationLayout } from '../matrix/index.js';
import { ModelError, SYSTEM_NAMES, systemNamed } from '../models/index.js';
import type { System, SystemConfig } from '../models/index.js';
import { rendezvousOf, type Rendezvous } from '../torch/index.js';
import {
  DEFAULT_GIVE_UP_SECONDS,
  DEFAULT_POOL,
  DEFAULT_SYSTEM,
  DEFAULT_VALIDATE_EVERY,
  DURATION,
  isRun,
  openRun,
  train,
} from '../training/index.js';
import type {
  Budget,
  NewRunOptions,
  RunConfig,
  RuntimeOptions,
  TrainOptions,
  TrainOutcome,
} from '../training/index.js';
import { device, numberAboveZero, numberFromZero, oneOf, wholeNumber } from './arguments.js';
import { duration } from './duration.js';
import { Interrupted, UsageError } from './errors.js';
import { readTextInput, requireInput } from './paths.js';
import { DEFAULT_RANK_TIMEOUT, joinWith, launch, whileLaunched } from './train-ranks.js';
import { regimeOption, rulesOf, rulesOption, type RuleOptions } from './rules.js';
import { Display } from './train-display.js';

/** Settings that a flag gives as they are. */
const GIVEN = [
  'data',
  'pool',
  'refresh',
  'device',
  'precision',
  'deterministic',
  'syncBatchNorm',
  'threads',
  'logEvery',
] as const;

interface Options extends RuleOptions, Pick<NewRunOptions, (typeof GIVEN)[number]> {
  config?: string;
  noisy?: boolean;
  system?: string;
  preset?: string;
  overrides?: string;
  steps?: number;
  epochs?: number;
  time?: number;
  out?: string;
  resume?: string;
  continue?: boolean;
  nproc?: number;
  restarts?: number;
  rankTimeout?: number;
  retry?: number;
  seed?: number;
  workers?: number;
  validateEvery?: number;
  patience?: number;
  checkpointEvery?: number;
  json?: boolean;
  quiet?: boolean;
}

const DEFAULT_TIME_SECONDS = 20 * 60;
/** What a run is recorded under: changed by its flag alone, so that the rest follows it. */
const FLAGS_OF_NAMES = { preset: '--preset', configuration: '--config', noisy: '--noisy' };

const HELP = `
Presets of crab: crab (ours, the default), released (the authors' code), paper (Appendix C), small
(a computer without a GPU). Without --data, problems are generated for as long as it trains.
Data of another configuration are refused; those that are so in part, or have noise or a mesh, are named.

Examples:
  crab train --config center --preset small --time 10m
  crab train --config grid-3x3 --device cuda --time 20m --out runs/nine
  crab train --config center --data set.npz --preset released --steps 6000 --device cuda
  crab train --resume runs/nine
  crab train --config center --preset small --nproc 2 --restarts 3

A training that ends with 137 was killed because memory ran out. On a CPU the pool and the batch take most of
it: give a smaller --pool, or --overrides '{"optimizer":{"batchSize":8}}'.

Several processes share each batch: --nproc starts them here; under torchrun, srun or a Kubernetes
PyTorchJob the same command is one of them (see examples/cluster).`;

/** Timers hold no more than 24 days. */
const MOST_RANK_TIMEOUT = 7 * 24 * 3600;

export function define(command: Command, signal: AbortSignal): void {
  command
    .option('--config <name>', 'which configuration')
    .option('--noisy', "RAVEN's original noise, for the configurations with grids")
    .option(
      '--data <path>',
      'a set (.npz) or RAVEN folder to train on (default: generated problems)',
    )
    .addOption(rulesOption())
    .addOption(regimeOption())
    .option(
      '--system <name>',
      `what to train: ${SYSTEM_NAMES.join(', ')} (default: ${DEFAULT_SYSTEM}; see crab systems)`,
      oneOf(SYSTEM_NAMES),
    )
    .option('--preset <name>', "which of the system's recipes (default: its first)")
    .option('--overrides <json>', 'changes to the preset: JSON, or a file of it')
    .option('--device <name>', 'cpu, cuda or cuda:n (default: cpu)', device)
    .option('--steps <n>', 'how many steps', wholeNumber(1))
    .option('--epochs <n>', 'how often to use every problem', numberAboveZero)
    .option(
      '--time <duration>',
      `how long, start-up included, but at least the steps that measure the speed: ${DURATION} (default: ${DEFAULT_TIME_SECONDS / 60}m)`,
      duration(),
    )
    .option('--out <run>', 'folder of the run (default: runs/<config>-<preset>-<seed>)')
    .option('--resume <run>', 'continue a run with the settings stored in it')
    .option('--continue', 'continue the run in --out if it is there, else start it')
    .option('--nproc <n>', 'processes of this machine that share each batch', wholeNumber(1, 1024))
    .option('--restarts <n>', 'with --nproc: start again after a failure', wholeNumber(0, 1000))
    .option(
      '--rank-timeout <duration>',
      `longest wait for another process (default: ${DEFAULT_RANK_TIMEOUT / 60}m)`,
      duration(MOST_RANK_TIMEOUT, 'a week (168h)'),
    )
    .option(
      '--retry <duration>',
      `how long to try again after the last step if the disk refuses (default: ${DEFAULT_GIVE_UP_SECONDS / 60}m)`,
      duration(),
    )
    .option('--no-sync-batch-norm', 'each process normalises by its own part of the batch')
    .option('--seed <n>', 'everything random follows from it (default: 0)', wholeNumber(0))
    .option(
      '--pool <n>',
      `generated problems kept at a time (default: ${DEFAULT_POOL}, or all that the preset is trained on)`,
      wholeNumber(1),
    )
    .option(
      '--refresh <n>',
      'problems replaced in every step; 0 keeps the first ones',
      numberFromZero,
    )
    .option(
      '--precision <name>',
      'f32, bf16 or f64 (default: bf16 on cuda)',
      oneOf(['f32', 'bf16', 'f64']),
    )
    .option('--deterministic', 'repeat exactly on cuda too, at some cost')
    .option('--threads <n>', 'threads of one operation on the CPU', wholeNumber(1, 1024))
    .option('--workers <n>', 'threads that make problems', wholeNumber(1, 1024))
    .option(
      '--validate-every <n>',
      `steps between validations (default: ${DEFAULT_VALIDATE_EVERY})`,
      wholeNumber(1),
    )
    .option(
      '--patience <n>',
      'end after so many validations in a row without a better one',
      wholeNumber(1),
    )
    .option('--checkpoint-every <n>', 'steps between checkpoints', wholeNumber(1))
    .option('--log-every <n>', 'steps between lines of the metrics log', wholeNumber(1))
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', HELP)
    .action((options: Options) => run(options, signal));
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const rendezvous = rendezvousOf();
  if (options.nproc === undefined) {
    if (options.restarts !== undefined) throw new UsageError('--restarts goes with --nproc');
    return runHere(options, rendezvous, whileLaunched(signal));
  }
  if (rendezvous !== null) {
    throw new UsageError('--nproc does not go with a launcher: this process is one of its ranks');
  }
  await requireNew(options);
  return launch(options, signal);
}

/** Before ranks start: a restart continues what is in the folder, so that must be this job's own run. */
async function requireNew(options: Options): Promise<void> {
  if (options.resume !== undefined || options.continue === true) return;
  const { out } = await newRun(options);
  if (await isRun(out)) {
    throw new UsageError(`${out} exists already; continue it with --continue or name another`);
  }
}

/** The settings of a run, from flags or from where it is stored. */
async function requestOf(options: Options): Promise<{ request: TrainOptions; device?: string }> {
  if (options.resume !== undefined) return resumed(options);
  const request = await newRun(options);
  if (options.continue === true && (await isRun(request.out))) return continued(options, request);
  if (options.data !== undefined) await requireInput('--data', options.data);
  return { request, device: request.device };
}

/** A run that is there already, with the flags it was started with. */
async function continued(
  options: Options,
  { out, system, model, data, rules }: NewRunOptions,
): Promise<{ request: TrainOptions; device: string }> {
  const { config } = await openRun(out);
  if (config.system !== system || !isDeepStrictEqual(config.model, model)) {
    throw new UsageError(
      `--continue: ${out} was started with another system, preset or other overrides`,
    );
  }
  requireSameData(out, data, config.data);
  const stored = config.data.kind === 'stream' ? config.data.rules : undefined;
  if (!isDeepStrictEqual(stored, rules)) {
    throw new UsageError(`--continue: ${out} was started with another --rules or --regime`);
  }
  const decided = {
    out: undefined,
    data: undefined,
    overrides: undefined,
    rules: undefined,
    regime: undefined,
  };
  return resumed({ ...options, ...decided, resume: out });
}

/** Other problems would be another training; changes of the file itself are seen when it is read. */
function requireSameData(out: string, given: string | undefined, stored: RunConfig['data']): void {
  const expected = stored.kind === 'set' ? stored.path : undefined;
  if ((given === undefined ? undefined : path.resolve(given)) === expected) return;
  const used = expected === undefined ? 'without --data' : `with --data ${expected}`;
  throw new UsageError(`--continue: ${out} was started ${used}`);
}

/** What this process does: the whole run, or a rank's part of it. */
async function runHere(
  options: Options,
  rendezvous: Rendezvous | null,
  signal: AbortSignal,
): Promise<void> {
  if (rendezvous === null) {
    return trainAndReport(options, (await requestOf(options)).request, signal);
  }
  const follows = rendezvous.rank > 0;
  const follow = { request: { follow: true, ...runtimeOf(options) } as const };
  const { request, joined } = await joinWith<{ request: TrainOptions; device?: string }>(
    rendezvous,
    () => (follows ? Promise.resolve(follow) : requestOf(options)),
    ({ device }) => device,
    options.rankTimeout ?? DEFAULT_RANK_TIMEOUT,
    signal,
  );
  const own = { ...request.request, ...joined };
  if (!follows) await trainAndReport(options, own, signal);
  // The first rank reports for all.
  else requireFinished(await train(own, {}, signal));
  joined.leave();
}

function requireFinished({ finished }: TrainOutcome): void {
  if (!finished) throw new Interrupted('stopped before the end');
}

async function trainAndReport(
  options: Options,
  request: TrainOptions,
  signal: AbortSignal,
): Promise<void> {
  const display = new Display(options.quiet === true);
  let outcome: TrainOutcome;
  try {
    outcome = await train(request, display, signal);
  } finally {
    display.stop();
  }
  if (options.json) process.stdout.write(`${JSON.stringify(display.report(outcome))}\n`);
  else process.stderr.write(`${display.summary(outcome)}\n`);
  requireFinished(outcome);
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

async function readOverrides(given: string | undefined): Promise<object> {
  if (given === undefined) return {};
  const inline = /^\s*[{["]/.test(given) || parsedJson(given) !== undefined;
  const read = parsedJson(inline ? given : await readTextInput('--overrides', given));
  const named = inline ? 'the text' : given;
  if (read === undefined) throw new UsageError(`--overrides: ${named} is not JSON`);
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw new UsageError(`--overrides: ${named} must be a JSON object, such as {"optimizer": {…}}`);
  }
  for (const [key, flag] of Object.entries(FLAGS_OF_NAMES)) {
    if (key in read) throw new UsageError(`--overrides: "${key}" is chosen with ${flag}`);
  }
  return read;
}

/** The value of a JSON text; undefined, which no JSON has, if the text is not JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The system, and its settings for the configuration asked for. */
async function modelOf(
  options: Options,
): Promise<{ system: System; model: SystemConfig; layout: ConfigurationLayout }> {
  if (options.config === undefined) throw new UsageError('--config is needed, or --resume');
  const layout = findLayout(options.config, options.noisy);
  const system = systemNamed(options.system ?? DEFAULT_SYSTEM);
  const preset = options.preset ?? system.presets[0];
  if (!system.presets.includes(preset)) {
    throw new UsageError(`--preset ${preset}: ${system.name} has ${system.presets.join(', ')}`);
  }
  const overrides = await readOverrides(options.overrides);
  try {
    const { configuration, noisy } = layout;
    return { system, model: system.config(preset, configuration, { noisy, overrides }), layout };
  } catch (error) {
    if (error instanceof ModelError) throw new UsageError(`--overrides: ${error.message}`);
    throw error;
  }
}

/** What may differ from process to process of one run. */
const runtimeOf = ({ workers, retry }: Options): RuntimeOptions => ({
  workers,
  giveUpSeconds: retry,
});

async function newRun(options: Options): Promise<NewRunOptions & RuntimeOptions> {
  const { system, model, layout } = await modelOf(options);
  if (
    options.data !== undefined &&
    (options.pool ?? options.refresh ?? options.workers) !== undefined
  ) {
    throw new UsageError(
      '--pool, --refresh and --workers are for generated problems, not for --data',
    );
  }
  const rules = await rulesOf(options);
  if (options.data !== undefined && rules !== undefined) {
    throw new UsageError('--rules and --regime are for generated problems, not for --data');
  }
  if (options.out === '') throw new UsageError('--out is empty: name a folder');
  if (options.out === '-') throw new UsageError('--out -: a run is a folder: name one');
  const seed = options.seed ?? 0;
  const name = layout.configuration + (layout.noisy ? '-noisy' : '');
  const kind = system.name === DEFAULT_SYSTEM ? model.preset : `${system.name}-${model.preset}`;
  const settings: NewRunOptions = {
    out: options.out ?? `runs/${name}-${kind}-${seed}`,
    system: system.name,
    model,
    budget: budgetOf(options),
    seed,
    rules,
    ...Object.fromEntries(GIVEN.map((name) => [name, options[name]])),
    validation: { every: options.validateEvery, patience: options.patience },
    checkpoints: { steps: options.checkpointEvery },
  };
  return { ...settings, ...runtimeOf(options) };
}

/** Flags that a stored run decides, each with whether a given value agrees with it. */
function disagreements(options: Options, config: RunConfig): string[] {
  const { model, budget, data } = config;
  const stream = data.kind === 'stream' ? data : null;
  const agrees: Record<string, boolean> = {
    system: isSame(options.system, config.system),
    config: options.config === undefined || isConfiguration(options, model),
    noisy: isSame(options.noisy, model.noisy),
    data: options.data === undefined,
    preset: isSame(options.preset, model.preset),
    overrides: options.overrides === undefined,
    rules: options.rules === undefined,
    regime: options.regime === undefined,
    device: isSame(options.device, config.device),
    steps: isSame(options.steps, budget.kind === 'steps' ? budget.steps : null),
    epochs: isSame(options.epochs, budget.kind === 'epochs' ? budget.epochs : null),
    time: isSame(options.time, budget.kind === 'time' ? budget.seconds : null),
    out: options.out === undefined,
    seed: isSame(options.seed, config.seed),
    pool: isSame(options.pool, stream?.pool ?? null),
    refresh: isSame(options.refresh, stream?.refresh ?? null),
    precision: isSame(options.precision, config.precision),
    deterministic: options.deterministic === undefined || config.deterministic,
    threads: isSame(options.threads, config.threads),
    'no-sync-batch-norm': options.syncBatchNorm !== false || config.syncBatchNorm === false,
    'validate-every': isSame(options.validateEvery, config.validation.every),
    patience: isSame(options.patience, config.validation.patience ?? null),
    'checkpoint-every': isSame(options.checkpointEvery, config.checkpoints.steps),
    'log-every': isSame(options.logEvery, config.logEvery),
  };
  return Object.keys(agrees)
    .filter((flag) => !agrees[flag])
    .map((flag) => `--${flag}`);
}

const isSame = <T>(given: T | undefined, stored: T | null): boolean =>
  given === undefined || given === stored;

function isConfiguration({ config, noisy }: Options, model: SystemConfig): boolean {
  const layout = findLayout(config ?? model.configuration, noisy);
  return layout.configuration === model.configuration && layout.noisy === model.noisy;
}

async function resumed(options: Options): Promise<{ request: TrainOptions; device: string }> {
  const resume = options.resume ?? '';
  const { config } = await openRun(resume);
  const conflicts = disagreements(options, config);
  if (conflicts.length > 0) {
    const flags = conflicts.join(', ');
    throw new UsageError(
      `${flags} cannot be changed with --resume: ${resume} was started otherwise`,
    );
  }
  return { request: { resume, ...runtimeOf(options) }, device: config.device };
}
