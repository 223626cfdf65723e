/**
 * A set: many problems of one kind as the models see them, at 64x64, in one .npz with the arrays
 * `panel` u8 [N, 9, 64, 64] (the answer last), `selection` u8 [N, 8, 64, 64], `answer` i64 [N] and
 * `label` unicode [N]. Sets of problems whose panels are known also have `rule_value`, `rule_direction`
 * and `rule_index`, i32 [N, 3, 4] by component and group (`rule-parameters.ts`), and a set that knows how
 * its candidates were made has `variant`, one text. `part`, a text for each problem, tells which part of a
 * data set it belongs to, if that does not follow from its number (`partOf`). Problems are read in batches,
 * so that the size of a set does not matter.
 */
import { concatenate, FormatError, naming, type ByteSource } from '../base/index.js';
import { layoutOfProblem } from './layouts.js';
import { unicodeArray, type NpyArray } from './npy.js';
import { NpzFile, writeNpz, type NpzArray } from './npz.js';
import { CANDIDATES, MATRIX_PANELS, VARIANTS, type Problem, type Variant } from './problem.js';
import { partOf, PARTS, type Part } from './raven-file.js';
import { IMAGE_PIXELS, scaleInto, SMALL_PIXELS, SMALL_SIZE, type ImageSide } from './render.js';
import { render64Into, renderMatrix64Into } from './render-panel.js';
import {
  PARAMETER_ARRAYS,
  PARAMETER_SHAPE,
  parameterArray,
  problemRuleParameters,
  type RuleParameters,
} from './rule-parameters.js';
import { formatLabel, MAX_LABEL_LENGTH, parseLabel, type Label } from './set-label.js';

/** Bytes of the nine panels of one problem. */
export const MATRIX_PIXELS = MATRIX_PANELS * SMALL_PIXELS;
/** Bytes of the eight candidates of one problem. */
export const SELECTION_PIXELS = CANDIDATES * SMALL_PIXELS;

/** Some problems of a set. */
export interface SetBatch {
  readonly count: number;
  /** u8 [count, 9, 64, 64], 255 = white paper; the answer is the ninth panel. */
  readonly panel: Uint8Array;
  /** u8 [count, 8, 64, 64]. */
  readonly selection: Uint8Array;
  /** Index of the answer among the candidates, for each problem. */
  readonly answer: readonly number[];
  readonly label: readonly Label[];
  /** For each problem, if its panels are known as data. */
  readonly parameters?: readonly (readonly (readonly RuleParameters[])[])[];
  /** How the candidates of all of them were made, if it is known. */
  readonly variant?: Variant;
  /** The part of a data set that each belongs to, if it is known. */
  readonly part?: readonly Part[];
}

/** Problems from anywhere, by number: a set file, a folder of RAVEN, an HDF5 cache. */
export interface ProblemSource {
  readonly name: string;
  readonly count: number;
  /** Whether reading out of order costs no more than in order. */
  readonly randomAccess: boolean;
  /** How its candidates were made, if it tells. */
  readonly variant?: Variant;
  read(first: number, count: number): Promise<SetBatch>;
  close(): Promise<void>;
}

const MAX_ANSWERS = 64 << 20;
const MAX_VARIANT = 1024;

/** Opens a set file; its arrays are compared with each other before any problem is read. */
export function openSetFrom(source: ByteSource): Promise<ProblemSource> {
  return naming(source.name, async () => {
    const file = await NpzFile.open(source);
    if (!file.has('panel') && file.has('image')) {
      throw new FormatError('the file of one problem instead of a set: give the folder it lies in');
    }
    const panel = await pictures(file, 'panel', MATRIX_PANELS);
    const selection = await pictures(file, 'selection', CANDIDATES);
    const label = file.has('label') ? await file.array('label') : undefined;
    const answer = await answers(file);
    const variant = await variantOf(file);
    const part = await partsOf(file);
    for (const [array, rows] of [
      ['panel', panel.rows],
      ['selection', selection.rows],
      ['label', label?.rows ?? answer.length],
      ['part', part?.length ?? answer.length],
    ] as const) {
      if (rows !== answer.length) {
        throw new FormatError(`"${array}" has ${rows} problems, "answer" has ${answer.length}`);
      }
    }
    if (label && (label.header.kind !== 'U' || label.header.shape.length !== 1)) {
      throw new FormatError(
        `"label" is ${label.header.dtype} instead of one text for each problem`,
      );
    }
    if (label && label.header.itemSize > 4 * MAX_LABEL_LENGTH) {
      throw new FormatError(
        `"label" has texts of ${label.header.itemSize / 4} characters, more than the ${MAX_LABEL_LENGTH} allowed`,
      );
    }
    return {
      name: source.name,
      count: answer.length,
      randomAccess: panel.randomAccess && selection.randomAccess,
      variant,
      read: async (first, count) => ({
        count,
        panel: await panel.readRowBytes(first, count),
        selection: await selection.readRowBytes(first, count),
        answer: answer.slice(first, first + count),
        label: await labels(label, first, count, source.name),
        variant,
        part: part?.slice(first, first + count),
      }),
      close: () => source.close(),
    };
  });
}

async function pictures(file: NpzFile, name: string, panels: number): Promise<NpzArray> {
  const array = await file.array(name);
  const { dtype, shape } = array.header;
  const expected = [panels, SMALL_SIZE, SMALL_SIZE];
  if (dtype !== '|u1' || shape.length !== 4 || expected.some((size, i) => shape[i + 1] !== size)) {
    throw new FormatError(
      `"${name}" is ${dtype} (${shape.join(', ')}) instead of |u1 (N, ${expected.join(', ')})`,
    );
  }
  return array;
}

async function answers(file: NpzFile): Promise<number[]> {
  const { data, shape, dtype } = await file.read('answer', MAX_ANSWERS);
  if (shape.length !== 1 || !(data instanceof BigInt64Array || data instanceof Int32Array)) {
    throw new FormatError(`"answer" is ${dtype} (${shape.join(', ')}) instead of <i8 (N)`);
  }
  const indices = Array.from(data, Number);
  if (indices.some((index) => index < 0 || index >= CANDIDATES)) {
    throw new FormatError('"answer" holds more than the indices 0 to 7');
  }
  return indices;
}

/** What a set says of its candidates; sets of other programs say nothing. */
async function variantOf(file: NpzFile): Promise<Variant | undefined> {
  if (!file.has('variant')) return undefined;
  const text = String((await file.read('variant', MAX_VARIANT)).data);
  const variant = VARIANTS.find((name) => name === text);
  if (!variant) {
    throw new FormatError(
      `"variant" is ${JSON.stringify(text)} instead of one of ${VARIANTS.join(', ')}`,
    );
  }
  return variant;
}

/** Which part of a data set each problem of a set belongs to, if the set tells. */
async function partsOf(file: NpzFile): Promise<Part[] | undefined> {
  if (!file.has('part')) return undefined;
  const { data, shape } = await file.read('part', MAX_ANSWERS);
  if (ArrayBuffer.isView(data) || shape.length !== 1) {
    throw new FormatError('"part" is not one text for each problem');
  }
  return data.map((text) => {
    const part = PARTS.find((name) => name === text);
    if (part) return part;
    throw new FormatError(
      `"part" holds ${JSON.stringify(text)} instead of one of ${PARTS.join(', ')}`,
    );
  });
}

async function labels(
  array: NpzArray | undefined,
  first: number,
  count: number,
  name: string,
): Promise<Label[]> {
  if (!array) return Array.from({ length: count }, () => []);
  const { data } = await array.readRows(first, count);
  if (ArrayBuffer.isView(data)) throw new FormatError(`${name}: "label" is not text`);
  return data.map(parseLabel);
}

/** Goes through a source in order, a batch at a time. */
export async function* batches(
  source: ProblemSource,
  size = 64,
): AsyncGenerator<SetBatch, void, undefined> {
  for (let first = 0; first < source.count; first += size) {
    yield await source.read(first, Math.min(size, source.count - first));
  }
}

/** Draws a problem at 64x64 into the arrays of a batch, as its `place`-th problem. */
export function problemIntoBatch(
  problem: Problem,
  { panel, selection }: Pick<SetBatch, 'panel' | 'selection'>,
  place: number,
): void {
  const layout = layoutOfProblem(problem);
  renderMatrix64Into(problem, panel, place * MATRIX_PIXELS);
  problem.candidates.forEach((candidate, i) =>
    render64Into(layout, candidate.panel, selection, (place * CANDIDATES + i) * SMALL_PIXELS),
  );
}

/** A problem drawn at 64x64, as one problem of a set. */
export function problemToBatch(problem: Problem): SetBatch {
  const panel = new Uint8Array(MATRIX_PIXELS);
  const selection = new Uint8Array(SELECTION_PIXELS);
  problemIntoBatch(problem, { panel, selection }, 0);
  return {
    count: 1,
    panel,
    selection,
    answer: [problem.target],
    label: [problem.rules],
    parameters: [problemRuleParameters(problem)],
    variant: problem.variant,
  };
}

/** Problems of several batches as one. */
export function joinBatches(batches: readonly SetBatch[]): SetBatch {
  const variants = new Set(batches.map(({ variant }) => variant));
  return {
    count: batches.reduce((sum, { count }) => sum + count, 0),
    panel: concatenate(batches.map(({ panel }) => panel)),
    selection: concatenate(batches.map(({ selection }) => selection)),
    answer: batches.flatMap(({ answer }) => answer),
    label: batches.flatMap(({ label }) => label),
    parameters: batches.every(({ parameters }) => parameters)
      ? batches.flatMap(({ parameters = [] }) => parameters)
      : undefined,
    variant: variants.size === 1 ? batches[0].variant : undefined,
    part: batches.every(({ part }) => part) ? batches.flatMap(({ part = [] }) => part) : undefined,
  };
}

/** Images of RAVEN's files, u8 [16, 160, 160], scaled to a side, as one problem of a set. */
export function imagesToBatch(
  images: Uint8Array,
  target: number,
  label: Label,
  side: ImageSide = SMALL_SIZE,
): SetBatch {
  const pixels = side * side;
  const panel = new Uint8Array(MATRIX_PANELS * pixels);
  const selection = new Uint8Array(CANDIDATES * pixels);
  for (let i = 0; i < CANDIDATES; i++) {
    scaleInto(images, i * IMAGE_PIXELS, panel, i * pixels, side);
    scaleInto(images, (CANDIDATES + i) * IMAGE_PIXELS, selection, i * pixels, side);
  }
  panel.set(selection.subarray(target * pixels, (target + 1) * pixels), CANDIDATES * pixels);
  return { count: 1, panel, selection, answer: [target], label: [label] };
}

/** The parameters of rules as arrays of a set. */
export const ruleArrays = (
  parameters: NonNullable<SetBatch['parameters']>,
): (readonly [string, NpyArray])[] =>
  PARAMETER_ARRAYS.map((name) => [
    name,
    {
      dtype: '<i4',
      shape: [parameters.length, ...PARAMETER_SHAPE],
      data: parameterArray(name, parameters),
    },
  ]);

/** The array that says how the candidates of a set were made. */
export const variantArray = (variant: Variant): NpyArray => ({
  ...unicodeArray([variant]),
  shape: [],
});

/** The array that says which part each problem of a set belongs to; none if their numbers tell. */
export const partArrays = (
  parts: readonly (Part | undefined)[],
): (readonly [string, NpyArray])[] => {
  const told = parts.map((part, index) => part ?? partOf(index));
  return told.some((part, index) => part !== partOf(index)) ? [['part', unicodeArray(told)]] : [];
};

/** A whole set in memory, for the browser; Node writes large ones through `SetWriter`. */
export function encodeSet(problems: SetBatch): Uint8Array {
  const { count, panel, selection, answer, label, parameters, variant, part = [] } = problems;
  return writeNpz([
    ['panel', { dtype: '|u1', shape: [count, MATRIX_PANELS, SMALL_SIZE, SMALL_SIZE], data: panel }],
    [
      'selection',
      { dtype: '|u1', shape: [count, CANDIDATES, SMALL_SIZE, SMALL_SIZE], data: selection },
    ],
    ['answer', { dtype: '<i8', shape: [count], data: BigInt64Array.from(answer, BigInt) }],
    ['label', unicodeArray(label.map(formatLabel))],
    ...(parameters ? ruleArrays(parameters) : []),
    ...(variant ? [['variant', variantArray(variant)] as const] : []),
    ...partArrays(part),
  ]);
}
