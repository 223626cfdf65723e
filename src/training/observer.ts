/**
 * How others follow a training: the progress bar of the command line, the studio's server and the
 * tests all listen here. Nothing in this layer prints.
 */

export interface StartEvent {
  readonly run: string;
  readonly device: string;
  /** Steps done before, when a run is resumed; otherwise 0. */
  readonly step: number;
  /** Null until a time budget has been measured. */
  readonly totalSteps: number | null;
  readonly batchSize: number;
  readonly parameters: number;
  /** Processes that train together. */
  readonly ranks: number;
}

export interface StepEvent {
  /** Steps done. */
  readonly step: number;
  readonly totalSteps: number | null;
  /** Loss terms of the newest step whose values are known. */
  readonly terms: Readonly<Record<string, number>>;
  readonly problemsPerSecond: number;
  /** Null while unknown. */
  readonly secondsLeft: number | null;
  /** Of the last stretch that was logged; null before the first. */
  readonly feed: FeedReport | null;
}

/** What the data costs and how fresh it is. */
export interface FeedReport {
  /** How often a problem was used so far, on average. */
  readonly uses: number;
  /** Milliseconds a step spends on the feed, mean since the report before. */
  readonly milliseconds: number;
  /** The same as a share of the step's time, 0..1. */
  readonly share: number;
}

export interface ValidationEvent {
  readonly step: number;
  readonly selectionAccuracy: Readonly<Record<string, number>>;
  readonly globalSelectionAccuracy: number | null;
  readonly best: boolean;
  readonly seconds: number;
}

export interface CheckpointEvent {
  readonly step: number;
  readonly path: string;
  readonly seconds: number;
}

export interface NoteEvent {
  readonly level: 'info' | 'warning';
  /** One sentence. */
  readonly text: string;
}

export interface TrainingObserver {
  start?(event: StartEvent): void;
  step?(event: StepEvent): void;
  validation?(event: ValidationEvent): void;
  checkpoint?(event: CheckpointEvent): void;
  note?(event: NoteEvent): void;
}
