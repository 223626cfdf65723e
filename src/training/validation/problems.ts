/**
 * The problems a run is validated on: drawn from a stream of seeds that training never uses, the same
 * ones at every validation. Both variants share contexts and answers and differ in the candidates.
 */
import { CounterRandom, derivedSeed, STREAM } from '../../base/index.js';
import {
  CANDIDATES,
  drawInto,
  layoutOf,
  MATRIX_PANELS,
  matrixPanels,
  sampleProblem,
  PAPER_VARIANTS,
} from '../../matrix/index.js';
import type { ImageSize } from '../../models/index.js';
import { problemOf, type ProblemSource } from '../feed/record.js';

export interface ValidationProblems {
  /** Where they come from: problem n is index n of this source. */
  readonly source: ProblemSource;
  readonly count: number;
  readonly imageSize: ImageSize;
  /** u8 [count, 9, S, S] */
  readonly panels: Uint8Array;
  /** For each variant u8 [count, 8, S, S]. */
  readonly candidates: Readonly<Record<(typeof PAPER_VARIANTS)[number], Uint8Array>>;
  /** 0-based index of the answer among the candidates [count]. */
  readonly answers: Int32Array;
}

/** The source of a run's validation problems. */
export const validationSource = (training: ProblemSource): ProblemSource => ({
  ...training,
  seed: derivedSeed(training.seed, STREAM.validationProblems),
});

/** Problems made before other work of the thread gets its turn. */
const SLICE = 32;

/** Makes and draws the validation problems of a run. */
export async function makeValidationProblems(
  source: ProblemSource,
  count: number,
  imageSize: ImageSize,
): Promise<ValidationProblems> {
  const pixels = imageSize * imageSize;
  const panels = new Uint8Array(count * MATRIX_PANELS * pixels);
  const images = (): Uint8Array => new Uint8Array(count * CANDIDATES * pixels);
  const candidates = { raven: images(), 'i-raven': images() };
  const answers = new Int32Array(count);
  for (let index = 0; index < count; index++) {
    if (index % SLICE === SLICE - 1) await new Promise(setImmediate);
    const drawn = problemOf(source, index);
    const layout = layoutOf(drawn.configuration, drawn.noisy);
    for (const variant of PAPER_VARIANTS) {
      const problem = sampleProblem({ ...drawn, variant });
      problem.candidates.forEach(({ panel }, n) => {
        const at = (index * CANDIDATES + n) * pixels;
        drawInto(layout, panel, imageSize, candidates[variant], at);
      });
      if (variant !== 'raven') continue;
      matrixPanels(problem).forEach((panel, n) => {
        drawInto(layout, panel, imageSize, panels, (index * MATRIX_PANELS + n) * pixels);
      });
      answers[index] = problem.target;
    }
  }
  return { source, count, imageSize, panels, candidates, answers };
}

/** An in-batch choice among panels of other problems at the same position, fixed for a run. */
export interface InBatchChoice {
  /** 0-based position of the missing panel [count]. */
  readonly targets: Int32Array;
  /** Problems whose panel at that position is offered [count, at most 8]; the right one among them. */
  readonly offered: Int32Array;
  /** Place of the right one [count]; random, so that a model for which all look alike scores 1/8. */
  readonly answers: Int32Array;
}

/** Draws positions and distractors; fewer problems than candidates are all offered. */
export function drawInBatchChoice(seed: number, count: number): InBatchChoice {
  const offeredPerProblem = Math.min(CANDIDATES, count);
  const choice: InBatchChoice = {
    targets: new Int32Array(count),
    offered: new Int32Array(count * offeredPerProblem),
    answers: new Int32Array(count),
  };
  for (let n = 0; n < count; n++) {
    const random = new CounterRandom(seed, STREAM.validationBatches, n);
    choice.targets[n] = random.below(MATRIX_PANELS);
    const answer = random.below(offeredPerProblem);
    choice.answers[n] = answer;
    const others = othersThan(random, n, count, offeredPerProblem - 1);
    for (let k = 0; k < offeredPerProblem; k++) {
      const distractor = others[k < answer ? k : k - 1];
      choice.offered[n * offeredPerProblem + k] = k === answer ? n : distractor;
    }
  }
  return choice;
}

/** Different problems, none of them `own`. */
function othersThan(random: CounterRandom, own: number, count: number, wanted: number): number[] {
  const found = new Set<number>();
  while (found.size < wanted) {
    const other = random.below(count);
    if (other !== own) found.add(other);
  }
  return [...found];
}
