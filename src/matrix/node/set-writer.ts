/**
 * Writes a set of any size. The number of problems is known from the start, and with it the place of
 * every picture in the .npz: worker threads write theirs straight into the file, each at its place.
 * Memory holds only answers, labels and checksums, and the file gets its name when it is complete.
 */
import { writeSync } from 'node:fs';
import { ArgumentError } from '../../base/index.js';
import { encodeNpy, encodeNpyHeader, encodeNpyParts, unicodeArray } from '../npy.js';
import { SMALL_SIZE } from '../render.js';
import { MATRIX_PANELS } from '../render-panel.js';
import type { Variant } from '../problem.js';
import {
  CANDIDATES,
  MATRIX_PIXELS,
  ruleArrays,
  SELECTION_PIXELS,
  variantArray,
  type SetBatch,
} from '../set.js';
import { formatLabel } from '../set-label.js';
import { combineCrc32, crc32 } from '../zip-checksum.js';
import {
  centralDirectory,
  localHeader,
  localHeaderLength,
  type WrittenEntry,
} from '../zip-write.js';
import { PendingFile, type OutputPlace } from '../../base/node.js';

/** Labels are written in groups, each as wide as the widest of all. */
const LABELS_AT_ONCE = 4096;

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
}

/** One array of pictures in a file: its numpy header, and where header and data stand. */
interface PictureArray {
  readonly name: string;
  readonly header: Uint8Array;
  readonly problemBytes: number;
  readonly offset: number;
  readonly start: number;
  readonly end: number;
}

/** Where the pictures of a set of `count` problems stand in its file. */
function pictureArrays(count: number): { panel: PictureArray; selection: PictureArray } {
  const array = (name: string, panels: number, problemBytes: number, offset: number) => {
    const header = encodeNpyHeader('|u1', [count, panels, SMALL_SIZE, SMALL_SIZE]);
    const start = offset + localHeaderLength(name) + header.length;
    return { name, header, problemBytes, offset, start, end: start + count * problemBytes };
  };
  const panel = array('panel.npy', MATRIX_PANELS, MATRIX_PIXELS, 0);
  return { panel, selection: array('selection.npy', CANDIDATES, SELECTION_PIXELS, panel.end) };
}

/**
 * Writes the pictures of some problems to their places in the file of a set of `count`; any thread may,
 * in any order. Synchronous: the bytes go to the system's cache, which is faster than a round through
 * Node's threads.
 */
export function writePictures(
  descriptor: number,
  count: number,
  first: number,
  problems: SetBatch,
): WrittenProblems {
  checkLengths(problems);
  const { panel, selection } = pictureArrays(count);
  const put = ({ start, problemBytes }: PictureArray, bytes: Uint8Array): void => {
    for (let done = 0; done < bytes.length;) {
      const position = start + first * problemBytes + done;
      done += writeSync(descriptor, bytes, done, bytes.length - done, position);
    }
  };
  put(panel, problems.panel);
  put(selection, problems.selection);
  return {
    count: problems.count,
    panelCrc: crc32(problems.panel),
    selectionCrc: crc32(problems.selection),
    answer: problems.answer,
    label: problems.label.map(formatLabel),
    parameters: problems.parameters && ruleArrays(problems.parameters),
    variant: problems.variant,
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
    this.addWritten(writePictures(this.#file.handle.fd, this.count, first, problems));
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
    const { panel, selection } = pictureArrays(this.count);
    const entries = [
      await this.#completePictures(panel, this.#crcs.panel),
      await this.#completePictures(selection, this.#crcs.selection),
    ];
    let at = selection.end;
    const variant = variantOfAll(this.#variants);
    for (const [name, pieces] of [
      ['answer.npy', [this.#encodedAnswers()]],
      ['label.npy', this.#labelPieces()],
      ...this.#parameterArrays(),
      ...(variant ? [['variant.npy', [encodeNpy(variantArray(variant))]] as const] : []),
    ] as const) {
      const entry = await this.#writeEntry(name, pieces, at);
      entries.push(entry);
      at += localHeaderLength(name) + entry.size;
    }
    await this.#file.write(centralDirectory(entries, at), at);
  }

  /** Puts the headers before pictures that are there. */
  async #completePictures(
    { name, header, offset, start, end }: PictureArray,
    dataCrc: number,
  ): Promise<WrittenEntry> {
    const crc = combineCrc32(crc32(header), dataCrc, end - start);
    const entry = { name, crc, size: header.length + end - start, offset };
    await this.#file.write(localHeader(entry), offset);
    await this.#file.write(header, start - header.length);
    return entry;
  }

  /** Writes an array in pieces, then the header that needs their checksum. */
  async #writeEntry(
    name: string,
    pieces: Iterable<Uint8Array>,
    offset: number,
  ): Promise<WrittenEntry> {
    const start = offset + localHeaderLength(name);
    let [crc, size] = [0, 0];
    for (const piece of pieces) {
      await this.#file.write(piece, start + size);
      crc = crc32(piece, crc);
      size += piece.length;
    }
    const entry = { name, crc, size, offset };
    await this.#file.write(localHeader(entry), offset);
    return entry;
  }

  /** The arrays of rule parameters by name: a header, then the pieces as they came. */
  #parameterArrays(): (readonly [string, Uint8Array[]])[] {
    if (!this.#parameters) return [];
    // An empty set has the arrays too.
    const pieces = this.#parameters.length > 0 ? this.#parameters : [ruleArrays([])];
    return pieces[0].map(([name, { dtype, shape }], i) => [
      `${name}.npy`,
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

  get #labelType(): string {
    return unicodeArray([this.#labels.reduce((a, b) => (a.length >= b.length ? a : b), '')]).dtype;
  }

  /** Pieces of the label array, header first. */
  *#labelPieces(): Generator<Uint8Array> {
    const dtype = this.#labelType;
    yield encodeNpyHeader(dtype, [this.count]);
    for (let first = 0; first < this.count; first += LABELS_AT_ONCE) {
      const data = this.#labels.slice(first, first + LABELS_AT_ONCE);
      const header = encodeNpyHeader(dtype, [data.length]);
      yield encodeNpy({ dtype, shape: [data.length], data }).subarray(header.length);
    }
  }
}
