/** Fresh problems of our generator: as a source that is made while it is read, and as concepts. */
import {
  drawInto,
  formatLabel,
  layoutOf,
  MATRIX_PANELS,
  matrixPanels,
  samplePanels,
  sampleProblem,
  SMALL_SIZE,
  type Configuration,
  type ConfigurationLayout,
  type ImageSide,
  type Panel,
  type ProblemSource,
  type Variant,
} from '../../matrix/index.js';
import type { ConceptMeans } from '../../solver/index.js';
import type { ConceptSubject } from '../concept-subject.js';
import type { Seen, SeenPanels, Subject } from '../subject.js';

export interface GeneratedRequest {
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly variant: Variant;
  readonly seed: number;
}

/** Pictures u8 [n, S, S] of panels. */
export function drawPanels(
  layout: ConfigurationLayout,
  panels: readonly Panel[],
  side: ImageSide,
): Uint8Array {
  const pictures = new Uint8Array(panels.length * side ** 2);
  panels.forEach((panel, i) => drawInto(layout, panel, side, pictures, i * side ** 2));
  return pictures;
}

/** Problems 0 .. count - 1 of a seed, drawn at 64x64 unless told. */
export function generatedSource(
  request: GeneratedRequest,
  count: number,
  side: ImageSide = SMALL_SIZE,
): ProblemSource {
  const layout = layoutOf(request.configuration, request.noisy);
  return {
    name: `${request.configuration}, ${request.variant}, seed ${request.seed}`,
    count,
    randomAccess: true,
    read: (first, n) => {
      const problems = Array.from({ length: n }, (_, i) =>
        sampleProblem({ ...request, index: first + i }),
      );
      const offered = problems.flatMap((problem) => problem.candidates.map(({ panel }) => panel));
      return Promise.resolve({
        count: n,
        panel: drawPanels(layout, problems.flatMap(matrixPanels), side),
        selection: drawPanels(layout, offered, side),
        answer: problems.map((problem) => problem.target),
        label: problems.map((problem) => problem.rules),
      });
    },
    close: () => Promise.resolve(),
  };
}

/** Problems encoded at a time: enough to fill a GPU. */
export const SLICE = 128;

/** Problems of a seed, some at a time, with the nine panels of each as a subject sees them. */
export async function* seenProblems<S extends Seen>(
  subject: Pick<Subject, 'facts'> & {
    see(pictures: Uint8Array, signal?: AbortSignal): Promise<SeenPanels<S>>;
  },
  count: number,
  seed: number,
  signal?: AbortSignal,
) {
  const { configuration, noisy, imageSize } = subject.facts;
  const layout = layoutOf(configuration, noisy);
  for (let from = 0; from < count; from += SLICE) {
    const problems = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) =>
      sampleProblem({ configuration, noisy, seed, index: from + i }),
    );
    const pictures = drawPanels(layout, problems.flatMap(matrixPanels), imageSize);
    const { panels } = await subject.see(pictures, signal);
    const matrices = problems.map((_, n) =>
      panels.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS),
    );
    yield { from, problems, matrices };
    // Judging is work of this thread alone: others get their turn.
    await new Promise(setImmediate);
  }
}

/** Problems of a seed, some at a time: their panels, the concepts [n][9] of these, and their true rules. */
export async function* encodedProblems(
  subject: ConceptSubject,
  source: Omit<GeneratedRequest, 'variant'>,
  first: number,
  count: number,
  signal?: AbortSignal,
): AsyncGenerator<{
  /** Nine of each problem, one after the other. */
  readonly panels: readonly Panel[];
  readonly concepts: readonly (readonly ConceptMeans[])[];
  readonly truth: readonly string[];
}> {
  const layout = layoutOf(source.configuration, source.noisy);
  for (let from = first; from < first + count; from += SLICE) {
    const matrices = Array.from({ length: Math.min(SLICE, first + count - from) }, (_, i) =>
      samplePanels({ ...source, index: from + i }),
    );
    const panels = matrices.flatMap((matrix) => matrix.panels);
    const pictures = drawPanels(layout, panels, subject.facts.imageSize);
    const seen = await subject.see(pictures, signal);
    yield {
      panels,
      concepts: matrices.map((_, n) =>
        seen.panels.slice(n * MATRIX_PANELS, (n + 1) * MATRIX_PANELS),
      ),
      truth: matrices.map((matrix) => formatLabel(matrix.rules)),
    };
  }
}
