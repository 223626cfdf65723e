/** Experiments on trained models: metrics, calibration, export of bundles, results. Node only. */
export { calibrate, CALIBRATION_DEFAULTS, type CalibrationOptions } from './calibration.js';
export * from './card/index.js';
export {
  checkConfiguration,
  checkProblemConfiguration,
  configurationsOf,
  configurationsOfLabels,
} from '../matrix/node.js';
export { DEFAULT_COUNTS } from './conditions.js';
export { evaluateModel, type EvaluationData, type EvaluationOptions } from './evaluate.js';
export * from './evaluation.js';
export { EXAMPLE_SEED, exampleProblems } from './examples.js';
export { FRESH_COUNTS, FRESH_SEED, freshData } from './fresh-data.js';
export { DEFAULT_JUDGED, exportRun, type ExportOptions, type ExportReport } from './export-run.js';
export * from './grade/index.js';
export * from './metrics/index.js';
export * from './report/index.js';
export * from './results/index.js';
export { openSubject, subjectFrom, subjectOf } from './subject.js';
export type { OpenedSubject, Rules, Subject, SubjectOptions, Thinker } from './subject.js';
export { summaryJson, summaryText, variantOf, type EvaluationSummary } from './summary.js';
