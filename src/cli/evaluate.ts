/** `crab evaluate`: measures a model on problems, prints it, and draws a report of it. */
import type { Command } from 'commander';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  evaluateModel,
  exportRun,
  FRESH_COUNTS,
  freshData,
  METRIC_NAMES,
  MODEL_MARK,
  openSubject,
  summaryJson,
  summaryText,
  variantOf,
  writeReport,
} from '../lab/index.js';
import type {
  EvaluationData,
  MetricName,
  ModelEvaluation,
  OpenedSubject,
  Subject,
} from '../lab/index.js';
import { PARTS, type Part } from '../matrix/index.js';
import { writeOutput, type OutputPlace } from '../base/node.js';
import { checkConfiguration, openProblems } from '../matrix/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { StageProgress } from './export.js';
import { problemsOption, readMetrics, repeatsOption } from './measuring.js';
import { isRun, requireInput, requireOutputFile, requireOwnPage } from './paths.js';

interface Options {
  model: string;
  data?: string[];
  count?: number;
  metrics?: string;
  part: Part | 'all';
  problems?: number;
  repeats?: number;
  report?: string;
  save?: string;
  json?: boolean;
  quiet?: boolean;
}

const EXAMPLES = `
The model is a bundle of the zoo by its name, the folder of a bundle, or a run, which is exported to a
temporary bundle first. The data are a RAVEN folder (its test part), a set file (.npz) or an HDF5 cache;
several may be given: selection accuracy is measured on each, gsa, errors and ari on all of them together
(a matrix that is in several counts once). Without data, fresh problems are made, those of RAVEN and
I-RAVEN candidates.

Metrics: sa        selection accuracy on the candidates of the data
         gsa       global selection accuracy: any positions, 1 to 3 missing, 2 to 16 candidates
         errors    differences of drawn and true panels in pixels
         ari       agreement of the rules found with the true ones
         vd        variance decline: which attribute each concept is
         readback  whether imagined panels, read back as attributes, obey the rules
         all       all of these (the default with --report)

Examples:
  crab evaluate --model center --report center.html
  crab evaluate --model center --data RAVEN-10000/center_single
  crab evaluate --model center --data center.npz --metrics all --report center.html
  crab evaluate --model runs/center-crab-0 --data center.npz --json`;

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
    .option('--metrics <list>', `all, or some of ${METRIC_NAMES.join(',')} (default: sa)`)
    .option('--report <file>', 'write a page with figures, HTML')
    .option('--save <file>', 'write the whole evaluation as JSON')
    .option(
      '--part <part>',
      `of a RAVEN folder: ${PARTS.join(', ')} or all`,
      oneOf([...PARTS, 'all']),
      'test',
    )
    .addOption(problemsOption())
    .addOption(repeatsOption())
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => evaluate(options, signal));
}

/** Uses a model: a bundle, or a run that is exported for the purpose. */
async function withSubject<T>(
  model: string,
  metrics: readonly MetricName[],
  progress: StageProgress,
  signal: AbortSignal,
  use: (subject: OpenedSubject) => Promise<T>,
): Promise<T> {
  const temporary = (await isRun(model))
    ? await mkdtemp(path.join(tmpdir(), 'crab-bundle-'))
    : null;
  try {
    if (temporary !== null) {
      const onProgress = (stage: string, share: number): void =>
        progress.update(`export: ${stage}`, share);
      // Statistics for several missing panels are long to work out and only for arbitrary positions.
      const targetCounts = metrics.includes('gsa') ? undefined : [];
      await exportRun({
        run: model,
        out: temporary,
        judged: 1,
        targetCounts,
        signal,
        onProgress,
      });
    }
    const subject = await openSubject(temporary ?? model, { signal });
    try {
      return await use(subject);
    } finally {
      await subject.dispose();
    }
  } finally {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  }
}

/** Metrics that look at the data; the others make panels of their own. */
const ON_DATA: readonly MetricName[] = ['sa', 'gsa', 'errors', 'ari'];
const usesData = (metrics: readonly MetricName[]): boolean =>
  metrics.some((metric) => ON_DATA.includes(metric));

/** Opens all data, or makes fresh ones; what is open is closed again where one fails. */
async function openData(
  options: Options,
  metrics: readonly MetricName[],
  subject: Subject,
): Promise<EvaluationData[]> {
  const { configuration, noisy } = subject.solver.manifest;
  if (options.data === undefined) {
    if (!usesData(metrics)) return [];
    return freshData(subject.solver.manifest, options.count ?? FRESH_COUNTS.model);
  }
  const part = options.part === 'all' ? undefined : options.part;
  const opened: EvaluationData[] = [];
  try {
    for (const name of options.data) {
      const source = await openProblems(name, { configuration, noisy, part });
      opened.push({ source, name, variant: variantOf(name) });
      if (source.count === 0) {
        throw new UsageError(
          `--data ${name}: no problems of the part ${options.part}; --part names another`,
        );
      }
      await checkConfiguration(name, source, configuration);
    }
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
  return opened;
}

async function closeAll(data: readonly EvaluationData[]): Promise<void> {
  for (const { source } of data) await source.close();
}

async function measure(
  options: Options,
  metrics: readonly MetricName[],
  report: OutputPlace | undefined,
  signal: AbortSignal,
): Promise<ModelEvaluation> {
  const progress = new StageProgress(options.quiet ?? false);
  try {
    return await withSubject(options.model, metrics, progress, signal, async (subject) => {
      const data = await openData(options, metrics, subject);
      try {
        const evaluation = await evaluateModel(subject, {
          model: options.model,
          data,
          metrics,
          problems: options.problems,
          repeats: options.repeats,
          signal,
          onProgress: (stage, share) => progress.update(stage, share),
        });
        if (report !== undefined) {
          progress.update('report', 0);
          await writeReport(evaluation, report, { model: subject.solver, signal });
        }
        return evaluation;
      } finally {
        await closeAll(data);
      }
    });
  } finally {
    progress.stop();
  }
}

function checkCount({ data, count }: Options, metrics: readonly MetricName[]): void {
  if (count === undefined) return;
  if (data !== undefined) {
    throw new UsageError('--count is of fresh problems: leave it out, or --data');
  }
  if (!usesData(metrics)) {
    throw new UsageError(
      `--count is of the problems of ${ON_DATA.join(', ')}: ${metrics.join(', ')} makes its own`,
    );
  }
}

/** The files to write, as they were before minutes of measuring. */
interface Outputs {
  readonly report: OutputPlace | undefined;
  readonly save: OutputPlace | undefined;
}

/** Everything that can be found wrong before minutes of measuring. */
async function checkPaths({ model, data = [], report, save }: Options): Promise<Outputs> {
  for (const each of data) await requireInput('--data', each);
  const inputs = [
    { argument: '--model', location: model },
    ...data.map((location) => ({ argument: '--data', location })),
  ];
  const page = await requireOutputFile('--report', report, inputs, 'html');
  await requireOwnPage('--report', report, MODEL_MARK);
  const others = report === undefined ? [] : [{ argument: '--report', location: report }];
  const saved = await requireOutputFile('--save', save, [...inputs, ...others], 'json');
  return { report: page, save: saved };
}

async function evaluate(options: Options, signal: AbortSignal): Promise<void> {
  const metrics = readMetrics(options.metrics ?? (options.report === undefined ? 'sa' : 'all'));
  checkCount(options, metrics);
  const { report, save } = await checkPaths(options);
  const evaluation = await measure(options, metrics, report, signal);
  if (save !== undefined) await writeOutput(save, `${JSON.stringify(evaluation)}\n`);
  process.stdout.write(
    options.json ? `${JSON.stringify(summaryJson(evaluation))}\n` : summaryText(evaluation),
  );
}
