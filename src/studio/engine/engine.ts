/**
 * All that the page has worked out for it, on the matrix and solver layers. It runs in a worker, but
 * knows nothing of workers: every method takes and gives plain data.
 */
import { encodePng } from '../../matrix/index.js';
import {
  answerProbability,
  askedPanels,
  completedPicture,
  keepBundle,
  type Alternative,
  type Answer,
  type ConceptMeans,
  type SymbolReading,
} from '../../solver/index.js';
import { filmOf } from './film.js';
import { exportMatrix, makeAnswerKey, makeMatrix, makeWorksheet, type Matrix } from './matrices.js';
import { inPlainWords } from './load-faults.js';
import { Model } from './model.js';
import { packPictures, readFiles } from './pictures.js';
import { drawnFrom } from './protocol.js';
import type {
  AnswersView,
  AnswerView,
  BendView,
  ChoiceView,
  EngineApi,
  ExportedFile,
  ExportFormat,
  FilmView,
  GivenFile,
  Imposed,
  LoadProgress,
  MatrixSpec,
  MatrixView,
  ModelInfo,
  PlaneView,
  PointView,
  ReadPictures,
  RecordedPanels,
  SampledSpec,
} from './protocol.js';

const KEPT_MATRICES = 12;
/** More different answers than these nobody looks at. */
const MOST_ANSWERS = 8;
/** Answers for one panel that are laid over one another. */
const OVERLAID = 16;
/** An answer is told if it is at least this share as likely as the painted one. */
const LEAST_LIKELY = 0.05;
/** A picture is clearly closer to another at this share of the distance. */
const CLEARLY_CLOSER = 0.7;

interface EnginePlaces {
  readonly zoo: URL;
}

export class Engine implements EngineApi {
  readonly #places: EnginePlaces;
  readonly #onProgress: (progress: LoadProgress) => void;
  readonly #matrices = new Map<string, Promise<Matrix>>();
  readonly #solved = new Map<string, Promise<Answer>>();
  readonly #encoded = new Map<string, Promise<readonly ConceptMeans[]>>();
  readonly #choices = new Map<string, Promise<ChoiceView>>();
  #model: Model | null = null;
  #loading: AbortController | null = null;

  constructor(places: EnginePlaces, onProgress: (progress: LoadProgress) => void) {
    this.#places = places;
    this.#onProgress = onProgress;
  }

  #matrix(spec: MatrixSpec): Promise<Matrix> {
    return kept(this.#matrices, JSON.stringify(spec), () => makeMatrix(spec));
  }

  #require(): Model {
    if (this.#model === null) throw new Error('no model is loaded yet');
    return this.#model;
  }

  async matrix(spec: MatrixSpec): Promise<MatrixView> {
    return (await this.#matrix(spec)).view;
  }

  async load(name: string, backend: 'auto' | 'wasm' | 'webgpu'): Promise<ModelInfo> {
    // Who clicks through the configurations wants the last one alone.
    this.#loading?.abort(new Error('another model was wanted before this one was loaded'));
    const loading = new AbortController();
    this.#loading = loading;
    // Two models at once would take twice the memory, which WebAssembly never gives back.
    await this.#putAway();
    const model = await Model.load({
      name,
      backend,
      ...this.#places,
      onProgress: this.#onProgress,
      signal: loading.signal,
    });
    this.#loading = null;
    this.#model = model;
    return model.info;
  }

  async keep(name: string): Promise<void> {
    const { zoo } = this.#places;
    try {
      await keepBundle(name, {
        zoo: zoo.href,
        onProgress: (progress) => this.#onProgress({ name, ...progress }),
      });
    } catch (error) {
      throw inPlainWords(error, name, zoo);
    }
  }

  /** Forgets the model at work and all it has answered. */
  async #putAway(): Promise<void> {
    const before = this.#model;
    this.#model = null;
    this.#solved.clear();
    this.#encoded.clear();
    this.#choices.clear();
    await before?.solver.dispose();
  }

  async solve(spec: MatrixSpec, missing: readonly number[], imposed: Imposed): Promise<AnswerView> {
    const model = this.#require();
    const { panels } = await this.#matrix(spec);
    const start = performance.now();
    const answer = await model.solver.solve(panels, { missing, rules: imposed });
    return viewOf(model, answer, performance.now() - start);
  }

  /** The answer the candidates are measured against. */
  #solve(spec: MatrixSpec): Promise<Answer> {
    const { solver } = this.#require();
    return kept(this.#solved, JSON.stringify(spec), async () => {
      const { panels, view } = await this.#matrix(spec);
      return solver.solve(panels, { missing: askedPanels(view.blank) });
    });
  }

  /** Concepts of the candidates. */
  #encode(spec: MatrixSpec): Promise<readonly ConceptMeans[]> {
    const { solver } = this.#require();
    return kept(this.#encoded, JSON.stringify(spec), async () =>
      solver.encode((await this.#matrix(spec)).candidates),
    );
  }

  async choose(spec: MatrixSpec, missing?: readonly number[]): Promise<ChoiceView> {
    const model = this.#require();
    const wanted = missing ?? askedPanels((await this.#matrix(spec)).view.blank);
    return kept(this.#choices, JSON.stringify([spec, wanted]), () =>
      this.#choose(model, spec, wanted),
    );
  }

  async #choose(model: Model, spec: MatrixSpec, missing: readonly number[]): Promise<ChoiceView> {
    const start = performance.now();
    const { panels, candidates, view } = await this.#matrix(spec);
    const own = askedPanels(view.blank);
    const answer =
      own.join() === missing.join()
        ? await this.#solve(spec)
        : await model.solver.solve(panels, { missing });
    // Candidates are for one panel; what else is missing has none.
    const isOffer = candidates.length > 0 && own.length === 1 && missing.includes(own[0]);
    const choice = isOffer
      ? await model.solver.choose({ ...answer, missing: own }, candidates)
      : null;
    return {
      answer: viewOf(model, answer, performance.now() - start),
      fit: spec.kind === 'pictures' ? await model.fit(panels) : null,
      index: choice?.index ?? null,
      confidence: choice?.confidence ?? 0,
      lookalike: choice && lookalikeOf(answer.images.at(-1), candidates, choice.index),
      candidates: choice?.candidates ?? [],
    };
  }

  async answers(spec: MatrixSpec, missing: readonly number[]): Promise<AnswersView | null> {
    const { solver } = this.#require();
    const { vocabulary } = solver;
    if (vocabulary === null) return null;
    const { panels } = await this.#matrix(spec);
    const answer = await solver.solve(panels, { missing });
    const found = await solver.alternatives(answer, MOST_ANSWERS, { differ: 'value' });
    const painted = JSON.stringify(missing.map((at) => answer.symbols?.[at - 1].map(entryOf)));
    const isPainted = found.map(({ symbols }) => JSON.stringify(symbols) === painted);
    const own = answerProbability(vocabulary, answer.imagined ?? []);
    const others = found.filter(
      ({ probability }, i) => !isPainted[i] && probability >= LEAST_LIKELY * own,
    );
    const answers = [{ probability: own, images: answer.images }, ...others].slice(0, MOST_ANSWERS);
    const overlaid: Float32Array[] = [];
    for (const [i, position] of missing.entries()) {
      const imagined = answer.imagined?.slice(i, i + 1) ?? null;
      const one = { ...answer, missing: [position], imagined };
      overlaid.push(overlay(await solver.alternatives(one, OVERLAID, { differ: 'value' })));
    }
    return { missing, answers, isAll: answers.length < MOST_ANSWERS, overlaid };
  }

  async #lastConcepts(spec: MatrixSpec): Promise<ConceptMeans> {
    const answer = await this.#solve(spec);
    return answer.concepts[answer.missing[answer.missing.length - 1] - 1];
  }

  async swap(spec: MatrixSpec, concept: number, candidate: number): Promise<Float32Array> {
    const { solver } = this.#require();
    const candidates = await this.#encode(spec);
    const imagined = await this.#lastConcepts(spec);
    const from = candidates[candidate];
    const swapped = imagined.map((values, m) => (m === concept - 1 ? from[m] : values));
    const [panel] = await solver.decode([swapped]);
    return panel;
  }

  async film(spec: MatrixSpec, group: number): Promise<FilmView> {
    const { solver } = this.#require();
    return filmOf(solver, await this.#solve(spec), group);
  }

  plane(concept: number): Promise<PlaneView> {
    return Promise.resolve(this.#require().plane(concept));
  }

  async bend(spec: MatrixSpec): Promise<BendView | null> {
    const model = this.#require();
    if (model.info.moments.length === 0 || model.info.ruleSize !== 2) return null;
    const own = await this.#solve(spec);
    const { panels } = await this.#matrix(spec);
    // Bent alone, one of several concepts that share an attribute would paint what no rule asks for.
    const isAlone = (concept: number): boolean =>
      model.info.groups.some(({ concepts }) => concepts.join() === String(concept));
    const tries = model
      .ruleViews(own)
      .filter(({ concept, words }) => words !== null && isAlone(concept))
      .flatMap(({ concept, words }) => {
        const { labels, classes } = model.plane(concept);
        return labels[labels.length - 1]
          .map(({ kind, x, y }) => ({ concept, x, y, from: words?.rule, to: classes[kind] }))
          .filter(({ from, to }) => to.rule !== from);
      });
    let best: BendView | null = null;
    let most = 0;
    for (const { concept, x, y, from = '', to } of tries) {
      const rules = { [concept]: [x, y] };
      const bent = await model.solver.solve(panels, { missing: own.missing, rules });
      const changed = distance(bent.images[0], own.images[0]);
      const isNamed = model.ruleViews(bent)[concept - 1].words?.rule === to.rule;
      if (!isNamed || changed <= most) continue;
      most = changed;
      best = { concept, rule: [x, y], from, to };
    }
    return best;
  }

  async point(index: number): Promise<PointView> {
    const { solver, info } = this.#require();
    if (solver.ruleMap === null) throw new Error('this model carries no rule map');
    if (index >= info.points) throw new Error(`the rule map has ${info.points} points`);
    const spec = drawnFrom({ layout: info.layout, seed: solver.ruleMap.source.seed }, index);
    return { spec, matrix: await this.matrix(spec) };
  }

  recordedPanels(): Promise<RecordedPanels> {
    return Promise.resolve(this.#require().recordedPanels());
  }

  async readPictures(files: readonly GivenFile[]): Promise<ReadPictures> {
    const { layout, ...pictures } = await readFiles(files);
    return { packed: await packPictures(pictures), layout };
  }

  async export(spec: MatrixSpec, format: ExportFormat): Promise<ExportedFile> {
    const matrix = await this.#matrix(spec);
    if (spec.kind !== 'pictures' || format !== 'png') return exportMatrix(matrix, spec, format);
    const answer = await this.#solve(spec);
    const panels = matrix.panels.map(
      (panel, i) => panel ?? answer.images[answer.missing.indexOf(i + 1)],
    );
    const framed = matrix.view.blank;
    const picture = completedPicture(panels, { framed, scale: 3 });
    return { name: 'matrix.png', type: 'image/png', bytes: encodePng(picture) };
  }

  worksheet(spec: SampledSpec, count: number): Promise<ExportedFile> {
    return Promise.resolve(makeWorksheet(spec, count));
  }

  answerKey(specs: readonly SampledSpec[]): Promise<ExportedFile> {
    return Promise.resolve(makeAnswerKey(specs));
  }
}

function viewOf(model: Model, answer: Answer, milliseconds: number): AnswerView {
  const { missing, images } = answer;
  const rules = model.ruleViews(answer);
  const [named, sureness] = [model.namedRules(answer), model.sureness(answer)];
  return { missing, images, sureness, rules, named, milliseconds };
}

/** How much two panels differ: the sum over all pixels. */
const distance = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0);

/** A candidate that looks clearly more like a painted panel than the chosen one; null if none does. */
function lookalikeOf(
  painted: Float32Array | undefined,
  candidates: readonly Float32Array[],
  chosen: number,
): number | null {
  if (painted === undefined) return null;
  const away = candidates.map((candidate) => distance(candidate, painted));
  const nearest = away.indexOf(Math.min(...away));
  return away[nearest] < CLEARLY_CLOSER * away[chosen] ? nearest : null;
}

/** Panels laid over one another, each as strong as it is likely. */
function overlay(found: readonly Alternative[]): Float32Array {
  const sum = found.reduce((total, { probability }) => total + probability, 0);
  const laid = new Float32Array(found[0].images[0].length);
  for (const { probability, images } of found) {
    images[0].forEach((value, pixel) => (laid[pixel] += (probability / sum) * value));
  }
  return laid;
}

const entryOf = ({ entry }: SymbolReading): number | null => entry;

/** What a map holds under a key, made where it is absent; failures are forgotten, and old entries. */
function kept<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  made.catch(() => {
    // Another model may have put its own there meanwhile.
    if (map.get(key) === made) map.delete(key);
  });
  if (map.size > KEPT_MATRICES) {
    const [oldest] = map.keys();
    map.delete(oldest);
  }
  return made;
}
