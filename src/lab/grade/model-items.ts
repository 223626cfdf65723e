/** Reads the items of `crab generate --format vlm`, and what models replied to them. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  ArgumentError,
  dictionary,
  FormatError,
  integer,
  isRecord,
  list,
  objectWith,
  parseJson,
  read,
  text,
  withDefault,
  type Read,
} from '../../base/index.js';
import { readSmallFile } from '../../base/node.js';
import { LETTERS } from '../../matrix/index.js';
import { decodeText } from './csv.js';

const MOST_BYTES = 512 << 20;
const ITEMS = 'items.jsonl';
const PERCEPTION = 'perception.jsonl';
const LONGEST = 1 << 16;

const options = dictionary(text(LONGEST));
const itemReader = objectWith({
  id: text(200),
  answer: text(1),
  // Items of earlier versions do not tell.
  also_right: withDefault(list(text(1)), []),
  options,
  changes: dictionary(list(text(200))),
  candidates: list(integer({ min: 0, max: 7 })),
  rules: list(text(1000)),
  rule_list: list(list(({ value }) => value)),
  configuration: text(100),
  variant: text(100),
  index: integer({ min: 0 }),
});
const perceptionReader = objectWith({ id: text(200), kind: text(100), answer: text(1), options });

/** An item, the folder it lies in, and its rules as "Size: Progression". */
export interface ModelItem extends Omit<
  Read<typeof itemReader>,
  'rule_list' | 'rules' | 'also_right'
> {
  readonly folder: string;
  readonly letters: readonly string[];
  /** Letters that count as right: the answer, and others that are right by other rules. */
  readonly right: readonly string[];
  readonly rulesInWords: readonly string[];
  /** One entry for each rule of each component. */
  readonly rules: readonly { readonly attribute: string; readonly rule: string }[];
}

export interface PerceptionItem extends Read<typeof perceptionReader> {
  readonly letters: readonly string[];
}

export interface ModelItems {
  readonly items: ReadonlyMap<string, ModelItem>;
  readonly perception: ReadonlyMap<string, PerceptionItem>;
}

/** The lines of a jsonl file, each with where it stands. */
async function jsonLines(file: string): Promise<{ where: string; value: unknown }[]> {
  const content = decodeText(await readSmallFile(file, MOST_BYTES));
  return content
    .split('\n')
    .map((line, i) => ({ line, where: `${file}, line ${i + 1}` }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, where }) => ({ where, value: parseJson(line, FormatError, where) }));
}

/** The options in the order of their letters. */
function lettersOf(
  given: Readonly<Record<string, string>>,
  answer: string,
  where: string,
): string[] {
  const letters = Object.keys(given);
  const fit = letters.every((letter, i) => letter === (LETTERS as readonly string[])[i]);
  if (!fit || letters.length < 2 || !letters.includes(answer)) {
    throw new FormatError(`${where}: "options" are letters from A on, "answer" is one of them`);
  }
  return letters;
}

function rulesOf(value: readonly (readonly unknown[])[], where: string): ModelItem['rules'] {
  return value.flat().map((rule) => {
    const [attribute, name] = Array.isArray(rule) ? (rule as unknown[]) : [];
    if (typeof attribute !== 'string' || typeof name !== 'string') {
      throw new FormatError(`${where}: a rule of "rule_list" is [attribute, rule, value]`);
    }
    return { attribute, rule: name };
  });
}

/** The folders below a root, or the root itself, that hold items. */
async function itemFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const below = entries.filter((e) => e.isDirectory()).map((e) => path.join(root, e.name));
  const found: string[] = [];
  for (const folder of [root, ...below.sort()]) {
    if (await stat(path.join(folder, ITEMS)).catch(() => undefined)) found.push(folder);
  }
  return found;
}

export async function readModelItems(root: string): Promise<ModelItems> {
  const isFolder = (await stat(root)).isDirectory();
  const isTable = !isFolder && path.basename(root) === ITEMS;
  const folders = isFolder ? await itemFolders(root) : isTable ? [path.dirname(root)] : [];
  if (folders.length === 0) {
    throw new ArgumentError(
      `--items ${root} holds no ${ITEMS}: replies of models are graded with a folder of crab generate --format vlm`,
    );
  }
  const items = new Map<string, ModelItem>();
  const perception = new Map<string, PerceptionItem>();
  for (const folder of folders) {
    for (const { where, value } of await jsonLines(path.join(folder, ITEMS))) {
      const { rule_list, rules, also_right, ...item } = read(itemReader, value, FormatError, where);
      if (items.has(item.id)) {
        throw new FormatError(`${where}: there is another item ${item.id}; name one folder`);
      }
      const letters = lettersOf(item.options, item.answer, where);
      items.set(item.id, {
        ...item,
        folder,
        letters,
        right: [item.answer, ...also_right],
        rulesInWords: rules,
        rules: rulesOf(rule_list, where),
      });
    }
    const questions = path.join(folder, PERCEPTION);
    if (!(await stat(questions).catch(() => undefined))) continue;
    for (const { where, value } of await jsonLines(questions)) {
      const asked = read(perceptionReader, value, FormatError, where);
      perception.set(asked.id, {
        ...asked,
        letters: lettersOf(asked.options, asked.answer, where),
      });
    }
  }
  if (items.size === 0) throw new FormatError(`--items ${root}: ${ITEMS} holds no items`);
  return { items, perception };
}

/** One reply of a model. */
export interface ModelReply {
  readonly id: string;
  readonly reply: string;
  readonly model: string;
  /** The options were shown without the matrix. */
  readonly blind: boolean;
  readonly where: string;
}

/** Names under which programs write the text of a reply, ours first. A call that failed leaves null: no reply. */
const REPLY_KEYS = ['reply', 'response', 'prediction', 'output', 'answer'];

export async function readReplies(file: string): Promise<ModelReply[]> {
  const replies = (await jsonLines(file)).map(({ where, value }): ModelReply => {
    if (!isRecord(value)) {
      throw new FormatError(`${where}: expected a line {"id": …, "reply": …} for each reply`);
    }
    const key =
      REPLY_KEYS.find((name) => typeof value[name] === 'string') ??
      REPLY_KEYS.find((name) => value[name] === null);
    if (typeof value.id !== 'string' || key === undefined) {
      throw new FormatError(`${where}: expected {"id": …, "reply": …}, both texts`);
    }
    const model = value.model ?? 'model';
    if (typeof model !== 'string') throw new FormatError(`${where}: "model" is a name`);
    if (value.blind !== undefined && typeof value.blind !== 'boolean') {
      throw new FormatError(`${where}: "blind" is true or false`);
    }
    return {
      id: value.id,
      reply: (value[key] as string | null) ?? '',
      model,
      blind: value.blind === true,
      where,
    };
  });
  if (replies.length === 0) throw new FormatError(`${file} holds no replies`);
  const seen = new Map<string, string>();
  for (const { id, model, blind, where } of replies) {
    const key = JSON.stringify([model, blind, id]);
    const before = seen.get(key);
    if (before !== undefined) {
      throw new FormatError(`${where}: ${model} has replied to ${id} already: ${before}`);
    }
    seen.set(key, where);
  }
  return replies;
}
