/**
 * Selection accuracy, SA (section 4, "Metrics"; Table 1): how often the candidate that lies nearest to
 * the predicted concepts of panel 9 is the answer. By plain L2 on concept means, as in the paper, and by
 * the model's own distance. Of candidates equally near the first counts as chosen.
 */
import {
  CANDIDATES,
  MATRIX_PANELS,
  SMALL_PIXELS,
  type ProblemSource,
  type SetBatch,
  type Variant,
} from '../../matrix/index.js';
import type { SolverCore } from '../../solver/index.js';
import type { SelectionResult } from '../evaluation.js';
import type { Subject } from '../subject.js';
import { Bootstrap } from './bootstrap.js';
import { Chooser, nearest, type Chosen } from './chooser.js';
import { inTurns } from './in-turns.js';
import { PanelEncoder } from './panel-encoder.js';

export interface AccuracyOptions {
  /** Panels encoded before need not be encoded again. */
  readonly encoder?: PanelEncoder;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

const SLICE = 32;
const CONTEXT = 8;

/** Pictures `first`.. of an array of 64x64 bytes. */
const picturesOf = (bytes: Uint8Array, first: number, count: number): Uint8Array[] =>
  Array.from({ length: count }, (_, i) =>
    bytes.subarray((first + i) * SMALL_PIXELS, (first + i + 1) * SMALL_PIXELS),
  );

/** Choices through the solver's own `choose`, as a user asks it: slower, and what SA must equal. */
export async function chooseBatch(
  solver: Pick<SolverCore, 'solveAll' | 'chooseAll'>,
  { count, panel, selection }: Pick<SetBatch, 'count' | 'panel' | 'selection'>,
  signal?: AbortSignal,
): Promise<Chosen> {
  const questions = Array.from({ length: count }, (_, n) => ({
    panels: picturesOf(panel, n * MATRIX_PANELS, CONTEXT),
  }));
  const answers = await solver.solveAll(questions, { images: false, signal });
  const asked = answers.map((answer, n) => ({
    answer,
    candidates: picturesOf(selection, n * CANDIDATES, CANDIDATES),
  }));
  const choices = await solver.chooseAll(asked, { signal });
  return {
    own: choices.map(({ index }) => index),
    l2: choices.map(({ candidates }) => nearest(candidates.map((each) => each.l2))),
  };
}

/** SA over all problems of a source. */
export async function selectionAccuracy(
  subject: Pick<Subject, 'solver' | 'statistics'>,
  source: ProblemSource,
  options: AccuracyOptions & { readonly variant?: Variant | null } = {},
): Promise<SelectionResult> {
  const { variant = null } = options;
  const [result] = await selectionAccuracies(subject, [{ source, variant }], options);
  return result;
}

/** SA on each of several sources, read in turns. */
export async function selectionAccuracies(
  subject: Pick<Subject, 'solver' | 'statistics'>,
  data: readonly { readonly source: ProblemSource; readonly variant?: Variant | null }[],
  options: AccuracyOptions = {},
): Promise<SelectionResult[]> {
  const { signal, onProgress } = options;
  const encoder = options.encoder ?? new PanelEncoder(subject.solver);
  const chooser = new Chooser(subject.solver, subject.statistics, encoder);
  const sources = data.map(({ source }) => source);
  const total = sources.reduce((sum, { count }) => sum + count, 0);
  const right = sources.map(({ count }) => ({
    own: new Uint8Array(count),
    l2: new Uint8Array(count),
    done: 0,
  }));
  let done = 0;
  for await (const { source, batch } of inTurns(sources, SLICE)) {
    signal?.throwIfAborted();
    const chosen = await chooser.choose(batch, signal);
    const tally = right[source];
    batch.answer.forEach((answer, n) => {
      tally.own[tally.done + n] = Number(chosen.own[n] === answer);
      tally.l2[tally.done + n] = Number(chosen.l2[n] === answer);
    });
    tally.done += batch.count;
    done += batch.count;
    onProgress?.(done, total);
  }
  return data.map(({ source, variant = null }, i) => {
    const { own, l2, done: count } = right[i];
    const bootstrap = new Bootstrap(count);
    return {
      data: source.name,
      variant,
      count,
      sa: bootstrap.share(own),
      saL2: bootstrap.share(l2),
    };
  });
}
