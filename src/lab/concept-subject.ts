/**
 * A subject that describes panels by concepts: a bundle on ONNX Runtime or a run on libtorch, through a
 * solver. Every different picture is encoded once (the same panel comes back many times among contexts and
 * candidates; center has 2,400 in all), and every panel is brought once to the coordinates in which
 * distances are measured. Distances are those of `Solver.choose`, to which a test holds them.
 */
import { createHash } from 'node:crypto';
import { bytesToPanel, paintTies, tiedForBest, weighCandidates } from '../solver/index.js';
import type {
  Answer,
  Bundle,
  ConceptMeans,
  HistoryCurve,
  Metric,
  Panel,
  Weighed,
} from '../solver/index.js';
import { squaredDistance } from './row-algebra.js';
import type {
  ChoiceOptions,
  ChoiceQuestion,
  Distance,
  Distances,
  ImagineOptions,
  MissingQuestion,
  Seen,
  SeenPanels,
  Subject,
  SubjectFacts,
  Thinker,
} from './subject.js';

/** Pictures kept at most; beyond that all are forgotten, and encoded again if they return. */
const MOST_KEPT = 60_000;

/** All concepts of a panel in one row [D], D = M d_z. */
export function flat(means: ConceptMeans): Float64Array {
  const size = means[0].length;
  const row = new Float64Array(means.length * size);
  means.forEach((values, m) => row.set(values, m * size));
  return row;
}

/** The SHA-1 of a picture: tells different ones apart. */
export const pictureKey = (picture: Uint8Array): string =>
  createHash('sha1').update(picture).digest('base64');

/** The pictures of `bytes` u8 [n, S, S]. */
export const picturesOf = (bytes: Uint8Array, side: number): Uint8Array[] =>
  Array.from({ length: bytes.length / side ** 2 }, (_, i) =>
    bytes.subarray(i * side ** 2, (i + 1) * side ** 2),
  );

/** What was foretold [n][D], and what is offered, in the coordinates of one metric. */
interface Foretold {
  readonly rows: readonly Float64Array[];
  readonly offered: WeakMap<ConceptMeans, Float64Array>;
}

/** Distances of candidates to the rows foretold from `first` on, added up over the missing panels. */
const distancesTo = (
  { rows, offered }: Foretold,
  first: number,
  candidates: ChoiceQuestion['candidates'],
): number[] =>
  candidates.map((panels) =>
    panels.reduce((sum, panel, t) => {
      const row = offered.get(panel as ConceptMeans) as Float64Array;
      return sum + squaredDistance(rows[first + t], row);
    }, 0),
  );

export interface ConceptParts {
  readonly facts: SubjectFacts;
  readonly history?: readonly HistoryCurve[];
  /** What it was opened from; worker threads open it again. */
  readonly bundle?: Bundle;
  readonly dispose?: () => Promise<void>;
}

export class ConceptSubject<T extends Thinker = Thinker> implements Subject {
  readonly facts: SubjectFacts;
  readonly history: readonly HistoryCurve[];
  readonly bundle: Bundle | undefined;
  readonly #dispose: () => Promise<void>;
  readonly #known = new Map<string, ConceptMeans>();
  /** Rows of panels by the metric they are for; `null`: as they are. */
  readonly #rows = new Map<Metric | null, WeakMap<ConceptMeans, Float64Array>>();

  constructor(
    readonly solver: T,
    { facts, history = [], bundle, dispose = () => Promise.resolve() }: ConceptParts,
  ) {
    this.facts = facts;
    this.history = history;
    this.bundle = bundle;
    this.#dispose = dispose;
  }

  get ruleMap() {
    return this.solver.ruleMap;
  }

  async see(pictures: Uint8Array, signal?: AbortSignal): Promise<SeenPanels<ConceptMeans>> {
    const each = picturesOf(pictures, this.facts.imageSize);
    const keys = each.map(pictureKey);
    if (this.#known.size > MOST_KEPT) this.#known.clear();
    const fresh = new Map<string, Uint8Array>();
    keys.forEach((key, i) => {
      if (!this.#known.has(key)) fresh.set(key, each[i]);
    });
    const encoded = await this.solver.encode([...fresh.values()], { signal });
    [...fresh.keys()].forEach((key, i) => this.#known.set(key, encoded[i]));
    return { keys, panels: keys.map((key) => this.#known.get(key) as ConceptMeans) };
  }

  /** What the solver answers, without pictures. */
  answers(
    questions: readonly MissingQuestion[],
    options?: Parameters<Thinker['solveConcepts']>[1],
  ): Promise<Answer[]> {
    const asked = questions.map(({ panels, missing }) => ({
      concepts: panels as readonly ConceptMeans[],
      missing,
    }));
    return this.solver.solveConcepts(asked, options);
  }

  /** Concepts foretold for the missing panels of each question. */
  async predict(
    questions: readonly MissingQuestion[],
    signal?: AbortSignal,
  ): Promise<ConceptMeans[][]> {
    const answers = await this.answers(questions, { signal, conceptsAlone: true });
    return answers.map(({ missing, concepts }) => missing.map((at) => concepts[at - 1]));
  }

  /** Rows of all panels that are offered, in the coordinates of a metric. */
  #rowsOf(metric: Metric | null, questions: readonly ChoiceQuestion[]) {
    const rows = this.#rows.get(metric) ?? new WeakMap<ConceptMeans, Float64Array>();
    this.#rows.set(metric, rows);
    const fresh = new Set<ConceptMeans>();
    for (const { candidates, apart = [] } of questions) {
      for (const panels of [...candidates, ...apart] as ConceptMeans[][]) {
        for (const panel of panels) if (!rows.has(panel)) fresh.add(panel);
      }
    }
    const plain = Array.from(fresh, flat);
    const found = metric?.encoded(plain) ?? plain;
    [...fresh].forEach((panel, i) => rows.set(panel, found[i]));
    return rows;
  }

  /** Distances without painting, by one metric for each question; plain L2 if there is none. */
  async #distances(
    questions: readonly ChoiceQuestion[],
    metrics: readonly (Metric | null | undefined)[],
    signal?: AbortSignal,
  ): Promise<Distances[]> {
    const predicted = await this.predict(questions, signal);
    const found: Distances[] = [];
    for (const metric of new Set(metrics)) {
      const places = [...questions.keys()].filter((n) => metrics[n] === metric);
      const asked = places.map((n) => questions[n]);
      const rows = places.flatMap((n) => predicted[n].map(flat));
      const plain: Foretold = { rows, offered: this.#rowsOf(null, asked) };
      const own: Foretold = metric
        ? { rows: metric.predicted(rows), offered: this.#rowsOf(metric, asked) }
        : plain;
      const scale = 2 * (metric?.statistics.temperature ?? this.solver.manifest.sigmaZ ** 2);
      const distance = (offered: ChoiceQuestion['candidates'], at: number): Distance => {
        const l2 = distancesTo(plain, at, offered);
        return { own: own === plain ? l2 : distancesTo(own, at, offered), l2 };
      };
      let first = 0;
      asked.forEach(({ missing, candidates, apart = [] }, i) => {
        const from = first;
        first += missing.length;
        const alone = apart.map((panels) => panels.map((panel) => [panel]));
        found[places[i]] = {
          ...distance(candidates, from),
          apart: alone.map((panels, t) => distance(panels, from + t)),
          scale,
        };
      });
    }
    return found;
  }

  async choose(
    questions: readonly ChoiceQuestion[],
    { signal, anywhere }: ChoiceOptions = {},
  ): Promise<Distances[]> {
    const metrics = questions.map(({ missing }) => this.solver.metrics?.for(missing, anywhere));
    const found = await this.#distances(questions, metrics, signal);
    const painted = await paintTies(
      questions.map(({ candidates, pictures = [] }, n) => ({
        tied: pictures.length > 0 && metrics[n] ? tiedForBest(found[n].own, found[n].scale) : [],
        scale: found[n].scale,
        picture: (candidate) => pictures[candidate].map(bytesToPanel),
        concepts: (candidate) => candidates[candidate] as readonly ConceptMeans[],
      })),
      (concepts) => this.solver.decode(concepts, { signal }),
    );
    return found.map((each, n) => ({
      ...each,
      own: each.own.map((distance, candidate) => distance + (painted[n].get(candidate) ?? 0)),
      painted: painted[n],
    }));
  }

  /** Distances as a solver explains them, with the share of every concept. */
  async explain(question: ChoiceQuestion, signal?: AbortSignal): Promise<Weighed> {
    const [predicted] = await this.predict([question], signal);
    const residual = (panel: Seen, t: number): Float32Array => {
      const guess = flat(predicted[t]);
      return Float32Array.from(flat(panel as ConceptMeans), (value, i) => value - guess[i]);
    };
    const { sizes, sigmaZ } = this.solver.manifest;
    return weighCandidates(
      question.candidates.map((panels) => panels.map(residual)),
      {
        ...sizes,
        sigmaZ,
        metric: this.solver.metrics?.for(question.missing) ?? null,
        distance: undefined,
      },
    );
  }

  async imagine(
    questions: readonly MissingQuestion[],
    { signal, paint }: ImagineOptions = {},
  ): Promise<Panel[][]> {
    const conceptsAlone = paint === 'mean' || this.solver.vocabulary === null;
    const answers = await this.answers(questions, { signal, paint, conceptsAlone });
    const means = answers.map(({ missing, concepts, imagined }) =>
      missing.map((at, i) =>
        imagined === null || paint === 'mean' ? concepts[at - 1] : imagined[i].concepts,
      ),
    );
    const drawn = await this.solver.decode(means.flat(), { signal });
    return means.map(({ length }) => drawn.splice(0, length));
  }

  redraw(panels: readonly Seen[], signal?: AbortSignal): Promise<Panel[]> {
    return this.solver.decode(panels as readonly ConceptMeans[], { signal });
  }

  dispose(): Promise<void> {
    return this.#dispose();
  }
}

/** A subject as one with concepts; null if it has none. */
export const withConcepts = (subject: Subject): ConceptSubject | null =>
  subject instanceof ConceptSubject ? (subject as ConceptSubject) : null;
