/**
 * One problem as RAVEN's files hold it: a .npz of images and symbolic arrays, and the XML beside it.
 * File names carry the problem's number and its part of the data set.
 */
import { FormatError } from '../base/index.js';
import { layoutOfProblem, type ConfigurationLayout } from './layouts.js';
import { byteStringArray, unicodeArray, type NpyArray } from './npy.js';
import { NpzFile, writeNpz } from './npz.js';
import { CANDIDATE_ATTRIBUTES, type Problem } from './problem.js';
import {
  layoutsOfStructure,
  MESH_META_MATRIX_SHAPE,
  META_MATRIX_SHAPE,
  META_STRUCTURE_LENGTH,
  META_TARGET_LENGTH,
  metaMatrix,
  metaStructure,
  metaTarget,
  rulesOfMetaMatrix,
  structureNames,
  type NamedRule,
} from './raven-structure.js';
import { SPLITS, type Split } from './regimes.js';
import { IMAGE_PIXELS } from './render.js';
import {
  PARAMETER_ARRAYS,
  PARAMETER_SHAPE,
  parameterArray,
  problemRuleParameters,
} from './rule-parameters.js';
import { IMAGE_SIZE } from './render-entity.js';
import { PROBLEM_IMAGES } from './render-panel.js';
import { candidatesConsistentWith } from './symbolic.js';
import { memorySource, naming } from '../base/index.js';

export const PARTS = SPLITS;
export type Part = Split;

/** The part of the data set that problem number `index` belongs to: 6 : 2 : 2. */
export function partOf(index: number): Part {
  const last = index % 10;
  return last < 6 ? 'train' : last < 8 ? 'val' : 'test';
}

/** `RAVEN_12_train`, without an ending. */
export const ravenFileName = (index: number, part: Part = partOf(index)): string =>
  `RAVEN_${index}_${part}`;

/** The number and part in a file's name, or undefined if it is not such a file. */
export function parseRavenFileName(
  name: string,
): { readonly index: number; readonly part: Part; readonly ending: 'npz' | 'xml' } | undefined {
  const match = /^RAVEN_(\d{1,9})_(train|val|test)\.(npz|xml)$/.exec(name);
  if (!match) return undefined;
  return { index: Number(match[1]), part: match[2] as Part, ending: match[3] as 'npz' | 'xml' };
}

/** What the .npz of a problem says. */
export interface RavenArrays {
  /** u8 [16, 160, 160]: the eight panels, then the eight candidates. */
  readonly images: Uint8Array;
  /** Index of the answer among the candidates. */
  readonly target: number;
  /** The answer of the rule solver that checked the problem; absent from some copies. */
  readonly predict: number | undefined;
  /** Whether that is a list, as RAVEN-FAIR's program writes it. */
  readonly predictIsList: boolean;
  /** One layout, or the noisy and noise-free forms of one; empty if `structure` is absent. */
  readonly layouts: readonly ConfigurationLayout[];
  /** Rules by component, without parameters; undefined if `meta_matrix` is absent. */
  readonly rules: readonly (readonly NamedRule[])[] | undefined;
}

/** Most bytes that any array of a problem may have. */
const ARRAY_LIMIT = 1 << 20;

/** Reads the .npz of a problem; arrays that only repeat others (`meta_*`) are checked if present. */
export function decodeRavenNpz(bytes: Uint8Array, name = 'problem'): Promise<RavenArrays> {
  return naming(name, async () => {
    const file = await NpzFile.open(memorySource(bytes, name));
    if (!file.has('image') && file.has('panel')) {
      throw new FormatError(
        'a set of many problems instead of the file of one: crab evaluate --data takes it, and crab convert --format raven makes a file of each problem, unless they have a mesh',
      );
    }
    const read = (key: string): Promise<NpyArray | undefined> =>
      file.has(key) ? file.read(key, ARRAY_LIMIT) : Promise.resolve(undefined);
    const structure = await read('structure');
    const layouts = structure ? layoutsOfStructure(strings(structure)) : [];
    const given = await read('meta_matrix');
    // Sets made after I-RAVEN-Mesh have room for a mesh, with it or without.
    const room = given?.shape[0] === MESH_META_MATRIX_SHAPE[0];
    const shape = room ? MESH_META_MATRIX_SHAPE : META_MATRIX_SHAPE;
    const matrix = optionalBits(given, 'meta_matrix', shape);
    optionalBits(await read('meta_target'), 'meta_target', [META_TARGET_LENGTH]);
    optionalBits(await read('meta_structure'), 'meta_structure', [META_STRUCTURE_LENGTH]);
    const components = layouts.at(0)?.components.length;
    const mesh = layouts.at(0)?.mesh ?? false;
    const predict = await read('predict');
    return {
      images: imagesOf(await file.read('image', ARRAY_LIMIT)),
      target: candidateIndex(await file.read('target', ARRAY_LIMIT), 'target'),
      predict: predict && candidateIndex(predict, 'predict'),
      predictIsList: predict?.shape.length === 1,
      layouts,
      rules: matrix && components ? rulesOfMetaMatrix(matrix, components, mesh) : undefined,
    };
  });
}

const shapeText = (shape: readonly number[]): string => `(${shape.join(', ')})`;

function bytesOf(array: NpyArray, name: string, shape: readonly number[]): Uint8Array {
  const { data, dtype } = array;
  if (
    dtype !== '|u1' ||
    !(data instanceof Uint8Array) ||
    shapeText(array.shape) !== shapeText(shape)
  ) {
    throw new FormatError(
      `"${name}" is ${dtype} ${shapeText(array.shape)} instead of |u1 ${shapeText(shape)}`,
    );
  }
  return data;
}

const imagesOf = (array: NpyArray): Uint8Array =>
  bytesOf(array, 'image', [PROBLEM_IMAGES, IMAGE_SIZE, IMAGE_SIZE]);

function optionalBits(
  array: NpyArray | undefined,
  name: string,
  shape: readonly number[],
): Uint8Array | undefined {
  if (!array) return undefined;
  const bits = bytesOf(array, name, shape);
  if (bits.some((bit) => bit > 1)) throw new FormatError(`"${name}" holds more than 0 and 1`);
  return bits;
}

function candidateIndex(array: NpyArray, name: string): number {
  const { data } = array;
  const integer = data instanceof BigInt64Array || data instanceof Int32Array;
  const value = integer && data.length === 1 ? Number(data[0]) : NaN;
  if (!(value >= 0 && value < 8)) {
    throw new FormatError(`"${name}" is not the index of a candidate, 0 to 7`);
  }
  return value;
}

function strings(array: NpyArray): readonly string[] {
  const { data, shape } = array;
  if (ArrayBuffer.isView(data) || shape.length !== 1) {
    throw new FormatError('"structure" is not a list of names');
  }
  return data;
}

interface RavenNpzOptions {
  /** What a rule solver answers: the first candidate that obeys the rules unless told. */
  readonly predict?: number;
  /** Deflate the arrays; the published files store them. */
  readonly compress?: boolean;
  /** Also the arrays of `rule-parameters.ts`, which the published files do not have. */
  readonly ruleParameters?: boolean;
}

/**
 * The .npz of a problem whose images are drawn, u8 [16, 160, 160]. RAVEN-FAIR's program
 * writes `predict` as a list.
 */
export function encodeRavenNpz(
  problem: Problem,
  images: Uint8Array,
  {
    predict = candidatesConsistentWith(problem).at(0) ?? problem.target,
    compress = false,
    ruleParameters = false,
  }: RavenNpzOptions = {},
): Uint8Array {
  if (images.length !== PROBLEM_IMAGES * IMAGE_PIXELS) {
    throw new FormatError(`a problem has 16 images of 160x160, not ${images.length} pixels`);
  }
  const layout = layoutOfProblem(problem);
  const matrix = metaMatrix(problem.rules, layout.mesh);
  const shape = layout.mesh ? MESH_META_MATRIX_SHAPE : META_MATRIX_SHAPE;
  const names = structureNames(layout);
  const index = (value: number): NpyArray => ({
    dtype: '<i8',
    shape: [],
    data: BigInt64Array.of(BigInt(value)),
  });
  const fair = problem.variant === 'raven-fair' || problem.variant === 'raven-unique';
  const bits = (data: Uint8Array, shape: readonly number[]): NpyArray => ({
    dtype: '|u1',
    shape,
    data,
  });
  const arrays: (readonly [string, NpyArray])[] = [
    ['image', bits(images, [PROBLEM_IMAGES, IMAGE_SIZE, IMAGE_SIZE])],
    ['target', index(problem.target)],
    ['predict', fair ? { ...index(predict), shape: [1] } : index(predict)],
    ['meta_matrix', bits(matrix, shape)],
    ['meta_target', bits(metaTarget(matrix), [META_TARGET_LENGTH])],
    ['structure', layout.mesh ? unicodeArray(names) : byteStringArray(names)],
    ['meta_structure', bits(metaStructure(layout), [META_STRUCTURE_LENGTH])],
    ...(layout.mesh ? [['meta_answer_mods', answerChanges(problem)] as const] : []),
    ...(ruleParameters ? parameterArrays(problem) : []),
  ];
  return writeNpz(arrays, { compress });
}

/** I-RAVEN-Mesh: which attributes each candidate changes, three components a candidate, the mesh last. */
function answerChanges({ candidates, rules }: Problem): NpyArray {
  const [components, columns] = [3, CANDIDATE_ATTRIBUTES.length];
  const shape = [candidates.length * components, columns];
  const data = new Uint8Array(shape[0] * columns);
  candidates.forEach(({ changes }, candidate) => {
    for (const { component, attribute } of changes) {
      const place = component === rules.length - 1 ? components - 1 : component;
      const row = candidate * components + place;
      data[row * columns + CANDIDATE_ATTRIBUTES.indexOf(attribute)] = 1;
    }
  });
  return { dtype: '|u1', shape, data };
}

const parameterArrays = (problem: Problem): (readonly [string, NpyArray])[] => {
  const parameters = [problemRuleParameters(problem)];
  return PARAMETER_ARRAYS.map((name) => [
    name,
    { dtype: '<i4', shape: PARAMETER_SHAPE, data: parameterArray(name, parameters) },
  ]);
};
