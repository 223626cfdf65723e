/** `crab text`: problems as text for language models, of figures or of numbers alone. */
import { InvalidArgumentError, type Command } from 'commander';
import { extname } from 'node:path';
import { counted } from '../base/index.js';
import { isStandardOutput, makeFolderOf, PendingFile, type OutputPlace } from '../base/node.js';
import {
  choosePrompt,
  findLayout,
  numericProblemJson,
  OPERAND_DRAWS,
  predictPrompt,
  problemTextJson,
  RULE_NAMES,
  sampleNumericProblem,
  sampleProblem,
  textOfNumericProblem,
  textOfProblem,
  VARIANTS,
  type NumericRequest,
  type TextForms,
  type Variant,
} from '../matrix/index.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { requireNewFile } from './paths.js';
import { pauseNowAndThen, type Pause } from './pause.js';
import { withProgress, type Progress } from './progress.js';

const SETS = ['i-raven', 'i-raven-x'] as const;

interface Options extends Omit<NumericRequest, 'index'> {
  set: (typeof SETS)[number];
  config?: string;
  noisy?: boolean;
  variant?: Variant;
  count: number;
  out: string;
  examples?: number;
  angle?: boolean;
  rows?: '1' | '2' | '3';
  certainty?: number;
  json?: boolean;
  quiet?: boolean;
}

const HELP = `
--out FILE.jsonl writes one line for each problem: its rules, the text of context and candidates, both
prompts (predict: the model tells the missing panel; choose: it names a candidate), and the same
attribute by attribute. --out FILE.json writes the data themselves as lm-raven and I-RAVEN-X read them.
docs/text.md explains both.

Examples:
  crab text --set i-raven --config center --count 500 --out center.jsonl
  crab text --set i-raven-x --width 10 --values 1000 --count 500 --out x.jsonl
  crab text --set i-raven-x --confounders 10 --certainty 0.51 --count 500 --out hard.jsonl
  crab text --set i-raven-x --values 100 --count 10000 --seed 1234 --out center_n_10_maxval_100.json`;

const FIGURES_ONLY = ['config', 'noisy', 'variant', 'rows', 'angle'] as const;
const NUMBERS_ONLY = ['width', 'values', 'confounders', 'rule', 'operands', 'certainty'] as const;
/** What changes how problems are told, not the problems. */
const PROMPTS_ONLY = ['rows', 'angle', 'certainty', 'examples'] as const;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--set <name>', `which problems: ${SETS.join(', ')}`, oneOf(SETS))
    .requiredOption('--count <n>', 'how many problems', wholeNumber(1, 1_000_000))
    .requiredOption(
      '--out <file>',
      'a .jsonl of prompts, or a .json of data; - for prompts on standard output',
    )
    .option('--seed <n>', 'problem i of a seed is always the same', wholeNumber(0), 0)
    .option('--examples <n>', 'solved problems told before each (predict)', wholeNumber(0, 100))
    .option('--config <name>', 'i-raven: which configuration (default: center)')
    .option('--noisy', "i-raven: RAVEN's original noise, for the configurations with grids")
    .option(
      '--variant <name>',
      'i-raven: how candidates are made (default: i-raven)',
      oneOf(VARIANTS),
    )
    .option('--rows <n>', 'i-raven: how many rows are told (default: 3)', oneOf(['1', '2', '3']))
    .option('--angle', 'i-raven: tell angles too, which are noise')
    .option('--width <n>', 'i-raven-x: panels of a row (default: 10)', wholeNumber(3, 100))
    .option('--values <n>', 'i-raven-x: values of an attribute (default: 1000)', wholeNumber(10))
    .option('--confounders <n>', 'i-raven-x: numbers without a rule', wholeNumber(0, 1000))
    .option(
      '--rule <name>',
      `i-raven-x: one rule for all: ${RULE_NAMES.join(', ')}`,
      oneOf(RULE_NAMES),
    )
    .option('--operands <name>', `i-raven-x: ${OPERAND_DRAWS.join(', ')}`, oneOf(OPERAND_DRAWS))
    .option(
      '--certainty <p>',
      'i-raven-x: least probability of the true value, 0.34 to 1',
      certainty,
    )
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', HELP)
    .action((options: Options) => run(options, signal));
}

function certainty(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0.34 && value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0.34 to 1.');
}

/** One problem, in the forms that files have. */
interface Told {
  readonly rules: unknown;
  readonly forms: TextForms;
  readonly json: () => unknown;
}

type Teller = (index: number) => Told;

function figures(options: Options): Teller {
  const { config = 'center', variant = 'i-raven', seed } = options;
  const { configuration, noisy } = findLayout(config, options.noisy);
  const rows = Number(options.rows ?? 3) as 1 | 2 | 3;
  return (index) => {
    const problem = sampleProblem({ configuration, noisy, variant, seed, index });
    return {
      rules: problemTextJson(problem).rules,
      forms: textOfProblem(problem, { rows, withAngle: options.angle }),
      json: () => problemTextJson(problem),
    };
  };
}

function numbers(options: Options): Teller {
  const { seed, certainty: least } = options;
  return (index) => {
    const problem = sampleNumericProblem({ ...given(options), seed, index });
    return {
      rules: [problem.rules],
      forms: textOfNumericProblem(problem, { certainty: least, seed, index }),
      json: () => numericProblemJson(problem),
    };
  };
}

/** The settings of numeric problems that were given. */
const given = ({ width, values, confounders, rule, operands }: Options) =>
  Object.fromEntries(
    Object.entries({ width, values, confounders, rule, operands }).filter(
      ([, value]) => value !== undefined,
    ),
  );

/** Examples come from far beyond the problems of a file. */
const FIRST_EXAMPLE = 1_000_000_000;

/** How many examples are looked at to find what all problems have alike. */
const LOOKED_AT = 20;
/** Most problems looked at for the examples of one. */
const MOST_LOOKED_AT = 10_000;

/** What can differ between problems: not the colour of an outer figure, which is always white. */
async function varying(problemAt: Teller, pause: Pause): Promise<string[]> {
  const some: TextForms[] = [];
  while (some.length < LOOKED_AT) {
    await pause();
    some.push(problemAt(FIRST_EXAMPLE + some.length).forms);
  }
  return Object.keys(some[0].separate).filter(
    (name) => new Set(some.map(({ separate }) => separate[name].context)).size > 1,
  );
}

/** Finds solved problems that differ from the problem at hand in the context of every attribute. */
async function exampleFinder(options: Options, problemAt: Teller, pause: Pause) {
  const { examples: count = 0 } = options;
  const names = count === 0 ? [] : await varying(problemAt, pause);
  return async (index: number, { separate }: TextForms): Promise<TextForms['whole'][]> => {
    const found: TextForms['whole'][] = [];
    for (let i = 0; found.length < count; i++) {
      if (i === MOST_LOOKED_AT) {
        throw new UsageError(
          `--examples ${count}: only ${found.length} can be found that share nothing with problem ${index}`,
        );
      }
      await pause();
      const { forms } = problemAt(FIRST_EXAMPLE + index * 1000 + i);
      if (names.every((name) => forms.separate[name].context !== separate[name].context)) {
        found.push(forms.whole);
      }
    }
    return found;
  };
}

type ExampleFinder = Awaited<ReturnType<typeof exampleFinder>>;

async function lineOf(
  options: Options,
  index: number,
  { rules, forms }: Told,
  examplesFor: ExampleFinder,
): Promise<string> {
  const { context, candidates, target } = forms.whole;
  return JSON.stringify({
    id: index,
    set: options.set,
    seed: options.seed,
    rules,
    answer: target,
    context,
    candidates,
    separate: Object.fromEntries(
      Object.entries(forms.separate).map(([name, text]) => [
        name,
        { context: text.context, candidates: text.candidates },
      ]),
    ),
    prompts: {
      predict: predictPrompt(forms.whole, await examplesFor(index, forms)),
      choose: choosePrompt(forms.whole),
    },
  });
}

/** The file, problem by problem: lines of prompts, or one object of all data. */
async function* pieces(
  options: Options,
  problemAt: Teller,
  format: 'json' | 'jsonl',
  pause: Pause,
): AsyncGenerator<string> {
  const examplesFor = await exampleFinder(options, problemAt, pause);
  for (let index = 0; index < options.count; index++) {
    await pause();
    if (format === 'jsonl') {
      yield `${await lineOf(options, index, problemAt(index), examplesFor)}\n`;
      continue;
    }
    const before = index === 0 ? '{' : ',\n';
    const after = index === options.count - 1 ? '}\n' : '';
    yield `${before}"${index}": ${JSON.stringify(problemAt(index).json())}${after}`;
  }
}

/** Characters written at a time. */
const CHUNK = 1 << 20;

/** Writes pieces one after the other, so that files may be larger than memory. */
const writePieces = (
  place: OutputPlace,
  made: AsyncIterable<string>,
  signal: AbortSignal,
  progress: Progress,
): Promise<void> =>
  PendingFile.fill(place, async (file) => {
    let [position, done, waiting] = [0, 0, ''];
    const write = async (): Promise<void> => {
      signal.throwIfAborted();
      const bytes = Buffer.from(waiting);
      await file.write(bytes, position);
      position += bytes.length;
      waiting = '';
      progress.update(done);
    };
    for await (const piece of made) {
      waiting += piece;
      done++;
      if (waiting.length >= CHUNK) await write();
    }
    await write();
  });

async function run(options: Options, signal: AbortSignal): Promise<void> {
  const { set, count, out } = options;
  const foreign = set === 'i-raven' ? NUMBERS_ONLY : FIGURES_ONLY;
  const wrong = foreign.find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not for --set ${set}`);
  const format = isStandardOutput(out) ? 'jsonl' : extname(out).slice(1);
  if (format !== 'json' && format !== 'jsonl') {
    throw new UsageError(`--out ${out}: name a .jsonl of prompts or a .json of data`);
  }
  const untold = format === 'json' && PROMPTS_ONLY.find((name) => options[name] !== undefined);
  if (untold)
    throw new UsageError(`--${untold} is of prompts: --out ${out} holds data, name a .jsonl`);
  const place = await requireNewFile('--out', out);
  const problemAt = set === 'i-raven' ? figures(options) : numbers(options);
  await makeFolderOf(place.path);
  await withProgress(count, 'problems', options, (progress) =>
    writePieces(
      place,
      pieces(options, problemAt, format, pauseNowAndThen(signal)),
      signal,
      progress,
    ),
  );
  tell(options, { problems: count, output: out }, () => `${counted(count, 'problem')}: ${out}\n`);
}
