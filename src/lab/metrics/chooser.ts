/**
 * Choices among the eight candidates for panel 9, with every different panel encoded once. The answers
 * and distances are those of `Solver.choose`, which a test holds it to.
 */
import { CANDIDATES, MATRIX_PANELS, SMALL_PIXELS, type SetBatch } from '../../matrix/index.js';
import { softmax, type SelectionStatistics } from '../../solver/index.js';
import type { Thinker } from '../subject.js';
import { flat, ownSpace, PLAIN_SPACE, squaredDistance, type ConceptSpace } from './distance.js';
import type { PanelEncoder } from './panel-encoder.js';

const CONTEXT = 8;

/** Candidates chosen for each problem of a batch, 0-based: by the own distance and by L2. */
export interface Chosen {
  readonly own: number[];
  readonly l2: number[];
}

export interface ConfidentChoice extends Chosen {
  /** Probability of the own choice among the candidates. */
  readonly confidence: number[];
}

export const nearest = (distances: readonly number[]): number =>
  distances.indexOf(Math.min(...distances));

function distancesIn(
  space: ConceptSpace,
  guess: Float64Array,
  rows: readonly Float64Array[],
): number[] {
  const from = space.predicted(guess);
  return rows.map((row) => squaredDistance(from, space.encoded(row)));
}

/** The eight context panels of each problem, u8 [count, 8, 64, 64]: panel 9 must not even be encoded. */
function withoutLast({ count, panel }: Pick<SetBatch, 'count' | 'panel'>): Uint8Array {
  const size = CONTEXT * SMALL_PIXELS;
  const context = new Uint8Array(count * size);
  for (let n = 0; n < count; n++) {
    const from = n * MATRIX_PANELS * SMALL_PIXELS;
    context.set(panel.subarray(from, from + size), n * size);
  }
  return context;
}

export class Chooser {
  readonly #own: ConceptSpace;
  /** Divides own distances so that their exponentials are probabilities. */
  readonly #scale: number;

  constructor(
    readonly solver: Thinker,
    statistics: SelectionStatistics | null,
    readonly encoder: PanelEncoder,
  ) {
    const { sizes, sigmaZ } = solver.manifest;
    const last = statistics?.get('last') ?? statistics?.get('targets1') ?? null;
    this.#own = ownSpace(last, sizes.conceptSize);
    this.#scale = 2 * (last?.temperature ?? sigmaZ * sigmaZ);
  }

  async choose(
    batch: Pick<SetBatch, 'count' | 'panel' | 'selection'>,
    signal?: AbortSignal,
  ): Promise<ConfidentChoice> {
    const context = await this.encoder.encode(withoutLast(batch), signal);
    const offered = await this.encoder.encode(batch.selection, signal);
    const questions = Array.from({ length: batch.count }, (_, n) => {
      const eight = context.means.slice(n * CONTEXT, (n + 1) * CONTEXT);
      // The ninth is missing; whatever stands in its place is not looked at.
      return { concepts: [...eight, eight[0]], missing: [MATRIX_PANELS] };
    });
    const answers = await this.solver.solveConcepts(questions, { signal });
    const chosen: ConfidentChoice = { own: [], l2: [], confidence: [] };
    answers.forEach((answer, n) => {
      const guess = flat(answer.concepts[MATRIX_PANELS - 1]);
      const rows = offered.means.slice(n * CANDIDATES, (n + 1) * CANDIDATES).map(flat);
      const own = distancesIn(this.#own, guess, rows);
      chosen.own.push(nearest(own));
      chosen.confidence.push(Math.max(...softmax(own, this.#scale)));
      chosen.l2.push(nearest(distancesIn(PLAIN_SPACE, guess, rows)));
    });
    return chosen;
  }
}
