/** What the server and its trainer process say to each other; types only. */
import type { Configuration } from '../../matrix/index.js';
import type { CrabConfig, DeepPartial, PresetName } from '../../models/index.js';
import type {
  AccuracyPoint,
  NoteUpdate,
  PanelsUpdate,
  RulesUpdate,
  StepUpdate,
} from '../../protocol/index.js';

/** Sizes that a test makes small; everything has a default. */
export interface TrainingSettings {
  /** Changes to the preset. */
  readonly overrides?: DeepPartial<CrabConfig>;
  /** Generated problems kept at a time. */
  readonly pool?: number;
  readonly threads?: number;
  /** Threads that make problems. */
  readonly workers?: number;
  readonly validation?: { readonly every?: number; readonly problems?: number };
  /** Seconds between checkpoints, each of which is shown in the page. */
  readonly checkpointSeconds?: number;
  readonly logEvery?: number;
  /** Problems whose rules are shown, and matrices whose last panel is. */
  readonly shownRules?: number;
  readonly shownMatrices?: number;
  /** What an exported bundle is calibrated and judged on. */
  readonly exported?: {
    readonly problems?: number;
    readonly validation?: number;
    readonly judged?: number;
    /** Panels of each batch that concepts are named by. */
    readonly named?: number;
  };
}

export interface NewRunJob {
  readonly kind: 'train';
  /** Folder of the run. */
  readonly run: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  readonly preset: PresetName;
  readonly device: string;
  readonly seconds: number;
  readonly seed: number;
}

export interface ResumeJob {
  readonly kind: 'resume';
  readonly run: string;
}

export interface ExportJob {
  readonly kind: 'export';
  readonly run: string;
  /** Folder of the bundle. */
  readonly out: string;
}

export type Job = (NewRunJob | ResumeJob | ExportJob) & { readonly settings: TrainingSettings };

/** To the process. It also stops, with a checkpoint, when the server is gone. */
export type Order = { readonly order: 'begin'; readonly job: Job } | { readonly order: 'stop' };

/** From the process: what the page is told, without the name of the run. */
export type Report =
  | { readonly kind: 'begun'; readonly step: number; readonly totalSteps: number | null }
  | { readonly kind: 'step'; readonly data: Omit<StepUpdate, 'run'> }
  | { readonly kind: 'accuracy'; readonly data: AccuracyPoint }
  | { readonly kind: 'panels'; readonly data: Omit<PanelsUpdate, 'run'> }
  | { readonly kind: 'rules'; readonly data: Omit<RulesUpdate, 'run'> }
  | { readonly kind: 'note'; readonly data: Omit<NoteUpdate, 'run'> }
  /** The last word of every process that was not killed. */
  | {
      readonly kind: 'ended';
      readonly step: number;
      readonly totalSteps: number | null;
      readonly finished: boolean;
    }
  | { readonly kind: 'exported' }
  | { readonly kind: 'failed'; readonly fault: string };

export type Tell = (report: Report) => void;
