/** The part of `crab grade` that grades what models replied to items. */
import { counted, percent } from '../base/index.js';
import {
  crabChoices,
  gradeAnswers,
  type AnswersOfModel,
  type GroupGrade,
  type ModelAnswers,
} from '../lab/index.js';
import { table } from './output.js';

type Measured = GroupGrade['accuracy'];

/** Grades replies, beside CRAB if models are named. */
export const gradeReplies = (
  answers: string,
  items: string,
  models: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<ModelAnswers> =>
  gradeAnswers({
    answers,
    items,
    askCrab: models && ((asked) => crabChoices(models, asked, signal)),
  });

const interval = ({ value, low, high }: Measured): string =>
  `${percent(value)} (${percent(low)} to ${percent(high)})`;

const orDash = (share: number | null): string => (share === null ? '-' : percent(share));

function summary(model: AnswersOfModel): string {
  const { items, unparsable, unanswered, accuracy, chance, people, crab, letterBias, blind } =
    model;
  const lines = [
    `${model.model}: ${interval(accuracy)} of ${counted(items, 'item')} right, 95% interval in brackets`,
    `chance ${percent(chance)}, people on RAVEN's problems ${percent(people)}, CRAB ${orDash(crab)}`,
    `${counted(unparsable, 'reply', 'replies')} without a letter, counted as wrong; ${counted(unanswered, 'item')} without a reply, not counted`,
    letterBias === null
      ? 'letters: no wrong choice'
      : `letters: wrong choices as uneven as these happen by chance with p = ${letterBias.toPrecision(2)}`,
  ];
  if (blind) {
    lines.push(
      `without the matrix: ${interval(blind.accuracy)} of ${blind.count} right, ${blind.unparsable} without a letter`,
    );
  }
  return lines.join('\n');
}

const groupTable = (title: string, groups: readonly GroupGrade[]): string =>
  table([
    [title, 'items', 'right'],
    ...groups.map(({ name, count, accuracy }) => [name, String(count), interval(accuracy)]),
  ]);

function describeModel(model: AnswersOfModel): string {
  const parts = [
    summary(model),
    table([
      ['configuration', 'items', 'right', 'people', 'CRAB'],
      ...model.configurations.map(({ name, count, accuracy, people, crab }) => [
        name,
        String(count),
        interval(accuracy),
        percent(people),
        orDash(crab),
      ]),
    ]),
    groupTable('items with the rule', model.rules),
    groupTable('items that change', model.attributes),
    table([
      ['letter', 'chosen', 'right'],
      ...model.letters.map(({ letter, chosen, right }) => [letter, String(chosen), String(right)]),
    ]),
  ];
  if (model.mistakes.length > 0) {
    const rows = model.mistakes.map((one) => [
      one.attribute,
      percent(one.share),
      percent(one.expected),
    ]);
    parts.push(table([['wrong choices change', 'share', 'at random'], ...rows]));
  }
  if (model.perception.length > 0) {
    const rows = model.perception.map(({ name, count, accuracy, chance }) => [
      name,
      String(count),
      interval(accuracy),
      percent(chance),
    ]);
    parts.push(table([['perception', 'questions', 'right', 'chance'], ...rows]));
  }
  return parts.map((part) => part.trimEnd()).join('\n\n');
}

export const describeReplies = ({ models }: ModelAnswers): string =>
  `${models.map(describeModel).join('\n\n')}\n`;
