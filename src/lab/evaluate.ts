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
import { studyProblems } from './metrics/studied-problems.js';
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

/** Measures everything; what fails stops the rest, and is what is told. */
async function measure(
  subject: Subject,
  { data, onProgress, ...options }: EvaluationOptions,
  { metrics, problems, repeats, panels, pictures, seed }: ModelEvaluation['conditions'],
) {
  const stop = new AbortController();
  const given = options.signal === undefined ? [] : [options.signal];
  const signal = AbortSignal.any([stop.signal, ...given]);
  const seconds: Partial<Record<MetricName, number>> = {};
  const common = (stage: string) => ({
    seed,
    signal,
    onProgress: (share: number) => onProgress?.(stage, share),
  });
  /** Measures something if it was asked for, and notes how long it took. */
  const when = async <T>(metric: MetricName, work: () => Promise<T>): Promise<T | null> => {
    if (!metrics.includes(metric)) return null;
    signal.throwIfAborted();
    const start = performance.now();
    const result = await work();
    seconds[metric] = Math.round(performance.now() - start) / 1000;
    return result;
  };
  const study = { count: problems, ...common('encoding'), seed: seed ?? STUDY_SEED };
  const studied = STUDIED.some((metric) => metrics.includes(metric))
    ? await studyProblems(
        subject,
        data.map(({ source }) => source),
        study,
      )
    : null;
  // The progress of GSA is told once nothing else is left to wait for.
  let gsaShare: number | null = null;
  const measureGsa = async () =>
    studied &&
    when('gsa', () =>
      globalSelectionAccuracy(subject, studied, {
        repeats,
        seed,
        signal,
        onProgress: (share) => {
          if (gsaShare !== null) onProgress?.('gsa', share);
        },
      }),
    );
  const measureOthers = async () => {
    const concepts = withConcepts(subject);
    const painter = subject.imagine === undefined ? null : (subject as Painter);
    const drawn = { problems: pictures };
    const found = {
      selection: await when('sa', () => selectionOf(subject, data, common('sa'))),
      errors:
        painter && studied
          ? await when('errors', () =>
              pixelErrors(painter, studied, { ...drawn, ...common('errors') }),
            )
          : null,
      ari:
        concepts && studied
          ? await when('ari', () => ruleAgreement(concepts, studied, common('ari')))
          : null,
      vd:
        concepts &&
        (await when('vd', () => varianceDecline(concepts, { panels, ...common('vd') }))),
      readback:
        painter &&
        (await when('readback', () => readback(painter, { ...drawn, ...common('readback') }))),
      rules:
        concepts &&
        (await when('rules', () => rulesNamed(concepts, { ...drawn, ...common('rules') }))),
      examples: await exampleProblems(subject, signal),
    };
    gsaShare = 0;
    if (metrics.includes('gsa')) onProgress?.('gsa', gsaShare);
    return found;
  };
  const work = [measureGsa(), measureOthers()] as const;
  try {
    const [gsa, others] = await Promise.all(work);
    return { ...others, gsa, seconds };
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
