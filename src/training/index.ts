/** Training of models: data feeds, the loop, checkpoints and logs of a run. Node only. */
export { DURATION, parseDuration, type Budget } from './budget.js';
export type { DataConfig, Precision, RunConfig } from './config.js';
export {
  DivergedError,
  LostRankError,
  RunFormatError,
  TrainingError,
  UnsavedError,
  WorkerError,
} from './errors.js';
export { trainingFacts, type TrainingFacts } from './facts.js';
export { imagineLast } from './imagined-panels.js';
export type { Best } from './loop-state.js';
export type {
  CheckpointEvent,
  FeedReport,
  NoteEvent,
  StartEvent,
  StepEvent,
  TrainingObserver,
  ValidationEvent,
} from './observer.js';
export { isRun, openRun } from './open-run.js';
export type { OpenedRun, StoredWeights, TrainedModel, WhichWeights } from './open-run.js';
export {
  DEFAULT_GIVE_UP_SECONDS,
  DEFAULT_POOL,
  DEFAULT_SYSTEM,
  DEFAULT_VALIDATE_EVERY,
} from './options.js';
export type {
  FollowOptions,
  NewRunOptions,
  ResumeOptions,
  RuntimeOptions,
  TrainOptions,
} from './options.js';
export type { RulesSnapshot } from './rules-snapshot.js';
export type { MetricsLine, TrainMetrics, ValidationMetrics } from './run/logs.js';
export { diskFiles, type RunFiles } from './run/folder.js';
export { joinTeam, type JoinedTeam } from './parallel/join.js';
export { shareFailure as refuseTeam } from './parallel/handover.js';
export { HAVE_MET, LAUNCHED, launchRanks, type LaunchOptions } from './parallel/launch.js';
export { train, type TrainOutcome } from './train.js';
