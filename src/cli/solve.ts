/** `crab solve`: imagines the missing panels of a matrix, chooses a candidate, and says why. */
import type { Command } from 'commander';
import { ArgumentError, FormatError } from '../base/index.js';
import { writeOutput, type OutputPlace } from '../base/node.js';
import { encodePng, layoutName, type ConfigurationLayout } from '../matrix/index.js';
import { checkProblemConfiguration } from '../matrix/node.js';
import {
  completedPicture,
  Familiarity,
  listZoo,
  PAINTS,
  readProblem,
  recogniseProblem,
  Solver,
} from '../solver/node.js';
import type { Answer, Paint, Panel, ProblemInput } from '../solver/node.js';
import { oneOf, wholeNumber } from './arguments.js';
import { UsageError } from './errors.js';
import { tell } from './output.js';
import { ownPicture, requireOwnFile } from './own-files.js';
import { requireInput } from './paths.js';
import {
  answersText,
  findingJson,
  findingText,
  foundNote,
  redrawnNote,
  unchosenReason,
  unknownNote,
  withoutCertainty,
  type Finding,
} from './solve-words.js';

interface Options {
  model?: string;
  missing?: readonly number[];
  out?: string;
  paint?: Paint;
  answers?: number;
  explain?: boolean;
  json?: boolean;
}

/** By this name we recognise pictures that it wrote. */
const SOFTWARE = 'crab solve';

const EXAMPLES = `
INPUT is a RAVEN problem (.npz), a picture of a 3x3 matrix with a blank cell (.png, .jpg, .svg; candidates
beside it are found as well), or a folder of eight or nine images in the order of their names. An image of
one shade (white, grey or black) is a blank. A scan may be turned by up to three degrees. Without --model
the configuration is found from the panels, and the model of that name in the zoo solves them. Panels in
another style than the data sets' are drawn anew in theirs if they can be read. A candidate is chosen if only
the panel that candidates are for is missing: the blank one, or the last if none is blank. Candidates about
as close as the closest are painted from their descriptions, to tell them apart: how much worse one is
painted than another adds to its distance.

JSON: {"model", "redrawn": number of panels and candidates drawn anew, "unknown": [panels the model does
not know], "missing": [panels], "rules": [...],
"named": [rules in words, with their confidence], "symbols": [for each panel and group of concepts an entry
of the vocabulary], "answers": [different answers with their probabilities, with --answers],
"choice": {"index", "number", "confidence", "distance", "identical": [[candidates]], "candidates": [...]},
"answer"}. Panels are counted from 1 to 9, concepts and candidates from 1: choice.index and choice.number
are the same, and candidate n is the n-th of choice.candidates. Each of these has {"l2", "l2Shares": [for
each concept], "calibrated", "calibratedShares", "painted": what is added to "calibrated" because the painted
candidate looks different, "probability"}. What does not apply is null.

Examples:
  crab solve sheet.png
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
    .option(
      '--model <model>',
      'name or folder of a bundle (default: the one that knows the panels)',
    )
    .option('--missing <list>', 'missing positions, 1 to 9 (default: the blank one)', positions)
    .option('--out <file.png>', 'write the completed matrix')
    .option(
      '--paint <what>',
      'likeliest: the likeliest panel; careful: the likeliest after second thoughts; mean: the mean of all possible ones',
      oneOf(PAINTS),
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
  const inputs = [{ argument: 'INPUT', location, whole: true }];
  const out =
    options.out === undefined
      ? undefined
      : await requireOwnFile('--out', options.out, inputs, ownPicture(SOFTWARE));
  const found = recogniseProblem(await readProblem(location));
  const { layout, problem: input, originals, redrawn } = found;
  const missing = missingOf(input, options.missing);
  const model = options.model ?? (await knowingModel(location, layout));
  const solver = await Solver.load(model, { signal });
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
    const canChoose = input.candidates.length > 0 && unchosenReason(missing, input) === null;
    const choice = canChoose
      ? await solver.choose(answer, input.candidates, { originals, signal })
      : null;
    if (out !== undefined) await writeCompleted(out, input, answer);
    const unknown = await unknownPanels(solver, input, missing, signal);
    const named = solver.nameRules(answer);
    const finding: Finding =
      unknown.length === 0 ? { answer, choice, named, answers } : withoutCertainty(answer, choice);
    const report = { model, redrawn, ...findingJson(finding, input, unknown) };
    tell(
      options,
      report,
      () =>
        (options.model === undefined ? foundNote(model) : '') +
        redrawnNote(redrawn) +
        unknownNote(unknown, solver, layout) +
        findingText(finding, input, options.explain ?? false) +
        answersText(finding.answers, solver),
    );
  } finally {
    await solver.dispose();
  }
}

/** The model of the zoo for the layout that a problem was recognised as. */
async function knowingModel(location: string, layout: ConfigurationLayout | null): Promise<string> {
  if (layout === null) {
    throw new FormatError(
      `${location}: no model knows such pictures; --model names one to see what it makes of them`,
    );
  }
  const name = layoutName(layout);
  const names = await listZoo();
  if (names.includes(name)) return name;
  throw new ArgumentError(
    `${location}: these are panels of ${name}, and no model of that name is in the zoo (${names.join(', ')}); --model names another one`,
  );
}

/** Positions of given panels that the model cannot redraw. */
async function unknownPanels(
  solver: Solver,
  input: ProblemInput,
  missing: readonly number[],
  signal: AbortSignal,
): Promise<readonly number[]> {
  const given = input.panels.map((panel, i) => (missing.includes(i + 1) ? null : panel));
  return (await new Familiarity(solver).judge(given, { signal })).unknown;
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
  await writeOutput(out, encodePng(picture, SOFTWARE));
}
