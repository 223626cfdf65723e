/**
 * Errors in pixels (the paper shows them as pictures only, sections 4.2 and 4.3): mean squared and mean
 * absolute differences of grey values in 0..1 between a panel and what the decoder draws, from the
 * panel's own concepts (reconstruction) and from predicted ones (prediction).
 */
import { MATRIX_PANELS, MATRIX_PIXELS, Random, SMALL_PIXELS } from '../../matrix/index.js';
import type { ConceptMeans, Panel } from '../../solver/index.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { PixelError, PixelErrors } from '../evaluation.js';
import type { Thinker } from '../subject.js';
import { Bootstrap } from './bootstrap.js';
import type { StudiedProblems } from './studied-problems.js';

export interface PixelOptions {
  /** Problems used, the first of those given. */
  readonly problems?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

const DEFAULT_SEED = 7_600_000_019;
const SLICE = 32;
const LAST = MATRIX_PANELS;

/** Errors of one kind, one value for each problem. */
interface Collected {
  readonly squared: number[];
  readonly absolute: number[];
}

/** Mean squared and absolute difference of a drawn panel to a picture of bytes. */
export function panelError(
  drawn: ArrayLike<number>,
  picture: Uint8Array,
): { readonly squared: number; readonly absolute: number } {
  let [squared, absolute] = [0, 0];
  for (let i = 0; i < SMALL_PIXELS; i++) {
    const difference = drawn[i] - picture[i] / 255;
    squared += difference * difference;
    absolute += Math.abs(difference);
  }
  return { squared: squared / SMALL_PIXELS, absolute: absolute / SMALL_PIXELS };
}

const collected = (): Collected => ({ squared: [], absolute: [] });

export async function pixelErrors(
  solver: Thinker,
  studied: StudiedProblems,
  options: PixelOptions = {},
): Promise<PixelErrors> {
  const { seed = DEFAULT_SEED, signal, onProgress } = options;
  const count = Math.min(options.problems ?? DEFAULT_COUNTS.pictures, studied.count);
  const kinds = { own: collected(), last: collected(), anywhere: collected() };
  const note = (kind: Collected, drawn: Panel, n: number, position: number): void => {
    const from = n * MATRIX_PIXELS + (position - 1) * SMALL_PIXELS;
    const error = panelError(drawn, studied.pictures.subarray(from, from + SMALL_PIXELS));
    kind.squared.push(error.squared);
    kind.absolute.push(error.absolute);
  };
  for (let from = 0; from < count; from += SLICE) {
    const indices = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => from + i);
    const places = indices.map((n) => new Random(seed, n).below(MATRIX_PANELS) + 1);
    const predict = async (positions: readonly number[]): Promise<ConceptMeans[]> => {
      const questions = indices.map((n, i) => ({
        concepts: studied.means[n],
        missing: [positions[i]],
      }));
      const answers = await solver.solveConcepts(questions, { signal });
      return answers.map(({ concepts }, i) => concepts[positions[i] - 1]);
    };
    const wanted = [
      ...indices.map((n, i) => studied.means[n][places[i] - 1]),
      ...(await predict(indices.map(() => LAST))),
      ...(await predict(places)),
    ];
    const drawn = await solver.decode(wanted, { signal });
    indices.forEach((n, i) => {
      note(kinds.own, drawn[i], n, places[i]);
      note(kinds.last, drawn[indices.length + i], n, LAST);
      note(kinds.anywhere, drawn[2 * indices.length + i], n, places[i]);
    });
    onProgress?.(Math.min(1, (from + SLICE) / count));
  }
  const bootstrap = new Bootstrap(count);
  const measured = ({ squared, absolute }: Collected): PixelError => ({
    meanSquared: bootstrap.mean(squared),
    meanAbsolute: bootstrap.mean(absolute),
  });
  const fromData = Math.min(count, studied.problems.fromData);
  return {
    problems: { ...studied.problems, fromData, generated: count - fromData },
    reconstruction: measured(kinds.own),
    prediction: measured(kinds.last),
    predictionAnywhere: measured(kinds.anywhere),
  };
}
