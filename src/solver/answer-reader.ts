/** Answers read out of what networks give: concepts of all nine panels, rules with names and categories. */
import type { BundleManifest } from './bundle.js';
import type { CheckedQuestion } from './checked-question.js';
import type { ConceptLayout } from './concept-layout.js';
import type { Reasoning } from './networks.js';
import { PANELS, type Answer, type RuleReading } from './questions.js';
import { RuleClassifier, type RuleMap } from './rule-map.js';

export class AnswerReader {
  readonly #manifest: BundleManifest;
  readonly #layout: ConceptLayout;
  readonly #classifiers: readonly RuleClassifier[] | null;

  constructor(manifest: BundleManifest, layout: ConceptLayout, ruleMap: RuleMap | null) {
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
      const concepts = Array.from({ length: PANELS }, (_, position) => {
        const rows = missing.includes(position + 1) ? reasoning.predicted : encoded;
        return this.#layout.means(rows, n * PANELS + position);
      });
      const rules = imposed.map((given, m) => this.#rule(reasoning, n, m, given));
      return { missing, images: [], concepts, rules };
    });
  }

  #rule(
    { ruleMean, ruleDeviation }: Reasoning,
    n: number,
    m: number,
    given: Float32Array | null,
  ): RuleReading {
    const { sizes, conceptNames } = this.#manifest;
    const from = (n * sizes.concepts + m) * sizes.ruleSize;
    const of = (values: Float32Array): number[] =>
      Array.from(values.subarray(from, from + sizes.ruleSize));
    const parsed = of(ruleMean);
    const vector = given === null ? parsed : Array.from(given);
    return {
      concept: m + 1,
      name: conceptNames[m]?.name ?? null,
      vector,
      parsed,
      deviation: of(ruleDeviation),
      imposed: given !== null,
      categories: this.#classifiers?.[m].classify(vector).probabilities ?? null,
    };
  }
}
