/** `crab report`: evaluates every model of a zoo and writes pages about them. */
import type { Command } from 'commander';
import path from 'node:path';
import { counted, percent } from '../base/index.js';
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
import { table, tell } from './output.js';
import { requireInput, requireOutputFolder } from './paths.js';
import { withProgress } from './progress.js';
import { reportPictures, type PictureOptions } from './report-pictures.js';

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
    .option('--out <folder>', 'folder to write (default: report)')
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

/** What the command can report on, with the options that each takes; the first that is asked for is meant. */
const KINDS = [
  { flag: 'pictures', takes: ['save', 'examples', 'seed', 'out', 'device'], run: reportPictures },
  { flag: 'answerSets', takes: ['count'], run: reportAnswerSets },
  { flag: 'systems', takes: ['docs'], run: reportSystems },
  { flag: 'cards', takes: ['zoo', 'docs'], run: writeCards },
  {
    flag: 'zoo',
    takes: ['out', 'data', 'count', 'metrics', 'problems', 'repeats', 'device', 'docs'],
    run: reportModels,
  },
] as const satisfies readonly {
  readonly flag: keyof Options;
  readonly takes: readonly (keyof Options)[];
  readonly run: (options: Options, signal: AbortSignal) => Promise<void>;
}[];

/** An option as people write it. */
const optionName = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const kind = KINDS.find(({ flag }) => options[flag] !== undefined);
  if (kind === undefined) {
    throw new UsageError(
      'say what to report on: --zoo, --zoo with a folder of models, --systems, --pictures or --answer-sets',
    );
  }
  const taken: readonly string[] = [kind.flag, ...kind.takes, 'json', 'quiet', 'debug'];
  const foreign = Object.keys(options).find((name) => !taken.includes(name));
  if (foreign !== undefined) {
    const [flag, other] = [kind.flag, foreign].map(optionName);
    throw new UsageError(`${flag} does not go with ${other}: leave one of them out`);
  }
  return kind.run(options, signal);
}

/** `--systems`: what the documents keep, as tables and figures. */
async function reportSystems(options: Options): Promise<void> {
  const { docs } = options;
  if (docs === undefined) throw new UsageError('--systems needs --docs, a folder of documents');
  await requireInput('--docs', path.join(docs, 'results.md'));
  const { changed, hasPlaces, figures, trainings } = await updateResults(docs);
  const kept = hasPlaces
    ? 'is up to date'
    : 'has no place for a table, such as <!-- measured:systems --><!-- /measured -->';
  const results = `results.md ${changed ? 'written' : kept}`;
  const found =
    trainings > 0
      ? counted(trainings, 'training')
      : `no trainings in ${path.join(docs, 'measured', 'systems')}: tables and figures that compare systems stay as they are`;
  tell(options, { trainings, changed, figures }, () => lines([found, results, ...figures]));
}

const lines = (texts: readonly string[]): string => `${texts.join('\n')}\n`;

/** The folder of models; undefined for those of this package. */
async function zooOf({ zoo }: Options): Promise<string | undefined> {
  if (typeof zoo !== 'string') return undefined;
  await requireInput('--zoo', zoo);
  return zoo;
}

/** `--cards`: from what is kept, measuring nothing. */
async function writeCards(options: Options, signal: AbortSignal): Promise<void> {
  if (options.zoo === undefined)
    throw new UsageError('--cards needs --zoo: cards of which models?');
  const zoo = await zooOf(options);
  const cards = await writeZooCards({ zoo, docs: options.docs, signal });
  tell(options, { cards }, () => lines(cards.length === 0 ? ['all cards are up to date'] : cards));
}

/** `--answer-sets`: needs no model. */
async function reportAnswerSets(options: Options, signal: AbortSignal): Promise<void> {
  const { answerSets, count } = options;
  const configurations =
    typeof answerSets === 'string'
      ? [findLayout(answerSets)]
      : ALL_LAYOUTS.filter(({ noisy }) => !noisy);
  const total = configurations.length * VARIANTS.length;
  const results = await withProgress(total, 'answer sets', options, (progress) =>
    answerSetReport({
      ...{ configurations, tested: count, signal },
      onProgress: (done) => progress.update(done),
    }),
  );
  tell(options, results, () =>
    table([
      ['configuration', 'variant', 'majority', 'context-blind network'],
      ...results.map(({ configuration, variant, majority, network }) => [
        configuration,
        variant,
        percent(majority),
        percent(network),
      ]),
    ]),
  );
}

/** `--zoo`: measures its models and writes pages about them. */
async function reportModels(options: Options, signal: AbortSignal): Promise<void> {
  const { out = 'report', docs } = options;
  const zoo = await zooOf(options);
  if (docs !== undefined) await requireOutputFolder('--docs', docs);
  const metrics = options.metrics === undefined ? undefined : readMetrics(options.metrics);
  for (const folder of options.data ?? []) await requireInput('--data', folder);
  await requireOutputFolder('--out', out);
  const { page, evaluations, broken } = await withProgress(
    100,
    '% of the report',
    options,
    (progress) =>
      reportZoo({
        ...options,
        ...{ zoo, out, metrics, signal },
        onProgress: (stage, _, whole) => progress.update(Math.round(1000 * whole) / 10, stage),
      }),
  );
  const failed = broken.map(({ location, error }) => ({ location, reason: sentenceOf(error) }));
  tell(options, { page, models: evaluations.map(summaryJson), failed }, () =>
    lines([...evaluations.map((each) => `${each.name}\n${summaryText(each)}`), page]),
  );
  for (const { location, reason } of failed) {
    process.stderr.write(`crab: the report is without ${location}: ${reason}\n`);
  }
  if (failed.length > 0) process.exitCode = 1;
}
