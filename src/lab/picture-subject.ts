/** A subject without concepts: a run whose model looks at pictures and scores candidates, on libtorch. */
import { MATRIX_PANELS } from '../matrix/index.js';
import { ForetellingModel, type Missing, type SystemModel } from '../models/index.js';
import type { HistoryCurve, Panel } from '../solver/index.js';
import type { Tensor } from '../torch/index.js';
import { pictureKey, picturesOf } from './concept-subject.js';
import { squaredDistance } from './row-algebra.js';
import type {
  ChoiceOptions,
  ChoiceQuestion,
  Distances,
  MissingQuestion,
  Seen,
  SeenPanels,
  Subject,
  SubjectFacts,
} from './subject.js';
import { IMAGES_AT_ONCE, inSlices, type AtOnce, type Put } from './torch-work.js';

const PROBLEMS_AT_ONCE: AtOnce = { cpu: 32, gpu: 128 };
/** Of models that foretell concepts: panels are small, and global selection accuracy asks tens of thousands. */
const FORETOLD_AT_ONCE: AtOnce = { cpu: 32, gpu: 1024 };

/** Whether a model can paint panels from their own concepts. */
const isRedrawing = (
  model: SystemModel,
): model is SystemModel & Required<Pick<SystemModel, 'conceptsOf' | 'paint'>> =>
  'conceptsOf' in model && 'paint' in model;

export class PictureSubject implements Subject {
  readonly ruleMap = null;
  /** Concepts of panels, if it chooses by them: a panel that is offered many times is encoded once. */
  readonly #concepts = new WeakMap<Seen, Float64Array>();
  readonly imagine: Subject['imagine'];
  readonly redraw: Subject['redraw'];

  constructor(
    readonly model: SystemModel,
    readonly facts: SubjectFacts,
    readonly history: readonly HistoryCurve[] = [],
  ) {
    if (model.impute !== undefined) {
      this.imagine = (asked, { signal } = {}) => this.#paint(asked, signal);
    }
    if (isRedrawing(model)) {
      const redrawn = (panels: Tensor): Tensor => model.paint(model.conceptsOf(panels));
      this.redraw = (panels, signal) => this.#ofPanels(panels, redrawn, signal);
    }
  }

  see(pictures: Uint8Array): Promise<SeenPanels<Uint8Array>> {
    const panels = picturesOf(pictures, this.facts.imageSize);
    return Promise.resolve({ keys: panels.map(pictureKey), panels });
  }

  /** Pictures of several matrices on the device: [..shape, S, S]. */
  #put(put: Put, panels: readonly Seen[], shape: readonly number[]): Tensor {
    const { imageSize: side } = this.facts;
    const bytes = new Uint8Array(panels.length * side ** 2);
    panels.forEach((panel, i) => bytes.set(panel as Uint8Array, i * side ** 2));
    return put(bytes, [...shape, side, side]);
  }

  /** Questions of one call must offer equally many candidates for equally many panels. */
  async choose(
    questions: readonly ChoiceQuestion[],
    { signal }: ChoiceOptions = {},
  ): Promise<Distances[]> {
    const { model } = this;
    const own =
      model instanceof ForetellingModel
        ? await this.#distances(model, questions, signal)
        : await this.#scores(questions, signal);
    return own.map((each) => ({ own: each, l2: null, apart: [], scale: 1 }));
  }

  /** Asks the model about the nine panels of some questions at a time. */
  #ask(
    questions: readonly MissingQuestion[],
    answer: (panels: Tensor, missing: Missing, first: number, put: Put) => Tensor,
    signal?: AbortSignal,
  ): Promise<Float32Array> {
    const work = (first: number, length: number, put: Put): Tensor => {
      const asked = questions.slice(first, first + length);
      const panels = asked.flatMap((each) => each.panels);
      const missing = asked.map((each) => each.missing.map((position) => position - 1));
      return answer(this.#put(put, panels, [length, MATRIX_PANELS]), missing, first, put);
    };
    const atOnce = this.model instanceof ForetellingModel ? FORETOLD_AT_ONCE : PROBLEMS_AT_ONCE;
    return inSlices(this.model, questions.length, atOnce, work, signal);
  }

  async #scores(questions: readonly ChoiceQuestion[], signal?: AbortSignal): Promise<number[][]> {
    const [{ candidates, missing }] = questions;
    const scores = await this.#ask(
      questions,
      (panels, positions, first, put) => {
        const asked = questions.slice(first, first + positions.length);
        const offered = asked.flatMap((each) => each.candidates.flat());
        const shape = [asked.length, candidates.length, missing.length];
        return this.model.score(panels, positions, this.#put(put, offered, shape));
      },
      signal,
    );
    const size = candidates.length;
    return questions.map((_, n) =>
      Array.from(scores.subarray(n * size, (n + 1) * size), (score) => -score),
    );
  }

  /** What a model scores that foretells concepts: candidates by the distance of theirs. */
  async #distances(
    model: ForetellingModel,
    questions: readonly ChoiceQuestion[],
    signal?: AbortSignal,
  ): Promise<number[][]> {
    const offered = new Set(questions.flatMap(({ candidates }) => candidates.flat()));
    const fresh = [...offered].filter((panel) => !this.#concepts.has(panel));
    const encode = (panels: Tensor): Tensor => model.conceptsOf(panels);
    const concepts = await this.#ofPanels(fresh, encode, signal);
    fresh.forEach((panel, i) => this.#concepts.set(panel, Float64Array.from(concepts[i])));
    const foretold = await this.#ask(
      questions,
      (...asked) => model.expect(asked[0], asked[1]),
      signal,
    );
    const count = questions.reduce((sum, { missing }) => sum + missing.length, 0);
    const width = foretold.length / count;
    let at = 0;
    return questions.map(({ candidates, missing }) => {
      const rows = missing.map(() => Float64Array.from(foretold.subarray(at, (at += width))));
      return candidates.map((panels) =>
        panels.reduce((sum, panel, t) => {
          const row = this.#concepts.get(panel) as Float64Array;
          return sum + squaredDistance(rows[t], row);
        }, 0),
      );
    });
  }

  async #paint(questions: readonly MissingQuestion[], signal?: AbortSignal): Promise<Panel[][]> {
    const { model } = this;
    const pixels = await this.#ask(
      questions,
      (panels, missing) => model.impute?.(panels, missing) ?? panels,
      signal,
    );
    const size = this.facts.imageSize ** 2;
    return questions.map(({ missing }, n) =>
      missing.map((position) => {
        const from = (n * MATRIX_PANELS + position - 1) * size;
        return pixels.slice(from, from + size);
      }),
    );
  }

  /** What the model makes of each panel by itself. */
  async #ofPanels(
    panels: readonly Seen[],
    made: (panels: Tensor) => Tensor,
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    const work = (first: number, length: number, put: Put): Tensor =>
      made(this.#put(put, panels.slice(first, first + length), [length, 1]));
    const values = await inSlices(this.model, panels.length, IMAGES_AT_ONCE, work, signal);
    const size = values.length / panels.length;
    return panels.map((_, i) => values.slice(i * size, (i + 1) * size));
  }

  dispose(): Promise<void> {
    this.model.dispose();
    return Promise.resolve();
  }
}
