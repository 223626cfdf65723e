/**
 * Grades responses: who scored what, how hard each item is and how well it tells people apart, what
 * wrong choices get wrong, and how a model does on the same items. Choices left out count as wrong.
 */
import { FormatError, median } from '../../base/index.js';
import { readSmallFile } from '../../base/node.js';
import { CANDIDATES } from '../../matrix/index.js';
import { correlation, meanOf, sumOf, varianceOf } from '../statistics.js';
import { decodeText } from './csv.js';
import { isRight, type ItemBank, type ItemPictures, type TestItem } from './items.js';
import { openItems } from './item-banks.js';
import { ModelRespondent } from './model-respondent.js';
import { CLAIMS, parseResponses, type Response } from './responses.js';
import type {
  AttributeGrade,
  ChoiceGrade,
  GradeResult,
  ItemGrade,
  ModelGrade,
  PicturedGrade,
} from './result.js';
import {
  alphasWithout,
  columnOf,
  reliability,
  restOf,
  totalsOf,
  type ScoreTable,
} from './statistics.js';

export interface GradeOptions {
  /** The CSV file. */
  readonly responses: string;
  /** Where the items are: see `items.ts`. */
  readonly items: string;
  /** Bundles that answer too, by name or folder. */
  readonly models?: readonly string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Responses as a table: [respondent][item], a choice 1..8 or null. */
export interface ChoiceTable {
  readonly respondents: readonly string[];
  readonly items: readonly TestItem[];
  readonly choices: readonly (readonly (number | null)[])[];
  /** How long each choice took, null if that is not told; absent if it is told of none. */
  readonly seconds?: readonly (readonly (number | null)[])[];
}

const MOST_BYTES = 64 << 20;

/** Looks all items up; an unknown one is an error that names its line. */
async function findItems(
  responses: readonly Response[],
  bank: ItemBank,
  { responses: file, signal, onProgress }: GradeOptions,
): Promise<ReadonlyMap<string, TestItem>> {
  const named = new Map<string, number>();
  for (const { item, line } of responses) if (!named.has(item)) named.set(item, line);
  const found = new Map<string, TestItem>();
  let done = 0;
  for (const [name, line] of named) {
    signal?.throwIfAborted();
    const item = await bank.find(name);
    if (item === undefined) {
      throw new FormatError(
        `${file}, line ${line}: ${bank.name} has no item ${JSON.stringify(name)}; its items are called as ${bank.sample}`,
      );
    }
    found.set(name, item);
    onProgress?.((done += 1), named.size);
  }
  return found;
}

/** Refuses responses that say they were given to other items of the same names. */
function checkClaims(
  responses: readonly Response[],
  found: ReadonlyMap<string, TestItem>,
  bank: ItemBank,
  file: string,
): void {
  for (const { item, line, claims = {} } of responses) {
    const { layout, made } = found.get(item) ?? {};
    const known = { configuration: layout, variant: made?.variant, seed: made?.seed };
    for (const claim of CLAIMS) {
      const said = claims[claim]?.trim().toLowerCase() ?? '';
      const truth = String(known[claim] ?? '');
      if (said === '' || truth === '' || said === truth) continue;
      throw new FormatError(
        `${file}, line ${line}: ${item} was answered with ${claim} ${said}, in ${bank.name} it has ${claim} ${truth}; give the items that people saw`,
      );
    }
  }
}

/** Puts responses into a table; two names of one item are one column. */
export function choiceTable(
  responses: readonly Response[],
  found: ReadonlyMap<string, TestItem>,
  file: string,
): ChoiceTable {
  const items = [...new Map([...found.values()].map((item) => [item.id, item])).values()];
  const columns = new Map(items.map(({ id }, i) => [id, i]));
  const rows = new Map<
    string,
    { choices: (number | null)[]; seconds: (number | null)[]; lines: number[] }
  >();
  for (const { respondent, item, choice, seconds, line } of responses) {
    const column = columns.get(found.get(item)?.id ?? '') ?? 0;
    const row = rows.get(respondent) ?? {
      choices: items.map(() => null),
      seconds: items.map(() => null),
      lines: [],
    };
    rows.set(respondent, row);
    if (row.lines.at(column) !== undefined) {
      throw new FormatError(
        `${file}, line ${line}: ${respondent} has answered ${items[column].id} already in line ${row.lines[column]}, under another name`,
      );
    }
    row.lines[column] = line;
    row.choices[column] = choice;
    row.seconds[column] = seconds ?? null;
  }
  return {
    respondents: [...rows.keys()],
    items,
    choices: [...rows.values()].map(({ choices }) => choices),
    ...(responses.some(({ seconds }) => seconds !== undefined) && {
      seconds: [...rows.values()].map(({ seconds }) => seconds),
    }),
  };
}

const scoresOf = ({ items, choices }: ChoiceTable): ScoreTable =>
  choices.map((row) => row.map((choice, i) => Number(isRight(items[i], choice))));

/** The median of the times that are told; null if none is. */
function medianSeconds(times: readonly (number | null)[] = []): number | null {
  const told = times.filter((time) => time !== null);
  return told.length === 0 ? null : median(told);
}

function choiceGrades(table: ChoiceTable, column: number, rest: readonly number[]): ChoiceGrade[] {
  const { violations } = table.items[column];
  return Array.from({ length: CANDIDATES }, (_, i) => {
    const taken = table.choices.map((row) => Number(row[column] === i + 1));
    return {
      candidate: i + 1,
      count: sumOf(taken),
      share: meanOf(taken),
      discrimination: correlation(taken, rest),
      violates: violations?.[i].map(({ text }) => text) ?? null,
    };
  });
}

/** A table scored once, for all its items. */
interface Scored {
  readonly table: ChoiceTable;
  readonly scores: ScoreTable;
  readonly totals: readonly number[];
  readonly alphas: readonly (number | null)[];
}

function itemGrade(scored: Scored, column: number, modelChoice: number | null): ItemGrade {
  const { table, scores, totals, alphas } = scored;
  const item = table.items[column];
  const own = columnOf(scores, column);
  const rest = restOf(scores, totals, column);
  return {
    id: item.id,
    configuration: item.layout,
    rules: item.rules,
    answer: item.answer,
    alsoRight: item.alsoRight,
    right: sumOf(own),
    omitted: table.choices.filter((row) => row[column] === null).length,
    medianSeconds: medianSeconds(table.seconds?.map((row) => row[column])),
    difficulty: meanOf(own),
    discrimination: correlation(own, rest),
    alphaWithout: alphas[column],
    choices: choiceGrades(table, column, rest),
    modelChoice,
  };
}

/** The attributes that wrong choices violate, against choices at random among wrong candidates. */
export function attributeGrades({ items, choices }: ChoiceTable): {
  readonly attributes: readonly AttributeGrade[];
  readonly wrongChoices: number;
} {
  const counts = new Map<string, { count: number; expected: number }>();
  let wrongChoices = 0;
  items.forEach((item, column) => {
    const { violations } = item;
    if (violations === null) return;
    const broken = violations.map((list) => new Set(list.map(({ attribute }) => attribute)));
    const distractors = broken.filter((_, i) => !isRight(item, i + 1));
    const names = new Set(distractors.flatMap((set) => [...set]));
    const wrong = choices
      .map((row) => row[column])
      .filter((choice) => choice !== null && !isRight(item, choice));
    wrongChoices += wrong.length;
    for (const name of names) {
      const entry = counts.get(name) ?? { count: 0, expected: 0 };
      counts.set(name, entry);
      entry.count += wrong.filter((choice) => broken[(choice ?? 0) - 1].has(name)).length;
      const share = distractors.filter((set) => set.has(name)).length / distractors.length;
      entry.expected += wrong.length * share;
    }
  });
  const attributes = [...counts].map(([attribute, { count, expected }]) => ({
    attribute,
    count,
    share: wrongChoices === 0 ? 0 : count / wrongChoices,
    expected: wrongChoices === 0 ? 0 : expected / wrongChoices,
  }));
  return { attributes: attributes.sort((a, b) => b.share - a.share), wrongChoices };
}

/** The wrong candidate that most people took, or null if nobody was wrong. */
function commonError({ items, choices }: ChoiceTable, column: number): number | null {
  const counts = new Map<number, number>();
  for (const row of choices) {
    const choice = row[column];
    if (choice === null || isRight(items[column], choice)) continue;
    counts.set(choice, (counts.get(choice) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).at(0)?.[0] ?? null;
}

function modelGrade(
  table: ChoiceTable,
  scores: ScoreTable,
  chosen: readonly (number | null)[],
  names: readonly string[],
): ModelGrade {
  const asked = chosen.flatMap((choice, i) => (choice === null ? [] : [i]));
  const right = asked.filter((i) => isRight(table.items[i], chosen[i]));
  const people = scores.map((row) => sumOf(asked.map((i) => row[i])));
  const errors = asked.flatMap((i) => {
    const common = commonError(table, i);
    return common === null || isRight(table.items[i], chosen[i]) ? [] : [chosen[i] === common];
  });
  return {
    names,
    right: right.length,
    answered: asked.length,
    share: right.length / asked.length,
    above: people.filter((score) => score < right.length).length / people.length,
    sameError: errors.length === 0 ? null : errors.filter(Boolean).length / errors.length,
  };
}

/** Grades a table of choices; `chosen` are those of a model. */
export function gradeTable(
  table: ChoiceTable,
  responses: string,
  model?: { readonly names: readonly string[]; readonly chosen: readonly (number | null)[] },
): GradeResult {
  const scores = scoresOf(table);
  const totals = totalsOf(scores);
  const alpha = reliability(scores);
  const variance = varianceOf(totals);
  const deviation = variance === null ? null : Math.sqrt(variance);
  const scored = { table, scores, totals, alphas: alphasWithout(scores) };
  const measurable = alpha !== null && deviation !== null;
  return {
    responses,
    items: table.items.map((_, i) => itemGrade(scored, i, model?.chosen[i] ?? null)),
    respondents: table.respondents.map((name, r) => ({
      name,
      right: totals[r],
      answered: table.choices[r].filter((choice) => choice !== null).length,
      share: totals[r] / table.items.length,
      medianSeconds: medianSeconds(table.seconds?.[r]),
    })),
    mean: meanOf(totals),
    deviation,
    alpha,
    standardError: measurable ? deviation * Math.sqrt(Math.max(0, 1 - alpha.value)) : null,
    ...attributeGrades(table),
    unanswered: null,
    withoutPictures: table.items.filter(({ pictures }) => pictures === null).length,
    model: model === undefined ? null : modelGrade(table, scores, model.chosen, model.names),
  };
}

async function askModels(
  items: readonly TestItem[],
  { models, signal }: GradeOptions,
): Promise<{ names: readonly string[]; chosen: (number | null)[] } | undefined> {
  if (models === undefined || models.length === 0) return undefined;
  const respondent = await ModelRespondent.load(models, signal);
  try {
    return { names: respondent.names, chosen: await respondent.choose(items, signal) };
  } finally {
    await respondent.dispose();
  }
}

/** Reads responses and items, and grades them. */
export async function grade(options: GradeOptions): Promise<PicturedGrade> {
  const bytes = await readSmallFile(options.responses, MOST_BYTES);
  const responses = parseResponses(decodeText(bytes), options.responses);
  const bank = await openItems(options.items);
  try {
    const found = await findItems(responses, bank, options);
    checkClaims(responses, found, bank, options.responses);
    const table = choiceTable(responses, found, options.responses);
    const model = await askModels(table.items, options);
    const pictures = table.items.flatMap(({ id, pictures }): [string, ItemPictures][] =>
      pictures === null ? [] : [[id, pictures]],
    );
    const unanswered = bank.count === undefined ? null : bank.count - table.items.length;
    const result = { ...gradeTable(table, options.responses, model), unanswered };
    return { result, pictures: new Map(pictures) };
  } finally {
    await bank.close?.();
  }
}
