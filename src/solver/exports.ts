/** What both entry points of this folder give; each adds its own `Solver`. */
export {
  BUNDLE_FILES,
  BUNDLE_FORMAT,
  BUNDLE_SYSTEMS,
  BUNDLE_VERSION,
  bundleBytes,
  formatManifest,
  hasRules,
  LARGEST_MANIFEST,
  MANIFEST_FILE,
  openBundle,
  parseManifest,
  systemOf,
  type Bundle,
  type BundleAccuracy,
  type BundleFile,
  type BundleFileName,
  type BundleManifest,
  type BundleProgress,
  type BundleSizes,
  type BundleSource,
  type ConceptName,
  type ExpectedFile,
  type ManifestDraft,
} from './bundle.js';
export { nearest, softmax, weighCandidates, type Weighed } from './choose.js';
export { completedPicture, type CompletedOptions } from './completed-picture.js';
export * from './errors.js';
export {
  drawnPanel,
  Familiarity,
  isEmptyPanel,
  mostError,
  redrawingError,
  type Fit,
  type OwnPanels,
} from './familiarity.js';
export {
  recognise,
  recogniseProblem,
  type Recognised,
  type RecognisedProblem,
} from './recognise.js';
export { parseHistory, type HistoryCurve } from './history.js';
export { formatImagined, parseImagined } from './imagined-file.js';
export { bytesToPanel, greyToPanel, imageToPanel, toPanel } from './panels.js';
export type { Panel, PanelInput, PixelImage } from './panels.js';
export { askedPanels, ravenProblem } from './problem-input.js';
export type { FileLike, ProblemInput, ProblemOrigin } from './problem-input.js';
export { readMatrixPicture, type MatrixPicture } from './matrix-picture.js';
export type {
  Alternative,
  Answer,
  CandidateInput,
  CandidateReport,
  Choice,
  ChooseOptions,
  ConceptMeans,
  ImaginedPanel,
  ImposedRules,
  MatrixInput,
  Paint,
  Question,
  RuleReading,
  SampleOptions,
  SolveOptions,
  SymbolReading,
} from './questions.js';
export { sha256 } from './sha256.js';
export { answerProbability, panelCertainty, type AttributeCertainty } from './certainty.js';
export { nameRules, type NamedRule } from './rule-names.js';
export {
  nearestGate,
  Vocabulary,
  type EntryStatistics,
  type Foretold,
  type NamedAttribute,
  type PanelSymbols,
  type SharedConcept,
  type VocabularyData,
  type VocabularyGroup,
} from './vocabulary.js';
export { formatVocabulary, parseVocabulary } from './vocabulary-file.js';
export { PAINTS } from './questions.js';
export { categoriesOf, formatRuleMap, parseRuleMap, RuleClassifier } from './rule-map.js';
export type { RuleCategories, RuleMap, RuleMixture, RuleSnapshot } from './rule-map.js';
export {
  bandOf,
  blockWhitener,
  COVARIANCE_FORMS,
  formatSelection,
  lowerProducts,
  Metric,
  Metrics,
  packTriangle,
  parseSelection,
  type CovarianceForm,
  type LowerProducts,
  type ResidualStatistics,
  type SelectionStatistics,
  type StatisticsKey,
} from './selection.js';
export type { NamedPanel, Networks, Reasoning, ReasonerInput } from './networks.js';
export { SMALL_PIXELS as PANEL_PIXELS } from '../matrix/index.js';
export { SolverCore } from './solver.js';
export { paintTies, tiedForBest } from './ties.js';
export type { SolverParts } from './solver-parts.js';
export type { LoadOptions } from './web.js';
