/** `crab grade`: what people and models answered to items of ours, and what that says about them. */
import type { Command } from 'commander';
import { counted, percent } from '../base/index.js';
import { writeOutput } from '../base/node.js';
import {
  GRADE_MARK,
  grade,
  gradePage,
  hasTimes,
  intervalWords,
  isRight,
  severalRight,
  type GradeResult,
} from '../lab/index.js';
import { UsageError } from './errors.js';
import { describeReplies, gradeReplies } from './grade-answers.js';
import { table, tell } from './output.js';
import { requireOwnFile } from './own-files.js';
import { ownPage } from './own-reports.js';
import { requireInput } from './paths.js';
import { withProgress } from './progress.js';

interface Options {
  items: string;
  model?: string;
  out?: string;
  json?: boolean;
  quiet?: boolean;
}

const EXAMPLES = `
RESPONSES.csv has a line for each answer, with the columns respondent,item,choice; or a line for each
respondent, with a column respondent and one for each item. A choice is 1 to 8 or A to H, or empty.
Commas, semicolons and tabs separate fields. Files of several people may be put one after the other, with
their first lines. A column seconds gives median times. Items that nobody answered are not counted; one
that only some answered is wrong for the others. Names of items do not tell their seed: with further
columns configuration, variant or seed, as --answers writes them, lines must agree with the items.

Items are called as crab generate calls them: center-00012, or RAVEN_12_train in a RAVEN folder. --items
is what it wrote: a folder (raven, png, svg), a set (.npz, items numbered from 0), or the file of
--answers, which items printed as PDF need.

Replies of models: ANSWERS.jsonl has a line {"id": …, "reply": …} for each, with "model" if there are
several, and "blind": true if only the options were shown; --items is a folder of --format vlm. Letters are
found in replies by the rules of docs/items.md.

Examples:
  crab generate --config center --count 20 --format pdf --out test.pdf --answers key.csv
  crab grade responses.csv --items key.csv --out report.html
  crab grade responses.csv --items RAVEN-10000 --model center,grid-2x2 --json
  crab grade answers.jsonl --items items --model zoo`;

export function define(command: Command, signal: AbortSignal): void {
  command
    .requiredOption('--items <path>', 'the items, as crab generate wrote them')
    .option(
      '--model <names>',
      'models that answer too: bundles, runs, folders of them, or zoo for those of this package',
    )
    .option('--out <file.html>', 'write a page with charts and pictures')
    .option('--json', 'report as JSON on standard output')
    .option('--quiet', 'no progress')
    .addHelpText('after', EXAMPLES)
    .action((responses: string, options: Options) => run(responses, options, signal));
}

function modelsOf(list: string | undefined): string[] | undefined {
  const names = list?.split(',').map((name) => name.trim());
  if (names?.includes('')) throw new UsageError(`--model ${list}: a name is empty`);
  return names;
}

async function run(responses: string, options: Options, signal: AbortSignal): Promise<void> {
  const models = modelsOf(options.model);
  if (/\.json$/i.test(responses)) {
    throw new UsageError(
      `RESPONSES ${responses}: replies of models are a .jsonl file, a line {"id": …, "reply": …} for each`,
    );
  }
  await requireInput('RESPONSES', responses);
  await requireInput('--items', options.items);
  const isOfModels = /\.jsonl$/i.test(responses);
  return (isOfModels ? runModels : runPeople)(responses, options, models, signal);
}

/** Grades what models replied. */
async function runModels(
  responses: string,
  options: Options,
  models: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (options.out !== undefined) {
    throw new UsageError('--out makes a page of what people answered (CSV); use --json for models');
  }
  const answers = await gradeReplies(responses, options.items, models, signal);
  tell(options, answers, () => describeReplies(answers));
}

/** Grades what people answered. */
async function runPeople(
  responses: string,
  options: Options,
  models: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { items, out } = options;
  const inputs = [
    { argument: 'RESPONSES', location: responses },
    { argument: '--items', location: items },
  ];
  const place =
    out === undefined ? undefined : await requireOwnFile('--out', out, inputs, ownPage(GRADE_MARK));
  const graded = await withProgress(1, 'items', options, (progress) =>
    grade({
      ...{ responses, items, models, signal },
      onProgress: (done, total) => progress.update(done / total),
    }),
  );
  if (place !== undefined) await writeOutput(place, await gradePage(graded));
  tell(options, graded.result, () => describe(graded.result));
}

const decimals = (value: number | null): string => (value === null ? '-' : value.toFixed(2));

function summaryOf(result: GradeResult): string {
  const { respondents, items, unanswered, mean, deviation, alpha, model } = result;
  const spread = deviation === null ? '' : ` (standard deviation ${deviation.toFixed(2)})`;
  const left = unanswered
    ? `${counted(unanswered, 'item')} of the key answered by nobody and not counted\n`
    : '';
  const several = severalRight(items);
  const reliability =
    alpha === null
      ? "Cronbach's alpha is not defined for these data\n"
      : `Cronbach's alpha (KR-20) ${alpha.value.toFixed(2)}, ${intervalWords(alpha)}\n`;
  const machine =
    model === null
      ? ''
      : `model ${model.names.join(', ')}: ${model.right} of ${model.answered} right, better than ${percent(model.above)} of the people\n`;
  return (
    `${counted(respondents.length, 'respondent')}, ${counted(items.length, 'item')}, ` +
    `${mean.toFixed(2)} right on average${spread}\n${left}${several}${several && '\n'}${reliability}${machine}`
  );
}

function describe(result: GradeResult): string {
  const timed = hasTimes(result);
  const time = ({ medianSeconds }: { readonly medianSeconds: number | null }): string[] => {
    const text = medianSeconds === null ? '-' : `${medianSeconds.toFixed(1)} s`;
    return timed ? [text] : [];
  };
  const timeTitle = timed ? ['median time'] : [];
  const respondents = table([
    ['respondent', 'right', 'answered', 'share', ...timeTitle],
    ...result.respondents.map((person) => [
      person.name,
      String(person.right),
      String(person.answered),
      percent(person.share),
      ...time(person),
    ]),
  ]);
  const items = table([
    ['item', 'right', 'difficulty', 'discrimination', 'left out', ...timeTitle, 'model'],
    ...result.items.map((item) => [
      item.id,
      String(item.right),
      percent(item.difficulty),
      decimals(item.discrimination),
      String(item.omitted),
      ...time(item),
      item.modelChoice === null ? '-' : isRight(item, item.modelChoice) ? 'right' : 'wrong',
    ]),
  ]);
  const attributes =
    result.attributes.length === 0
      ? ''
      : `\nOf ${result.wrongChoices} wrong ${result.wrongChoices === 1 ? 'choice' : 'choices'}:\n${table(
          [
            ['gets wrong', 'share', 'at random'],
            ...result.attributes.map(({ attribute, share, expected }) => [
              attribute,
              percent(share),
              percent(expected),
            ]),
          ],
        )}`;
  return `${summaryOf(result)}\n${respondents}\n${items}${attributes}`;
}
