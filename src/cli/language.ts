/** `crab text`: problems as text for language models, of figures or of numbers alone. */
import type { Command } from 'commander';
import { extname } from 'node:path';
import { writeOutput } from '../base/node.js';
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
import { requireNewFile } from './paths.js';

const SETS = ['i-raven', 'i-raven-x'] as const;

interface Options extends Omit<NumericRequest, 'index'> {
  set: (typeof SETS)[number];
  config?: string;
  noisy?: boolean;
  variant?: Variant;
  count: number;
  out: string;
  examples: number;
  angle?: boolean;
  rows?: '1' | '2' | '3';
  certainty?: number;
  json?: boolean;
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

export function define(command: Command): void {
  command
    .requiredOption('--set <name>', `which problems: ${SETS.join(', ')}`, oneOf(SETS))
    .requiredOption('--count <n>', 'how many problems', wholeNumber(1, 1_000_000))
    .requiredOption('--out <file>', 'a .jsonl of prompts, or a .json of data')
    .option('--seed <n>', 'problem i of a seed is always the same', wholeNumber(0), 0)
    .option('--examples <n>', 'solved problems told before each (predict)', wholeNumber(0, 100), 0)
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
    .addHelpText('after', HELP)
    .action(run);
}

function certainty(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0.34 && value <= 1) return value;
  throw new UsageError(`--certainty ${text}: expected a number from 0.34 to 1`);
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

/** Solved problems none of whose attributes have the context of the problem at hand. */
function examplesFor(tell: Teller, index: number, problem: TextForms, count: number) {
  const shares = (other: TextForms): boolean =>
    Object.entries(problem.separate).some(
      ([name, { context }]) => other.separate[name].context === context,
    );
  const found: TextForms['whole'][] = [];
  for (let i = 0; found.length < count; i++) {
    const { forms } = tell(FIRST_EXAMPLE + index * 1000 + i);
    if (!shares(forms)) found.push(forms.whole);
  }
  return found;
}

function lineOf(options: Options, tell: Teller, index: number): string {
  const { rules, forms } = tell(index);
  const { context, candidates, target } = forms.whole;
  const examples = examplesFor(tell, index, forms, options.examples);
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
      predict: predictPrompt(forms.whole, examples),
      choose: choosePrompt(forms.whole),
    },
  });
}

async function run(options: Options): Promise<void> {
  const foreign = options.set === 'i-raven' ? NUMBERS_ONLY : FIGURES_ONLY;
  const wrong = foreign.find((name) => options[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not for --set ${options.set}`);
  const format = extname(options.out).slice(1);
  if (format !== 'json' && format !== 'jsonl') {
    throw new UsageError(`--out ${options.out}: name a .jsonl of prompts or a .json of data`);
  }
  const place = await requireNewFile('--out', options.out);
  if (place === undefined) return;
  const tell = options.set === 'i-raven' ? figures(options) : numbers(options);
  const indices = Array.from({ length: options.count }, (_, index) => index);
  const text =
    format === 'jsonl'
      ? indices.map((index) => `${lineOf(options, tell, index)}\n`).join('')
      : `{${indices.map((index) => `"${index}": ${JSON.stringify(tell(index).json())}`).join(',\n')}}\n`;
  await writeOutput(place, text);
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ problems: options.count, output: options.out })}\n`
      : `${options.count} problems: ${options.out}\n`,
  );
}
