/**
 * Writes a set of any size. The number of problems is known from the start, and with it the place of
 * every picture in the .npz: worker threads write theirs straight into the file, each at its place.
 * Memory holds only answers, labels and checksums, and the file gets its name when it is complete.
 */
import { ArgumentError } from '../../base/index.js';
import { encodeNpy, encodeNpyHeader, encodeNpyParts } from '../npy.js';
import { SMALL_SIZE } from '../render.js';
import { CANDIDATES, MATRIX_PANELS, type Variant } from '../problem.js';
import type { Part } from '../raven-file.js';
import { MATRIX_PIXELS, ruleArrays, SELECTION_PIXELS, type SetBatch } from '../set.js';
import { formatLabel } from '../set-label.js';
import { combineCrc32, crc32 } from '../zip-checksum.js';
import { aboutFile, PendingFile, type OutputPlace } from '../../base/node.js';
import {
  completeNpz,
  origin,
  placeRows,
  putRows,
  textPieces,
  type PiecedArray,
  type RowArray,
  type RowShape,
} from './npz-rows.js';

/** What the set still has to know of problems whose pictures are in the file. */
export interface WrittenProblems {
  readonly count: number;
  readonly panelCrc: number;
  readonly selectionCrc: number;
  readonly answer: readonly number[];
  readonly label: readonly string[];
  /** The parameters of rules as arrays of a set, if they are known. */
  readonly parameters: ReturnType<typeof ruleArrays> | undefined;
  readonly variant: Variant | undefined;
  readonly part: readonly Part[] | undefined;
}

/** Where the pictures of a set of `count` problems stand in its file. */
function pictureArrays(count: number): [panel: RowArray, selection: RowArray] {
  const array = (name: string, panels: number, rowBytes: number): RowShape => {
    return { name, dtype: '|u1', shape: [count, panels, SMALL_SIZE, SMALL_SIZE], rowBytes };
  };
  const [panel, selection] = placeRows([
    array('panel', MATRIX_PANELS, MATRIX_PIXELS),
    array('selection', CANDIDATES, SELECTION_PIXELS),
  ]);
  return [panel, selection];
}

/**
 * Writes the pictures of some problems to their places in the file of a set of `count`; any thread may,
 * in any order.
 */
export function writePictures(
  descriptor: number,
  count: number,
  first: number,
  problems: SetBatch,
): WrittenProblems {
  checkLengths(problems);
  const [panel, selection] = pictureArrays(count);
  putRows(descriptor, panel, first, problems.panel);
  putRows(descriptor, selection, first, problems.selection);
  return {
    count: problems.count,
    panelCrc: crc32(problems.panel),
    selectionCrc: crc32(problems.selection),
    answer: problems.answer,
    label: problems.label.map(formatLabel),
    parameters: problems.parameters && ruleArrays(problems.parameters),
    variant: problems.variant,
    part: problems.part,
  };
}

/**
 * The variant of problems of these. Of RAVEN-FAIR's files some problems look like its program's other
 * variant, none the other way round.
 */
function variantOfAll(variants: ReadonlySet<Variant | undefined>): Variant | undefined {
  const isFair = variants.has('raven-fair') && variants.has('raven-unique') && variants.size === 2;
  return isFair ? 'raven-fair' : variants.size === 1 ? [...variants][0] : undefined;
}

function checkLengths({ count, panel, selection, answer, label }: SetBatch): void {
  if (
    panel.length !== count * MATRIX_PIXELS ||
    selection.length !== count * SELECTION_PIXELS ||
    answer.length !== count ||
    label.length !== count
  ) {
    throw new ArgumentError(`the arrays of ${count} problems have the wrong lengths`);
  }
}

export class SetWriter {
  /** How many problems the set will have. */
  readonly count: number;
  readonly #file: PendingFile;
  readonly #answers: number[] = [];
  readonly #labels: string[] = [];
  readonly #crcs = { panel: 0, selection: 0 };
  /** Parameters of rules as arrays of the problems that came together; undefined if some do not tell. */
  #parameters: NonNullable<WrittenProblems['parameters']>[] | undefined = [];
  readonly #variants = new Set<Variant | undefined>();
  readonly #parts: (Part | undefined)[] = [];
  #closed = false;

  private constructor(file: PendingFile, count: number) {
    this.#file = file;
    this.count = count;
  }

  static async create(file: string | OutputPlace, count: number): Promise<SetWriter> {
    return new SetWriter(await PendingFile.create(file), count);
  }

  /** The file that other threads write pictures to, before it has its name. */
  get temporary(): string {
    return this.#file.temporary;
  }

  /** Adds problems after those already there. */
  async add(problems: SetBatch): Promise<void> {
    this.#checkRoom(problems.count);
    const first = this.#answers.length;
    try {
      this.addWritten(writePictures(this.#file.handle.fd, this.count, first, problems));
    } catch (error) {
      throw aboutFile(error, this.temporary);
    }
    // Lets an interruption be noticed between batches.
    await new Promise(setImmediate);
  }

  /** Adds problems whose pictures are in the file, after those already there. */
  addWritten(problems: WrittenProblems): void {
    this.#checkRoom(problems.count);
    const { panel, selection } = this.#crcs;
    const { count, panelCrc, selectionCrc } = problems;
    this.#crcs.panel = combineCrc32(panel, panelCrc, count * MATRIX_PIXELS);
    this.#crcs.selection = combineCrc32(selection, selectionCrc, count * SELECTION_PIXELS);
    for (const index of problems.answer) this.#answers.push(index);
    for (const label of problems.label) this.#labels.push(label);
    this.#variants.add(problems.variant);
    for (let i = 0; i < count; i++) this.#parts.push(problems.part?.[i]);
    if (problems.parameters) this.#parameters?.push(problems.parameters);
    else this.#parameters = undefined;
  }

  #checkRoom(more: number): void {
    if (this.#closed || this.#answers.length + more > this.count) {
      throw new ArgumentError(`the set of ${this.count} problems is already complete`);
    }
  }

  /** Completes the file and gives it its name. */
  async finish(): Promise<void> {
    try {
      if (this.#answers.length !== this.count) {
        throw new ArgumentError(
          `${this.#answers.length} of ${this.count} problems of the set came`,
        );
      }
      await this.#complete();
      await this.#file.commit();
    } catch (error) {
      await this.abandon();
      throw error;
    }
    this.#closed = true;
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    this.#closed = true;
    await this.#file.abandon();
  }

  async #complete(): Promise<void> {
    const [panel, selection] = pictureArrays(this.count);
    await completeNpz(
      this.#file,
      [
        [panel, this.#crcs.panel],
        [selection, this.#crcs.selection],
      ],
      [
        ['answer', [this.#encodedAnswers()]],
        ['label', textPieces(this.#labels)],
        ...this.#parameterArrays(),
        ...origin(variantOfAll(this.#variants), this.#parts),
      ],
    );
  }

  /** The arrays of rule parameters by name: a header, then the pieces as they came. */
  #parameterArrays(): PiecedArray[] {
    if (!this.#parameters) return [];
    // An empty set has the arrays too.
    const pieces = this.#parameters.length > 0 ? this.#parameters : [ruleArrays([])];
    return pieces[0].map(([name, { dtype, shape }], i) => [
      name,
      [
        encodeNpyHeader(dtype, [this.count, ...shape.slice(1)]),
        ...pieces.map((arrays) => encodeNpyParts(arrays[i][1])[1]),
      ],
    ]);
  }

  #encodedAnswers(): Uint8Array {
    const data = BigInt64Array.from(this.#answers, BigInt);
    return encodeNpy({ dtype: '<i8', shape: [this.count], data });
  }
}
