/** `crab generate`: makes problems as RAVEN folders, sets, contact sheets, or items for people and models. */
import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { counted } from '../base/index.js';
import {
  ALL_LAYOUTS,
  CONFIGURATIONS,
  findLayout,
  hasGrid,
  layoutOf,
  VARIANTS,
  type Configuration,
  type ConfigurationLayout,
} from '../matrix/index.js';
import { generate, GENERATE_FORMATS } from '../matrix/node.js';
import type { GenerateOptions, GenerateReport } from '../matrix/node.js';
import { noAnswers, oneOf, wholeNumber } from './arguments.js';
import { defineItemOptions, vlmSetting, type ItemOptions } from './generate-items.js';
import { tell } from './output.js';
import { formatRate, withProgress } from './progress.js';
import { regimeOption, rulesOf, rulesOption, splitOption, type RuleOptions } from './rules.js';

type Options = ItemOptions & RuleOptions & OwnOptions & Omit<GenerateOptions, keyof Decided>;
/** What this command decides of what `generate` is asked. */
type Decided = Pick<GenerateOptions, 'layouts' | 'rules' | 'vlm' | 'withoutAnswers' | 'signal'>;

interface OwnOptions {
  config: string;
  noisy?: boolean;
  mesh?: boolean;
  noAnswers?: boolean;
  json?: boolean;
  quiet?: boolean;
}

const EXAMPLES = `
Configurations: ${CONFIGURATIONS.join(', ')};
several with commas between them (center,grid-2x2), or all.
The three with grids are noise-free unless --noisy is given; RAVEN's folder names
(distribute_four, distribute_four_uniform, ...) and the paper's (O-IC, 2x2Grid, ...) work too.

--rules FILE.json is explained, key by key, in docs/rules.md of this package:
{ "rules": …, "start": …, "uniform": …, "distractors": …, "regime": …, "split": … }.
The sets of the RAVEN family (variants, regimes, rule parameters) are explained in docs/data-sets.md.

Examples:
  crab generate --config center --count 10000 --out data                  RAVEN's folder layout
  crab generate --config grid-2x2 --variant i-raven --count 2000 --format npz --out set.npz
  crab generate --config center --regime a-color --variant i-raven --count 10000 --out data
  crab generate --config center,up-down --count 5 --format pdf --out items.pdf --answers key.csv
  crab generate --config center --count 20 --format png --no-answers --out sheets --answers key.csv
  crab generate --config all --variant i-raven --count 20 --format vlm --out items
  crab generate --config all --variant i-raven --count 10000 --format parquet --out data
  crab generate --config center --count 1000 --format jsonl --out - | python3 read.py`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption(
      '--config <names>',
      'which configurations: one, several with commas between, or all',
    )
    .requiredOption('--count <n>', 'how many problems of each', wholeNumber(1, 100_000_000))
    .requiredOption(
      '--out <path>',
      'folder (raven, png, svg, vlm, parquet) or file (npz, jsonl, pdf) to write; - for standard output',
    )
    .option(
      '--variant <name>',
      `how wrong candidates are made: ${VARIANTS.join(', ')}`,
      oneOf(VARIANTS),
      'raven',
    )
    .option('--seed <n>', 'problem i of a seed is always the same', wholeNumber(0), 0)
    .option('--format <name>', GENERATE_FORMATS.join(', '), oneOf(GENERATE_FORMATS), 'raven')
    .option('--noisy', "RAVEN's original noise, for the configurations with grids")
    .addOption(rulesOption())
    .addOption(regimeOption())
    .addOption(splitOption())
    .option('--mesh', 'one more component of twelve lines, as in I-RAVEN-Mesh: docs/data-sets.md')
    .option('--answers <file.csv>', "also write each item's rules, changes and answer")
    .addOption(noAnswers('png: sheets without the rules and the marked answer'))
    .option(
      '--compress',
      'raven: deflated npz files, a thirtieth of the size, which numpy reads as well',
    )
    .option(
      '--rule-parameters',
      'raven: step, direction and table index of each rule in the npz: docs/data-sets.md',
    )
    .option('--workers <n>', 'worker threads', wholeNumber(1, 256), availableParallelism())
    .option('--resume', 'continue an interrupted folder, and repair damaged files in it')
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => run(options, signal));
  defineItemOptions(command);
}

function layoutsFor({ config, noisy, mesh }: Options): ConfigurationLayout[] {
  const layouts = config.split(',').flatMap((name) => figureLayouts(name.trim(), noisy));
  return [...new Set(layouts)].map((layout) =>
    mesh ? layoutOf(layout.configuration, layout.noisy, true) : layout,
  );
}

function figureLayouts(name: string, noisy: boolean | undefined): ConfigurationLayout[] {
  if (name !== 'all') return [findLayout(name, noisy)];
  if (!noisy) return ALL_LAYOUTS.filter((layout) => !layout.noisy);
  return CONFIGURATIONS.map((c: Configuration) => layoutOf(c, hasGrid(c)));
}

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const layouts = layoutsFor(options);
  const vlm = vlmSetting(options.format, options);
  const rules = await rulesOf(options);
  const total = options.count * layouts.length;
  const start = performance.now();
  const report = await withProgress(total, 'problems', options, (progress) =>
    generate({
      ...options,
      ...{ withoutAnswers: options.noAnswers, layouts, rules, vlm, signal },
      onProgress: (done) => progress.update(done),
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  tell(options, { ...report, seconds }, () => summary(report, seconds));
}

function summary({ problems, kept, repaired, outputs }: GenerateReport, seconds: number): string {
  const made = problems - kept;
  const damaged = repaired > 0 ? ` (${repaired} of them were damaged)` : '';
  const before = kept > 0 ? `, ${kept} were there already` : '';
  const rate = `${seconds.toFixed(1)} s (${formatRate(made / seconds)}/s)`;
  return `${counted(made, 'problem')}${damaged}${before} in ${rate}: ${outputs.join(', ')}\n`;
}
