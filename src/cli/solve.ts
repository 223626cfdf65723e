/** `crab solve`: imagines the missing panels of a matrix, chooses a candidate, and says why. */
import type { Command } from 'commander';
import { writeOutput, type OutputPlace } from '../base/node.js';
import { encodePng, paperName, ruleMeaning, type Configuration } from '../matrix/index.js';
import { checkProblemConfiguration } from '../matrix/node.js';
import { completedPicture, Familiarity, readProblem, Solver } from '../solver/node.js';
import type {
  Alternative,
  Answer,
  Choice,
  NamedRule,
  Panel,
  ProblemInput,
} from '../solver/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { requireInput, requireOutputFile } from './paths.js';
import { percent, table } from './text.js';

interface Options {
  model: string;
  missing?: readonly number[];
  out?: string;
  paint?: 'likeliest' | 'mean';
  answers?: number;
  explain?: boolean;
  json?: boolean;
}

const EXAMPLES = `
INPUT is a RAVEN problem (.npz), a picture of a 3x3 matrix with a blank cell (.png, .jpg; candidates
beside it are found as well), or a folder of eight or nine images in the order of their names. An image of
one shade (white, grey or black) is a blank.

JSON: {"unknown": [panels the model does not know], "missing": [panels], "rules": [...],
"named": [rules in words, with their confidence], "symbols": [for each panel and group of concepts an entry
of the vocabulary], "answers": [different answers with their probabilities, with --answers],
"choice": {"index", "number", "confidence", "distance", "identical": [[candidates]], "candidates": [...]},
"answer"}. Panels are counted from 1 to 9, concepts and candidates from 1: choice.index and choice.number
are the same, and candidate n is the n-th of choice.candidates. What does not apply is null.

Examples:
  crab solve RAVEN_8_test.npz --model center
  crab solve sheet.png --model grid-2x2 --out completed.png --explain
  crab solve panels/ --model center --missing 3,7 --out completed.png`;

/** Positions such as 3,7. */
function positions(text: string): number[] {
  const list = text.split(',').map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : NaN));
  if (list.some((at) => !(at >= 1 && at <= 9))) {
    throw new UsageError(`--missing ${text}: expected positions of 1 to 9, such as 3,7`);
  }
  return list;
}

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--model <model>', 'name or folder of a bundle')
    .option('--missing <list>', 'missing positions, 1 to 9 (default: the blank one)', positions)
    .option('--out <file.png>', 'write the completed matrix')
    .option(
      '--paint <what>',
      'likeliest: the likeliest panel; mean: the mean of all possible ones',
      oneOf(['likeliest', 'mean']),
      'likeliest',
    )
    .option('--answers <n>', 'list so many different answers', wholeNumber(1, 100))
    .option('--explain', 'show rules in words, concepts, and distances')
    .option('--json', 'report as JSON on standard output')
    .addHelpText('after', EXAMPLES)
    .action((input: string, options: Options) => solve(input, options, signal));
}

/** What is missing: as told, else what the input lacks. */
function missingOf(input: ProblemInput, given: readonly number[] | undefined): readonly number[] {
  const missing = given ?? input.missing;
  if (missing.length === 0) {
    throw new UsageError('no panel is blank: say with --missing which one to imagine');
  }
  const absent = input.missing.find((position) => !missing.includes(position));
  if (absent !== undefined) {
    throw new UsageError(`panel ${absent} is blank, so --missing must name it too`);
  }
  return missing;
}

async function solve(location: string, options: Options, signal: AbortSignal): Promise<void> {
  await requireInput('INPUT', location);
  const inputs = [{ argument: 'INPUT', location }];
  const out = await requireOutputFile('--out', options.out, inputs, 'png');
  const input = await readProblem(location);
  const missing = missingOf(input, options.missing);
  const solver = await Solver.load(options.model, { signal });
  try {
    const { configuration } = solver.manifest;
    await checkProblemConfiguration(location, input.configurations, configuration);
    const answer = await solver.solve(input.panels, { missing, paint: options.paint, signal });
    if (options.answers !== undefined && solver.vocabulary === null) {
      throw new UsageError('--answers: this bundle has no vocabulary, so it has one answer only');
    }
    const answers =
      options.answers === undefined
        ? null
        : await solver.alternatives(answer, options.answers, { signal });
    const offered = missing.length === 1 && input.candidates.length > 0;
    const choice = offered ? await solver.choose(answer, input.candidates, { signal }) : null;
    if (out !== undefined) await writeCompleted(out, input, answer);
    const unknown = await unknownPanels(solver, input, missing, signal);
    const named = solver.nameRules(answer);
    const finding: Finding =
      unknown.length === 0 ? { answer, choice, named, answers } : withoutCertainty(answer, choice);
    const text = options.json
      ? `${JSON.stringify(report(finding, input, unknown))}\n`
      : unknownNote(unknown, configuration) +
        describe(finding, input, options.explain ?? false) +
        (finding.answers === null ? '' : answersText(finding.answers, solver));
    process.stdout.write(text);
  } finally {
    await solver.dispose();
  }
}

/** Positions of given panels that the model cannot redraw; a RAVEN file says itself what it is. */
async function unknownPanels(
  solver: Solver,
  input: ProblemInput,
  missing: readonly number[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  if (input.configurations !== null) return [];
  const given = input.panels.map((panel, i) => (missing.includes(i + 1) ? null : panel));
  return (await new Familiarity(solver).judge(given, { signal })).unknown;
}

/** What was found, with probabilities only where they mean something. */
interface Finding {
  readonly answer: Pick<Answer, 'missing' | 'rules' | 'symbols'>;
  readonly choice: UncertainChoice | null;
  /** Null without a vocabulary. */
  readonly named: readonly NamedRule[] | null;
  readonly answers: readonly Alternative[] | null;
}

interface UncertainChoice extends Omit<Choice, 'confidence' | 'candidates'> {
  readonly confidence: number | null;
  readonly candidates: readonly (Omit<Choice['candidates'][number], 'probability'> & {
    readonly probability: number | null;
  })[];
}

/** A model is as sure of pictures it has never seen the like of as of its own: that is not passed on. */
function withoutCertainty(answer: Answer, choice: Choice | null): Finding {
  return {
    answer: {
      missing: answer.missing,
      rules: answer.rules.map((rule) => ({ ...rule, categories: null })),
      symbols: null,
    },
    named: null,
    answers: null,
    choice: choice && {
      ...choice,
      confidence: null,
      candidates: choice.candidates.map((candidate) => ({ ...candidate, probability: null })),
    },
  };
}

function unknownNote(unknown: readonly number[], configuration: Configuration): string {
  if (unknown.length === 0) return '';
  const panels = `panel${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`;
  const verb = unknown.length > 1 ? 'come' : 'comes';
  return `this model does not know such pictures: it was trained on ${paperName(configuration)} alone and ${panels} ${verb} out as something else, so what follows is a guess\n`;
}

async function writeCompleted(
  out: OutputPlace,
  input: ProblemInput,
  answer: Answer,
): Promise<void> {
  const panels = input.panels.map((panel, i): Panel => {
    const place = answer.missing.indexOf(i + 1);
    return place >= 0 ? answer.images[place] : (panel ?? new Float32Array(64 * 64).fill(1));
  });
  const picture = completedPicture(panels, { framed: answer.missing });
  await writeOutput(out, encodePng(picture));
}

const fromOne = (indices: readonly number[]): number[] => indices.map((index) => index + 1);

/** Says which candidates cannot be told apart. */
const identicalNote = (choice: UncertainChoice | null): string =>
  (choice?.identical ?? [])
    .map((group) => `candidates ${AND.format(fromOne(group).map(String))} are the same picture\n`)
    .join('');

const AND = new Intl.ListFormat('en-GB', { type: 'conjunction' });

function report(
  { answer, choice, named, answers }: Finding,
  input: ProblemInput,
  unknown: readonly number[],
): object {
  return {
    unknown,
    missing: answer.missing,
    rules: answer.rules,
    named:
      named &&
      named.map(({ rules, ...each }) => ({ ...each, rules, meaning: rules.map(ruleMeaning) })),
    symbols: answer.symbols,
    answers: answers && answers.map(({ probability, symbols }) => ({ probability, symbols })),
    choice: choice && {
      ...choice,
      index: choice.index + 1,
      number: choice.index + 1,
      identical: choice.identical.map(fromOne),
    },
    answer: input.answer === null ? null : input.answer + 1,
  };
}

const conceptTitle = (rule: Answer['rules'][number]): string =>
  rule.name ?? `concept ${rule.concept}`;

/** Rules in words: what each attribute does, how sure that is, and whether the imagined panel obeys it. */
function namedTable(named: readonly NamedRule[]): string {
  const rows = named.map(({ attribute, rules, confidence, obeyed, conceptGroup }) => [
    attribute,
    rules.length > 0
      ? rules.map(ruleMeaning).join(', or ')
      : conceptGroup === null
        ? 'no group of concepts tells of it'
        : 'no rule fits',
    rules.length > 0 ? percent(confidence) : '-',
    rules.length > 0 && !obeyed ? 'the imagined panel breaks it' : '',
  ]);
  return table([['attribute', 'rule', 'sure', ''], ...rows]);
}

/** Different answers, as entries of each group. */
function answersText(answers: readonly Alternative[], solver: Solver): string {
  const groups = solver.vocabulary?.groups ?? [];
  const rows = answers.map(({ probability, symbols }, i) => [
    String(i + 1),
    percent(probability),
    ...symbols.flatMap((panel) => panel.map((entry) => (entry === null ? '?' : String(entry)))),
  ]);
  const heads = groups.map(({ concepts, attributes }) =>
    attributes.length > 0
      ? attributes.map(({ name }) => name).join(' and ')
      : `concepts ${concepts.map((m) => m + 1).join(' ')}`,
  );
  const missing = answers.at(0)?.symbols.length ?? 0;
  const repeated = Array.from({ length: missing }, () => heads).flat();
  return `\nDifferent answers, as entries of the vocabulary:\n${table([['', 'probability', ...repeated], ...rows])}`;
}

function ruleTable(answer: Finding['answer']): string {
  const rows = answer.rules.map((rule) => {
    const likely = rule.categories === null ? null : Math.max(...rule.categories);
    const category =
      rule.categories === null || likely === null
        ? '-'
        : `${rule.categories.indexOf(likely) + 1} (${percent(likely)})`;
    return [
      conceptTitle(rule),
      rule.vector.map((value) => value.toFixed(3)).join(' '),
      rule.deviation.map((value) => value.toFixed(3)).join(' '),
      category,
    ];
  });
  return table([['concept', 'rule', 'deviation', 'category'], ...rows]);
}

function distanceTable(answer: Finding['answer'], choice: UncertainChoice): string {
  const shares = (values: readonly number[] | null): string[] =>
    (values ?? []).map((value) => value.toFixed(2));
  const calibrated = choice.distance === 'calibrated';
  // A model without rules describes a panel by one vector: there are no shares to tell.
  const told = answer.rules.length > 0;
  const rows = choice.candidates.map((candidate, i) => [
    `${i === choice.index ? '>' : ' '} ${i + 1}`,
    candidate.probability === null ? '-' : percent(candidate.probability),
    ...(calibrated ? [(candidate.calibrated ?? NaN).toFixed(2)] : []),
    candidate.l2.toFixed(2),
    ...(told ? shares(calibrated ? candidate.calibratedShares : candidate.l2Shares) : []),
  ]);
  const heads = [
    'candidate',
    'probability',
    ...(calibrated ? ['distance'] : []),
    'L2',
    ...answer.rules.map(conceptTitle),
  ];
  const note = `Columns of concepts: their shares in the ${calibrated ? 'calibrated' : 'L2'} distance.\n`;
  return `${table([heads, ...rows])}${told ? note : ''}`;
}

function describe(
  { answer, choice, named }: Finding,
  { answer: right }: ProblemInput,
  explain: boolean,
): string {
  const imagined = `imagined panel${answer.missing.length > 1 ? 's' : ''} ${answer.missing.join(', ')}\n`;
  const known = right === null ? '' : `, the answer is ${right + 1}`;
  const chosen =
    choice === null
      ? ''
      : `candidate ${choice.index + 1} (${choice.confidence === null ? 'a guess' : percent(choice.confidence)})${known}\n`;
  const same = identicalNote(choice);
  if (!explain) return imagined + chosen + same;
  const distances = choice === null ? '' : `\n${distanceTable(answer, choice)}`;
  const words = named === null ? '' : `\n${namedTable(named)}`;
  const rules = answer.rules.length === 0 ? '' : `\n${ruleTable(answer)}`;
  return `${imagined}${chosen}${same}${words}${rules}${distances}`;
}
