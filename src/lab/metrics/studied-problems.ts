/**
 * The problems that arbitrary positions, rules and pictures are measured on, encoded once for all of
 * these: those of the data given, and where they are fewer than wanted, fresh ones of our generator.
 */
import { batches, MATRIX_PANELS, MATRIX_PIXELS } from '../../matrix/index.js';
import type { Label, ProblemSource } from '../../matrix/index.js';
import type { ConceptMeans } from '../../solver/index.js';
import type { MeasuredProblems } from '../evaluation.js';
import type { Thinker } from '../subject.js';
import { generatedSource } from './generated-source.js';
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

/** Only the first `count` problems of a source. */
const firstOf = (source: ProblemSource, count: number): ProblemSource => ({ ...source, count });

export async function studyProblems(
  solver: Thinker,
  encoder: PanelEncoder,
  data: ProblemSource | null,
  { count, seed, signal, onProgress }: StudyOptions,
): Promise<StudiedProblems> {
  const fromData = Math.min(count, data?.count ?? 0);
  const generated = count - fromData;
  const { configuration, noisy } = solver.manifest;
  const fresh = generatedSource({ configuration, noisy, variant: 'raven', seed }, generated);
  const sources = [...(data === null ? [] : [firstOf(data, fromData)]), fresh];
  const pictures = new Uint8Array(count * MATRIX_PIXELS);
  const labels: Label[] = [];
  const keys: string[][] = [];
  const means: ConceptMeans[][] = [];
  for (const source of sources) {
    for await (const batch of batches(source, SLICE)) {
      pictures.set(batch.panel, labels.length * MATRIX_PIXELS);
      labels.push(...batch.label);
      const encoded = await encoder.encode(batch.panel, signal);
      for (let n = 0; n < batch.count; n++) {
        const [from, to] = [n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS];
        keys.push(encoded.keys.slice(from, to));
        means.push(encoded.means.slice(from, to));
      }
      onProgress?.(labels.length / count);
    }
  }
  return { problems: { fromData, generated, seed }, count, pictures, labels, keys, means };
}
