/**
 * A whole evaluation of one model: every metric asked for, panels encoded once for all of them. Seeds
 * are fixed, so the same model and data give the same numbers. GSA, about half of the work, runs on
 * threads beside the others; encoder and decoder use the cores through ONNX Runtime.
 */
import { conditionsOf, describeData, type ChosenCounts } from './conditions.js';
import type { EvaluationData } from './evaluation-data.js';
import { EVALUATION_FORMAT, EVALUATION_VERSION } from './evaluation.js';
import type {
  MeasuringConditions,
  MetricName,
  ModelEvaluation,
  SelectionResult,
} from './evaluation.js';
import { exampleProblems } from './examples.js';
import { globalSelectionAccuracy } from './metrics/global-selection-accuracy.js';
import { pixelErrors } from './metrics/pixel-error.js';
import { readback } from './metrics/readback.js';
import { ruleAgreement } from './metrics/rule-agreement.js';
import { selectionAccuracies } from './metrics/selection-accuracy.js';
import { studyProblems, type StudiedProblems } from './metrics/studied-problems.js';
import { varianceDecline } from './metrics/variance-decline.js';
import { withConcepts } from './concept-subject.js';
import type { Subject } from './subject.js';

export interface EvaluationOptions extends ChosenCounts {
  /** As the model was asked for. */
  readonly model: string;
  /** SA is measured on each; together they give the problems of GSA, errors and ARI. */
  readonly data: readonly EvaluationData[];
  readonly signal?: AbortSignal;
  /** What is done now, and how far it is, 0..1. */
  readonly onProgress?: (stage: string, share: number) => void;
}

const STUDY_SEED = 7_900_000_033;
/** Metrics that share problems, encoded beforehand. */
const STUDIED: readonly MetricName[] = ['gsa', 'errors', 'ari'];

/** A subject that draws. */
type Painter = Subject & Required<Pick<Subject, 'imagine'>>;

/** One evaluation at work. */
class Evaluation {
  readonly #conditions: MeasuringConditions;
  readonly #seconds: Partial<Record<MetricName, number>> = {};
  /** Stops the threads where something else fails. */
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;

  constructor(
    readonly subject: Subject,
    readonly options: EvaluationOptions,
  ) {
    this.#conditions = conditionsOf(subject.facts, options);
    const { signal } = options;
    this.#signal = AbortSignal.any([this.#stop.signal, ...(signal === undefined ? [] : [signal])]);
  }

  #common(stage: string) {
    const { onProgress } = this.options;
    return { signal: this.#signal, onProgress: (share: number) => onProgress?.(stage, share) };
  }

  /** Measures something if it was asked for, and notes how long it took. */
  async #if<T>(metric: MetricName, measure: () => Promise<T>): Promise<T | null> {
    if (!this.#conditions.metrics.includes(metric)) return null;
    this.#signal.throwIfAborted();
    const start = performance.now();
    const result = await measure();
    this.#seconds[metric] = Math.round(performance.now() - start) / 1000;
    return result;
  }

  async #selection(): Promise<SelectionResult[]> {
    const { data, onProgress } = this.options;
    const found = await selectionAccuracies(this.subject, data, {
      signal: this.#signal,
      onProgress: (done, total) => onProgress?.('sa', done / total),
    });
    return found.map((result, i) => {
      const { name = result.data, seed } = data[i];
      return { ...result, data: name, ...(seed === undefined ? {} : { seed }) };
    });
  }

  /** Problems for the metrics that share them; null where none of these was asked for. */
  async #study(): Promise<StudiedProblems | null> {
    const { metrics, problems } = this.#conditions;
    if (!STUDIED.some((metric) => metrics.includes(metric))) return null;
    const sources = this.options.data.map(({ source }) => source);
    return studyProblems(this.subject, sources, {
      count: problems,
      seed: STUDY_SEED,
      ...this.#common('encoding'),
    });
  }

  /** GSA under way; its progress is told once nothing else is left to wait for. */
  #gsa(studied: StudiedProblems | null) {
    const { onProgress } = this.options;
    let waiting = false;
    let share = 0;
    const tell = (): void => {
      if (waiting) onProgress?.('gsa', share);
    };
    const result =
      studied === null
        ? Promise.resolve(null)
        : this.#if('gsa', () =>
            globalSelectionAccuracy(this.subject, studied, {
              repeats: this.#conditions.repeats,
              signal: this.#signal,
              onProgress: (now) => {
                share = now;
                tell();
              },
            }),
          );
    let failure: unknown;
    const ended = result.then(
      () => undefined,
      (error: unknown) => {
        if (!this.#stop.signal.aborted) failure = error;
        this.#stop.abort();
      },
    );
    return {
      wait: async () => {
        waiting = this.#conditions.metrics.includes('gsa');
        tell();
        return result;
      },
      /** Why it failed by itself; undefined where it did not. */
      end: async (): Promise<unknown> => {
        await ended;
        return failure;
      },
    };
  }

  async #measure() {
    const { subject } = this;
    const { pictures, panels } = this.#conditions;
    const concepts = withConcepts(subject);
    const painter = subject.imagine === undefined ? null : (subject as Painter);
    const studied = await this.#study();
    const gsa = this.#gsa(studied);
    try {
      return {
        selection: await this.#if('sa', () => this.#selection()),
        errors:
          painter &&
          studied &&
          (await this.#if('errors', () =>
            pixelErrors(painter, studied, { problems: pictures, ...this.#common('errors') }),
          )),
        ari:
          concepts &&
          studied &&
          (await this.#if('ari', () => ruleAgreement(concepts, studied, this.#common('ari')))),
        vd:
          concepts &&
          (await this.#if('vd', () =>
            varianceDecline(concepts, { panels, ...this.#common('vd') }),
          )),
        readback:
          painter &&
          (await this.#if('readback', () =>
            readback(painter, { problems: pictures, ...this.#common('readback') }),
          )),
        examples: await exampleProblems(subject, this.#signal),
        gsa: await gsa.wait(),
      };
    } catch (error) {
      this.#stop.abort();
      // If GSA failed first, the others were stopped because of it: its error is the one to tell.
      throw (await gsa.end()) ?? error;
    }
  }

  async run(): Promise<ModelEvaluation> {
    const { options } = this;
    const { name, system, preset, configuration, noisy, sizes, training } = this.subject.facts;
    return {
      format: EVALUATION_FORMAT,
      version: EVALUATION_VERSION,
      model: options.model,
      name,
      system,
      preset,
      configuration,
      noisy,
      sizes,
      training,
      conditions: this.#conditions,
      data: await describeData(options.data),
      ...(await this.#measure()),
      history: this.subject.history,
      seconds: this.#seconds,
    };
  }
}

/** Evaluates a model. */
export const evaluateModel = (
  subject: Subject,
  options: EvaluationOptions,
): Promise<ModelEvaluation> => new Evaluation(subject, options).run();
