/** `crab solve`: imagines the missing panels of a matrix, chooses a candidate, and says why. */
import type { Command } from 'commander';
import { checkProblemConfiguration } from '../matrix/node.js';
import { encodePng, paperName, type Configuration } from '../matrix/index.js';
import { makeFolderOf, writeFileAtomically } from '../base/node.js';
import { completedPicture, Familiarity, readProblem, Solver } from '../solver/node.js';
import type { Answer, Choice, Panel, ProblemInput } from '../solver/node.js';
import { UsageError } from './errors.js';
import { requireInput, requireOutputFile } from './paths.js';
import { percent, table } from './text.js';

interface Options {
  model: string;
  missing?: readonly number[];
  out?: string;
  explain?: boolean;
  json?: boolean;
}

const EXAMPLES = `
INPUT is a RAVEN problem (.npz), a picture of a 3x3 matrix with a blank cell (.png; candidates beside it
are found as well), or a folder of eight or nine images in the order of their names.

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

export function addSolveCommand(program: Command, signal: AbortSignal): void {
  program
    .command('solve')
    .description('imagine the missing panels of a matrix and choose a candidate')
    .argument('<input>', 'a problem: .npz, .png or a folder of images')
    .requiredOption('--model <model>', 'name or folder of a bundle')
    .option('--missing <list>', 'missing positions, 1 to 9 (default: the blank one)', positions)
    .option('--out <file.png>', 'write the completed matrix')
    .option('--explain', 'show concepts, rules and distances')
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
  await requireOutputFile('--out', options.out, [{ argument: 'INPUT', location }]);
  const input = await readProblem(location);
  const missing = missingOf(input, options.missing);
  const solver = await Solver.load(options.model, { signal });
  try {
    const { configuration } = solver.manifest;
    await checkProblemConfiguration(location, input.configurations, configuration);
    const answer = await solver.solve(input.panels, { missing, signal });
    const offered = missing.length === 1 && input.candidates.length > 0;
    const choice = offered ? await solver.choose(answer, input.candidates, { signal }) : null;
    if (options.out !== undefined) await writeCompleted(options.out, input, answer);
    const unknown = await unknownPanels(solver, input, missing, signal);
    const finding = unknown.length === 0 ? { answer, choice } : withoutCertainty(answer, choice);
    const text = options.json
      ? `${JSON.stringify(report(finding, input, unknown))}\n`
      : unknownNote(unknown, configuration) + describe(finding, input, options.explain ?? false);
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
  readonly answer: Pick<Answer, 'missing' | 'rules'>;
  readonly choice: UncertainChoice | null;
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
    },
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

async function writeCompleted(file: string, input: ProblemInput, answer: Answer): Promise<void> {
  const panels = input.panels.map((panel, i): Panel => {
    const place = answer.missing.indexOf(i + 1);
    return place >= 0 ? answer.images[place] : (panel ?? new Float32Array(64 * 64).fill(1));
  });
  const picture = completedPicture(panels, { framed: answer.missing });
  await makeFolderOf(file);
  await writeFileAtomically(file, encodePng(picture));
}

function report(
  { answer, choice }: Finding,
  input: ProblemInput,
  unknown: readonly number[],
): object {
  return {
    unknown,
    missing: answer.missing,
    rules: answer.rules,
    choice: choice === null ? null : { ...choice, number: choice.index + 1 },
    answer: input.answer === null ? null : input.answer + 1,
  };
}

const conceptTitle = (rule: Answer['rules'][number]): string =>
  rule.name ?? `concept ${rule.concept}`;

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
  const rows = choice.candidates.map((candidate, i) => [
    `${i === choice.index ? '>' : ' '} ${i + 1}`,
    candidate.probability === null ? '-' : percent(candidate.probability),
    ...(calibrated ? [(candidate.calibrated ?? NaN).toFixed(2)] : []),
    candidate.l2.toFixed(2),
    ...shares(calibrated ? candidate.calibratedShares : candidate.l2Shares),
  ]);
  const heads = [
    'candidate',
    'probability',
    ...(calibrated ? ['distance'] : []),
    'L2',
    ...answer.rules.map(conceptTitle),
  ];
  const note = `Columns of concepts: their shares in the ${calibrated ? 'calibrated' : 'L2'} distance.\n`;
  return `${table([heads, ...rows])}${note}`;
}

function describe(
  { answer, choice }: Finding,
  { answer: right }: ProblemInput,
  explain: boolean,
): string {
  const imagined = `imagined panel${answer.missing.length > 1 ? 's' : ''} ${answer.missing.join(', ')}\n`;
  const known = right === null ? '' : `, the answer is ${right + 1}`;
  const chosen =
    choice === null
      ? ''
      : `candidate ${choice.index + 1} (${choice.confidence === null ? 'a guess' : percent(choice.confidence)})${known}\n`;
  if (!explain) return imagined + chosen;
  const distances = choice === null ? '' : `\n${distanceTable(answer, choice)}`;
  return `${imagined}${chosen}\n${ruleTable(answer)}${distances}`;
}
