/** Experiments on trained models: metrics, calibration, export of bundles, results. Node only. */
export {
  answerSetReport,
  type AnswerSetOptions,
  type AnswerSetResult,
} from './answer-sets/report.js';
export { calibrate, CALIBRATION_DEFAULTS, type CalibrationOptions } from './calibration.js';
export * from './card/index.js';
export { DEFAULT_COUNTS, lackFor } from './conditions.js';
export { evaluateModel, type EvaluationOptions } from './evaluate.js';
export * from './evaluation-data.js';
export { EVALUATION_FORMAT, EVALUATION_VERSION, METRIC_NAMES } from './evaluation.js';
export type * from './evaluation.js';
export { VARIANT_NAMES } from '../matrix/index.js';
export { EXAMPLE_SEED, exampleProblems } from './examples.js';
export {
  bundleAccuracy,
  bundleNames,
  DEFAULT_JUDGED,
  exportRun,
  type ExportOptions,
  type ExportReport,
} from './export-run.js';
export * from './grade/index.js';
export * from './metrics/index.js';
export * from './report/index.js';
export * from './results/index.js';
export { ConceptSubject, type ConceptParts } from './concept-subject.js';
export {
  bundleFacts,
  openBundleSubject,
  openRunSubject,
  openSubject,
  readFacts,
  requireRun,
  subjectFrom,
  subjectOf,
  type BundleSubject,
  type SubjectOptions,
} from './open-subject.js';
export * from './painted-answers.js';
export { PictureSubject } from './picture-subject.js';
export { Bootstrap } from './statistics.js';
export * from './subject.js';
export { summaryJson, summaryText, variantOf, type EvaluationSummary } from './summary.js';
export * from './systems.js';
export { findVocabulary, VOCABULARY_DEFAULTS, type VocabularyOptions } from './vocabulary/find.js';
