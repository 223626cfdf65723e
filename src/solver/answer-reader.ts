/** Answers read out of what networks give: concepts of all nine panels, rules with names and categories. */
import { MATRIX_PANELS } from '../matrix/index.js';
import { hasRules, type BundleManifest } from './bundle.js';
import type { CheckedQuestion } from './checked-question.js';
import type { ConceptLayout } from './concept-layout.js';
import { imagine } from './imagining.js';
import type { Reasoning } from './networks.js';
import type { Answer, RuleReading } from './questions.js';
import { RuleClassifier, type RuleMap } from './rule-map.js';
import type { Vocabulary } from './vocabulary.js';

export class AnswerReader {
  readonly #manifest: BundleManifest;
  readonly #layout: ConceptLayout;
  readonly #classifiers: readonly RuleClassifier[] | null;
  readonly #vocabulary: Vocabulary | null;

  constructor(
    manifest: BundleManifest,
    layout: ConceptLayout,
    ruleMap: RuleMap | null,
    vocabulary: Vocabulary | null,
  ) {
    this.#vocabulary = vocabulary;
    this.#manifest = manifest;
    this.#layout = layout;
    this.#classifiers = ruleMap?.prior?.map((mixture) => new RuleClassifier(mixture)) ?? null;
  }

  /** Answers to all questions of a batch, without images; `encoded` is [N, 9, M, d_z]. */
  read(
    questions: readonly CheckedQuestion[],
    encoded: Float32Array,
    reasoning: Reasoning,
  ): Answer[] {
    return questions.map(({ missing, imposed }, n) => {
      const concepts = Array.from({ length: MATRIX_PANELS }, (_, position) => {
        const rows = missing.includes(position + 1) ? reasoning.predicted : encoded;
        return this.#layout.means(rows, n * MATRIX_PANELS + position);
      });
      const rules = hasRules(this.#manifest)
        ? imposed.map((given, m) => this.#rule(reasoning, n, m, given))
        : [];
      const answer = { missing, images: [], concepts, rules };
      const nothing = { symbols: null, imagined: null };
      const seen = this.#vocabulary && imagine(this.#vocabulary, this.#layout, answer);
      return { ...answer, ...(seen ?? nothing) };
    });
  }

  /** Means of the parsed rules alone, [N][M][d_r]. */
  parsedRules({ ruleMean }: Pick<Reasoning, 'ruleMean'>, count: number): number[][][] {
    const { concepts } = this.#manifest.sizes;
    return Array.from({ length: count }, (_, n) =>
      Array.from({ length: concepts }, (_, m) => this.#ofConcept(ruleMean, n, m)),
    );
  }

  /** Values of concept `m` of problem `n` in [N, M, d_r]. */
  #ofConcept(values: Float32Array, n: number, m: number): number[] {
    const { concepts, ruleSize } = this.#manifest.sizes;
    const from = (n * concepts + m) * ruleSize;
    return Array.from(values.subarray(from, from + ruleSize));
  }

  #rule(
    { ruleMean, ruleDeviation }: Reasoning,
    n: number,
    m: number,
    given: Float32Array | null,
  ): RuleReading {
    const { conceptNames } = this.#manifest;
    const parsed = this.#ofConcept(ruleMean, n, m);
    const vector = given === null ? parsed : Array.from(given);
    return {
      concept: m + 1,
      name: conceptNames[m]?.name ?? null,
      vector,
      parsed,
      deviation: this.#ofConcept(ruleDeviation, n, m),
      imposed: given !== null,
      categories: this.#classifiers?.[m].classify(vector).probabilities ?? null,
    };
  }
}
