/**
 * Other tasks made of the panels of problems, as RAISE and UCGS-T have them. Nothing is drawn anew. Each
 * is a few arrays: `panel` what is given, `selection` what may be chosen, `answer` what is right.
 *
 *     choose       panel [N, 9], selection [N, 8], answer [N]: the problem itself
 *     odd-one-out  panel [N, 9], answer [N]: the context and the first wrong candidate; the last is odd
 *     analogy      panel [N, 5], selection [N, 8], answer [N]: rows 2 and 3 alone
 *     two-sets     panel [N, 2, 5], selection [N, 2], answer [N, 2]: rows 1 and 2, and rows 2 and 3, each to
 *                  be completed by panel 6 or by the answer
 *     positions    panel [N, 9], missing [N, P], selection [N, K + 1, P], answer [N]: P panels at any
 *                  positions, the same in a group of problems, among those of K other problems of the group
 */
import { ArgumentError } from '../base/index.js';
import type { NpyArray } from './npy.js';
import { Random } from './random.js';
import type { SetBatch } from './set.js';

export const TASKS = ['choose', 'odd-one-out', 'analogy', 'two-sets', 'positions'] as const;
export type Task = (typeof TASKS)[number];

export interface TaskOptions {
  /** positions: panels missing at a time; 1 unless told. */
  readonly targets?: number;
  /** positions: panels of other problems that are offered; 7 unless told. */
  readonly foreign?: number;
  /** positions: problems that share positions and offer each other's panels; 512 unless told. */
  readonly group?: number;
  readonly seed?: number;
  /** The number of the batch's first problem, if it is a part of a larger set: one of `taskParts`. */
  readonly first?: number;
}

export type TaskArrays = readonly (readonly [name: string, array: NpyArray])[];

const PANELS = 9;
const CANDIDATES = 8;
const GROUP = 512;

/** Pictures of a batch by problem and number. */
class Pictures {
  readonly pixels: number;

  constructor(readonly batch: SetBatch) {
    this.pixels = batch.panel.length / (batch.count * PANELS);
  }

  panel(problem: number, index: number): Uint8Array {
    const at = (problem * PANELS + index) * this.pixels;
    return this.batch.panel.subarray(at, at + this.pixels);
  }

  candidate(problem: number, index: number): Uint8Array {
    const at = (problem * CANDIDATES + index) * this.pixels;
    return this.batch.selection.subarray(at, at + this.pixels);
  }

  /** An array of pictures, given one after the other. */
  array(shape: readonly number[], pictures: readonly Uint8Array[]): NpyArray {
    const side = Math.sqrt(this.pixels);
    const data = new Uint8Array(pictures.length * this.pixels);
    pictures.forEach((picture, i) => data.set(picture, i * this.pixels));
    return { dtype: '|u1', shape: [...shape, side, side], data };
  }
}

const indices = (shape: readonly number[], values: readonly number[]): NpyArray => ({
  dtype: '<i8',
  shape,
  data: BigInt64Array.from(values, BigInt),
});

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);

/** A problem's pictures for each problem of a batch, in a row. */
const forEach = <T>(count: number, make: (problem: number) => readonly T[]): T[] =>
  range(0, count).flatMap(make);

const candidatesOf = (pictures: Pictures, count: number): NpyArray =>
  pictures.array(
    [count, CANDIDATES],
    forEach(count, (n) => range(0, CANDIDATES).map((i) => pictures.candidate(n, i))),
  );

function choose(pictures: Pictures): TaskArrays {
  const { count, answer } = pictures.batch;
  return [
    [
      'panel',
      pictures.array(
        [count, PANELS],
        forEach(count, (n) => range(0, PANELS).map((i) => pictures.panel(n, i))),
      ),
    ],
    ['selection', candidatesOf(pictures, count)],
    ['answer', indices([count], answer)],
  ];
}

function oddOneOut(pictures: Pictures): TaskArrays {
  const { count, answer } = pictures.batch;
  const panels = forEach(count, (n) => [
    ...range(0, CANDIDATES).map((i) => pictures.panel(n, i)),
    pictures.candidate(n, answer[n] === 0 ? 1 : 0),
  ]);
  return [
    ['panel', pictures.array([count, PANELS], panels)],
    [
      'answer',
      indices(
        [count],
        answer.map(() => PANELS - 1),
      ),
    ],
  ];
}

function analogy(pictures: Pictures): TaskArrays {
  const { count, answer } = pictures.batch;
  const panels = forEach(count, (n) => range(3, 8).map((i) => pictures.panel(n, i)));
  return [
    ['panel', pictures.array([count, 5], panels)],
    ['selection', candidatesOf(pictures, count)],
    ['answer', indices([count], answer)],
  ];
}

function twoSets(pictures: Pictures): TaskArrays {
  const { count } = pictures.batch;
  const given = forEach(count, (n) =>
    [...range(0, 5), ...range(3, 8)].map((i) => pictures.panel(n, i)),
  );
  const offered = forEach(count, (n) => [pictures.panel(n, 5), pictures.panel(n, 8)]);
  return [
    ['panel', pictures.array([count, 2, 5], given)],
    ['selection', pictures.array([count, 2], offered)],
    [
      'answer',
      indices(
        [count, 2],
        forEach(count, () => [0, 1]),
      ),
    ],
  ];
}

/** First problems of groups; a last one that is too small joins the one before. */
function groupsOf(count: number, size: number, least: number): [first: number, end: number][] {
  const groups: [number, number][] = [];
  for (let first = 0; first < count; first += size) {
    const end = Math.min(first + size, count);
    const last = groups.at(-1);
    if (last && end - first < least) last[1] = end;
    else groups.push([first, end]);
  }
  return groups;
}

function positions(pictures: Pictures, options: TaskOptions): TaskArrays {
  const { count } = pictures.batch;
  const { targets = 1, foreign = 7, group = GROUP, seed = 0, first: before = 0 } = options;
  if (!(Number.isInteger(targets) && targets >= 1 && targets < PANELS)) {
    throw new ArgumentError(`targets must be a whole number from 1 to 8, not ${targets}`);
  }
  if (foreign < 1 || foreign >= Math.min(count, group)) {
    throw new ArgumentError(
      `foreign must be from 1 to ${Math.min(count, group) - 1}: so many other problems there are`,
    );
  }
  const missing: number[] = [];
  const answers: number[] = [];
  const offered: Uint8Array[] = [];
  for (const [first, end] of groupsOf(count, group, foreign + 1)) {
    const random = new Random(seed, before + first);
    const places = random.subset(PANELS, targets).sort((a, b) => a - b);
    for (let n = first; n < end; n++) {
      const others = random
        .subset(end - first - 1, foreign)
        .map((i) => (first + i < n ? first + i : first + i + 1));
      const answer = random.below(foreign + 1);
      const problems = [...others.slice(0, answer), n, ...others.slice(answer)];
      missing.push(...places);
      answers.push(answer);
      offered.push(...problems.flatMap((p) => places.map((place) => pictures.panel(p, place))));
    }
  }
  const [[, panel]] = choose(pictures);
  return [
    ['panel', panel],
    ['missing', indices([count, targets], missing)],
    ['selection', pictures.array([count, foreign + 1, targets], offered)],
    ['answer', indices([count], answers)],
  ];
}

const AT_ONCE = 64;

/** Problems of a set whose arrays can be made without the others, so that no more are in memory at a time. */
export const taskParts = (
  count: number,
  task: Task,
  { foreign = 7, group = GROUP }: TaskOptions = {},
): [first: number, end: number][] =>
  task === 'positions' ? groupsOf(count, group, foreign + 1) : groupsOf(count, AT_ONCE, 0);

/** The arrays of a task, from problems of any set with pictures of any size. */
export function taskArrays(batch: SetBatch, task: Task, options: TaskOptions = {}): TaskArrays {
  const pictures = new Pictures(batch);
  switch (task) {
    case 'choose':
      return choose(pictures);
    case 'odd-one-out':
      return oddOneOut(pictures);
    case 'analogy':
      return analogy(pictures);
    case 'two-sets':
      return twoSets(pictures);
    case 'positions':
      return positions(pictures, options);
  }
}
