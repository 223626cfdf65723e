/**
 * A model as an object of study, whatever system it is of and wherever it runs. Every subject chooses;
 * whether it also imagines panels, has concepts and parses rules is in its facts and optional members, and
 * metrics ask for no more than that. `concept-subject.ts` and `picture-subject.ts` are the two kinds;
 * `open-subject.ts` makes them of bundles (ONNX Runtime) and of runs (libtorch).
 */
import type { Configuration, ImageSide } from '../matrix/index.js';
import type { Capability, System } from '../models/index.js';
import type {
  BundleSizes,
  ConceptMeans,
  HistoryCurve,
  Panel,
  RuleMap,
  SolveOptions,
  SolverCore,
} from '../solver/index.js';

/** What is known of a model before it is asked anything. */
export interface SubjectFacts {
  /** Of a bundle its own name, of a run the configuration, the system and the preset. */
  readonly name: string;
  readonly system: string;
  readonly preset: string;
  readonly configuration: Configuration;
  readonly noisy: boolean;
  /** Whether it was trained on all configurations, with RAVEN's own noise; else on its own alone. */
  readonly mixed?: boolean;
  /** Side of the pictures it sees. */
  readonly imageSize: ImageSide;
  readonly positions: System['positions'];
  readonly can: readonly Capability[];
  /** Null for a model without concepts. */
  readonly sizes: BundleSizes | null;
  /** How it was trained: plain facts. */
  readonly training: Readonly<Record<string, string | number>>;
  /** Tells models apart: of a bundle the SHA-256 of its manifest, of a run that of its weights. */
  readonly hash: string | null;
}

/** A panel as a model sees it: its concepts, or the picture itself, u8 [S, S]. */
export type Seen = ConceptMeans | Uint8Array;

export interface SeenPanels<S extends Seen = Seen> {
  /** Equal for panels that are equal to the pixel. */
  readonly keys: readonly string[];
  readonly panels: readonly S[];
}

/** A matrix of which panels are missing; what stands in their places is not looked at. */
export interface MissingQuestion {
  readonly panels: readonly Seen[];
  /** Positions 1..9, rising. */
  readonly missing: readonly number[];
}

/** The same with candidates: one panel for each missing position. */
export interface ChoiceQuestion extends MissingQuestion {
  readonly candidates: readonly (readonly Seen[])[];
  /** Further candidates for each missing panel by itself; a model without concepts passes them over. */
  readonly apart?: readonly (readonly Seen[])[];
  /** Pictures u8 [S, S] of the candidates, by which a model with concepts tells ties apart; else they stay ties. */
  readonly pictures?: readonly (readonly Uint8Array[])[];
}

/** How far candidates are from what the model expects: the least is chosen. */
export interface Distance {
  /** By the model's own measure. */
  readonly own: readonly number[];
  /** By plain L2 on concepts; null for a model without. */
  readonly l2: readonly number[] | null;
}

export interface Distances extends Distance {
  /** For each missing panel by itself. */
  readonly apart: readonly Distance[];
  /** exp(-own / scale) is proportional to the probability of a candidate. */
  readonly scale: number;
  /** What painting added to `own`, by candidate; nothing for those that were not painted. */
  readonly painted?: ReadonlyMap<number, number>;
}

export interface ChoiceOptions {
  readonly signal?: AbortSignal;
  /** Panels are missing anywhere: statistics of panel 9 alone do not apply. */
  readonly anywhere?: boolean;
}

/** What experiments ask of a solver; a made-up one serves as well. */
export type Thinker = Pick<
  SolverCore,
  | 'manifest'
  | 'metrics'
  | 'ruleMap'
  | 'vocabulary'
  | 'encode'
  | 'decode'
  | 'alternatives'
  | 'solveConcepts'
  | 'parseRules'
>;

export interface ImagineOptions {
  readonly signal?: AbortSignal;
  /** The likeliest panels unless told; a model without a vocabulary paints means anyhow. */
  readonly paint?: SolveOptions['paint'];
}

export interface Subject {
  readonly facts: SubjectFacts;
  /** Curves of its training. */
  readonly history: readonly HistoryCurve[];
  /** The rules it found; null if it has none. */
  readonly ruleMap: RuleMap | null;
  /** Pictures u8 [n, S, S] as this model sees them. */
  see(pictures: Uint8Array, signal?: AbortSignal): Promise<SeenPanels>;
  choose(questions: readonly ChoiceQuestion[], options?: ChoiceOptions): Promise<Distances[]>;
  /** Pictures of the missing panels, S x S values in [0, 1], of one that can `impute`. */
  imagine?(questions: readonly MissingQuestion[], options?: ImagineOptions): Promise<Panel[][]>;
  /** Panels drawn from their own concepts. */
  redraw?(panels: readonly Seen[], signal?: AbortSignal): Promise<Panel[]>;
  dispose(): Promise<void>;
}

/** What every metric can be told. */
export interface MetricOptions {
  /** Of what is drawn at random; each metric has one of its own. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
  /** Called with the share done, 0..1. */
  readonly onProgress?: (share: number) => void;
}

/** The same for those that are measured on so many problems. */
export interface CountedOptions extends MetricOptions {
  readonly problems?: number;
}

/** A subject that draws. */
export type Painter = Subject & Required<Pick<Subject, 'imagine'>>;

/** Rules of problems: [n][M][d_r]. */
export type Rules = number[][][];
