/**
 * Selection accuracy, SA (section 4, "Metrics"; Table 1): how often the candidate that a model finds most
 * fitting for panel 9 is the answer. By the model's own measure, and for models with concepts by plain L2 on
 * concept means, as in the paper. Of candidates equally near the first counts as chosen.
 */
import {
  batches,
  CANDIDATES,
  CONTEXT_PANELS,
  MATRIX_PANELS,
  type ProblemSource,
  type SetBatch,
  type Variant,
} from '../../matrix/index.js';
import { nearest } from '../../solver/index.js';
import { picturesOf } from '../concept-subject.js';
import type { SelectionResult } from '../evaluation.js';
import { Bootstrap, sumOf } from '../statistics.js';
import type { Distances, Subject } from '../subject.js';
import { SLICE } from './generated-source.js';

export interface AccuracyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Several sources read a batch of each in turn. Sets of the two variants often hold the same matrices:
 * read so, their panels are still known to the subject when they come back.
 */
export async function* inTurns(
  sources: readonly ProblemSource[],
): AsyncGenerator<{ readonly source: number; readonly batch: SetBatch }> {
  const readers = sources.map((source) => batches(source, SLICE)[Symbol.asyncIterator]());
  const open = new Set(readers.keys());
  while (open.size > 0) {
    for (const source of open) {
      const { done, value } = await readers[source].next();
      if (done === true) open.delete(source);
      else yield { source, batch: value };
    }
  }
}

const EVERY = Array.from({ length: CANDIDATES }, (_, i) => i);

/**
 * Distances of the candidates for panel 9, which the model is not shown; by problem those of the candidates
 * that are offered, in their order, all eight unless told. A model without concepts is told of all eight:
 * many are built for just so many.
 */
export async function answerDistances(
  subject: Subject,
  { count, panel, selection }: Pick<SetBatch, 'count' | 'panel' | 'selection'>,
  signal?: AbortSignal,
  offered?: readonly (readonly number[])[],
): Promise<Distances[]> {
  const comparesAny = subject.facts.sizes !== null;
  const askedOf = (n: number): readonly number[] => (comparesAny && offered?.[n]) || EVERY;
  const size = subject.facts.imageSize ** 2;
  const context = new Uint8Array(count * CONTEXT_PANELS * size);
  for (let n = 0; n < count; n++) {
    const from = n * MATRIX_PANELS * size;
    context.set(panel.subarray(from, from + CONTEXT_PANELS * size), n * CONTEXT_PANELS * size);
  }
  const given = (await subject.see(context, signal)).panels;
  const candidates = (await subject.see(selection, signal)).panels;
  const pictures = picturesOf(selection, subject.facts.imageSize);
  const questions = Array.from({ length: count }, (_, n) => {
    const eight = given.slice(n * CONTEXT_PANELS, (n + 1) * CONTEXT_PANELS);
    const asked = askedOf(n).map((i) => n * CANDIDATES + i);
    return {
      panels: [...eight, eight[0]],
      missing: [MATRIX_PANELS],
      candidates: asked.map((i) => [candidates[i]]),
      pictures: asked.map((i) => [pictures[i]]),
    };
  });
  const found = await subject.choose(questions, { signal });
  if (offered === undefined || comparesAny) return found;
  return found.map((each, n) => ({ ...each, own: offered[n].map((i) => each.own[i]) }));
}

/** SA over all problems of a source. */
export async function selectionAccuracy(
  subject: Subject,
  source: ProblemSource,
  options: AccuracyOptions & { readonly variant?: Variant | null } = {},
): Promise<SelectionResult> {
  const { variant = null } = options;
  const [result] = await selectionAccuracies(subject, [{ source, variant }], options);
  return result;
}

/** SA on each of several sources, read in turns. */
export async function selectionAccuracies(
  subject: Subject,
  data: readonly { readonly source: ProblemSource; readonly variant?: Variant | null }[],
  { signal, onProgress }: AccuracyOptions = {},
): Promise<SelectionResult[]> {
  const sources = data.map(({ source }) => source);
  const total = sumOf(sources.map(({ count }) => count));
  const right = sources.map(() => ({ own: [] as number[], l2: [] as number[] }));
  let done = 0;
  for await (const { source, batch } of inTurns(sources)) {
    signal?.throwIfAborted();
    const chosen = await answerDistances(subject, batch, signal);
    batch.answer.forEach((answer, n) => {
      const { own, l2 } = chosen[n];
      right[source].own.push(Number(nearest(own) === answer));
      if (l2 !== null) right[source].l2.push(Number(nearest(l2) === answer));
    });
    onProgress?.((done += batch.count), total);
  }
  return data.map(({ source, variant = null }, i) => {
    const { own, l2 } = right[i];
    const bootstrap = new Bootstrap(own.length);
    return {
      data: source.name,
      variant,
      count: own.length,
      sa: bootstrap.share(own),
      ...(l2.length === 0 ? {} : { saL2: bootstrap.share(l2) }),
    };
  });
}
