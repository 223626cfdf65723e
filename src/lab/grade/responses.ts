/**
 * What people answered. Two forms are read: long, one line an answer with columns respondent, item and
 * choice; and wide, one line a respondent with a column for each item. A choice is 1 to 8 or A to H;
 * an empty field, NA or - means that nothing was chosen. A column seconds of the long form says how long a
 * choice took. Tables of several people may stand one after the other: the first line may be there again.
 */
import { FormatError } from '../../base/index.js';
import { parseCsv, type CsvRow } from './csv.js';

/** Columns of an answer file that may stand beside an answer, too. */
export const CLAIMS = ['configuration', 'variant', 'seed'] as const;
export type Claim = (typeof CLAIMS)[number];

export interface Response {
  readonly respondent: string;
  /** As written. */
  readonly item: string;
  /** 1..8, or null if nothing was chosen. */
  readonly choice: number | null;
  /** How long it took, if that is told. */
  readonly seconds?: number | undefined;
  readonly line: number;
  /** What columns of these names say about the item, if there are any: it must be true. */
  readonly claims?: Readonly<Partial<Record<Claim, string>>>;
}

const COLUMNS = {
  respondent: ['respondent', 'participant', 'subject', 'person', 'student', 'name', 'id'],
  item: ['item', 'question', 'problem', 'matrix'],
  choice: ['choice', 'chosen', 'response', 'answer', 'candidate'],
} as const;

const NOTHING = new Set(['', 'na', 'n/a', 'nan', 'null', '-', 'none']);
const MOST_NAME = 200;

const EXPECTED =
  'the first line must name the columns: respondent,item,choice, or respondent and then one column for each item';

function parseChoice(text: string, where: string): number | null {
  const value = text.toLowerCase();
  if (NOTHING.has(value)) return null;
  // Programs that know no empty whole numbers write 2.0.
  if (/^[1-8](\.0)?$/.test(value)) return Number(value);
  if (/^[a-h]$/.test(value)) return value.charCodeAt(0) - 'a'.charCodeAt(0) + 1;
  throw new FormatError(
    `${where}: the choice ${JSON.stringify(text.slice(0, 40))} is neither 1 to 8 nor A to H nor empty`,
  );
}

/** Spreadsheets of many countries write 3,25. */
function parseSeconds(text: string | undefined, where: string): number | undefined {
  if (text === undefined || NOTHING.has(text.toLowerCase())) return undefined;
  const value = Number(text.replace(',', '.'));
  if (Number.isFinite(value) && value >= 0) return value;
  throw new FormatError(
    `${where}: seconds is ${JSON.stringify(text.slice(0, 40))}, not a number of seconds; leave the column out if times do not matter`,
  );
}

function parseName(text: string, what: string, where: string): string {
  if (text === '') throw new FormatError(`${where}: the ${what} is empty`);
  if (text.length > MOST_NAME) {
    throw new FormatError(`${where}: the ${what} is longer than ${MOST_NAME} letters`);
  }
  return text;
}

const columnOf = (header: readonly string[], names: readonly string[]): number =>
  header.findIndex((field) => names.includes(field.toLowerCase()));

/** Spreadsheets often write empty columns after the last one. */
const withoutEmptyEnd = (fields: readonly string[]): readonly string[] =>
  fields.slice(0, fields.findLastIndex((field) => field !== '') + 1);

/** Refuses a line with fewer or more fields than the first has names; more empty ones do not count. */
function requireWidth({ fields, line }: CsvRow, width: number, name: string): void {
  if (fields.length === width) return;
  if (fields.length > width && withoutEmptyEnd(fields).length <= width) return;
  throw new FormatError(
    `${name}, line ${line}: ${fields.length} fields where the first line has ${width}`,
  );
}

/** Respondent and item of a response as one key. */
const keyOf = (respondent: string, item: string): string => JSON.stringify([respondent, item]);

/** Refuses a second answer of the same person to the same item. */
function withoutRepeats(responses: readonly Response[], name: string): readonly Response[] {
  const lines = new Map<string, number>();
  for (const { respondent, item, line } of responses) {
    const key = keyOf(respondent, item);
    const earlier = lines.get(key);
    if (earlier !== undefined) {
      throw new FormatError(
        `${name}, line ${line}: ${respondent} has answered ${item} already in line ${earlier}`,
      );
    }
    lines.set(key, line);
  }
  return responses;
}

function parseLong(rows: readonly CsvRow[], header: readonly string[], name: string): Response[] {
  const item = columnOf(header, COLUMNS.item);
  const choice = columnOf(header, COLUMNS.choice);
  const respondent = columnOf(header, COLUMNS.respondent);
  const seconds = columnOf(header, ['seconds']);
  if (respondent < 0) {
    throw new FormatError(`${name}, line 1: no column is called respondent; ${EXPECTED}`);
  }
  const claimed = CLAIMS.map((claim) => [claim, columnOf(header, [claim])] as const).filter(
    ([, column]) => column >= 0,
  );
  return rows.map((row) => {
    requireWidth(row, header.length, name);
    const where = `${name}, line ${row.line}`;
    return {
      respondent: parseName(row.fields[respondent], 'respondent', where),
      item: parseName(row.fields[item], 'item', where),
      choice: parseChoice(row.fields[choice], where),
      seconds: parseSeconds(seconds < 0 ? undefined : row.fields[seconds], where),
      line: row.line,
      ...(claimed.length === 0
        ? {}
        : { claims: Object.fromEntries(claimed.map(([claim, at]) => [claim, row.fields[at]])) }),
    };
  });
}

/** A choice of a wide table; a column that is no item, such as an age, is the likeliest fault. */
function parseWideChoice(text: string, item: string, where: string): number | null {
  try {
    return parseChoice(text, `${where}, column ${item}`);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new FormatError(
      `${error.message}; all columns after the first must be items, so leave others out`,
    );
  }
}

function parseWide(rows: readonly CsvRow[], header: readonly string[], name: string): Response[] {
  if (header.length < 2 || !COLUMNS.respondent.some((each) => each === header[0].toLowerCase())) {
    throw new FormatError(`${name}, line 1: ${EXPECTED}`);
  }
  const items = header
    .slice(1)
    .map((item) => parseName(item, 'name of an item', `${name}, line 1`));
  return rows.flatMap((row) => {
    requireWidth(row, header.length, name);
    const where = `${name}, line ${row.line}`;
    const respondent = parseName(row.fields[0], 'respondent', where);
    return items.map((item, i) => ({
      respondent,
      item,
      choice: parseWideChoice(row.fields[i + 1], item, where),
      line: row.line,
    }));
  });
}

/** Reads a table of responses; `name` is that of the file, for messages. */
export function parseResponses(text: string, name: string): readonly Response[] {
  const [first, ...others] = parseCsv(text, name);
  if (first === undefined) throw new FormatError(`${name} is empty: ${EXPECTED}`);
  const isHeader = ({ fields }: CsvRow): boolean => fields.join('\n') === first.fields.join('\n');
  const rows = others.filter((row) => !isHeader(row));
  if (rows.length === 0) throw new FormatError(`${name} has no line after the first: no responses`);
  const header = withoutEmptyEnd(first.fields);
  const long = columnOf(header, COLUMNS.item) >= 0 && columnOf(header, COLUMNS.choice) >= 0;
  const responses = long ? parseLong(rows, header, name) : parseWide(rows, header, name);
  return withoutRepeats(responses, name);
}
