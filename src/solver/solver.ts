/**
 * A trained model at work, the same in Node and in a browser: imagines missing panels at any position,
 * reads out concepts and rules, uses rules of one's own, chooses among candidates and says why.
 * `index.ts` and `node.ts` add the ways to load one.
 */
import { ArgumentError, Random, SMALL_PIXELS, SMALL_SIZE } from '../matrix/index.js';
import type { Backend } from './backend.js';
import type { Bundle, BundleManifest } from './bundle.js';
import { chooseCandidate } from './choose.js';
import { BundleError, SolverError } from './errors.js';
import { parseHistory, type HistoryCurve } from './history.js';
import { loadNetworks, type Networks, type Reasoning } from './networks.js';
import { toPanel, type Panel, type PanelInput } from './panels.js';
import { checkMissing, conceptIndex, PANELS } from './questions.js';
import type {
  Answer,
  CandidateInput,
  Choice,
  ChooseOptions,
  ConceptMeans,
  ImposedRules,
  MatrixInput,
  Question,
  RuleReading,
  SampleOptions,
  SolveOptions,
} from './questions.js';
import { parseRuleMap, RuleClassifier, type RuleMap } from './rule-map.js';
import { Metrics, parseSelection } from './selection.js';

/** A question with everything checked. */
interface Prepared {
  readonly missing: readonly number[];
  /** Present panels with their positions, 0..8. */
  readonly present: readonly { readonly position: number; readonly panel: Panel }[];
  /** By concept; null where the parsed rule is used. */
  readonly imposed: readonly (Float32Array | null)[];
}

/** What a solver is put together from. */
export interface SolverParts {
  readonly manifest: BundleManifest;
  readonly backend: string;
  readonly networks: Networks;
  readonly ruleMap: RuleMap | null;
  readonly history: readonly HistoryCurve[];
  readonly metrics: Metrics | null;
}

const isPanelList = (candidate: CandidateInput): candidate is readonly PanelInput[] =>
  Array.isArray(candidate) && typeof candidate[0] !== 'number';

export class SolverCore {
  readonly #networks: Networks;
  readonly #metrics: Metrics | null;
  readonly #classifiers: readonly RuleClassifier[] | null;
  #disposed = false;

  /** What the bundle says of itself. */
  readonly manifest: BundleManifest;
  /** What runs the networks: `node`, `wasm` or `webgpu`. */
  readonly backend: string;
  /** Rules the model found; null where the bundle has none. */
  readonly ruleMap: RuleMap | null;
  /** Curves of its training. */
  readonly history: readonly HistoryCurve[];

  protected constructor({ manifest, backend, networks, ruleMap, history, metrics }: SolverParts) {
    this.manifest = manifest;
    this.backend = backend;
    this.ruleMap = ruleMap;
    this.history = history;
    this.#networks = networks;
    this.#metrics = metrics;
    this.#classifiers = ruleMap?.prior?.map((mixture) => new RuleClassifier(mixture)) ?? null;
  }

  /** What the constructor takes, from a verified bundle. */
  protected static async parts(
    { manifest, files, source }: Bundle,
    backend: Backend,
  ): Promise<SolverParts> {
    const { concepts, conceptSize, ruleSize } = manifest.sizes;
    const rules = files.get('rules.json');
    const curves = files.get('history.json');
    const selection = files.get('selection.safetensors');
    try {
      const ruleMap = rules === undefined ? null : parseRuleMap(rules, concepts, ruleSize);
      const history = curves === undefined ? [] : parseHistory(curves);
      const metrics =
        selection === undefined
          ? null
          : new Metrics(parseSelection(selection, concepts, conceptSize), concepts, conceptSize);
      const networks = await loadNetworks(files, manifest.sizes, backend);
      return { manifest, backend: backend.name, networks, ruleMap, history, metrics };
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      throw new BundleError(`${source}: ${error.message}`, { cause: error });
    }
  }

  #require(signal?: AbortSignal): Networks {
    if (this.#disposed) throw new SolverError('the solver was disposed');
    signal?.throwIfAborted();
    return this.#networks;
  }

  /** Frees the networks; nothing else can be asked afterwards. */
  async dispose(): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#networks.dispose();
  }

  /** Means of the concepts of panels. */
  async encode(
    panels: readonly PanelInput[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<ConceptMeans[]> {
    const networks = this.#require(options.signal);
    const images = panels.map((panel, i) => toPanel(panel, `panel ${i + 1}`));
    const rows = await networks.encode(images, options.signal);
    return images.map((_, i) => this.#unflatten(rows, i));
  }

  /** Panels drawn from concepts. */
  async decode(
    concepts: readonly ConceptMeans[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Panel[]> {
    const networks = this.#require(options.signal);
    const width = this.#width;
    const rows = new Float32Array(concepts.length * width);
    concepts.forEach((means, i) => rows.set(this.#flatten(means), i * width));
    return networks.decode(rows, options.signal);
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
    options: Pick<SolveOptions, 'images' | 'signal'> = {},
  ): Promise<Answer[]> {
    const networks = this.#require(options.signal);
    const prepared = questions.map((question) => this.#prepare(question));
    const encoded = await this.#encodePresent(prepared, options.signal);
    const reasoning = await networks.reason(this.#reasonerInput(prepared, encoded), options.signal);
    const answers = prepared.map((question, n) => this.#answer(question, n, encoded, reasoning));
    return options.images === false ? answers : this.#withImages(answers, options.signal);
  }

  /** The same from concepts already encoded, all nine panels of each matrix; draws nothing. */
  async solveConcepts(
    questions: readonly (Omit<Question, 'panels'> & {
      readonly concepts: readonly ConceptMeans[];
    })[],
    options: Pick<SolveOptions, 'signal'> = {},
  ): Promise<Answer[]> {
    const networks = this.#require(options.signal);
    const width = this.#width;
    const encoded = new Float32Array(questions.length * PANELS * width);
    const prepared = questions.map(({ concepts, missing = [PANELS], rules }, n): Prepared => {
      if (concepts.length !== PANELS) {
        throw new ArgumentError(`concepts of ${concepts.length} panels: expected nine`);
      }
      const absent = checkMissing(missing);
      concepts.forEach((means, i) => {
        if (absent.includes(i + 1)) return;
        encoded.set(this.#flatten(means), (n * PANELS + i) * width);
      });
      return { missing: absent, present: [], imposed: this.#imposed(rules) };
    });
    const reasoning = await networks.reason(this.#reasonerInput(prepared, encoded), options.signal);
    return prepared.map((question, n) => this.#answer(question, n, encoded, reasoning));
  }

  /** Several answers, from random rules and concepts as likely as the model finds them. */
  async sample(panels: MatrixInput, options: SampleOptions): Promise<Answer[]> {
    const { count, seed, signal } = options;
    if (!Number.isSafeInteger(count) || count < 1 || count > 1000) {
      throw new ArgumentError(`count ${count}: expected 1 to 1000 answers`);
    }
    const networks = this.#require(signal);
    const one = this.#prepare({ panels, missing: options.missing, rules: options.rules });
    const encoded = await this.#encodePresent([one], signal);
    const first = await networks.reason(this.#reasonerInput([one], encoded), signal);
    const normal = normals(seed);
    const { concepts, ruleSize } = this.manifest.sizes;
    const questions = Array.from({ length: count }, (): Prepared => {
      const drawn = Array.from({ length: concepts }, (_, m) =>
        Float32Array.from({ length: ruleSize }, (_, k) => {
          const at = m * ruleSize + k;
          return first.ruleMean[at] + normal() * first.ruleDeviation[at];
        }),
      );
      return { ...one, imposed: one.imposed.map((given, m) => given ?? drawn[m]) };
    });
    const repeated = new Float32Array(count * encoded.length);
    for (let i = 0; i < count; i++) repeated.set(encoded, i * encoded.length);
    const reasoning = await networks.reason(this.#reasonerInput(questions, repeated), signal);
    const noisy = reasoning.predicted.map((value) => value + normal() * this.manifest.sigmaZ);
    const answers = questions.map((question, n) => {
      const answer = this.#answer(question, n, repeated, { ...reasoning, predicted: noisy });
      const rules = answer.rules.map((rule, m) => ({ ...rule, imposed: one.imposed[m] !== null }));
      return { ...answer, rules };
    });
    return options.images === false ? answers : this.#withImages(answers, signal);
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
    const { concepts, conceptSize } = this.manifest.sizes;
    const width = this.#width;
    let at = 0;
    return asked.map(({ answer }, n) => {
      const predicted = answer.missing.map((position) =>
        this.#flatten(answer.concepts[position - 1]),
      );
      const residuals = offers[n].map((offer) =>
        offer.map((_, t) => {
          const encoded = rows.subarray(at, (at += width));
          return encoded.map((value, i) => value - predicted[t][i]);
        }),
      );
      return chooseCandidate(residuals, {
        concepts,
        conceptSize,
        sigmaZ: this.manifest.sigmaZ,
        metric: this.#metrics?.for(answer.missing) ?? null,
        distance: options.distance,
      });
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
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Panel[]> {
    if (!Number.isSafeInteger(steps) || steps < 2 || steps > 1000) {
      throw new ArgumentError(`steps ${steps}: expected 2 to 1000`);
    }
    const m = conceptIndex(concept, this.manifest);
    const [start, end] = await Promise.all(
      [from, to].map(async (each) => {
        if (isConceptMeans(each)) return each;
        const [means] = await this.encode([each], options);
        return means;
      }),
    );
    const path = Array.from({ length: steps }, (_, i) => {
      const share = i / (steps - 1);
      const moved = start[m].map((value, k) => value + share * (end[m][k] - value));
      return start.map((values, other) => (other === m ? moved : values));
    });
    return this.decode(path, options);
  }

  /** Values of all concepts of a panel. */
  get #width(): number {
    return this.manifest.sizes.concepts * this.manifest.sizes.conceptSize;
  }

  #flatten(means: ConceptMeans): Float32Array {
    const { concepts, conceptSize } = this.manifest.sizes;
    if (means.length !== concepts || means.some((values) => values.length !== conceptSize)) {
      throw new ArgumentError(`concepts: expected ${concepts} of ${conceptSize} values each`);
    }
    const flat = new Float32Array(concepts * conceptSize);
    means.forEach((values, m) => flat.set(values, m * conceptSize));
    return flat;
  }

  /** Concepts of row `i`; copies, so that keeping one does not keep a whole batch. */
  #unflatten(rows: Float32Array, i: number): Float32Array[] {
    const { concepts, conceptSize } = this.manifest.sizes;
    return Array.from({ length: concepts }, (_, m) => {
      const at = i * this.#width + m * conceptSize;
      return rows.slice(at, at + conceptSize);
    });
  }

  #imposed(rules: ImposedRules = {}): (Float32Array | null)[] {
    const { concepts, ruleSize } = this.manifest.sizes;
    const imposed = Array.from({ length: concepts }, (): Float32Array | null => null);
    for (const [concept, rule] of Object.entries(rules)) {
      if (rule.length !== ruleSize || !rule.every(Number.isFinite)) {
        throw new ArgumentError(`the rule for concept ${concept} is not ${ruleSize} numbers`);
      }
      imposed[conceptIndex(concept, this.manifest)] = Float32Array.from(rule);
    }
    return imposed;
  }

  #prepare({ panels, missing: given = [PANELS], rules }: Question): Prepared {
    const missing = checkMissing(given);
    const present = Array.from({ length: PANELS }, (_, i) => i).filter(
      (position) => !missing.includes(position + 1),
    );
    if (panels.length !== PANELS && panels.length !== present.length) {
      throw new ArgumentError(
        `${panels.length} panels: expected nine, or the ${present.length} that are not missing`,
      );
    }
    const whole = panels.length === PANELS;
    return {
      missing,
      imposed: this.#imposed(rules),
      present: present.map((position, i) => {
        const panel = panels[whole ? position : i];
        if (panel === null || panel === undefined) {
          throw new ArgumentError(`panel ${position + 1} is not given and not said to be missing`);
        }
        return { position, panel: toPanel(panel, `panel ${position + 1}`) };
      }),
    };
  }

  /** Concepts of all present panels, zeros at missing ones: [N, 9, M, d_z]. */
  async #encodePresent(
    questions: readonly Prepared[],
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> {
    const width = this.#width;
    const places = questions.flatMap(({ present }, n) =>
      present.map(({ position, panel }) => ({ at: (n * PANELS + position) * width, panel })),
    );
    const rows = await this.#networks.encode(
      places.map(({ panel }) => panel),
      signal,
    );
    const all = new Float32Array(questions.length * PANELS * width);
    places.forEach(({ at }, i) => all.set(rows.subarray(i * width, (i + 1) * width), at));
    return all;
  }

  #reasonerInput(questions: readonly Prepared[], concepts: Float32Array) {
    const { concepts: m, ruleSize } = this.manifest.sizes;
    const count = questions.length;
    const mask = new Float32Array(count * PANELS);
    const rules = new Float32Array(count * m * ruleSize);
    const useRules = new Float32Array(count * m);
    questions.forEach(({ missing, imposed }, n) => {
      for (const position of missing) mask[n * PANELS + position - 1] = 1;
      imposed.forEach((rule, c) => {
        if (rule === null) return;
        rules.set(rule, (n * m + c) * ruleSize);
        useRules[n * m + c] = 1;
      });
    });
    return { count, concepts, mask, rules, useRules };
  }

  #answer(
    { missing, imposed }: Prepared,
    n: number,
    encoded: Float32Array,
    { ruleMean, ruleDeviation, predicted }: Reasoning,
  ): Answer {
    const { ruleSize, concepts } = this.manifest.sizes;
    const rules = Array.from({ length: concepts }, (_, m): RuleReading => {
      const from = (n * concepts + m) * ruleSize;
      const parsed = Array.from(ruleMean.subarray(from, from + ruleSize));
      const given = imposed[m];
      const vector = given === null ? parsed : Array.from(given);
      return {
        concept: m + 1,
        name: this.manifest.conceptNames[m]?.name ?? null,
        vector,
        parsed,
        deviation: Array.from(ruleDeviation.subarray(from, from + ruleSize)),
        imposed: given !== null,
        categories: this.#classifiers?.[m].classify(vector).probabilities ?? null,
      };
    });
    const means = Array.from({ length: PANELS }, (_, position) => {
      const rows = missing.includes(position + 1) ? predicted : encoded;
      return this.#unflatten(rows, n * PANELS + position);
    });
    return { missing, images: [], concepts: means, rules };
  }

  async #withImages(
    answers: readonly Answer[],
    signal: AbortSignal | undefined,
  ): Promise<Answer[]> {
    const wanted = answers.flatMap(({ missing, concepts }) =>
      missing.map((position) => concepts[position - 1]),
    );
    const images = await this.decode(wanted, { signal });
    let at = 0;
    return answers.map((answer) => ({
      ...answer,
      images: images.slice(at, (at += answer.missing.length)),
    }));
  }
}

/** Candidates of a choice as panels: one for each missing position of each candidate. */
function candidatePanels(answer: Answer, candidates: readonly CandidateInput[]): Panel[][] {
  if (candidates.length < 1) throw new ArgumentError('there are no candidates to choose from');
  return candidates.map((candidate, i) => {
    const panels = isPanelList(candidate) ? candidate : [candidate];
    if (panels.length !== answer.missing.length) {
      throw new ArgumentError(
        `candidate ${i + 1} has ${panels.length} panels for ${answer.missing.length} missing ones`,
      );
    }
    return panels.map((panel) => toPanel(panel, `candidate ${i + 1}`));
  });
}

const isConceptMeans = (value: PanelInput | ConceptMeans): value is ConceptMeans =>
  Array.isArray(value) && value[0] instanceof Float32Array;

/** Standard normal numbers from a seed (Box and Muller's method). */
function normals(seed: number): () => number {
  if (!Number.isSafeInteger(seed)) throw new ArgumentError(`seed ${seed}: expected an integer`);
  const random = new Random(seed);
  let kept: number | null = null;
  return () => {
    if (kept !== null) {
      const value = kept;
      kept = null;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log((random.next() + 1) / 2 ** 32));
    const angle = (2 * Math.PI * random.next()) / 2 ** 32;
    kept = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}

export { SMALL_PIXELS as PANEL_PIXELS, SMALL_SIZE as PANEL_SIZE };
