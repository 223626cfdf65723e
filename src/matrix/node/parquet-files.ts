/**
 * Parquet files with the columns of HuggingFaceM4/RAVEN: panels and choices as PNG, the arrays of RAVEN's
 * .npz, the XML, split by number into train, validation and test. A shard is made in memory and written as
 * a whole, so that memory does not grow with the number of problems.
 */
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { greySquare } from '../board.js';
import { layoutOfProblem, type ConfigurationLayout } from '../layouts.js';
import { encodePng } from '../png.js';
import type { Problem } from '../problem.js';
import { partOf, type Part } from '../raven-file.js';
import {
  META_STRUCTURE_LENGTH,
  META_TARGET_LENGTH,
  metaMatrix,
  metaStructure,
  metaTarget,
  structureNames,
} from '../raven-structure.js';
import { formatRavenXml } from '../raven-xml-write.js';
import { IMAGE_PIXELS } from '../render.js';
import { renderProblem } from '../render-panel.js';
import { SHARD_PROBLEMS } from './parquet-shards.js';

const SPLITS: Readonly<Record<Part, string>> = { train: 'train', val: 'validation', test: 'test' };

type Schema = NonNullable<Parameters<typeof parquetWriteBuffer>[0]['schema']>;
type Element = Schema[number];

// Nothing is ever missing, but `datasets` shows pictures as such only if the fields may be.
const optional = 'OPTIONAL' as const;
const list = (name: string, ...element: Element[]): Element[] => [
  { name, num_children: 1, converted_type: 'LIST', repetition_type: optional },
  { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
  ...element,
];
const byte = (name: string): Element => ({
  name,
  type: 'INT32',
  converted_type: 'UINT_8',
  repetition_type: optional,
});
const string = (name: string): Element => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: optional,
});
const images = (name: string): Element[] =>
  list(
    name,
    { name: 'element', num_children: 2, repetition_type: optional },
    { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: optional },
    string('path'),
  );
const table = (name: string, item: Element): Element[] => list(name, ...list('element', item));

const COLUMNS: readonly Element[][] = [
  images('panels'),
  images('choices'),
  table('structure', string('element')),
  table('meta_matrix', byte('element')),
  table('meta_target', byte('element')),
  table('meta_structure', byte('element')),
  [byte('target')],
  [{ name: 'id', type: 'INT32', repetition_type: optional }],
  [string('metadata')],
];
const SCHEMA: Schema = [{ name: 'schema', num_children: COLUMNS.length }, ...COLUMNS.flat()];

/** What the `datasets` library needs to know to show pictures and arrays. */
function features(layout: ConfigurationLayout, ruleRows: number): string {
  const array = (shape: readonly number[], dtype = 'uint8') => ({ shape, dtype, _type: 'Array2D' });
  const value = (dtype: string) => ({ dtype, _type: 'Value' });
  return JSON.stringify({
    info: {
      features: {
        panels: [{ _type: 'Image' }],
        choices: [{ _type: 'Image' }],
        structure: array([1, structureNames(layout).length], 'string'),
        meta_matrix: array([ruleRows, 9]),
        meta_target: array([1, 9]),
        meta_structure: array([1, 21]),
        target: value('uint8'),
        id: value('int32'),
        metadata: value('string'),
      },
    },
  });
}

interface Picture {
  readonly bytes: Uint8Array;
  readonly path: string;
}

function pictures(all: Uint8Array, first: number, name: string): Picture[] {
  return Array.from({ length: 8 }, (_, i) => {
    const data = all.subarray((first + i) * IMAGE_PIXELS, (first + i + 1) * IMAGE_PIXELS);
    const bytes = encodePng(greySquare(data));
    return { bytes, path: `${name}_${i}.png` };
  });
}

const rowsOf = (bytes: Uint8Array, width: number): number[][] =>
  Array.from({ length: bytes.length / width }, (_, i) => [
    ...bytes.subarray(i * width, (i + 1) * width),
  ]);

interface Row {
  readonly panels: Picture[];
  readonly choices: Picture[];
  readonly structure: string[][];
  readonly meta_matrix: number[][];
  readonly meta_target: number[][];
  readonly meta_structure: number[][];
  readonly target: number;
  readonly id: number;
  readonly metadata: string;
}

function rowOf(problem: Problem, id: number): Row {
  const layout = layoutOfProblem(problem);
  const drawn = renderProblem(problem).images;
  const matrix = metaMatrix(problem.rules);
  return {
    panels: pictures(drawn, 0, `${id}_panel`),
    choices: pictures(drawn, 8, `${id}_choice`),
    structure: [structureNames(layout)],
    meta_matrix: rowsOf(matrix, 9),
    meta_target: rowsOf(metaTarget(matrix), META_TARGET_LENGTH),
    meta_structure: rowsOf(metaStructure(layout), META_STRUCTURE_LENGTH),
    target: problem.target,
    id,
    metadata: formatRavenXml(problem),
  };
}

function encodeRows(rows: readonly Row[], layout: ConfigurationLayout): Uint8Array {
  const column = <K extends keyof Row>(name: K, compressed = true) => ({
    name,
    data: rows.map((row) => row[name]),
    codec: compressed ? ('GZIP' as const) : ('UNCOMPRESSED' as const),
  });
  return new Uint8Array(
    parquetWriteBuffer({
      schema: SCHEMA,
      // PNG is deflated already.
      columnData: [
        column('panels', false),
        column('choices', false),
        column('structure'),
        column('meta_matrix'),
        column('meta_target'),
        column('meta_structure'),
        column('target'),
        column('id'),
        column('metadata'),
      ],
      compressors: { GZIP: (bytes) => gzipSync(bytes, { level: 3 }) },
      statistics: false,
      rowGroupSize: 200,
      kvMetadata: [{ key: 'huggingface', value: features(layout, rows[0].meta_matrix.length) }],
    }),
  );
}

const digits = (value: number): string => String(value).padStart(5, '0');

/**
 * The files of one shard of `count` problems in all: one for each part that has problems. All are of one
 * part if it is given.
 */
export function* parquetShard(
  folder: string,
  layout: ConfigurationLayout,
  problems: Iterable<readonly [Problem, number]>,
  place: { readonly shard: number; readonly count: number; readonly part?: Part },
): Generator<{ readonly file: string; readonly bytes: Uint8Array }> {
  const parts = new Map<Part, Row[]>();
  for (const [problem, index] of problems) {
    const part = place.part ?? partOf(index);
    const rows = parts.get(part) ?? [];
    parts.set(part, rows);
    rows.push(rowOf(problem, index));
  }
  const shards = digits(Math.ceil(place.count / SHARD_PROBLEMS));
  for (const [part, rows] of parts) {
    const name = `${SPLITS[part]}-${digits(place.shard)}-of-${shards}.parquet`;
    const bytes = encodeRows(rows, layout);
    // The rows are as large as the file that is now to be written.
    rows.length = 0;
    yield { file: path.join(folder, name), bytes };
  }
}
