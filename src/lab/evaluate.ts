/**
 * A whole evaluation of one model: every metric asked for, one after the other, panels encoded once for
 * all of them. Seeds are fixed, so the same model and data give the same numbers. Networks use all
 * cores through ONNX Runtime; what is left beside them is little.
 */
import type { ProblemSource, Variant } from '../matrix/index.js';
import { EVALUATION_FORMAT, EVALUATION_VERSION, METRIC_NAMES } from './evaluation.js';
import type { MetricName, ModelEvaluation, SelectionResult } from './evaluation.js';
import { exampleProblems } from './examples.js';
import { globalSelectionAccuracy } from './metrics/global-selection-accuracy.js';
import { PanelEncoder } from './metrics/panel-encoder.js';
import { pixelErrors } from './metrics/pixel-error.js';
import { readback } from './metrics/readback.js';
import { ruleAgreement } from './metrics/rule-agreement.js';
import { selectionAccuracy } from './metrics/selection-accuracy.js';
import { studyProblems, type StudiedProblems } from './metrics/studied-problems.js';
import { varianceDecline } from './metrics/variance-decline.js';
import type { Subject } from './subject.js';

/** Problems to evaluate on. */
export interface EvaluationData {
  readonly source: ProblemSource;
  /** How it is called in results; the source's own name unless told. */
  readonly name?: string;
  readonly variant?: Variant | null;
}

export interface EvaluationOptions {
  /** As the model was asked for. */
  readonly model: string;
  /** SA is measured on each; the first also gives the problems of GSA, errors and ARI. */
  readonly data: readonly EvaluationData[];
  /** All unless told. */
  readonly metrics?: readonly MetricName[];
  /** Problems of GSA and ARI, 2,000 unless told; fresh ones are added where the data has fewer. */
  readonly problems?: number;
  readonly repeats?: number;
  /** Panels of each batch of VD; problems of errors and of reading back. */
  readonly panels?: number;
  readonly pictures?: number;
  readonly signal?: AbortSignal;
  /** What is done now, and how far it is, 0..1. */
  readonly onProgress?: (stage: string, share: number) => void;
}

const DEFAULT_PROBLEMS = 2000;
const STUDY_SEED = 7_900_000_033;
/** Metrics that share problems, encoded beforehand. */
const STUDIED: readonly MetricName[] = ['gsa', 'errors', 'ari'];

/** One evaluation at work. */
class Evaluation {
  readonly #encoder: PanelEncoder;
  readonly #metrics: ReadonlySet<MetricName>;
  readonly #seconds: Partial<Record<MetricName, number>> = {};

  constructor(
    readonly subject: Subject,
    readonly options: EvaluationOptions,
  ) {
    this.#encoder = new PanelEncoder(subject.solver);
    this.#metrics = new Set(options.metrics ?? METRIC_NAMES);
  }

  #common(stage: string) {
    const { signal, onProgress } = this.options;
    return { signal, onProgress: (share: number) => onProgress?.(stage, share) };
  }

  /** Measures something if it was asked for, and notes how long it took. */
  async #if<T>(metric: MetricName, measure: () => Promise<T>): Promise<T | null> {
    if (!this.#metrics.has(metric)) return null;
    this.options.signal?.throwIfAborted();
    const start = performance.now();
    const result = await measure();
    this.#seconds[metric] = Math.round(performance.now() - start) / 1000;
    return result;
  }

  async #selection(): Promise<SelectionResult[]> {
    const { data, signal, onProgress } = this.options;
    const total = data.reduce((sum, { source }) => sum + source.count, 0);
    const results: SelectionResult[] = [];
    let before = 0;
    for (const { source, name = source.name, variant } of data) {
      const found = await selectionAccuracy(this.subject, source, {
        variant,
        encoder: this.#encoder,
        signal,
        onProgress: (done) => onProgress?.('sa', (before + done) / total),
      });
      before += source.count;
      results.push({ ...found, data: name });
    }
    return results;
  }

  /** Problems for the metrics that share them; null where none of these was asked for. */
  async #study(): Promise<StudiedProblems | null> {
    if (!STUDIED.some((metric) => this.#metrics.has(metric))) return null;
    const { problems = DEFAULT_PROBLEMS, data } = this.options;
    return studyProblems(this.subject.solver, this.#encoder, data.at(0)?.source ?? null, {
      count: problems,
      seed: STUDY_SEED,
      ...this.#common('encoding'),
    });
  }

  async run(): Promise<ModelEvaluation> {
    const { subject, options } = this;
    const { solver } = subject;
    const { name, configuration, noisy, sizes, training } = solver.manifest;
    const selection = await this.#if('sa', () => this.#selection());
    const studied = await this.#study();
    const shared = <T>(metric: MetricName, measure: (problems: StudiedProblems) => Promise<T>) =>
      studied === null ? null : this.#if(metric, () => measure(studied));
    const gsa = await shared('gsa', (problems) =>
      globalSelectionAccuracy(subject, problems, {
        repeats: options.repeats,
        ...this.#common('gsa'),
      }),
    );
    const errors = await shared('errors', (problems) =>
      pixelErrors(solver, problems, { problems: options.pictures, ...this.#common('errors') }),
    );
    const ari = await shared('ari', (problems) =>
      ruleAgreement(subject, problems, this.#common('ari')),
    );
    const encoder = this.#encoder;
    const vd = await this.#if('vd', () =>
      varianceDecline(solver, { panels: options.panels, encoder, ...this.#common('vd') }),
    );
    const read = await this.#if('readback', () =>
      readback(solver, { problems: options.pictures, encoder, ...this.#common('readback') }),
    );
    return {
      format: EVALUATION_FORMAT,
      version: EVALUATION_VERSION,
      model: options.model,
      name,
      configuration,
      noisy,
      sizes,
      training,
      data: options.data.map(({ source, name: data = source.name, variant = null }) => ({
        data,
        variant,
        count: source.count,
      })),
      selection,
      gsa,
      errors,
      ari,
      vd,
      readback: read,
      examples: await exampleProblems(subject, encoder, options.signal),
      history: subject.history,
      seconds: this.#seconds,
    };
  }
}

/** Evaluates a model. */
export const evaluateModel = (
  subject: Subject,
  options: EvaluationOptions,
): Promise<ModelEvaluation> => new Evaluation(subject, options).run();
