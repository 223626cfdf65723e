/** Batches of matrices through the networks: which panels are given, what is foretold, answers without pictures. */
import { ArgumentError } from '../base/index.js';
import { MATRIX_PANELS } from '../matrix/index.js';
import type { AnswerReader } from './answer-reader.js';
import type { BundleManifest } from './bundle.js';
import { checkQuestion, presentPanels, reasonerInput } from './checked-question.js';
import type { CheckedQuestion } from './checked-question.js';
import type { ConceptLayout } from './concept-layout.js';
import type { Networks, Reasoning } from './networks.js';
import type { Answer, ConceptMeans, Question, SolveOptions } from './questions.js';
import { withSecondThoughts, type Trial, type TrialResult } from './second-thoughts.js';
import type { Vocabulary } from './vocabulary.js';

/** Concepts of all nine panels of matrices. */
type Matrices = readonly (readonly ConceptMeans[])[];

export class Reasoner {
  readonly #manifest: BundleManifest;
  readonly #networks: Networks;
  readonly #layout: ConceptLayout;
  readonly #reader: AnswerReader;
  readonly #vocabulary: Vocabulary | null;

  constructor(
    manifest: BundleManifest,
    networks: Networks,
    layout: ConceptLayout,
    reader: AnswerReader,
    vocabulary: Vocabulary | null,
  ) {
    this.#manifest = manifest;
    this.#networks = networks;
    this.#layout = layout;
    this.#reader = reader;
    this.#vocabulary = vocabulary;
  }

  /** Concepts of the panels that are there, encoded now: [N, 9, M, d_z], zeros at missing ones. */
  async encodePresent(
    questions: readonly Question[],
    checked: readonly CheckedQuestion[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const { width } = this.#layout;
    const places = questions.flatMap(({ panels }, n) =>
      presentPanels(panels, checked[n].missing).map((panel) => ({
        ...panel,
        at: (n * MATRIX_PANELS + panel.position) * width,
      })),
    );
    const rows = await this.#networks.encode(places, signal);
    const all = new Float32Array(questions.length * MATRIX_PANELS * width);
    places.forEach(({ at }, i) => all.set(rows.subarray(i * width, (i + 1) * width), at));
    return all;
  }

  /** The same of panels that were encoded before. */
  rowsOf(matrices: Matrices, checked: readonly CheckedQuestion[]): Float32Array {
    const { width } = this.#layout;
    const rows = new Float32Array(matrices.length * MATRIX_PANELS * width);
    matrices.forEach((concepts, n) => {
      if (concepts.length !== MATRIX_PANELS) {
        throw new ArgumentError(`concepts of ${concepts.length} panels: expected nine`);
      }
      concepts.forEach((means, i) => {
        if (checked[n].missing.includes(i + 1)) return;
        this.#layout.writeRow(means, rows, (n * MATRIX_PANELS + i) * width);
      });
    });
    return rows;
  }

  reason(
    questions: readonly CheckedQuestion[],
    encoded: Float32Array,
    signal: AbortSignal | undefined,
  ): Promise<Reasoning> {
    const input = reasonerInput(questions, encoded, this.#manifest.sizes);
    return this.#networks.reason(input, signal);
  }

  /** Answers without pictures, after second thoughts if these are asked for. */
  async answers(
    questions: readonly CheckedQuestion[],
    encoded: Float32Array,
    { paint, signal }: Pick<SolveOptions, 'paint' | 'signal'>,
  ): Promise<Answer[]> {
    const reasoning = await this.reason(questions, encoded, signal);
    const answers = this.#reader.read(questions, encoded, reasoning);
    if (this.#vocabulary === null || paint !== 'careful') return answers;
    return withSecondThoughts(this.#vocabulary, this.#layout, answers, (trials) =>
      this.#try(trials, signal),
    );
  }

  async #try(trials: readonly Trial[], signal: AbortSignal | undefined): Promise<TrialResult[]> {
    if (trials.length === 0) return [];
    const checked = trials.map(({ hidden }) =>
      checkQuestion({ missing: [hidden] }, this.#manifest),
    );
    const matrices = trials.map(({ concepts }) => concepts);
    const reasoning = await this.reason(checked, this.rowsOf(matrices, checked), signal);
    const rules = this.#reader.parsedRules(reasoning, trials.length);
    const { width } = this.#layout;
    return trials.map(({ hidden }, n) => {
      const from = (n * MATRIX_PANELS + hidden - 1) * width;
      return { predicted: reasoning.predicted.slice(from, from + width), rules: rules[n] };
    });
  }

  /** Answers of which only the concepts are known: rules and symbols are not read out, which is faster. */
  async conceptsOnly(
    matrices: Matrices,
    questions: readonly CheckedQuestion[],
    signal: AbortSignal | undefined,
  ): Promise<Answer[]> {
    const input = reasonerInput(questions, this.rowsOf(matrices, questions), this.#manifest.sizes);
    const { predicted } = await this.#networks.reason({ ...input, withoutRules: true }, signal);
    return questions.map(({ missing }, n) => {
      const concepts = [...matrices[n]];
      for (const position of missing) {
        concepts[position - 1] = this.#layout.means(predicted, n * MATRIX_PANELS + position - 1);
      }
      return { missing, images: [], concepts, rules: [], symbols: null, imagined: null };
    });
  }

  /** Rules parsed from whole matrices, q(r|z): means [n][M][d_r]. */
  async parseRules(matrices: Matrices, signal: AbortSignal | undefined): Promise<number[][][]> {
    const imposed = Array.from({ length: this.#layout.concepts }, () => null);
    const whole: CheckedQuestion[] = matrices.map(() => ({ missing: [], imposed }));
    const reasoning = await this.reason(whole, this.rowsOf(matrices, whole), signal);
    return this.#reader.parsedRules(reasoning, matrices.length);
  }
}
