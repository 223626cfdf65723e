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
import { ArgumentError, concatenate } from '../base/index.js';
import type { NpyArray } from './npy.js';
import { CANDIDATES, CONTEXT_PANELS, MATRIX_PANELS } from './problem.js';
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

const GROUP = 512;

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, i) => from + i);

/** What a task is made of: pictures and numbers, given problem by problem. */
class Problems {
  readonly #pixels: number;

  constructor(readonly batch: SetBatch) {
    this.#pixels = batch.panel.length / (batch.count * MATRIX_PANELS);
  }

  #pictures(from: Uint8Array, each: number, problem: number, indices: number[]): Uint8Array[] {
    return indices.map((index) => {
      const at = (problem * each + index) * this.#pixels;
      return from.subarray(at, at + this.#pixels);
    });
  }

  panels(problem: number, indices: number[]): Uint8Array[] {
    return this.#pictures(this.batch.panel, MATRIX_PANELS, problem, indices);
  }

  candidates(problem: number, indices: number[]): Uint8Array[] {
    return this.#pictures(this.batch.selection, CANDIDATES, problem, indices);
  }

  #each<T>(of: (problem: number) => readonly T[]): T[] {
    return range(0, this.batch.count).flatMap(of);
  }

  /** An array of pictures, of a shape for each problem. */
  array(
    name: string,
    shape: readonly number[],
    of: (problem: number) => readonly Uint8Array[],
  ): TaskArrays[number] {
    const side = Math.sqrt(this.#pixels);
    const data = concatenate(this.#each(of));
    return [name, { dtype: '|u1', shape: [this.batch.count, ...shape, side, side], data }];
  }

  /** An array of indices, one or as many as the shape says for each problem. */
  numbers(
    name: string,
    shape: readonly number[],
    of: (problem: number) => readonly number[],
  ): TaskArrays[number] {
    const data = BigInt64Array.from(this.#each(of), BigInt);
    return [name, { dtype: '<i8', shape: [this.batch.count, ...shape], data }];
  }

  /** All panels, all candidates, and the right one, as in the set itself. */
  get panel(): TaskArrays[number] {
    return this.array('panel', [MATRIX_PANELS], (n) => this.panels(n, range(0, MATRIX_PANELS)));
  }
  get selection(): TaskArrays[number] {
    return this.array('selection', [CANDIDATES], (n) => this.candidates(n, range(0, CANDIDATES)));
  }
  get answer(): TaskArrays[number] {
    return this.numbers('answer', [], (n) => [this.batch.answer[n]]);
  }
}

const choose = ({ panel, selection, answer }: Problems): TaskArrays => [panel, selection, answer];

function oddOneOut(problems: Problems): TaskArrays {
  const { answer } = problems.batch;
  const wrong = (n: number) => problems.candidates(n, [answer[n] === 0 ? 1 : 0]);
  return [
    problems.array('panel', [MATRIX_PANELS], (n) => [
      ...problems.panels(n, range(0, CONTEXT_PANELS)),
      ...wrong(n),
    ]),
    problems.numbers('answer', [], () => [CONTEXT_PANELS]),
  ];
}

const analogy = (problems: Problems): TaskArrays => [
  problems.array('panel', [5], (n) => problems.panels(n, range(3, CONTEXT_PANELS))),
  problems.selection,
  problems.answer,
];

const twoSets = (problems: Problems): TaskArrays => [
  problems.array('panel', [2, 5], (n) =>
    problems.panels(n, [...range(0, 5), ...range(3, CONTEXT_PANELS)]),
  ),
  problems.array('selection', [2], (n) => problems.panels(n, [5, CONTEXT_PANELS])),
  problems.numbers('answer', [2], () => [0, 1]),
];

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

function positions(problems: Problems, options: TaskOptions): TaskArrays {
  const { count } = problems.batch;
  const { targets = 1, foreign = 7, group = GROUP, seed = 0, first: before = 0 } = options;
  if (!(Number.isInteger(targets) && targets >= 1 && targets < MATRIX_PANELS)) {
    throw new ArgumentError(`targets must be a whole number from 1 to 8, not ${targets}`);
  }
  if (foreign < 1 || foreign >= Math.min(count, group)) {
    throw new ArgumentError(
      `foreign must be from 1 to ${Math.min(count, group) - 1}: so many other problems there are`,
    );
  }
  const drawn = groupsOf(count, group, foreign + 1).flatMap(([first, end]) => {
    const random = new Random(seed, before + first);
    const places = random.subset(MATRIX_PANELS, targets).sort((a, b) => a - b);
    return range(first, end).map((n) => {
      const others = random
        .subset(end - first - 1, foreign)
        .map((i) => (first + i < n ? first + i : first + i + 1));
      const answer = random.below(foreign + 1);
      const offered = [...others.slice(0, answer), n, ...others.slice(answer)];
      return { places, answer, offered };
    });
  });
  return [
    problems.panel,
    problems.numbers('missing', [targets], (n) => drawn[n].places),
    problems.array('selection', [foreign + 1, targets], (n) =>
      drawn[n].offered.flatMap((problem) => problems.panels(problem, drawn[n].places)),
    ),
    problems.numbers('answer', [], (n) => [drawn[n].answer]),
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
  const problems = new Problems(batch);
  switch (task) {
    case 'choose':
      return choose(problems);
    case 'odd-one-out':
      return oddOneOut(problems);
    case 'analogy':
      return analogy(problems);
    case 'two-sets':
      return twoSets(problems);
    case 'positions':
      return positions(problems, options);
  }
}
