/** Items by the answer file of `crab generate --answers`, for prints and anything else. */
import {
  answerRow,
  findLayout,
  FormatError,
  sampleProblem,
  VARIANTS,
  type Problem,
} from '../../matrix/index.js';
import { readSmallFile } from '../../matrix/node.js';
import { decodeText, parseCsv, type CsvRow } from './csv.js';
import { drawnItem } from './drawn-item.js';
import { itemKey, violationOf, type ItemBank, type TestItem } from './items.js';

const MOST_BYTES = 256 << 20;

/** The problem of a line of an answer file, if making it again gives the very same line. */
function remade(fields: ReadonlyMap<string, string>, row: readonly string[]): Problem | undefined {
  const variant = VARIANTS.find((each) => each === fields.get('variant'));
  const [seed, index] = ['seed', 'index'].map((column) => Number(fields.get(column)));
  if (variant === undefined || !Number.isSafeInteger(seed) || !Number.isSafeInteger(index)) return;
  if (index < 0) return undefined;
  const { configuration, noisy } = findLayout(fields.get('configuration') ?? '');
  const problem = sampleProblem({ configuration, noisy, variant, seed, index });
  // Items made with --rules differ: of these the file tells everything but the pictures.
  return answerRow(problem, seed, index).every((field, i) => field === row[i])
    ? problem
    : undefined;
}

function keyItem(header: readonly string[], { fields: row, line }: CsvRow, file: string): TestItem {
  const fields = new Map(header.map((column, i) => [column, row[i] ?? '']));
  const id = fields.get('item') ?? '';
  const answer = Number(fields.get('answer'));
  if (!Number.isInteger(answer) || answer < 1 || answer > 8) {
    throw new FormatError(`${file}, line ${line}: the answer is not 1 to 8`);
  }
  const problem = remade(fields, row);
  if (problem !== undefined) return drawnItem(id, problem);
  const texts = Array.from({ length: 8 }, (_, i) => fields.get(`candidate_${i + 1}`) ?? '');
  return {
    id,
    layout: fields.get('configuration') ?? null,
    answer,
    rules: fields.get('rules')?.split('; ') ?? null,
    violations: texts.map((text, i) =>
      i + 1 === answer || text === '' ? [] : text.split(', ').map(violationOf),
    ),
    pictures: null,
  };
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
  const lines = new Map(rows.map((row) => [itemKey(row.fields[header.indexOf('item')]), row]));
  return {
    name: file,
    sample: rows[0]?.fields[header.indexOf('item')] ?? '',
    find: (name) => {
      const row = lines.get(itemKey(name));
      return Promise.resolve(row === undefined ? undefined : keyItem(header, row, file));
    },
    close: () => Promise.resolve(),
  };
}
