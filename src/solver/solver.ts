/**
 * A trained model at work, the same in Node and in a browser: imagines missing panels at any position,
 * reads out concepts and rules, uses rules of one's own, chooses among candidates and says why.
 * `index.ts` and `node.ts` add the ways to load one.
 */
import { ArgumentError } from '../base/index.js';
import { alternativesTo, type Difference } from './alternatives.js';
import { AnswerReader } from './answer-reader.js';
import { hasRules, systemOf, type BundleManifest } from './bundle.js';
import { checkQuestion } from './checked-question.js';
import {
  candidatePanels,
  chooseCandidate,
  distancesOf,
  identicalCandidates,
  pictureOf,
  residualsOf,
  weighCandidates,
} from './choose.js';
import { ConceptLayout } from './concept-layout.js';
import { SolverError } from './errors.js';
import type { HistoryCurve } from './history.js';
import type { Networks } from './networks.js';
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
  Offered,
  Question,
  SampleOptions,
  SolveOptions,
} from './questions.js';
import { Reasoner } from './reasoner.js';
import type { RuleMap } from './rule-map.js';
import { nameRules, type NamedRule } from './rule-names.js';
import { checkSampleCount, normals, repeated, withDrawnRules } from './sampling.js';
import type { Metrics } from './selection.js';
import type { SolverParts } from './solver-parts.js';
import { paintTies, tiedForBest } from './ties.js';
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
  readonly #reasoner: Reasoner;
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
    this.#reasoner = new Reasoner(manifest, networks, this.#layout, this.#reader, vocabulary);
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
    const encoded = await this.#reasoner.encodePresent(questions, checked, options.signal);
    return this.#drawn(await this.#reasoner.answers(checked, encoded, options), options);
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
    const matrices = questions.map(({ concepts }) => concepts);
    if (options.conceptsAlone) {
      return this.#reasoner.conceptsOnly(matrices, checked, options.signal);
    }
    const encoded = this.#reasoner.rowsOf(matrices, checked);
    return this.#reasoner.answers(checked, encoded, options);
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
    return this.#reasoner.parseRules(matrices, options.signal);
  }

  /** Several answers, from random rules and concepts as likely as the model finds them. */
  async sample(panels: MatrixInput, options: SampleOptions): Promise<Answer[]> {
    const { count, seed, signal, missing, rules } = options;
    this.#requireRules('it has one answer only');
    checkSampleCount(count);
    this.#require(signal);
    const question = { panels, missing, rules };
    const one = checkQuestion(question, this.manifest);
    const encoded = await this.#reasoner.encodePresent([question], [one], signal);
    const first = await this.#reasoner.reason([one], encoded, signal);
    const normal = normals(seed);
    const { ruleSize } = this.manifest.sizes;
    const drawn = Array.from({ length: count }, () => withDrawnRules(one, first, ruleSize, normal));
    const all = repeated(encoded, count);
    const reasoning = await this.#reasoner.reason(drawn, all, signal);
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
    { originals, ...options }: ChooseOptions & Pick<Offered, 'originals'> = {},
  ): Promise<Choice> {
    const [choice] = await this.chooseAll([{ answer, candidates, originals }], options);
    return choice;
  }

  /** The same for many answers. */
  async chooseAll(
    asked: readonly (Offered & { readonly answer: Answer })[],
    options: ChooseOptions = {},
  ): Promise<Choice[]> {
    const networks = this.#require(options.signal);
    const offers = asked.map(({ answer, candidates }) => candidatePanels(answer, candidates));
    const given = asked.map(({ answer, candidates, originals = candidates }, n) => {
      if (originals === candidates) return offers[n];
      if (originals.length === candidates.length) return candidatePanels(answer, originals);
      throw new ArgumentError(`${originals.length} originals of ${candidates.length} candidates`);
    });
    const rows = await networks.encode(offers.flat(2), options.signal);
    const { concepts, conceptSize, width } = this.#layout;
    let next = 0;
    const weighed = asked.map(({ answer }, n) => {
      const predicted = answer.missing.map((position) =>
        this.#layout.row(answer.concepts[position - 1]),
      );
      const first = next;
      next += offers[n].length * predicted.length;
      const residuals = residualsOf(rows.subarray(first * width), predicted, offers[n].length);
      const found = weighCandidates(residuals, {
        concepts,
        conceptSize,
        sigmaZ: this.manifest.sigmaZ,
        metric: this.metrics?.for(answer.missing) ?? null,
        distance: options.distance,
      });
      return { ...found, first };
    });
    const painted = await paintTies(
      weighed.map((found, n) => ({
        tied: found.distance === 'l2' ? [] : tiedForBest(distancesOf(found), found.scale),
        scale: found.scale,
        picture: (candidate) => pictureOf(offers[n][candidate]),
        concepts: (candidate) =>
          offers[n][candidate].map((_, t, { length }) =>
            this.#layout.means(rows, found.first + candidate * length + t),
          ),
      })),
      (means) => this.decode(means, options),
    );
    return weighed.map((found, n) => ({
      ...chooseCandidate(found, painted[n]),
      identical: identicalCandidates(given[n]),
    }));
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
