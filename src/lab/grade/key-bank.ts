/** Items by the answer file of `crab generate --answers`, for prints and anything else. */
import { FormatError } from '../../base/index.js';
import {
  ALSO_RIGHT_COLUMN,
  ANSWER_COLUMNS,
  answerRow,
  itemName,
  layoutNamed,
  sampleProblem,
  VARIANTS,
  type Problem,
} from '../../matrix/index.js';
import { readSmallFile } from '../../base/node.js';
import { decodeText, parseCsv, type CsvRow } from './csv.js';
import { drawnItem } from './drawn-item.js';
import { itemKey, violationOf, type ItemBank, type TestItem } from './items.js';

const MOST_BYTES = 256 << 20;

/** What a line says its item was made from. */
function madeFrom(fields: ReadonlyMap<string, string>): TestItem['made'] {
  const variant = VARIANTS.find((each) => each === fields.get('variant'));
  const seed = fields.get('seed') ?? '';
  return variant === undefined || !/^\d+$/.test(seed) ? undefined : { variant, seed: Number(seed) };
}

/** The problem of a line of an answer file, if making it again gives the very same line. */
function remade(fields: ReadonlyMap<string, string>): Problem | undefined {
  const variant = VARIANTS.find((each) => each === fields.get('variant'));
  const [seed, index] = ['seed', 'index'].map((column) => Number(fields.get(column)));
  if (variant === undefined || !Number.isSafeInteger(seed) || !Number.isSafeInteger(index)) return;
  if (index < 0) return undefined;
  const { configuration, noisy, mesh } = layoutNamed(fields.get('configuration') ?? '');
  const problem = sampleProblem({ configuration, noisy, mesh, variant, seed, index });
  const row = answerRow(problem, seed, index);
  // Keys of earlier versions have no column of candidates that are right as well.
  const isSame = (column: string, i: number): boolean =>
    (column === ALSO_RIGHT_COLUMN && !fields.has(column)) || fields.get(column) === row[i];
  // Items made with --rules differ: of these the file tells everything but the pictures.
  return ANSWER_COLUMNS.every(isSame) ? problem : undefined;
}

/** Refuses a line whose columns say different things about the answer. */
function checkAnswer(fields: ReadonlyMap<string, string>, file: string, line: number): number {
  const answer = Number(fields.get('answer'));
  if (!Number.isInteger(answer) || answer < 1 || answer > 8) {
    throw new FormatError(`${file}, line ${line}: the answer is not 1 to 8`);
  }
  const marked = Array.from({ length: 8 }, (_, i) => i + 1).filter(
    (candidate) => fields.get(`candidate_${candidate}`)?.toLowerCase() === 'answer',
  );
  if (marked.length > 0 && !(marked.length === 1 && marked[0] === answer)) {
    throw new FormatError(
      `${file}, line ${line}: the answer is ${answer}, but candidate ${marked.join(' and ')} is said to be it`,
    );
  }
  return answer;
}

/** The other right candidates of a line, 1..8. */
function readAlsoRight(
  fields: ReadonlyMap<string, string>,
  answer: number,
  where: string,
): readonly number[] {
  const told = fields.get(ALSO_RIGHT_COLUMN) ?? '';
  const candidates = told.split(' ').filter((each) => each !== '');
  if (!candidates.every((each) => /^[1-8]$/.test(each) && Number(each) !== answer)) {
    throw new FormatError(
      `${where}: ${ALSO_RIGHT_COLUMN} is ${JSON.stringify(told)}, not candidates 1 to 8 beside the answer, with spaces between`,
    );
  }
  return candidates.map(Number);
}

/** Refuses a line whose name is not that of its configuration and index. */
function checkName(fields: ReadonlyMap<string, string>, file: string, line: number): void {
  const [item, configuration, index] = ['item', 'configuration', 'index'].map(
    (column) => fields.get(column) ?? '',
  );
  if (configuration === '' || !/^\d{1,9}$/.test(index)) return;
  const expected = itemName(layoutNamed(configuration), Number(index));
  if (itemKey(item) === expected) return;
  throw new FormatError(
    `${file}, line ${line}: item ${item} is said to be number ${index} of ${configuration}, which is called ${expected}`,
  );
}

function keyItem(header: readonly string[], { fields: row, line }: CsvRow, file: string): TestItem {
  const fields = new Map(header.map((column, i) => [column, row[i] ?? '']));
  const id = fields.get('item') ?? '';
  const answer = checkAnswer(fields, file, line);
  checkName(fields, file, line);
  const alsoRight = readAlsoRight(fields, answer, `${file}, line ${line}`);
  const problem = remade(fields);
  const made = madeFrom(fields);
  if (problem !== undefined) return { ...drawnItem(id, problem), made };
  const texts = Array.from({ length: 8 }, (_, i) => fields.get(`candidate_${i + 1}`) ?? '');
  return {
    id,
    layout: fields.get('configuration') ?? null,
    answer,
    alsoRight,
    rules: fields.get('rules')?.split('; ') ?? null,
    violations: texts.map((text, i) =>
      i + 1 === answer || text === '' ? [] : text.split(', ').map(violationOf),
    ),
    made,
    pictures: null,
  };
}

/** Lines by what they call their item; two that call different items the same are refused. */
function linesByItem(
  rows: readonly CsvRow[],
  column: number,
  file: string,
): ReadonlyMap<string, CsvRow> {
  const lines = new Map<string, CsvRow>();
  for (const row of rows) {
    const key = itemKey(row.fields[column] ?? '');
    const earlier = lines.get(key);
    if (earlier !== undefined && earlier.fields.join('\n') !== row.fields.join('\n')) {
      throw new FormatError(
        `${file}, line ${row.line}: ${row.fields[column]} is another item in line ${earlier.line}; give the key of one test`,
      );
    }
    lines.set(key, row);
  }
  return lines;
}

/** Refuses items of one configuration from two seeds: their names do not tell which is meant. */
function checkSeeds(header: readonly string[], rows: readonly CsvRow[], file: string): void {
  const [configuration, seed] = ['configuration', 'seed'].map((column) => header.indexOf(column));
  if (configuration < 0 || seed < 0) return;
  const first = new Map<string, CsvRow>();
  for (const row of rows) {
    const layout = row.fields[configuration] ?? '';
    const earlier = first.get(layout) ?? row;
    first.set(layout, earlier);
    if (earlier.fields[seed] === row.fields[seed]) continue;
    throw new FormatError(
      `${file}, line ${row.line}: an item of ${layout} from seed ${row.fields[seed]}, while line ${earlier.line} has seed ${earlier.fields[seed]}; give each test its own key`,
    );
  }
}

/** Items of an answer file. */
export async function keyBank(file: string): Promise<ItemBank> {
  const text = decodeText(await readSmallFile(file, MOST_BYTES));
  const [head, ...rows] = parseCsv(text, file);
  const header = head?.fields.map((field) => field.toLowerCase()) ?? [];
  if (!header.includes('item') || !header.includes('answer')) {
    throw new FormatError(
      `${file} is not an answer file of crab generate: it lacks item or answer`,
    );
  }
  if (rows.length === 0) throw new FormatError(`${file} has no line after the first: no items`);
  const lines = linesByItem(rows, header.indexOf('item'), file);
  checkSeeds(header, rows, file);
  return {
    name: file,
    count: lines.size,
    sample: rows[0].fields[header.indexOf('item')] ?? '',
    find: (name) => {
      const row = lines.get(itemKey(name));
      return Promise.resolve(row === undefined ? undefined : keyItem(header, row, file));
    },
  };
}
