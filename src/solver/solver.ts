/**
 * A trained model at work, the same in Node and in a browser: imagines missing panels at any position,
 * reads out concepts and rules, uses rules of one's own, chooses among candidates and says why.
 * `index.ts` and `node.ts` add the ways to load one.
 */
import { ArgumentError } from '../base/index.js';
import { MATRIX_PANELS } from '../matrix/index.js';
import { alternativesTo, type Difference } from './alternatives.js';
import { AnswerReader } from './answer-reader.js';
import { hasRules, systemOf, type BundleManifest } from './bundle.js';
import { checkQuestion, presentPanels, reasonerInput } from './checked-question.js';
import type { CheckedQuestion } from './checked-question.js';
import { candidatePanels, chooseCandidate, identicalCandidates, residualsOf } from './choose.js';
import { ConceptLayout } from './concept-layout.js';
import { SolverError } from './errors.js';
import type { HistoryCurve } from './history.js';
import type { Networks, Reasoning } from './networks.js';
import type { Panel, PanelInput } from './panels.js';
import { conceptIndex } from './questions.js';
import type {
  Alternative,
  Answer,
  Cancellable,
  CandidateInput,
  Choice,
  ChooseOptions,
  ConceptMeans,
  MatrixInput,
  Question,
  SampleOptions,
  SolveOptions,
} from './questions.js';
import type { RuleMap } from './rule-map.js';
import { nameRules, type NamedRule } from './rule-names.js';
import { checkSampleCount, normals, repeated, withDrawnRules } from './sampling.js';
import { withSecondThoughts, type Trial, type TrialResult } from './second-thoughts.js';
import type { Metrics } from './selection.js';
import type { SolverParts } from './solver-parts.js';
import { variationsOf } from './variations.js';
import type { Vocabulary } from './vocabulary.js';

interface ConceptsOptions extends Cancellable {
  readonly paint?: SolveOptions['paint'];
  /** Only the concepts of the answers are wanted: neither rules nor symbols are read out, which is faster. */
  readonly conceptsAlone?: boolean;
}

interface AlternativesOptions extends Cancellable {
  /** What makes two answers different: any entry (unless told), or a value that people have a word for. */
  readonly differ?: Difference;
}

export class SolverCore {
  readonly #networks: Networks;
  readonly #layout: ConceptLayout;
  readonly #reader: AnswerReader;
  #disposed = false;

  /** What the bundle says of itself. */
  readonly manifest: BundleManifest;
  /** What runs the networks: `node` (native), `wasm` or `webgpu`. */
  readonly backend: string;
  /** Rules the model found; null if the bundle has none. */
  readonly ruleMap: RuleMap | null;
  /** Curves of its training. */
  readonly history: readonly HistoryCurve[];
  /**
   * Reads what it painted while it was trained, for each snapshot of the rule map panel 9 of the first
   * problems of its source; null if the bundle does not keep it.
   */
  readonly imagined: SolverParts['imagined'];
  /** Groups of concepts and the values they take; null if the bundle has no vocabulary. */
  readonly vocabulary: Vocabulary | null;
  /** Calibrated distances; null if the bundle has no statistics, and only plain L2 can be used. */
  readonly metrics: Metrics | null;

  protected constructor(parts: SolverParts) {
    const { manifest, backend, networks, ruleMap, history, metrics, vocabulary } = parts;
    this.imagined = parts.imagined;
    this.manifest = manifest;
    this.backend = backend;
    this.ruleMap = ruleMap;
    this.history = history;
    this.#networks = networks;
    this.metrics = metrics;
    this.vocabulary = vocabulary;
    this.#layout = new ConceptLayout(manifest.sizes);
    this.#reader = new AnswerReader(manifest, this.#layout, ruleMap, vocabulary);
  }

  #require(signal?: AbortSignal): Networks {
    if (this.#disposed) throw new SolverError('the solver was disposed');
    signal?.throwIfAborted();
    return this.#networks;
  }

  /** Refuses what only a model with concepts and rules can do. */
  #requireRules(so: string): void {
    if (hasRules(this.manifest)) return;
    throw new SolverError(
      `a model of ${systemOf(this.manifest)} has no concepts and no rules: ${so}`,
    );
  }

  /** Frees the networks; nothing else can be asked afterwards. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#networks.dispose();
  }

  /** Means of the concepts of panels. */
  async encode(panels: readonly PanelInput[], options: Cancellable = {}): Promise<ConceptMeans[]> {
    const networks = this.#require(options.signal);
    const named = panels.map((input, i) => ({ input, what: `panel ${i + 1}` }));
    const rows = await networks.encode(named, options.signal);
    return panels.map((_, i) => this.#layout.means(rows, i));
  }

  /** Panels drawn from concepts. */
  async decode(concepts: readonly ConceptMeans[], options: Cancellable = {}): Promise<Panel[]> {
    const networks = this.#require(options.signal);
    return networks.decode(this.#layout.rows(concepts), options.signal);
  }

  /** Imagines the missing panels of one matrix. */
  async solve(panels: MatrixInput, options: SolveOptions = {}): Promise<Answer> {
    const { missing, rules, ...rest } = options;
    const [answer] = await this.solveAll([{ panels, missing, rules }], rest);
    return answer;
  }

  /** The same for many matrices, faster than one at a time. */
  async solveAll(
    questions: readonly Question[],
    options: Pick<SolveOptions, 'images' | 'paint' | 'signal'> = {},
  ): Promise<Answer[]> {
    this.#require(options.signal);
    const checked = questions.map((question) => checkQuestion(question, this.manifest));
    const encoded = await this.#encodePresent(questions, checked, options.signal);
    const reasoning = await this.#reason(checked, encoded, options.signal);
    const read = this.#reader.read(checked, encoded, reasoning);
    return this.#drawn(await this.#considered(read, options), options);
  }

  /** The same from concepts already encoded, all nine panels of each matrix; draws nothing. */
  async solveConcepts(
    questions: readonly (Omit<Question, 'panels'> & {
      readonly concepts: readonly ConceptMeans[];
    })[],
    options: ConceptsOptions = {},
  ): Promise<Answer[]> {
    this.#require(options.signal);
    const checked = questions.map((question) => checkQuestion(question, this.manifest));
    const encoded = this.#nine(
      questions.map(({ concepts }) => concepts),
      checked,
    );
    if (options.conceptsAlone) {
      const input = reasonerInput(checked, encoded, this.manifest.sizes);
      const reasoned = this.#networks.reason({ ...input, withoutRules: true }, options.signal);
      const { predicted } = await reasoned;
      return questions.map(({ concepts }, n) => this.#filled(concepts, checked[n], predicted, n));
    }
    const reasoning = await this.#reason(checked, encoded, options.signal);
    return this.#considered(this.#reader.read(checked, encoded, reasoning), options);
  }

  /** Concepts given and, at missing panels, predicted: an answer without anything else. */
  #filled(
    given: readonly ConceptMeans[],
    { missing }: CheckedQuestion,
    predicted: Float32Array,
    n: number,
  ): Answer {
    const concepts = [...given];
    for (const position of missing) {
      concepts[position - 1] = this.#layout.means(predicted, n * MATRIX_PANELS + position - 1);
    }
    return { missing, images: [], concepts, rules: [], symbols: null, imagined: null };
  }

  /** Answers after second thoughts, if these are asked for. */
  async #considered(
    answers: Answer[],
    { paint, signal }: Pick<SolveOptions, 'paint' | 'signal'>,
  ): Promise<Answer[]> {
    if (this.vocabulary === null || paint !== 'careful') return answers;
    return withSecondThoughts(this.vocabulary, this.#layout, answers, (trials) =>
      this.#try(trials, signal),
    );
  }

  async #try(trials: readonly Trial[], signal: AbortSignal | undefined): Promise<TrialResult[]> {
    if (trials.length === 0) return [];
    const checked = trials.map(({ hidden }) => checkQuestion({ missing: [hidden] }, this.manifest));
    const matrices = trials.map(({ concepts }) => concepts);
    const reasoning = await this.#reason(checked, this.#nine(matrices, checked), signal);
    const rules = this.#reader.parsedRules(reasoning, trials.length);
    const { width } = this.#layout;
    return trials.map(({ hidden }, n) => {
      const from = (n * MATRIX_PANELS + hidden - 1) * width;
      return { predicted: reasoning.predicted.slice(from, from + width), rules: rules[n] };
    });
  }

  /**
   * Rules parsed from whole matrices, q(r|z), of which nothing is missing: means [n][M][d_r] from the
   * concepts of all nine panels of each.
   */
  async parseRules(
    matrices: readonly (readonly ConceptMeans[])[],
    options: Cancellable = {},
  ): Promise<number[][][]> {
    this.#requireRules('it parses none');
    this.#require(options.signal);
    const whole: CheckedQuestion[] = matrices.map(() => ({
      missing: [],
      imposed: Array.from({ length: this.#layout.concepts }, () => null),
    }));
    const reasoning = await this.#reason(whole, this.#nine(matrices, whole), options.signal);
    return this.#reader.parsedRules(reasoning, matrices.length);
  }

  /** Several answers, from random rules and concepts as likely as the model finds them. */
  async sample(panels: MatrixInput, options: SampleOptions): Promise<Answer[]> {
    const { count, seed, signal, missing, rules } = options;
    this.#requireRules('it has one answer only');
    checkSampleCount(count);
    this.#require(signal);
    const question = { panels, missing, rules };
    const one = checkQuestion(question, this.manifest);
    const encoded = await this.#encodePresent([question], [one], signal);
    const first = await this.#reason([one], encoded, signal);
    const normal = normals(seed);
    const { ruleSize } = this.manifest.sizes;
    const drawn = Array.from({ length: count }, () => withDrawnRules(one, first, ruleSize, normal));
    const all = repeated(encoded, count);
    const reasoning = await this.#reason(drawn, all, signal);
    const predicted = reasoning.predicted.map((value) => value + normal() * this.manifest.sigmaZ);
    const answers = this.#reader.read(drawn, all, { ...reasoning, predicted });
    const honest = answers.map((answer) => ({
      ...answer,
      rules: answer.rules.map((rule, m) => ({ ...rule, imposed: one.imposed[m] !== null })),
    }));
    // A sample is painted as it was drawn: the vocabulary would make its noise a mistake.
    return this.#drawn(honest, { paint: 'mean', ...options });
  }

  /**
   * Different answers, the likeliest first: if a rule leaves something open, all that it allows. Fewer than
   * asked for if no more are possible.
   */
  async alternatives(
    answer: Answer,
    count: number,
    options: AlternativesOptions = {},
  ): Promise<Alternative[]> {
    this.#require(options.signal);
    const found = alternativesTo(answer, count, this.vocabulary, this.#layout, options.differ);
    const images = await this.decode(
      found.flatMap(({ concepts }) => concepts),
      options,
    );
    const { length } = answer.missing;
    return found.map((each, n) => ({
      ...each,
      images: images.slice(n * length, (n + 1) * length),
    }));
  }

  /**
   * The panel imagined at a missing position with other values of one group: one panel for each entry.
   * Groups and entries are counted from 1.
   */
  async variations(
    answer: Answer,
    position: number,
    group: number,
    entries: readonly number[],
    options: Cancellable = {},
  ): Promise<Panel[]> {
    this.#require(options.signal);
    const asked = { position, group, entries };
    return this.decode(variationsOf(answer, asked, this.vocabulary, this.#layout), options);
  }

  /** The rules of an answer in people's words, read from its symbols; null without a vocabulary. */
  nameRules(answer: Answer): NamedRule[] | null {
    return this.vocabulary && nameRules(this.vocabulary, this.manifest, answer);
  }

  /** Chooses the candidate closest to an answer, and reports on all of them. */
  async choose(
    answer: Answer,
    candidates: readonly CandidateInput[],
    options: ChooseOptions = {},
  ): Promise<Choice> {
    const [choice] = await this.chooseAll([{ answer, candidates }], options);
    return choice;
  }

  /** The same for many answers. */
  async chooseAll(
    asked: readonly { readonly answer: Answer; readonly candidates: readonly CandidateInput[] }[],
    options: ChooseOptions = {},
  ): Promise<Choice[]> {
    const networks = this.#require(options.signal);
    const offers = asked.map(({ answer, candidates }) => candidatePanels(answer, candidates));
    const rows = await networks.encode(offers.flat(2), options.signal);
    const { concepts, conceptSize, width } = this.#layout;
    let first = 0;
    return asked.map(({ answer }, n) => {
      const predicted = answer.missing.map((position) =>
        this.#layout.row(answer.concepts[position - 1]),
      );
      const residuals = residualsOf(rows.subarray(first * width), predicted, offers[n].length);
      first += offers[n].length * predicted.length;
      const choice = chooseCandidate(residuals, {
        concepts,
        conceptSize,
        sigmaZ: this.manifest.sigmaZ,
        metric: this.metrics?.for(answer.missing) ?? null,
        distance: options.distance,
      });
      return { ...choice, identical: identicalCandidates(offers[n]) };
    });
  }

  /**
   * Panels between two, of which only one concept changes: from the concepts of `from`, with concept
   * (1..M or its name) moving in equal steps to that of `to`.
   */
  async interpolate(
    concept: number | string,
    from: PanelInput | ConceptMeans,
    to: PanelInput | ConceptMeans,
    steps: number,
    options: Cancellable = {},
  ): Promise<Panel[]> {
    if (!Number.isSafeInteger(steps) || steps < 2 || steps > 1000) {
      throw new ArgumentError(`steps ${steps}: expected 2 to 1000`);
    }
    this.#requireRules('no concept can be changed alone');
    const m = conceptIndex(concept, this.manifest);
    const start = await this.#meansOf(from, options);
    const end = await this.#meansOf(to, options);
    const path = Array.from({ length: steps }, (_, i) => {
      const share = i / (steps - 1);
      const moved = start[m].map((value, k) => value + share * (end[m][k] - value));
      return start.map((values, other) => (other === m ? moved : values));
    });
    return this.decode(path, options);
  }

  async #meansOf(each: PanelInput | ConceptMeans, options: Cancellable): Promise<ConceptMeans> {
    if (isConceptMeans(each)) return each;
    const [means] = await this.encode([each], options);
    return means;
  }

  /** Concepts already encoded as [N, 9, M, d_z], zeros at missing panels. */
  #nine(
    matrices: readonly (readonly ConceptMeans[])[],
    checked: readonly CheckedQuestion[],
  ): Float32Array {
    const { width } = this.#layout;
    const encoded = new Float32Array(matrices.length * MATRIX_PANELS * width);
    matrices.forEach((concepts, n) => {
      if (concepts.length !== MATRIX_PANELS) {
        throw new ArgumentError(`concepts of ${concepts.length} panels: expected nine`);
      }
      concepts.forEach((means, i) => {
        if (checked[n].missing.includes(i + 1)) return;
        this.#layout.writeRow(means, encoded, (n * MATRIX_PANELS + i) * width);
      });
    });
    return encoded;
  }

  /** Concepts of all present panels, zeros at missing ones: [N, 9, M, d_z]. */
  async #encodePresent(
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

  #reason(
    questions: readonly CheckedQuestion[],
    encoded: Float32Array,
    signal: AbortSignal | undefined,
  ): Promise<Reasoning> {
    const input = reasonerInput(questions, encoded, this.manifest.sizes);
    return this.#networks.reason(input, signal);
  }

  /** Answers with the missing panels drawn, unless that is not wanted. */
  async #drawn(
    answers: readonly Answer[],
    { images: wanted = true, paint, signal }: Pick<SolveOptions, 'images' | 'paint' | 'signal'>,
  ): Promise<Answer[]> {
    if (!wanted) return [...answers];
    const missing = answers.flatMap(({ missing: positions, concepts, imagined }) =>
      positions.map((position, i) =>
        imagined === null || paint === 'mean' ? concepts[position - 1] : imagined[i].concepts,
      ),
    );
    const images = await this.decode(missing, { signal });
    let at = 0;
    return answers.map((answer) => ({
      ...answer,
      images: images.slice(at, (at += answer.missing.length)),
    }));
  }
}

const isConceptMeans = (value: PanelInput | ConceptMeans): value is ConceptMeans =>
  Array.isArray(value) && value[0] instanceof Float32Array;
