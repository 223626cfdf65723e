/**
 * Errors in pixels (the paper shows them as pictures only, sections 4.2 and 4.3): mean squared and mean
 * absolute differences of grey values in 0..1 between a panel and what the model draws, from the panel's
 * own concepts (reconstruction) and from the other panels (prediction). The mean of all panels, drawn whatever
 * is asked, is what they must beat.
 */
import { MATRIX_PANELS, Random } from '../../matrix/index.js';
import type { Panel } from '../../solver/index.js';
import { DEFAULT_COUNTS } from '../conditions.js';
import type { PixelError, PixelErrors } from '../evaluation.js';
import { Bootstrap } from '../statistics.js';
import type { CountedOptions, Painter } from '../subject.js';
import { LAST } from '../missing-sets.js';
import { SLICE } from './generated-source.js';
import type { StudiedProblems } from './studied-problems.js';

const DEFAULT_SEED = 7_600_000_019;

/** Mean squared and absolute difference of a drawn panel to a picture of bytes. */
export function panelError(
  drawn: ArrayLike<number>,
  picture: Uint8Array,
): { readonly squared: number; readonly absolute: number } {
  let [squared, absolute] = [0, 0];
  for (let i = 0; i < picture.length; i++) {
    const difference = drawn[i] - picture[i] / 255;
    squared += difference * difference;
    absolute += Math.abs(difference);
  }
  return { squared: squared / picture.length, absolute: absolute / picture.length };
}

/** The mean of panels u8 [n][9, S, S], as a picture of S x S values in [0, 1]. */
export function meanPanel(pictures: readonly Uint8Array[]): Panel {
  const size = pictures[0].length / MATRIX_PANELS;
  const sums = new Float64Array(size);
  for (const matrix of pictures) {
    for (let i = 0; i < matrix.length; i++) sums[i % size] += matrix[i];
  }
  return Float32Array.from(sums, (sum) => sum / (255 * MATRIX_PANELS * pictures.length));
}

type PanelError = ReturnType<typeof panelError>;

/** Means and intervals of the errors of each kind. */
function measuredErrors(errors: ReadonlyMap<string, readonly PanelError[]>, count: number) {
  const bootstrap = new Bootstrap(count);
  const measured = [...errors].map(([kind, each]): [string, PixelError] => [
    kind,
    {
      meanSquared: bootstrap.mean(each.map(({ squared }) => squared)),
      meanAbsolute: bootstrap.mean(each.map(({ absolute }) => absolute)),
    },
  ]);
  return Object.fromEntries(measured) as Omit<PixelErrors, 'problems'>;
}

/** Errors on the first of the problems given. */
export async function pixelErrors(
  subject: Painter,
  studied: StudiedProblems,
  options: CountedOptions = {},
): Promise<PixelErrors> {
  const { seed = DEFAULT_SEED, signal, onProgress } = options;
  const { imageSize, positions } = subject.facts;
  const size = imageSize ** 2;
  const count = Math.min(options.problems ?? DEFAULT_COUNTS.pictures, studied.count);
  const mean = meanPanel(studied.pictures);
  const errors = new Map<string, PanelError[]>();
  for (let from = 0; from < count; from += SLICE) {
    const indices = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => from + i);
    const last = indices.map(() => LAST);
    const places = indices.map((n) => new Random(seed, n).below(MATRIX_PANELS) + 1);
    const note = (kind: string, drawn: readonly Panel[], at: readonly number[]): void => {
      const noted = indices.map((n, i) => {
        const first = (at[i] - 1) * size;
        return panelError(drawn[i], studied.pictures[n].subarray(first, first + size));
      });
      errors.set(kind, [...(errors.get(kind) ?? []), ...noted]);
    };
    const imagined = async (at: readonly number[]): Promise<Panel[]> => {
      const asked = indices.map((n, i) => ({ panels: studied.panels[n], missing: [at[i]] }));
      return (await subject.imagine(asked, { signal, paint: 'mean' })).flat();
    };
    if (subject.redraw !== undefined) {
      const own = indices.map((n, i) => studied.panels[n][places[i] - 1]);
      note('reconstruction', await subject.redraw(own, signal), places);
    }
    note('prediction', await imagined(last), last);
    if (positions === 'any') note('predictionAnywhere', await imagined(places), places);
    const means = indices.map(() => mean);
    note('meanPanel', means, places);
    onProgress?.(Math.min(1, (from + SLICE) / count));
  }
  const fromData = Math.min(count, studied.problems.fromData);
  return {
    problems: { ...studied.problems, fromData, generated: count - fromData },
    ...measuredErrors(errors, count),
  };
}
