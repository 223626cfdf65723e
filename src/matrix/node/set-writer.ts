/**
 * Writes a set of any size while its problems arrive, in order. The panels go straight into the
 * .npz; the candidates wait in a second file and follow when all are there. Memory holds only
 * answers and labels, and the file gets its name when it is complete.
 */
import path from 'node:path';
import { ArgumentError } from '../../base/index.js';
import { encodeNpy, encodeNpyHeader, unicodeArray } from '../npy.js';
import { SMALL_SIZE } from '../render.js';
import { MATRIX_PANELS } from '../render-panel.js';
import { CANDIDATES, MATRIX_PIXELS, ruleArrays, SELECTION_PIXELS, type SetBatch } from '../set.js';
import { formatLabel } from '../set-label.js';
import { combineCrc32, crc32 } from '../zip-checksum.js';
import {
  centralDirectory,
  localHeader,
  localHeaderLength,
  type StoredEntry,
} from '../zip-write.js';
import { nameToBe, PendingFile, type OutputPlace } from '../../base/node.js';

const COPY_BYTES = 4 << 20;
/** Labels are written in groups, each as wide as the widest of all. */
const LABELS_AT_ONCE = 4096;

/** The numpy header of the pictures of `count` problems; its length does not depend on the count. */
const pictureHeader = (count: number, panels: number): Uint8Array =>
  encodeNpyHeader('|u1', [count, panels, SMALL_SIZE, SMALL_SIZE]);

/** Bytes of one array as they arrive: where they go and what they sum up to. */
interface Stream {
  readonly file: PendingFile;
  readonly start: number;
  length: number;
  crc: number;
}

export class SetWriter {
  readonly #panels: Stream;
  readonly #selections: Stream;
  readonly #answers: number[] = [];
  readonly #labels: string[] = [];
  /** Rules of the problems with their parameters; undefined if one of them does not tell. */
  #parameters: NonNullable<SetBatch['parameters']>[number][] | undefined = [];
  #closed = false;

  private constructor(file: PendingFile, waiting: PendingFile) {
    const start = localHeaderLength('panel.npy') + pictureHeader(0, MATRIX_PANELS).length;
    this.#panels = { file, start, length: 0, crc: 0 };
    this.#selections = { file: waiting, start: 0, length: 0, crc: 0 };
  }

  static async create(file: string | OutputPlace): Promise<SetWriter> {
    const pending = await PendingFile.create(file);
    try {
      const folder = path.dirname(pending.temporary);
      const name = path.basename(nameToBe(pending.temporary));
      const waiting = await PendingFile.create(path.join(folder, `${name}.selection`));
      return new SetWriter(pending, waiting);
    } catch (error) {
      await pending.abandon();
      throw error;
    }
  }

  get count(): number {
    return this.#answers.length;
  }

  /** Adds problems after those already written. */
  async add(problems: SetBatch): Promise<void> {
    const { count, panel, selection, answer, label, parameters } = problems;
    if (
      panel.length !== count * MATRIX_PIXELS ||
      selection.length !== count * SELECTION_PIXELS ||
      answer.length !== count ||
      label.length !== count
    ) {
      throw new ArgumentError(`the arrays of ${count} problems have the wrong lengths`);
    }
    if (this.#closed) throw new ArgumentError('the set is already complete');
    await append(this.#panels, panel);
    await append(this.#selections, selection);
    for (const index of answer) this.#answers.push(index);
    for (const rules of label) this.#labels.push(formatLabel(rules));
    if (parameters) this.#parameters?.push(...parameters);
    else this.#parameters = undefined;
  }

  /** Completes the file and gives it its name. */
  async finish(): Promise<void> {
    try {
      await this.#complete();
      await this.#panels.file.commit();
    } catch (error) {
      await this.abandon();
      throw error;
    }
    this.#closed = true;
    await this.#selections.file.abandon();
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    this.#closed = true;
    await this.#panels.file.abandon();
    await this.#selections.file.abandon();
  }

  async #complete(): Promise<void> {
    const { file } = this.#panels;
    const entries: StoredEntry[] = [];
    const panelHeader = pictureHeader(this.count, MATRIX_PANELS);
    const panel = joined('panel.npy', panelHeader, this.#panels, 0);
    await file.write(localHeader(panel), 0);
    await file.write(panelHeader, localHeaderLength(panel.name));
    entries.push(panel);

    let at = this.#panels.start + this.#panels.length;
    const selectionHeader = pictureHeader(this.count, CANDIDATES);
    const selection = joined('selection.npy', selectionHeader, this.#selections, at);
    at = await put(file, at, localHeader(selection), selectionHeader);
    await copy(this.#selections, file, at);
    at += this.#selections.length;
    entries.push(selection);

    for (const [name, bytes] of [
      ['answer.npy', this.#encodedAnswers()],
      ['label.npy', undefined],
      ...(this.#parameters ? ruleArrays(this.#parameters) : []).map(
        ([array, content]) => [`${array}.npy`, encodeNpy(content)] as const,
      ),
    ] as const) {
      const entry = bytes
        ? { name, crc: crc32(bytes), size: bytes.length, offset: at }
        : this.#labelEntry(name, at);
      at = await put(file, at, localHeader(entry), ...(bytes ? [bytes] : []));
      if (!bytes) at = await this.#writeLabels(file, at);
      entries.push(entry);
    }
    await file.write(centralDirectory(entries, at), at);
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

  #labelEntry(name: string, offset: number): StoredEntry {
    let crc = 0;
    let size = 0;
    for (const piece of this.#labelPieces()) {
      crc = crc32(piece, crc);
      size += piece.length;
    }
    return { name, crc, size, offset };
  }

  async #writeLabels(file: PendingFile, start: number): Promise<number> {
    let at = start;
    for (const piece of this.#labelPieces()) at = await put(file, at, piece);
    return at;
  }
}

async function append(stream: Stream, bytes: Uint8Array): Promise<void> {
  await stream.file.write(bytes, stream.start + stream.length);
  stream.crc = crc32(bytes, stream.crc);
  stream.length += bytes.length;
}

/** The entry of a header followed by streamed data, whose checksum is known on its own. */
const joined = (name: string, header: Uint8Array, data: Stream, offset: number): StoredEntry => ({
  name,
  crc: combineCrc32(crc32(header), data.crc, data.length),
  size: header.length + data.length,
  offset,
});

/** Writes parts one after the other and returns where they end. */
async function put(file: PendingFile, start: number, ...parts: Uint8Array[]): Promise<number> {
  let at = start;
  for (const part of parts) {
    await file.write(part, at);
    at += part.length;
  }
  return at;
}

async function copy(from: Stream, to: PendingFile, start: number): Promise<void> {
  const buffer = new Uint8Array(Math.min(COPY_BYTES, Math.max(1, from.length)));
  for (let done = 0; done < from.length;) {
    const want = Math.min(buffer.length, from.length - done);
    const { bytesRead } = await from.file.handle.read(buffer, 0, want, done);
    if (bytesRead === 0) throw new Error('the waiting candidates became shorter');
    await to.write(buffer.subarray(0, bytesRead), start + done);
    done += bytesRead;
  }
}
