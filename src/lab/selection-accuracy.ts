/** Selection accuracy (SA): how often the answer is chosen among the candidates, panel 9 missing. */
import {
  batches,
  problemIntoBatch,
  sampleProblem,
  SMALL_PIXELS,
  type Configuration,
  type ProblemSource,
  type SetBatch,
  type Variant,
} from '../matrix/index.js';
import type { Solver } from '../solver/node.js';

export interface SelectionAccuracy {
  readonly count: number;
  /** By the bundle's own distance. */
  readonly sa: number;
  /** By plain L2 on concepts, as in the paper. */
  readonly saL2: number;
}

export interface AccuracyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

const SLICE = 32;
const CONTEXT = 8;
const CANDIDATES = 8;
const MATRIX = 9;

/** Pictures `first`.. of an array of 64x64 bytes as panels. */
const panelsOf = (bytes: Uint8Array, first: number, count: number): Float32Array[] =>
  Array.from({ length: count }, (_, i) =>
    Float32Array.from(
      bytes.subarray((first + i) * SMALL_PIXELS, (first + i + 1) * SMALL_PIXELS),
      (value) => value / 255,
    ),
  );

/** What was chosen for each problem of a batch, 0-based: by the own distance and by L2. */
export async function chooseBatch(
  solver: Solver,
  { count, panel, selection }: Pick<SetBatch, 'count' | 'panel' | 'selection'>,
  signal?: AbortSignal,
): Promise<{ readonly own: number[]; readonly l2: number[] }> {
  const questions = Array.from({ length: count }, (_, n) => ({
    panels: panelsOf(panel, n * MATRIX, CONTEXT),
  }));
  const answers = await solver.solveAll(questions, { images: false, signal });
  const asked = answers.map((answer, n) => ({
    answer,
    candidates: panelsOf(selection, n * CANDIDATES, CANDIDATES),
  }));
  const choices = await solver.chooseAll(asked, { signal });
  const l2 = choices.map(({ candidates }) => {
    const distances = candidates.map((candidate) => candidate.l2);
    return distances.indexOf(Math.min(...distances));
  });
  return { own: choices.map(({ index }) => index), l2 };
}

/** SA over all problems of a source. */
export async function selectionAccuracy(
  solver: Solver,
  source: ProblemSource,
  { signal, onProgress }: AccuracyOptions = {},
): Promise<SelectionAccuracy> {
  const right = { own: 0, l2: 0 };
  let count = 0;
  for await (const batch of batches(source, SLICE)) {
    signal?.throwIfAborted();
    const chosen = await chooseBatch(solver, batch, signal);
    batch.answer.forEach((answer, n) => {
      right.own += Number(chosen.own[n] === answer);
      right.l2 += Number(chosen.l2[n] === answer);
    });
    count += batch.count;
    onProgress?.(count, source.count);
  }
  return { count, sa: right.own / count, saL2: right.l2 / count };
}

/** Fresh problems as a source that is made while it is read. */
export function generatedSource(
  request: {
    readonly configuration: Configuration;
    readonly noisy: boolean;
    readonly variant: Variant;
    readonly seed: number;
  },
  count: number,
): ProblemSource {
  return {
    name: `${request.configuration}, ${request.variant}, seed ${request.seed}`,
    count,
    randomAccess: true,
    read: (first, n) => {
      const panel = new Uint8Array(n * MATRIX * SMALL_PIXELS);
      const selection = new Uint8Array(n * CANDIDATES * SMALL_PIXELS);
      const problems = Array.from({ length: n }, (_, i) =>
        sampleProblem({ ...request, index: first + i }),
      );
      problems.forEach((problem, place) => problemIntoBatch(problem, { panel, selection }, place));
      return Promise.resolve({
        count: n,
        panel,
        selection,
        answer: problems.map((problem) => problem.target),
        label: problems.map((problem) => problem.rules),
      });
    },
    close: () => Promise.resolve(),
  };
}
