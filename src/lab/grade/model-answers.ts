/**
 * Grades what models replied to items: accuracy with intervals, by configuration, rule and attribute, beside
 * people and chance; whether letters are preferred by their place; how well it does without the matrix.
 * Replies without a letter count as wrong, and are counted.
 */
import { FormatError } from '../../base/index.js';
import { HUMAN_ACCURACY, layoutNamed, Random } from '../../matrix/index.js';
import type { Measured } from '../evaluation.js';
import { meanOf, shareOf, sumOf } from '../statistics.js';
import { violationOf } from './items.js';
import { readModelItems, readReplies } from './model-items.js';
import type { ModelItem, ModelItems, ModelReply } from './model-items.js';
import { readLetter } from './read-letter.js';

/** The accuracy of some replies. */
export interface GroupGrade {
  readonly name: string;
  readonly count: number;
  readonly accuracy: Measured;
}

export interface ConfigurationGrade extends GroupGrade {
  /** People's accuracy on RAVEN's problems of this configuration. */
  readonly people: number;
  /** CRAB's on these items; null if it was not asked. */
  readonly crab: number | null;
}

export interface LetterGrade {
  readonly letter: string;
  readonly chosen: number;
  readonly right: number;
}

export interface AnswersOfModel {
  readonly model: string;
  readonly items: number;
  readonly unparsable: number;
  /** Items of `--items` without any reply: they are not counted. */
  readonly unanswered: number;
  readonly accuracy: Measured;
  readonly chance: number;
  /** People's accuracy on RAVEN's problems of the same configurations, as often as they occur here. */
  readonly people: number;
  readonly crab: number | null;
  readonly configurations: readonly ConfigurationGrade[];
  /** Items that have the rule on any attribute. */
  readonly rules: readonly GroupGrade[];
  /** Items that have a rule other than Constant on the attribute. */
  readonly attributes: readonly GroupGrade[];
  readonly letters: readonly LetterGrade[];
  /** How likely wrong letters would be spread as unevenly by chance; null if none is wrong. */
  readonly letterBias: number | null;
  /** What wrong choices change, and the share if they were taken at random. */
  readonly mistakes: readonly {
    readonly attribute: string;
    readonly share: number;
    readonly expected: number;
  }[];
  /** The options without the matrix; null if there are no such replies. */
  readonly blind: (GroupGrade & { readonly unparsable: number }) | null;
  readonly perception: readonly (GroupGrade & { readonly chance: number })[];
}

export interface ModelAnswers {
  readonly answers: string;
  readonly models: readonly AnswersOfModel[];
}

/** A reply with its item and the letter found in it. */
interface Scored {
  readonly item: ModelItem;
  readonly letter: string | null;
  readonly right: boolean;
}

/** What CRAB chooses, as a letter, by the name of an item. */
export type CrabChoices = ReadonlyMap<string, string>;

const SHUFFLES = 2000;
const SEED = 7_300_000_011;

function groups<T>(
  scored: readonly T[],
  namesOf: (one: T) => Iterable<string>,
  isRight: (one: T) => boolean,
): GroupGrade[] {
  const rights = new Map<string, boolean[]>();
  for (const one of scored) {
    for (const name of new Set(namesOf(one))) {
      rights.set(name, [...(rights.get(name) ?? []), isRight(one)]);
    }
  }
  return [...rights]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, right]) => ({ name, count: right.length, accuracy: shareOf(right) }));
}

/** How uneven wrong letters are: the sum of (count - expected)² / expected over letters. */
function unevenness(wrong: readonly Scored[], letterOf: (one: Scored) => string | null): number {
  const counts = new Map<string, { count: number; expected: number }>();
  for (const one of wrong) {
    for (const letter of one.item.letters) {
      const entry = counts.get(letter) ?? { count: 0, expected: 0 };
      counts.set(letter, entry);
      if (one.item.right.includes(letter)) continue;
      entry.expected += 1 / (one.item.letters.length - one.item.right.length);
      if (letterOf(one) === letter) entry.count += 1;
    }
  }
  return sumOf(
    [...counts.values()]
      .filter(({ expected }) => expected > 0)
      .map(({ count, expected }) => (count - expected) ** 2 / expected),
  );
}

/** Draws wrong letters at random many times: how often are they as uneven as these? */
function letterBias(scored: readonly Scored[]): number | null {
  const wrong = scored.filter(({ right, letter }) => !right && letter !== null);
  if (wrong.length === 0) return null;
  const found = unevenness(wrong, ({ letter }) => letter);
  const random = new Random(SEED, wrong.length);
  let asUneven = 0;
  for (let i = 0; i < SHUFFLES; i++) {
    const drawn = new Map(
      wrong.map((one) => [
        one,
        random.pick(one.item.letters.filter((letter) => !one.item.right.includes(letter))),
      ]),
    );
    if (unevenness(wrong, (one) => drawn.get(one) ?? null) >= found - 1e-9) asUneven += 1;
  }
  return (asUneven + 1) / (SHUFFLES + 1);
}

function letterGrades(scored: readonly Scored[]): LetterGrade[] {
  const letters = [...new Set(scored.flatMap(({ item }) => item.letters))].sort();
  return letters.map((letter) => ({
    letter,
    chosen: scored.filter((one) => one.letter === letter).length,
    right: scored.filter(({ item }) => item.answer === letter).length,
  }));
}

function mistakes(scored: readonly Scored[]): AnswersOfModel['mistakes'] {
  const wrong = scored.filter(({ right, letter }) => !right && letter !== null);
  const attributesOf = (item: ModelItem, letter: string): Set<string> =>
    new Set((item.changes[letter] ?? []).map((change) => violationOf(change).attribute));
  const counts = new Map<string, { count: number; expected: number }>();
  for (const { item, letter } of wrong) {
    const distractors = item.letters.filter((each) => !item.right.includes(each));
    for (const other of distractors) {
      for (const attribute of attributesOf(item, other)) {
        const entry = counts.get(attribute) ?? { count: 0, expected: 0 };
        counts.set(attribute, entry);
        entry.expected += 1 / distractors.length;
        if (other === letter) entry.count += 1;
      }
    }
  }
  return [...counts]
    .map(([attribute, { count, expected }]) => ({
      attribute,
      share: count / wrong.length,
      expected: expected / wrong.length,
    }))
    .sort((a, b) => b.share - a.share);
}

const peopleOn = ({ configuration }: ModelItem): number =>
  HUMAN_ACCURACY[layoutNamed(configuration).configuration] / 100;

function configurationGrades(
  scored: readonly Scored[],
  crab: CrabChoices | undefined,
): ConfigurationGrade[] {
  return groups(
    scored,
    ({ item }) => [item.configuration],
    ({ right }) => right,
  ).map((group) => {
    const items = scored
      .map(({ item }) => item)
      .filter((item) => item.configuration === group.name);
    return { ...group, people: peopleOn(items[0]), crab: crabOn(items, crab) };
  });
}

function crabOn(items: readonly ModelItem[], crab: CrabChoices | undefined): number | null {
  const asked = items.filter(({ id }) => crab?.has(id));
  return asked.length === 0
    ? null
    : meanOf(asked.map(({ id, right }) => Number(right.includes(crab?.get(id) ?? ''))));
}

function score(replies: readonly ModelReply[], items: ReadonlyMap<string, ModelItem>): Scored[] {
  return replies.map(({ id, reply, where }) => {
    const item = items.get(id);
    if (!item) {
      const [sample] = items.keys();
      throw new FormatError(
        `${where}: the items have no ${JSON.stringify(id)}; they are called as ${sample}`,
      );
    }
    const letter = readLetter(reply, item.letters);
    return { item, letter, right: letter !== null && item.right.includes(letter) };
  });
}

const unparsableIn = (scored: readonly { letter: string | null }[]): number =>
  scored.filter(({ letter }) => letter === null).length;

const isRight = ({ right }: Scored): boolean => right;

/** How well the options alone were answered; null if they were not asked. */
const blindGrade = (scored: readonly Scored[]): AnswersOfModel['blind'] =>
  scored.length === 0
    ? null
    : {
        name: 'options alone',
        count: scored.length,
        unparsable: unparsableIn(scored),
        accuracy: shareOf(scored.map(isRight)),
      };

/** Answers to questions of perception, by what they ask for. */
function perceptionGrades(
  replies: readonly ModelReply[],
  { perception }: ModelItems,
): AnswersOfModel['perception'] {
  const seen = replies.flatMap(({ id, reply }) => {
    const question = perception.get(id);
    return question === undefined
      ? []
      : [{ question, letter: readLetter(reply, question.letters) }];
  });
  return groups(
    seen,
    ({ question }) => [question.kind],
    ({ question, letter }) => letter === question.answer,
  ).map((group) => {
    const own = seen.filter(({ question }) => question.kind === group.name);
    return { ...group, chance: meanOf(own.map(({ question }) => 1 / question.letters.length)) };
  });
}

/** Grades the replies of one model. */
function gradeModel(
  file: string,
  model: string,
  replies: readonly ModelReply[],
  all: ModelItems,
  crab: CrabChoices | undefined,
): AnswersOfModel {
  const { items, perception } = all;
  const [shown, blind] = [false, true].map((alone) =>
    score(
      replies.filter((reply) => !perception.has(reply.id) && reply.blind === alone),
      items,
    ),
  );
  if (shown.length === 0) {
    throw new FormatError(
      `${file}: ${model} has no reply to an item with its matrix; replies to the options alone and to questions of perception go into the same file`,
    );
  }
  const asked = shown.map(({ item }) => item);
  return {
    model,
    items: asked.length,
    unparsable: unparsableIn(shown),
    unanswered: items.size - asked.length,
    accuracy: shareOf(shown.map(isRight)),
    chance: meanOf(asked.map(({ letters }) => 1 / letters.length)),
    people: meanOf(asked.map(peopleOn)),
    crab: crabOn(asked, crab),
    configurations: configurationGrades(shown, crab),
    rules: groups(shown, ({ item }) => item.rules.map(({ rule }) => rule), isRight),
    attributes: groups(
      shown,
      ({ item }) =>
        item.rules.filter(({ rule }) => rule !== 'Constant').map(({ attribute }) => attribute),
      isRight,
    ),
    letters: letterGrades(shown),
    letterBias: letterBias(shown),
    mistakes: mistakes(shown),
    blind: blindGrade(blind),
    perception: perceptionGrades(replies, all),
  };
}

/** Grades the replies of one file. `crab` tells what CRAB chose, if it was asked. */
export async function gradeAnswers(options: {
  readonly answers: string;
  readonly items: string;
  readonly askCrab?: (items: readonly ModelItem[]) => Promise<CrabChoices>;
}): Promise<ModelAnswers> {
  const all = await readModelItems(options.items);
  const replies = await readReplies(options.answers);
  const asked = new Set(replies.map(({ id }) => id).filter((id) => !all.perception.has(id)));
  const crab = await options.askCrab?.([...asked].flatMap((id) => all.items.get(id) ?? []));
  const models = [...new Set(replies.map(({ model }) => model))].map((model) =>
    gradeModel(
      options.answers,
      model,
      replies.filter((reply) => reply.model === model),
      all,
      crab,
    ),
  );
  return { answers: options.answers, models };
}
