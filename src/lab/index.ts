/** Experiments on trained models: calibration, accuracy, export of bundles. Node only. */
export { calibrate, type CalibrationOptions } from './calibration.js';
export * from './evaluation.js';
export { exportRun, type ExportOptions, type ExportReport } from './export-run.js';
export { chooseBatch, generatedSource, selectionAccuracy } from './selection-accuracy.js';
export type { AccuracyOptions, SelectionAccuracy } from './selection-accuracy.js';
