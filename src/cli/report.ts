/** `crab report`: evaluates every model of a zoo and writes pages about them. */
import type { Command } from 'commander';
import path from 'node:path';
import { counted } from '../base/index.js';
import {
  answerSetReport,
  FRESH_COUNTS,
  METRIC_NAMES,
  reportZoo,
  summaryJson,
  summaryText,
  updateResults,
  writeZooCards,
} from '../lab/index.js';
import { ALL_LAYOUTS, findLayout, VARIANTS } from '../matrix/index.js';
import { wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { sentenceOf } from './sentences.js';
import { deviceOption, problemsOption, readMetrics, repeatsOption } from './measuring.js';
import { requireInput, requireOutputFolder } from './paths.js';
import { startProgress } from './progress.js';
import { reportPictures, type PictureOptions } from './report-pictures.js';
import { percent, table } from './text.js';

interface Options extends PictureOptions {
  answerSets?: string | true;
  zoo?: string | true;
  data?: string[];
  docs?: string;
  cards?: boolean;
  systems?: boolean;
  count?: number;
  metrics?: string;
  problems?: number;
  repeats?: number;
}

const EXAMPLES = `
Writes index.html, which sets the models beside the tables of the paper; a page, the numbers as JSON and
every figure as SVG and PNG for each model. Without --data the models are measured on fresh problems,
with --data and --count on both. A folder that holds a report already keeps what was measured under the
same conditions (the bundle's hash, the data, all counts); what was not is removed and measured again.
Files that no report wrote are never replaced. A folder may hold bundles and runs of any system (those
need libtorch): each system and preset has its rows. A model that cannot be opened is named and left out, and
the command ends with 1; with --docs nothing is measured then.
With --docs, also the tables of the documents and a card of each model, README.md in its folder, and one
of the zoo. With --cards nothing is measured: cards are written from the bundles and what --docs keeps.
With --systems nothing is measured either: the tables of --docs and the figures that compare systems are
written from its measured/ and measured/systems/, whose files crab evaluate --measured makes.

Examples:
  crab report --zoo
  crab report --zoo --data RAVEN-10000 --data I-RAVEN --out report
  crab report --zoo my-bundles --count 500 --metrics sa,gsa --out report
  crab report --zoo --docs docs
  crab report --zoo my-bundles --cards
  crab report --systems --docs docs
  crab report --answer-sets center

--pictures draws answers-1-missing and answers-2-missing (SVG and PNG) into --out: the same problems,
completed by each model given. A machine that cannot draw keeps answers with --save; the files are models
to --pictures later:
  crab report --pictures runs/center-anp --save anp.json
  crab report --pictures zoo/center transformer/center anp.json --out docs/images/answers

--answer-sets measures no model but the candidates: how often the answer is the one with the most common
values, and how often a small network finds it that was trained with answers and never saw a context.
Chance is 12.5%; --count problems of each are tested (default: 2000).`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .option('--zoo [folder]', 'the models: those of this package, or a folder of bundles and runs')
    .option(
      '--answer-sets [config]',
      'how far candidates give the answer away, by variant: all configurations, or one',
    )
    .option(
      '--pictures <model...>',
      'only pictures of answers at any position, a row for each system: runs, bundles, saved answers',
    )
    .option('--save <file>', 'with --pictures of one model: keep its answers as JSON, draw nothing')
    .option('--examples <n>', 'with --pictures: problems of each configuration', wholeNumber(1, 20))
    .option('--seed <n>', 'with --pictures: of the problems', wholeNumber(0))
    .option('--out <folder>', 'folder to write', 'report')
    .option('--data <folder...>', 'folders of RAVEN, or of sets (raven_center_single.npz)')
    .option(
      '--count <n>',
      `fresh problems of each variant (default: ${FRESH_COUNTS.zoo}, none with --data)`,
      wholeNumber(1, 1_000_000),
    )
    .option('--metrics <list>', `all, or some of ${METRIC_NAMES.join(',')} (default: all)`)
    .addOption(problemsOption())
    .addOption(repeatsOption())
    .addOption(deviceOption())
    .option('--docs <folder>', 'also fill results.md and measured/ of this folder, and the cards')
    .option('--systems', 'only write tables and figures that compare systems, measuring nothing')
    .option('--cards', 'only write the cards of the models, measuring nothing')
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => run(options, signal));
}

const MEASURING = ['data', 'count', 'metrics', 'problems', 'repeats', 'device'] as const;

/** Refuses options of measuring: this flag measures nothing. */
function requireAlone(flag: '--cards' | '--systems', options: Options): void {
  const asked = MEASURING.find((name) => options[name] !== undefined);
  if (asked !== undefined) {
    throw new UsageError(`${flag} measures nothing: leave --${asked} out, or ${flag}`);
  }
}

/** `--systems`: what the documents keep, as tables and figures. */
async function reportSystems(options: Options): Promise<void> {
  const { docs } = options;
  requireAlone('--systems', options);
  if (options.zoo !== undefined) throw new UsageError('--systems and --zoo: give one of them');
  if (docs === undefined) throw new UsageError('--systems needs --docs, a folder of documents');
  await requireInput('--docs', path.join(docs, 'results.md'));
  const { changed, figures, trainings } = await updateResults(docs);
  const words = [
    counted(trainings, 'training'),
    `results.md ${changed ? 'written' : 'is up to date'}`,
    ...figures,
  ];
  const told = { trainings, changed, figures };
  process.stdout.write(options.json ? `${JSON.stringify(told)}\n` : `${words.join('\n')}\n`);
}

/** `--cards`: from what is kept, measuring nothing. */
async function writeCards(options: Options, signal: AbortSignal): Promise<void> {
  requireAlone('--cards', options);
  const zoo = options.zoo === true ? undefined : options.zoo;
  const cards = await writeZooCards({ zoo, docs: options.docs, signal });
  const lines = cards.length === 0 ? ['all cards are up to date'] : cards;
  process.stdout.write(options.json ? `${JSON.stringify({ cards })}\n` : `${lines.join('\n')}\n`);
}

/** `--answer-sets`: needs no model. */
async function reportAnswerSets(options: Options, signal: AbortSignal): Promise<void> {
  if (options.zoo !== undefined) throw new UsageError('--answer-sets and --zoo: give one of them');
  const layouts =
    typeof options.answerSets === 'string'
      ? [findLayout(options.answerSets)]
      : ALL_LAYOUTS.filter(({ noisy }) => !noisy);
  const progress = startProgress(layouts.length * VARIANTS.length, 'answer sets', options.quiet);
  try {
    const results = await answerSetReport({
      configurations: layouts,
      tested: options.count,
      signal,
      onProgress: (done) => progress.update(done),
    });
    progress.stop();
    const rows = results.map(({ configuration, variant, majority, network }) => [
      configuration,
      variant,
      percent(majority),
      percent(network),
    ]);
    const header = ['configuration', 'variant', 'majority', 'context-blind network'];
    process.stdout.write(options.json ? `${JSON.stringify(results)}\n` : table([header, ...rows]));
  } finally {
    progress.stop();
  }
}

/** `--zoo`: measures its models and writes pages about them. */
async function reportModels(options: Options, signal: AbortSignal): Promise<void> {
  const metrics = options.metrics === undefined ? undefined : readMetrics(options.metrics);
  for (const folder of options.data ?? []) await requireInput('--data', folder);
  await requireOutputFolder('--out', options.out);
  const progress = startProgress(100, '% of the report', options.quiet);
  try {
    const { page, evaluations, broken } = await reportZoo({
      ...options,
      zoo: options.zoo === true ? undefined : options.zoo,
      metrics,
      signal,
      onProgress: (stage, _, whole) => progress.update(Math.round(1000 * whole) / 10, stage),
    });
    progress.stop();
    const failed = broken.map(({ location, error }) => ({ location, reason: sentenceOf(error) }));
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ page, models: evaluations.map(summaryJson), failed })}\n`
        : `${evaluations.map((each) => `${each.name}\n${summaryText(each)}`).join('\n')}\n${page}\n`,
    );
    for (const { location, reason } of failed) {
      process.stderr.write(`crab: the report is without ${location}: ${reason}\n`);
    }
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    progress.stop();
  }
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const { zoo, docs } = options;
  if (options.pictures !== undefined) return reportPictures(options, signal);
  if (options.answerSets !== undefined) return reportAnswerSets(options, signal);
  if (options.systems) return reportSystems(options);
  if (zoo === undefined) {
    throw new UsageError(
      'say what to report on: --zoo, --zoo with a folder of models, --systems, --pictures or --answer-sets',
    );
  }
  if (typeof zoo === 'string') await requireInput('--zoo', zoo);
  if (docs !== undefined) await requireOutputFolder('--docs', docs);
  return options.cards ? writeCards(options, signal) : reportModels(options, signal);
}
