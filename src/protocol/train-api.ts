/**
 * What the page and the server of `crab studio` say to each other about training: types and addresses
 * only. A page on a plain web host finds no such server, and says how to get one.
 *
 * All addresses are relative to the page. Requests and answers are JSON; a request that changes
 * something is a POST with `content-type: application/json`. A refused request answers 4xx or 5xx with
 * `ApiFault`. Events come as server-sent events: `event:` is the key of `TrainEvents`, `data:` its JSON.
 */

export const TRAIN_API = {
  /** GET: `TrainStatus`. */
  status: 'api/training',
  /** GET: a stream of `TrainEvents`; begins with `status` and, where a run is shown, its `history`. */
  events: 'api/training/events',
  /** POST `StartRequest`: `RunSummary`. */
  start: 'api/training/start',
  /** POST `RunRequest`: `RunSummary`. It ends with a checkpoint. */
  stop: 'api/training/stop',
  /** POST `RunRequest`: `RunSummary`. */
  resume: 'api/training/resume',
  /** POST `RunRequest`: `ExportedBundle`. */
  export: 'api/training/export',
} as const;

/** One sentence for people. */
export interface ApiFault {
  readonly error: string;
}

export type RunState = 'starting' | 'running' | 'stopping' | 'stopped' | 'finished' | 'failed';

export interface RunSummary {
  /** Name of its folder below the folder of runs. */
  readonly name: string;
  /** A configuration of the matrix layer. */
  readonly configuration: string;
  readonly noisy: boolean;
  readonly preset: string;
  readonly state: RunState;
  /** Steps done. */
  readonly step: number;
  /** Null until known. */
  readonly totalSteps: number | null;
  /** Newest selection accuracy by variant, fractions; null before the first validation. */
  readonly accuracy: Readonly<Record<string, number>> | null;
  /** Why it failed, one sentence; null otherwise. */
  readonly fault: string | null;
}

export interface TrainStatus {
  /** Whether this machine can train. */
  readonly available: boolean;
  /** Where it cannot: why, in one sentence, and the command that helps; null otherwise. */
  readonly reason: string | null;
  readonly command: string | null;
  /** Devices training can use, e.g. `cpu`, `cuda:0`; empty where it cannot. */
  readonly devices: readonly string[];
  /** Presets that may be started from the page, the usual one first. */
  readonly presets: readonly string[];
  /** Newest first. At most one is starting, running or stopping. */
  readonly runs: readonly RunSummary[];
  /** Name of the run the events are of: the one at work, else the newest; null where there is none. */
  readonly shown: string | null;
}

export interface StartRequest {
  readonly configuration: string;
  readonly noisy: boolean;
  readonly preset: string;
  readonly device: string;
  /** How long to train. */
  readonly minutes: number;
  readonly seed: number;
}

export interface RunRequest {
  readonly name: string;
}

export interface ExportedBundle {
  /** Its name in the zoo of this server: `zoo/<bundle>/bundle.json` can be loaded at once. */
  readonly bundle: string;
}

/** One measured moment of training. */
export interface StepPoint {
  readonly step: number;
  /** Loss terms by name; `loss` is their weighted sum. */
  readonly terms: Readonly<Record<string, number>>;
}

export interface AccuracyPoint {
  readonly step: number;
  /** Selection accuracy by variant, fractions. */
  readonly accuracy: Readonly<Record<string, number>>;
}

/** Curves of a run so far, thinned out to at most 1000 points each. */
export interface RunHistory {
  readonly run: string;
  readonly steps: readonly StepPoint[];
  readonly validations: readonly AccuracyPoint[];
}

export interface StepUpdate extends StepPoint {
  readonly run: string;
  readonly totalSteps: number | null;
  readonly problemsPerSecond: number;
  readonly secondsLeft: number | null;
}

export interface AccuracyUpdate extends AccuracyPoint {
  readonly run: string;
}

/** What the model imagines at a moment: the last panel of some fixed matrices. */
export interface PanelsUpdate {
  readonly run: string;
  readonly step: number;
  /** The matrices are index 0, 1, ... of this layout (a configuration, `-noisy` if it is) and seed. */
  readonly source: { readonly layout: string; readonly seed: number };
  /** The imagined last panel of each, 64 x 64 bytes (255 = white), base64. */
  readonly imagined: readonly string[];
}

/** The rules parsed from fixed problems at a moment, as in `rules-<step>.json`. */
export interface RulesUpdate {
  readonly run: string;
  readonly step: number;
  /** For each problem (at most 400), for each concept, d_r values. */
  readonly rules: readonly (readonly (readonly number[])[])[];
  /** For each problem its true rules, such as `Left: Size: progression +1`, by component and attribute. */
  readonly truth: readonly (readonly string[])[];
  /** One mixture for each concept; null before the first fit. */
  readonly prior:
    | readonly {
        readonly weights: readonly number[];
        readonly means: readonly (readonly number[])[];
        readonly covariances: readonly (readonly (readonly number[])[])[];
      }[]
    | null;
}

export interface NoteUpdate {
  readonly run: string;
  readonly level: 'info' | 'warning';
  readonly text: string;
}

/**
 * Events by name. A `status` comes whenever a run's state changes; `step` at most four times a second;
 * the newest `panels` and `rules` of the shown run are repeated to whoever connects.
 */
export interface TrainEvents {
  readonly status: TrainStatus;
  readonly history: RunHistory;
  readonly step: StepUpdate;
  readonly accuracy: AccuracyUpdate;
  readonly panels: PanelsUpdate;
  readonly rules: RulesUpdate;
  readonly note: NoteUpdate;
}
