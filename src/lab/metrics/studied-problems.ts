/**
 * The problems that arbitrary positions, rules and pictures are measured on, encoded once for all of
 * these: those of the data given, and where they are fewer than wanted, fresh ones of our generator.
 */
import { MATRIX_PANELS, MATRIX_PIXELS } from '../../matrix/index.js';
import type { Label, ProblemSource, SetBatch } from '../../matrix/index.js';
import type { ConceptMeans } from '../../solver/index.js';
import type { MeasuredProblems } from '../evaluation.js';
import type { Thinker } from '../subject.js';
import { generatedSource } from './generated-source.js';
import { inTurns } from './in-turns.js';
import type { PanelEncoder } from './panel-encoder.js';

export interface StudiedProblems {
  readonly problems: MeasuredProblems;
  readonly count: number;
  /** u8 [count, 9, 64, 64] */
  readonly pictures: Uint8Array;
  /** What is known of each problem's rules. */
  readonly labels: readonly Label[];
  /** [count][9], equal for panels that are equal to the pixel. */
  readonly keys: readonly (readonly string[])[];
  /** Concepts [count][9]. */
  readonly means: readonly (readonly ConceptMeans[])[];
}

export interface StudyOptions {
  /** Problems wanted. */
  readonly count: number;
  /** Seed of the fresh ones. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

const SLICE = 32;
/** More than are ever wanted: problems of a seed are made while they are read. */
const FRESH_AT_MOST = 1 << 24;

/** Problems as they are collected. */
class Collection {
  readonly pictures: Uint8Array;
  readonly labels: Label[] = [];
  readonly keys: string[][] = [];
  readonly means: ConceptMeans[][] = [];
  readonly #seen = new Set<string>();

  constructor(
    readonly encoder: PanelEncoder,
    readonly most: number,
  ) {
    this.pictures = new Uint8Array(most * MATRIX_PIXELS);
  }

  get count(): number {
    return this.labels.length;
  }

  /** Adds the matrices that are not there yet, until there are enough. */
  async add({ count, panel, label }: SetBatch, signal?: AbortSignal): Promise<void> {
    const { keys, means } = await this.encoder.encode(panel, signal);
    for (let n = 0; n < count && this.count < this.most; n++) {
      const own = keys.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS);
      const matrix = own.join();
      if (this.#seen.has(matrix)) continue;
      this.#seen.add(matrix);
      this.pictures.set(
        panel.subarray(n * MATRIX_PIXELS, (n + 1) * MATRIX_PIXELS),
        this.count * MATRIX_PIXELS,
      );
      this.keys.push(own);
      this.means.push(means.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS));
      this.labels.push(label[n]);
    }
  }
}

/** Collects problems of all the data in turns, a matrix that is in several once; then fresh ones. */
export async function studyProblems(
  solver: Thinker,
  encoder: PanelEncoder,
  data: readonly ProblemSource[],
  { count, seed, signal, onProgress }: StudyOptions,
): Promise<StudiedProblems> {
  const found = new Collection(encoder, count);
  const collect = async (sources: readonly ProblemSource[]): Promise<void> => {
    for await (const { batch } of inTurns(sources, SLICE)) {
      if (found.count >= count) return;
      signal?.throwIfAborted();
      await found.add(batch, signal);
      onProgress?.(found.count / count);
    }
  };
  await collect(data);
  const fromData = found.count;
  const { configuration, noisy } = solver.manifest;
  const fresh = generatedSource({ configuration, noisy, variant: 'raven', seed }, FRESH_AT_MOST);
  await collect([fresh]);
  const { pictures, labels, keys, means } = found;
  const problems = { fromData, generated: found.count - fromData, seed };
  return { problems, count: found.count, pictures, labels, keys, means };
}
