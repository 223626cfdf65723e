/** The systems of the paper: networks and objectives on libtorch, mixtures of rules, metrics. Node only. */
export * from './errors.js';
export {
  adjustedRandIndex,
  codedRandIndex,
  codesOf,
  type Coded,
} from './metrics/adjusted-rand-index.js';
export { kMeans, kMeansFrom, type KMeansResult } from './mixture/k-means.js';
export type { FittedMixture, LearnerOptions, MixtureStart } from './mixture/learner.js';
export { fitGaussianMixture } from './mixture/expectation-maximization.js';
export { fitBayesianMixture } from './mixture/variational.js';
export { categories, explain, sortedByWeight, type GaussianMixture } from './mixture/mixture.js';
export { pointsOf, type Points } from './mixture/points.js';
export { constant, risingTo, valueAt, type Schedule } from './schedule.js';
export type { DeepPartial } from './deep-partial.js';
export { crabConfigReader, parseCrabConfig, PRESETS } from './crab/config.js';
export type {
  CrabConfig,
  NetworkConfig,
  ObjectiveConfig,
  PresetName,
  RulePriorConfig,
} from './crab/config.js';
export { crabConfig, PAPER_ROWS } from './crab/presets.js';
export type { ConfigurationRow } from './crab/presets.js';
export { overridesOf } from './overrides.js';
export { CrabModel, type CrabModelOptions } from './crab/model.js';
export * from './system.js';
export * from './registry.js';
export { StepRandom, stepKey } from './parts/step-random.js';
export {
  contextOf,
  contextTensor,
  drawTargets,
  hostTargets,
  targetTensors,
  type HostTargets,
  type TargetSets,
  type TargetsConfig,
} from './parts/target-sets.js';
export { ForetellingModel } from './parts/concept-model.js';
export { storedPrior } from './crab/learner.js';
export { gatesOf } from './crab/rule-parser.js';
export type { Gaussian } from './crab/rule-parser.js';
export {
  fitMixtures,
  logRulePrior,
  mixtureData,
  mixturesOf,
  RulePrior,
} from './crab/rule-prior.js';
export type { MixtureData, PriorTensors } from './crab/rule-prior.js';
export { drawNoise, evaluateObjective, lossWeightsAt, weightedLoss } from './crab/objective.js';
export type {
  LossWeights,
  Noise,
  ObjectiveInputs,
  ObjectiveResult,
  ObjectiveTerms,
  TargetedBatch,
} from './crab/objective.js';
export { exportNetworks, networkFiles } from './crab/export.js';
export { compactNetworks, type CompactOptions } from './crab/export-compact.js';
export { readNetworks, type CrabNetworks } from './crab/export-networks.js';
export { readWeightState, type WeightState } from './onnx/layers.js';
export type { BundleExport, BundleShape, NetworkFiles } from './onnx/bundle-networks.js';
export { WEIGHT_FORMATS, type WeightFormat } from './onnx/graph.js';
