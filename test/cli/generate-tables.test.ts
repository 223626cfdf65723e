import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  decodePng,
  IMAGE_PIXELS,
  parseProblem,
  parseRavenXml,
  renderProblem,
  sampleProblem,
} from '../../src/matrix/index.js';
import { pythonHas, runPython } from '../matrix/file-helpers.js';
import { scratchFolder } from '../scratch-folder.js';
import { crab } from './run-crab.js';

const root = scratchFolder();
let places = 0;
const fresh = (ending = ''): string => path.join(root, `out-${places++}${ending}`);
const generate = (...args: string[]) => crab(['generate', '--quiet', ...args]);

interface Row {
  readonly panels: readonly { readonly bytes: Uint8Array; readonly path: string }[];
  readonly choices: readonly { readonly bytes: Uint8Array; readonly path: string }[];
  readonly structure: readonly (readonly string[])[];
  readonly meta_matrix: readonly (readonly number[])[];
  readonly meta_target: readonly (readonly number[])[];
  readonly meta_structure: readonly (readonly number[])[];
  readonly target: number;
  readonly id: number;
  readonly metadata: string;
}

const bufferOf = (file: string): ArrayBuffer => new Uint8Array(readFileSync(file)).buffer;

const rowsOf = async (file: string): Promise<Row[]> =>
  (await parquetReadObjects({
    file: bufferOf(file),
    utf8: false,
    compressors: { GZIP: (bytes) => new Uint8Array(gunzipSync(bytes)) },
  })) as Row[];

const bytesOf = (png: Uint8Array): number[] => {
  const { data } = decodePng(png);
  return Array.from(data, (value) => Math.round(255 * value));
};

test('Parquet has the columns of the public copy of RAVEN, in three parts', async () => {
  const out = fresh();
  const args = ['--config', 'left-right', '--variant', 'i-raven', '--seed', '2', '--count', '12'];
  args.push('--format', 'parquet', '--out', out);
  expect((await generate(...args)).stderr).toBe('');
  const folder = path.join(out, 'left_center_single_right_center_single');
  const files = readdirSync(folder).filter((name) => name.endsWith('.parquet'));
  const parts = ['test', 'train', 'validation'];
  expect(files).toEqual(parts.map((part) => `${part}-00000-of-00001.parquet`));
  const rows = await Promise.all(files.map((name) => rowsOf(path.join(folder, name))));
  expect(rows.map((part) => part.map(({ id }) => id))).toEqual([
    [8, 9],
    [0, 1, 2, 3, 4, 5, 10, 11],
    [6, 7],
  ]);
  for (const row of rows.flat()) {
    const problem = sampleProblem({
      configuration: 'left-right',
      variant: 'i-raven',
      seed: 2,
      index: row.id,
    });
    const { images } = renderProblem(problem);
    const image = (i: number): number[] => [
      ...images.subarray(i * IMAGE_PIXELS, (i + 1) * IMAGE_PIXELS),
    ];
    expect([row.panels.length, row.choices.length]).toEqual([8, 8]);
    expect(bytesOf(row.panels[5].bytes)).toEqual(image(5));
    expect(bytesOf(row.choices[3].bytes)).toEqual(image(11));
    expect(row.target).toBe(problem.target);
    expect(row.structure[0].slice(0, 4)).toEqual([
      'Scene',
      'Left_Right',
      'Left',
      'Left_Center_Single',
    ]);
    expect(row.meta_matrix.map((line) => line.length)).toEqual(Array(8).fill(9));
    expect([row.meta_target[0].length, row.meta_structure[0].length]).toEqual([9, 21]);
    const described = parseRavenXml(row.metadata, { target: row.target, noisy: false });
    expect(described.rules).toEqual(problem.rules);
  }
  const { schema, key_value_metadata } = parquetMetadata(bufferOf(path.join(folder, files[0])));
  expect(schema.filter(({ name }) => name === 'bytes').map(({ type }) => type)).toEqual([
    'BYTE_ARRAY',
    'BYTE_ARRAY',
  ]);
  // Hugging Face's library shows pictures as such only in fields that may be missing.
  const named = schema.filter(({ name }) => !['schema', 'list'].includes(name));
  expect(new Set(named.map(({ repetition_type }) => repetition_type))).toEqual(
    new Set(['OPTIONAL']),
  );
  const told = key_value_metadata?.find(({ key }) => key === 'huggingface')?.value ?? '';
  expect(JSON.parse(told)).toMatchObject({
    info: { features: { panels: [{ _type: 'Image' }], structure: { shape: [1, 12] } } },
  });

  const train = path.join(folder, files[1]);
  const whole = readFileSync(train);
  truncateSync(train, 1000);
  expect((await generate(...args, '--resume')).stdout).toMatch(
    /^12 problems \(12 of them were damaged/,
  );
  expect(readFileSync(train).equals(whole)).toBe(true);
  const more = args.map((arg) => (arg === '12' ? '13' : arg));
  expect((await generate(...more, '--resume')).stderr).toMatch(/made with other options/);
});

test.skipIf(!pythonHas('pandas', 'pyarrow'))('pandas reads Parquet', async () => {
  const out = fresh();
  const args = ['--config', 'center', '--count', '10', '--format', 'parquet', '--out', out];
  expect((await generate(...args)).code).toBe(0);
  const program = `
import json, sys, pandas
frame = pandas.read_parquet(sys.argv[1])
print(json.dumps([list(frame.columns), frame.id.tolist(), len(frame.panels[0]), len(frame.panels[0][0]['bytes'])]))`;
  const file = path.join(out, 'center_single', 'train-00000-of-00001.parquet');
  const [columns, ids, panels] = runPython(program, file) as [string[], number[], number];
  expect(columns).toEqual(
    'panels choices structure meta_matrix meta_target meta_structure target id metadata'.split(' '),
  );
  expect([ids, panels]).toEqual([[0, 1, 2, 3, 4, 5], 8]);
});

test('jsonl tells a problem in words and as data', async () => {
  const out = fresh('.jsonl');
  const args = ['--config', 'grid-2x2', '--variant', 'i-raven', '--count', '40', '--seed', '3'];
  const { stdout } = await generate(...args, '--format', 'jsonl', '--out', out);
  expect(stdout).toMatch(/^40 problems in/);
  const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(40);
  lines.forEach((line, index) => {
    const { problem, id, answer, rules } = JSON.parse(line) as Record<string, unknown>;
    const expected = sampleProblem({
      configuration: 'grid-2x2',
      variant: 'i-raven',
      seed: 3,
      index,
    });
    expect(parseProblem(problem)).toEqual(expected);
    expect(id).toBe(`grid-2x2-${String(index).padStart(5, '0')}`);
    expect(answer).toBe('ABCDEFGH'[expected.target]);
    expect(rules).toHaveLength(4);
  });
  const folder = fresh();
  await generate('--config', 'all', '--count', '1', '--format', 'jsonl', '--out', folder);
  expect(readdirSync(folder)).toHaveLength(7);
});
