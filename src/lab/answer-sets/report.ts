/**
 * The answer-set report: how often the answer is found from the candidates alone, for every variant. A
 * fair set leaves one in eight, 12.5%; RAVEN's candidates give the answer away.
 */
import { layoutName, layoutOf, sampleProblem, VARIANTS } from '../../matrix/index.js';
import type { Configuration, Problem, Variant } from '../../matrix/index.js';
import { BlindNetwork, type BlindProblem } from './blind-network.js';
import { blindFeatures, majorityHit } from './features.js';

export interface AnswerSetOptions {
  readonly configurations: readonly {
    readonly configuration: Configuration;
    readonly noisy: boolean;
  }[];
  readonly variants?: readonly Variant[];
  /** Problems to train the network on, and to test on. */
  readonly trained?: number;
  readonly tested?: number;
  readonly seed?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Shares of right choices without the context; chance is 1/8. */
export interface AnswerSetResult {
  readonly configuration: string;
  readonly variant: Variant;
  /** Whoever has the most common values. */
  readonly majority: number;
  /** A network that was trained with the answers. */
  readonly network: number;
  readonly problems: number;
}

const ANSWER_SET_PROBLEMS = { trained: 4000, tested: 2000 } as const;

const panelsOf = ({ candidates }: Problem) => candidates.map(({ panel }) => panel);

const blindProblem = (problem: Problem): BlindProblem => ({
  features: blindFeatures(panelsOf(problem)),
  target: problem.target,
});

/** Measures every variant of every configuration. */
export async function answerSetReport(options: AnswerSetOptions): Promise<AnswerSetResult[]> {
  const { configurations, variants = VARIANTS, seed = 0, signal, onProgress } = options;
  const { trained = ANSWER_SET_PROBLEMS.trained, tested = ANSWER_SET_PROBLEMS.tested } = options;
  const results: AnswerSetResult[] = [];
  for (const { configuration, noisy } of configurations) {
    for (const variant of variants) {
      // Other work gets its turn, and Ctrl-C is noticed.
      await new Promise(setImmediate);
      signal?.throwIfAborted();
      const problemAt = (index: number): Problem =>
        sampleProblem({ configuration, noisy, variant, seed, index });
      const lessons = Array.from({ length: trained }, (_, i) => blindProblem(problemAt(i)));
      const network = BlindNetwork.train(lessons, seed);
      let hits = 0;
      let majority = 0;
      for (let i = 0; i < tested; i++) {
        const problem = problemAt(trained + i);
        majority += majorityHit(panelsOf(problem), problem.target);
        if (network.choose(blindFeatures(panelsOf(problem))) === problem.target) hits++;
      }
      results.push({
        configuration: layoutName(layoutOf(configuration, noisy)),
        variant,
        majority: majority / tested,
        network: hits / tested,
        problems: tested,
      });
      onProgress?.(results.length, configurations.length * variants.length);
    }
  }
  return results;
}
