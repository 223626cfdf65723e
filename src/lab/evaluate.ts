/**
 * A whole evaluation of one model: every metric asked for, panels encoded once for all of them. Seeds
 * are fixed, so the same model and data give the same numbers. GSA, about half of the work, runs on
 * threads beside the others; encoder and decoder use the cores through ONNX Runtime.
 */
import { withConcepts } from './concept-subject.js';
import { conditionsOf, describeData, type ChosenCounts } from './conditions.js';
import type { EvaluationData } from './evaluation-data.js';
import { EVALUATION_FORMAT, EVALUATION_VERSION } from './evaluation.js';
import type { MetricName, ModelEvaluation, SelectionResult } from './evaluation.js';
import { exampleProblems } from './examples.js';
import { globalSelectionAccuracy } from './metrics/global-selection-accuracy.js';
import { pixelErrors } from './metrics/pixel-error.js';
import { readback } from './metrics/readback.js';
import { ruleAgreement } from './metrics/rule-agreement.js';
import { rulesNamed } from './metrics/rules-named.js';
import { selectionAccuracies } from './metrics/selection-accuracy.js';
import { studyProblems, type StudiedProblems } from './metrics/studied-problems.js';
import { varianceDecline } from './metrics/variance-decline.js';
import type { Painter, Subject } from './subject.js';

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

/** SA on each set, called as the data are. */
async function selectionOf(
  subject: Subject,
  data: readonly EvaluationData[],
  options: { readonly signal?: AbortSignal; readonly onProgress: (share: number) => void },
): Promise<SelectionResult[]> {
  const found = await selectionAccuracies(subject, data, {
    signal: options.signal,
    onProgress: (done, total) => options.onProgress(done / total),
  });
  return found.map((result, i) => {
    const { name = result.data, seed, configuration } = data[i];
    return {
      ...result,
      data: name,
      ...(configuration === undefined ? {} : { configuration }),
      ...(seed === undefined ? {} : { seed }),
    };
  });
}

/** The metrics that were asked for: what each is told, and how long it took. */
class Measuring {
  readonly seconds: Partial<Record<MetricName, number>> = {};

  constructor(
    readonly conditions: ModelEvaluation['conditions'],
    readonly signal: AbortSignal,
    readonly onProgress: (stage: string, share: number) => void,
  ) {}

  /** What every metric is told. */
  options(stage: string) {
    const onProgress = (share: number): void => this.onProgress(stage, share);
    return { seed: this.conditions.seed, signal: this.signal, onProgress };
  }

  /** Measures something if it was asked for. */
  async when<T>(
    metric: MetricName,
    work: (options: ReturnType<Measuring['options']>) => Promise<T>,
  ): Promise<T | null> {
    if (!this.conditions.metrics.includes(metric)) return null;
    this.signal.throwIfAborted();
    const start = performance.now();
    const result = await work(this.options(metric));
    this.seconds[metric] = Math.round(performance.now() - start) / 1000;
    return result;
  }
}

/** Everything but GSA, one metric after the other. */
async function measureOthers(
  measuring: Measuring,
  subject: Subject,
  data: readonly EvaluationData[],
  studied: StudiedProblems | null,
) {
  const { panels, pictures: problems } = measuring.conditions;
  const concepts = withConcepts(subject);
  const painter = subject.imagine === undefined ? null : (subject as Painter);
  return {
    selection: await measuring.when('sa', (options) => selectionOf(subject, data, options)),
    errors:
      painter &&
      studied &&
      (await measuring.when('errors', (options) =>
        pixelErrors(painter, studied, { problems, ...options }),
      )),
    ari:
      concepts &&
      studied &&
      (await measuring.when('ari', (options) => ruleAgreement(concepts, studied, options))),
    vd:
      concepts &&
      (await measuring.when('vd', (options) => varianceDecline(concepts, { panels, ...options }))),
    readback:
      painter &&
      (await measuring.when('readback', (options) => readback(painter, { problems, ...options }))),
    rules:
      concepts &&
      (await measuring.when('rules', (options) => rulesNamed(concepts, { problems, ...options }))),
    examples: await exampleProblems(subject, measuring.signal),
  };
}

/** Measures everything. If one metric fails, the others are stopped and its error is thrown. */
async function measure(
  subject: Subject,
  { data, signal, onProgress = () => undefined }: EvaluationOptions,
  conditions: ModelEvaluation['conditions'],
) {
  const stop = new AbortController();
  const signals = signal === undefined ? [stop.signal] : [stop.signal, signal];
  const measuring = new Measuring(conditions, AbortSignal.any(signals), onProgress);
  const { metrics, problems: count, repeats, seed = STUDY_SEED } = conditions;
  const studied = STUDIED.some((metric) => metrics.includes(metric))
    ? await studyProblems(
        subject,
        data.map(({ source }) => source),
        { count, ...measuring.options('encoding'), seed },
      )
    : null;
  // The progress of GSA is only told once nothing else is left to wait for.
  let isAlone = false;
  const tellGsa = (share: number): void => {
    if (isAlone) onProgress('gsa', share);
  };
  const gsa = measuring.when(
    'gsa',
    async (options) =>
      studied &&
      globalSelectionAccuracy(subject, studied, { ...options, repeats, onProgress: tellGsa }),
  );
  const others = measureOthers(measuring, subject, data, studied).then((found) => {
    isAlone = metrics.includes('gsa');
    tellGsa(0);
    return found;
  });
  const work = [gsa, others] as const;
  try {
    const [foundGsa, found] = await Promise.all(work);
    return { ...found, gsa: foundGsa, seconds: measuring.seconds };
  } catch (error) {
    stop.abort();
    await Promise.allSettled(work);
    throw error;
  }
}

/** Evaluates a model. */
export async function evaluateModel(
  subject: Subject,
  options: EvaluationOptions,
): Promise<ModelEvaluation> {
  const { name, system, preset, configuration, noisy, sizes, training } = subject.facts;
  const conditions = conditionsOf(subject.facts, options);
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
    conditions,
    data: await describeData(options.data),
    ...(await measure(subject, options, conditions)),
    history: subject.history,
  };
}
