/** Every metric, each in a file with its definition. */
export { bestAssignment } from './assignment.js';
export { generatedSource, type GeneratedRequest } from './generated-source.js';
export {
  globalSelectionAccuracy,
  GSA_CANDIDATES,
  GSA_TARGETS,
  type GsaOptions,
} from './global-selection-accuracy.js';
export {
  ariTable,
  authorsColumns,
  authorsLabeller,
  ruleAgreement,
  ruleCategories,
  ruleName,
  type Labeller,
} from './rule-agreement.js';
export { answerDistances, selectionAccuracy, type AccuracyOptions } from './selection-accuracy.js';
export { studyProblems, type StudiedProblems, type StudyOptions } from './studied-problems.js';
export { nameConcepts, varianceDecline, type VarianceOptions } from './variance-decline.js';
export { meanPanel, panelError, pixelErrors } from './pixel-error.js';
export { readback, type ReadbackOptions } from './readback.js';
export { ReadbackJudge } from './readback-judge.js';
