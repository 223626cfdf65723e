/** `crab evaluate`: measures a model on problems, prints it, and draws a report of it. */
import type { Command } from 'commander';
import {
  ANSWERS_FORMAT,
  answersBy,
  closeData,
  EVALUATION_FORMAT,
  evaluateModel,
  formatAnswers,
  formatTraining,
  FRESH_COUNTS,
  freshData,
  lackFor,
  measuredTraining,
  METRIC_NAMES,
  MODEL_MARK,
  openData,
  openSubject,
  paintsAnywhere,
  readFacts,
  requireRun,
  summaryJson,
  summaryText,
  tagIn,
  TRAINING_FORMAT,
  writeReport,
} from '../lab/index.js';
import type {
  EvaluationData,
  MetricName,
  ModelEvaluation,
  PaintedAnswers,
  SubjectFacts,
} from '../lab/index.js';
import { PAPER_VARIANTS, PARTS, VARIANTS, type Part, type Variant } from '../matrix/index.js';
import { ArgumentError } from '../base/index.js';
import { isFolder, writeOutput, type OutputPlace } from '../base/node.js';
import type { Device } from '../torch/index.js';
import { isRun, openRun } from '../training/index.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { deviceOption, problemsOption, readMetrics, repeatsOption } from './measuring.js';
import { tell } from './output.js';
import { requireOwnFile, type OwnFile } from './own-files.js';
import { ownJson, ownPage } from './own-reports.js';
import { notParted, requireInput } from './paths.js';
import { withStages } from './progress.js';

interface Options {
  model: string;
  data?: string[];
  count?: number;
  variant?: Variant[];
  metrics?: string;
  part?: Part | 'all';
  problems?: number;
  repeats?: number;
  seed?: number;
  device?: Device;
  report?: string;
  save?: string;
  measured?: string;
  beside?: number;
  answers?: string;
  json?: boolean;
  quiet?: boolean;
}

/** The metrics that tables of systems show. */
const TRAINING_METRICS: readonly MetricName[] = ['sa', 'gsa', 'errors', 'readback'];

const EXAMPLES = `
The model is a bundle of the zoo by its name, the folder of a bundle, or a run of any system, which is
evaluated as it is (that needs libtorch): its own distance is worked out first, as crab export does. The
data are a RAVEN folder (its test part), a set file (.npz) or an HDF5 cache; several may be given: selection
accuracy is measured on each, gsa, errors and ari on all of them together (a matrix that is in several
counts once). Data with a mesh (I-RAVEN-Mesh), or with RAVEN's noise for a model without, are measured too, and
called so in the results: no model of the zoo was trained on a mesh or on noise, and what it draws has none.
So are data of which some problems, out of eight from the first to the last, are of another configuration or
of none; data of another configuration alone, and pictures of none without labels, are refused.
Without data, fresh problems are made, with the candidates of RAVEN and I-RAVEN or of the variants that
--variant names.
If several candidates are about as close as the closest, the model's own distance also paints them from their
descriptions, and adds to each how much worse it was painted than the best. Plain L2, the paper's, does not.

Metrics: sa        selection accuracy on the candidates of the data
         gsa       global selection accuracy: any positions, 1 to 3 missing, 2 to 16 candidates
         errors    differences of drawn and true panels in pixels
         ari       agreement of the rules found with the true ones
         vd        variance decline: which attribute each concept is
         readback  whether imagined panels, read back as attributes, obey the rules: at position 9, at
                   random positions and with 2 to 8 missing
         rules     whether the rules it names are the true ones, and its confidence means something
         all       all of these (the default with --report)
What a system cannot have is left out: one without concepts has no vd, one for panel 9 alone no gsa.

--measured writes a file for docs/measured/systems, from which crab report --docs writes the tables that
compare systems; it measures ${TRAINING_METRICS.join(', ')} unless --metrics says otherwise.

Examples:
  crab evaluate --model center --report center.html
  crab evaluate --model center --data RAVEN-10000/center_single
  crab evaluate --model center --data center.npz --metrics all --report center.html
  crab evaluate --model runs/center-crab-0 --data center.npz --json
  crab evaluate --model runs/center-scl-paper-0 --device cuda --measured scl-paper-center.json`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--model <model>', 'name or folder of a bundle, or a run')
    .option(
      '--data <path...>',
      'a RAVEN folder or a set file; several may be given (default: fresh problems)',
    )
    .option(
      '--count <n>',
      `fresh problems of each variant, where no data are given (default: ${FRESH_COUNTS.model})`,
      wholeNumber(1, 1_000_000),
    )
    .option(
      '--variant <names...>',
      `candidates of fresh problems: some of ${VARIANTS.join(', ')} (default: ${PAPER_VARIANTS.join(', ')})`,
      (value: string, before?: Variant[]) => [...(before ?? []), oneOf(VARIANTS)(value)],
    )
    .option(
      '--metrics <list>',
      `all, or some of ${METRIC_NAMES.join(',')} (default: sa; see below)`,
    )
    .option('--report <file>', 'write a page with figures, HTML')
    .option('--save <file>', 'write the whole evaluation as JSON')
    .option(
      '--measured <file>',
      'of a run: write how it was trained and what was measured, SYSTEM-PRESET-CONFIG[-TAG].json',
    )
    .option(
      '--beside <n>',
      'with --measured: trainings that ran on the device at the same time (default: 0)',
      wholeNumber(0, 1000),
    )
    .option(
      '--answers <file>',
      'also keep what it paints at any position as JSON, for crab report --pictures',
    )
    .option(
      '--part <part>',
      `of a RAVEN folder: ${PARTS.join(', ')} or all (default: test)`,
      oneOf([...PARTS, 'all']),
    )
    .addOption(problemsOption())
    .addOption(repeatsOption())
    .option(
      '--seed <n>',
      'of fresh problems and of positions drawn at random (default: one of its own for each metric)',
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .addOption(deviceOption())
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => evaluate(options, signal));
}

/** Metrics that look at the data; the others make panels of their own. */
const ON_DATA: readonly MetricName[] = ['sa', 'gsa', 'errors', 'ari'];
const usesData = (metrics: readonly MetricName[]): boolean =>
  metrics.some((metric) => ON_DATA.includes(metric));

/** Opens all data, or makes fresh ones. */
async function dataFor(
  { data, count, variant, part = 'test', seed }: Options,
  metrics: readonly MetricName[],
  facts: SubjectFacts,
): Promise<EvaluationData[]> {
  if (data !== undefined) {
    const given = data.map((location) => ({ location }));
    return openData(given, facts, part);
  }
  if (!usesData(metrics)) return [];
  return freshData(facts, count ?? FRESH_COUNTS.model, { variants: variant, seed });
}

/** Refuses metrics that were named and that the model cannot have. */
function checkMetrics({ metrics: told = 'all' }: Options, facts: SubjectFacts): void {
  if (told === 'all') return;
  for (const metric of readMetrics(told)) {
    const lack = lackFor(facts, metric);
    if (lack !== null) throw new UsageError(`--metrics ${metric}: ${facts.system} ${lack}`);
  }
}

async function measure(
  options: Options,
  metrics: readonly MetricName[],
  { report, answers }: Pick<Outputs, 'report' | 'answers'>,
  signal: AbortSignal,
  onProgress: (stage: string, share: number) => void,
): Promise<{ readonly evaluation: ModelEvaluation; readonly painted: PaintedAnswers | null }> {
  const { model, device, problems, repeats, seed } = options;
  const facts = await readFacts(model, signal);
  checkMetrics(options, facts);
  if (answers !== undefined && !paintsAnywhere(facts)) {
    throw new UsageError(`--answers: ${facts.system} paints no panels at arbitrary positions`);
  }
  const data = await dataFor(options, metrics, facts);
  try {
    // Figures show the rules of a model, whatever is measured.
    const shown = report === undefined ? metrics : [...metrics, 'ari' as const];
    const subject = await openSubject(model, { metrics: shown, device, signal, onProgress });
    try {
      const asked = { model, data, metrics, problems, repeats, seed, signal, onProgress };
      const evaluation = await evaluateModel(subject, asked);
      if (report !== undefined) {
        onProgress('report', 0);
        await writeReport(evaluation, report, { model: subject, signal });
      }
      const painted = answers === undefined ? null : await answersBy(subject, { signal });
      return { evaluation, painted };
    } finally {
      await subject.dispose();
    }
  } finally {
    await closeData(data);
  }
}

/** The metrics that look at what an option tells; no other must be asked alone with it. */
const CONCERNED: readonly (readonly [keyof Options, readonly MetricName[]])[] = [
  ['data', ON_DATA],
  ['count', ON_DATA],
  ['variant', ON_DATA],
  ['problems', METRIC_NAMES.filter((name) => !['sa', 'vd'].includes(name))],
  ['repeats', ['gsa']],
];

/** Refuses what no metric looks at, options of fresh problems beside `--data`, and those of data without. */
async function checkData(options: Options, metrics: readonly MetricName[]): Promise<void> {
  const { data, part } = options;
  for (const [name, concerned] of CONCERNED) {
    if (options[name] === undefined || metrics.some((each) => concerned.includes(each))) continue;
    throw new UsageError(
      `--${name} is of ${concerned.join(', ')}: --metrics ${metrics.join(',')} does not look at it`,
    );
  }
  if (data === undefined) {
    if (part !== undefined) throw new UsageError('--part is of --data: give a RAVEN folder');
    return;
  }
  const fresh = (['variant', 'count'] as const).find((name) => options[name] !== undefined);
  if (fresh !== undefined) {
    throw new UsageError(`--${fresh} is of fresh problems: leave it out, or --data`);
  }
  // The other metrics draw positions or problems of their own beside the data.
  if (options.seed !== undefined && metrics.every((metric) => metric === 'sa')) {
    throw new UsageError('--seed: nothing is drawn at random for sa on given data; leave it out');
  }
  for (const location of data) await requireInput('--data', location);
  const folders = await Promise.all(data.map(isFolder));
  if (part !== undefined && !folders.includes(true)) throw notParted(data.join(' '));
}

/** The files to write. Looked at before measuring: later nobody may have replaced them. */
interface Outputs {
  readonly report: OutputPlace | undefined;
  readonly save: OutputPlace | undefined;
  readonly measured: OutputPlace | undefined;
  readonly answers: OutputPlace | undefined;
}

/** Refuses `--measured` for a bundle, which knows too little, and a name that is not the run's. */
async function checkMeasured({ model, measured, beside }: Options): Promise<void> {
  if (measured === undefined) {
    if (beside !== undefined) throw new UsageError('--beside goes with --measured');
    return;
  }
  if (!(await isRun(model))) {
    throw new UsageError(`--measured is of a training: ${model} is no run`);
  }
  try {
    tagIn(measured, (await openRun(model)).config);
  } catch (error) {
    if (error instanceof ArgumentError) throw new UsageError(`--measured ${error.message}`);
    throw error;
  }
}

async function writeTraining(
  place: OutputPlace,
  { model, measured = '', beside }: Options,
  evaluation: ModelEvaluation,
): Promise<void> {
  const run = await openRun(model);
  const tag = tagIn(measured, run.config);
  const training = await measuredTraining(run, evaluation, { tag, beside });
  await writeOutput(place, formatTraining(training));
}

/** Finds what is wrong with outputs now, not after minutes of measuring. */
async function outputsOf({ model, data = [], ...options }: Options): Promise<Outputs> {
  const taken = [
    { argument: '--model', location: model },
    ...data.map((location) => ({ argument: '--data', location })),
  ];
  /** No output may be one of the files named before it. */
  const place = async (name: keyof Outputs, own: OwnFile): Promise<OutputPlace | undefined> => {
    const [argument, location] = [`--${name}`, options[name]];
    if (location === undefined) return undefined;
    const found = await requireOwnFile(argument, location, taken, own);
    taken.push({ argument, location });
    return found;
  };
  return {
    report: await place('report', ownPage(MODEL_MARK)),
    save: await place('save', ownJson(EVALUATION_FORMAT, 'an evaluation')),
    measured: await place('measured', ownJson(TRAINING_FORMAT, 'a measured training')),
    answers: await place('answers', ownJson(ANSWERS_FORMAT, 'a file of answers')),
  };
}

/** The metrics asked for. If none were, it depends on what is to be written. */
function metricsOf({ metrics, report, measured }: Options): readonly MetricName[] {
  if (metrics !== undefined) return readMetrics(metrics);
  if (report !== undefined) return readMetrics('all');
  return measured === undefined ? ['sa'] : TRAINING_METRICS;
}

async function evaluate(options: Options, signal: AbortSignal): Promise<void> {
  const metrics = metricsOf(options);
  await checkData(options, metrics);
  await requireRun(options.device, [options.model], `${options.model} is no run`);
  await checkMeasured(options);
  const places = await outputsOf(options);
  const { save, measured, answers } = places;
  const { evaluation, painted } = await withStages(options, (onProgress) =>
    measure(options, metrics, places, signal, onProgress),
  );
  if (save !== undefined) await writeOutput(save, `${JSON.stringify(evaluation)}\n`);
  if (measured !== undefined) await writeTraining(measured, options, evaluation);
  if (answers !== undefined && painted !== null) await writeOutput(answers, formatAnswers(painted));
  tell(options, summaryJson(evaluation), () => summaryText(evaluation));
}
