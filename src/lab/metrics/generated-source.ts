/** Fresh problems of our generator as a source that is made while it is read. */
import {
  MATRIX_PIXELS,
  problemIntoBatch,
  sampleProblem,
  SELECTION_PIXELS,
  type Configuration,
  type ProblemSource,
  type Variant,
} from '../../matrix/index.js';

export interface GeneratedRequest {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly variant: Variant;
  readonly seed: number;
}

/** Problems 0 .. count - 1 of a seed. */
export function generatedSource(request: GeneratedRequest, count: number): ProblemSource {
  return {
    name: `${request.configuration}, ${request.variant}, seed ${request.seed}`,
    count,
    randomAccess: true,
    read: (first, n) => {
      const panel = new Uint8Array(n * MATRIX_PIXELS);
      const selection = new Uint8Array(n * SELECTION_PIXELS);
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
