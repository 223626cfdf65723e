/** A subject without concepts: a run whose model looks at pictures and scores candidates, on libtorch. */
import { MATRIX_PANELS } from '../matrix/index.js';
import type { SystemModel } from '../models/index.js';
import type { HistoryCurve, Panel } from '../solver/index.js';
import type { Tensor } from '../torch/index.js';
import { pictureKey, picturesOf } from './concept-subject.js';
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
import { inSlices, type Put } from './torch-work.js';

const PROBLEMS_AT_ONCE = 32;
const IMAGES_AT_ONCE = 64;

/** Whether a model can paint panels from their own concepts. */
const isRedrawing = (
  model: SystemModel,
): model is SystemModel & Required<Pick<SystemModel, 'conceptsOf' | 'paint'>> =>
  'conceptsOf' in model && 'paint' in model;

export class PictureSubject implements Subject {
  readonly ruleMap = null;
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
      this.redraw = (panels, signal) => this.#redraw(panels, redrawn, signal);
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
    const scores = await inSlices(
      this.model,
      questions.length,
      PROBLEMS_AT_ONCE,
      (first, length, put) => {
        const asked = questions.slice(first, first + length);
        const [{ candidates, missing }] = asked;
        return this.model.score(
          this.#put(
            put,
            asked.flatMap(({ panels }) => panels),
            [length, MATRIX_PANELS],
          ),
          asked.map((each) => each.missing.map((at) => at - 1)),
          this.#put(
            put,
            asked.flatMap((each) => each.candidates.flat()),
            [length, candidates.length, missing.length],
          ),
        );
      },
      signal,
    );
    let at = 0;
    return questions.map(({ candidates }) => {
      const own = Array.from(scores.subarray(at, (at += candidates.length)), (score) => -score);
      return { own, l2: null, apart: [], scale: 1 };
    });
  }

  async #paint(questions: readonly MissingQuestion[], signal?: AbortSignal): Promise<Panel[][]> {
    const { model } = this;
    const pixels = await inSlices(
      model,
      questions.length,
      PROBLEMS_AT_ONCE,
      (first, length, put) => {
        const asked = questions.slice(first, first + length);
        const panels = this.#put(
          put,
          asked.flatMap((each) => each.panels),
          [length, MATRIX_PANELS],
        );
        const missing = asked.map((each) => each.missing.map((position) => position - 1));
        return model.impute?.(panels, missing) ?? panels;
      },
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

  async #redraw(
    panels: readonly Seen[],
    redrawn: (panels: Tensor) => Tensor,
    signal?: AbortSignal,
  ): Promise<Panel[]> {
    const work = (first: number, length: number, put: Put): Tensor =>
      redrawn(this.#put(put, panels.slice(first, first + length), [length, 1]));
    const pixels = await inSlices(this.model, panels.length, IMAGES_AT_ONCE, work, signal);
    const size = this.facts.imageSize ** 2;
    return panels.map((_, i) => pixels.slice(i * size, (i + 1) * size));
  }

  dispose(): Promise<void> {
    this.model.dispose();
    return Promise.resolve();
  }
}
