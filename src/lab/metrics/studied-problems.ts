/**
 * The problems that arbitrary positions, rules and pictures are measured on, seen once for all of
 * these: those of the data given, and if they are fewer than wanted, fresh ones of our generator.
 */
import {
  MATRIX_PANELS,
  type Label,
  type ProblemSource,
  type SetBatch,
} from '../../matrix/index.js';
import type { MeasuredProblems } from '../evaluation.js';
import type { MetricOptions, Seen, Subject } from '../subject.js';
import { generatedSource } from './generated-source.js';
import { inTurns } from './selection-accuracy.js';

export interface StudiedProblems {
  readonly problems: MeasuredProblems;
  readonly count: number;
  /** u8 [count][9, S, S] */
  readonly pictures: readonly Uint8Array[];
  /** What is known of each problem's rules. */
  readonly labels: readonly Label[];
  /** [count][9], equal for panels that are equal to the pixel. */
  readonly keys: readonly (readonly string[])[];
  /** Panels as the subject sees them, [count][9]. */
  readonly panels: readonly (readonly Seen[])[];
}

export interface StudyOptions extends MetricOptions {
  /** Problems wanted. */
  readonly count: number;
  /** Seed of the fresh ones. */
  readonly seed: number;
}

/** More than are ever wanted: problems of a seed are made while they are read. */
const FRESH_AT_MOST = 1 << 24;

/** Collects problems of all the data in turns, a matrix that is in several once; then fresh ones. */
export async function studyProblems(
  subject: Subject,
  data: readonly ProblemSource[],
  { count, seed, signal, onProgress }: StudyOptions,
): Promise<StudiedProblems> {
  const pictures: Uint8Array[] = [];
  const labels: Label[] = [];
  const keys: (readonly string[])[] = [];
  const panels: (readonly Seen[])[] = [];
  const met = new Set<string>();
  const add = async ({ count: more, panel, label }: SetBatch): Promise<void> => {
    const seen = await subject.see(panel, signal);
    const size = panel.length / more;
    for (let n = 0; n < more && labels.length < count; n++) {
      const [from, to] = [n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS];
      const matrix = seen.keys.slice(from, to).join();
      if (met.has(matrix)) continue;
      met.add(matrix);
      pictures.push(panel.slice(n * size, (n + 1) * size));
      labels.push(label[n]);
      keys.push(seen.keys.slice(from, to));
      panels.push(seen.panels.slice(from, to));
    }
  };
  const collect = async (sources: readonly ProblemSource[]): Promise<void> => {
    for await (const { batch } of inTurns(sources)) {
      if (labels.length >= count) return;
      signal?.throwIfAborted();
      await add(batch);
      onProgress?.(labels.length / count);
    }
  };
  await collect(data);
  const fromData = labels.length;
  const { configuration, noisy, imageSize } = subject.facts;
  const request = { configuration, noisy, variant: 'raven', seed } as const;
  await collect([generatedSource(request, FRESH_AT_MOST, imageSize)]);
  const problems = { fromData, generated: labels.length - fromData, seed };
  return { problems, count: labels.length, pictures, labels, keys, panels };
}
