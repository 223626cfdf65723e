/**
 * What the page asks of the engine in its worker, as plain data. A matrix is named by a spec from which
 * it can be made again at any time, so that calls carry no state and a link can hold all of it.
 */
import type {
  Panel as PanelDescription,
  RuleAttribute,
  RuleGroup,
  Variant,
} from '../../matrix/index.js';
import type { Fit, HistoryCurve } from '../../solver/index.js';

/** How much changes in a matrix. */
export const DIFFICULTIES = ['gentle', 'standard', 'hard'] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];

/** A matrix made from a seed. */
export interface SampledSpec {
  readonly kind: 'sampled';
  /** A configuration, with `-noisy` for a noisy one. */
  readonly layout: string;
  readonly seed: number;
  readonly index: number;
  readonly variant: Variant;
  readonly difficulty: Difficulty;
  /** JSON of constraints of one's own, which replace the difficulty; empty without. */
  readonly constraints: string;
  /** Panels changed by hand, as `writeEdits` has them; empty without. */
  readonly edits: string;
}

/** A matrix of a person's own pictures. */
interface PictureSpec {
  readonly kind: 'pictures';
  readonly layout: string;
  /** As `packPictures` writes it. */
  readonly packed: string;
}

export type MatrixSpec = SampledSpec | PictureSpec;

/** Where matrices come from that are known by their numbers alone. */
export interface MatrixSource {
  readonly layout: string;
  readonly seed: number;
}

/** A matrix of a source, as training and the rule map draw it. */
export const drawnFrom = ({ layout, seed }: MatrixSource, index: number): SampledSpec => ({
  kind: 'sampled',
  layout,
  seed,
  index,
  variant: 'i-raven',
  difficulty: 'standard',
  constraints: '',
  edits: '',
});

/**
 * Shapes of 160x160 as the content of an `<svg>`; or the address of a picture made of pixels. Not SVG by
 * address: the browser makes a document of its own for each, 2 to 4 ms, and sixteen at once hold the page up.
 */
type PanelPicture = { readonly shapes: string } | { readonly src: string };

/** A panel to look at. */
export interface PanelView {
  readonly picture: PanelPicture;
  /** What it shows, in words. */
  readonly alt: string;
}

export interface CandidateView extends PanelView {
  /** How it differs from the answer, a sentence; null where that is not known. */
  readonly difference: string | null;
  /** True rules that it breaks in the last place; empty for the answer, and where they are not known. */
  readonly breaks: readonly TrueRule[];
}

export interface MatrixView {
  /** Nine; null where a picture had a blank cell. */
  readonly panels: readonly (PanelView | null)[];
  /** Eight, or as many as a picture had. */
  readonly candidates: readonly CandidateView[];
  /** Index of the one right candidate; null if it is not known, or if panels changed by hand leave none. */
  readonly target: number | null;
  /** Indices of all right candidates: the target, and others that rules lead to which the panels allow as well. */
  readonly right: readonly number[];
  /** True rules of all that can change; empty where unknown. */
  readonly rules: readonly TrueRule[];
  /** Positions 1..9 of blank cells. */
  readonly blank: readonly number[];
  /** Panels as data, for changing them; null for pictures. */
  readonly described: readonly PanelDescription[] | null;
  /** Keys of the true rules that panels changed by hand break. */
  readonly broken: readonly string[];
  /** Why the item has no one right answer, or another than before panels were changed; null if all is well. */
  readonly fault: string | null;
  /** Rows of arithmetic on levels: `Size: 2 + 3 = 5, …`. */
  readonly levels: readonly string[];
  /** Whether a rule says how many figures the last panel has, but not where: several panels are right. */
  readonly isOpen: boolean;
}

export interface ModelInfo {
  readonly name: string;
  readonly layout: string;
  /** `webgpu` or `wasm`. */
  readonly backend: string;
  readonly threads: number;
  /** Titles of concepts, all different: `Colour`, `Mixed 4`. */
  readonly concepts: readonly string[];
  /** What each title means: `follows colour most`. */
  readonly aboutConcepts: readonly string[];
  /** The concept (1..M) whose rules tell most true rules apart: the one to look at first. */
  readonly liveliest: number;
  /** Concepts (1..M) the model does without. */
  readonly unused: readonly number[];
  /** Concepts (1..M) that belong together, and what they stand for; empty without a vocabulary. */
  readonly groups: readonly { readonly concepts: readonly number[]; readonly title: string }[];
  readonly ruleSize: number;
  /** Measured selection accuracy by variant, fractions; null where not measured. */
  readonly accuracy: Readonly<Record<string, number>> | null;
  /** Bytes of the bundle. */
  readonly bytes: number;
  /** Facts on its training, for people. */
  readonly training: Readonly<Record<string, string | number>>;
  /** Its losses and accuracy until its last step; empty if the bundle keeps none. */
  readonly history: readonly HistoryCurve[];
  /** Moments of training the rule map knows, in steps, oldest first; empty without a rule map. */
  readonly moments: readonly number[];
  /** Whether the panels are kept that it painted at these moments. */
  readonly hasPanels: boolean;
  /** Matrices on the rule map. */
  readonly points: number;
}

/** The rule of one concept in a matrix. */
export interface RuleView {
  /** 1..M */
  readonly concept: number;
  readonly vector: readonly number[];
  readonly parsed: readonly number[];
  readonly deviation: readonly number[];
  readonly imposed: boolean;
  /** In words, from what the known rules around it were; null where the bundle cannot tell. */
  readonly words: RuleWords | null;
  /** Whether it lies further from all known rules than they lie from each other: then it has no words. */
  readonly isFar: boolean;
}

/** A rule as people read it. */
export interface RuleClass {
  /** What it is about: `Left size`. */
  readonly subject: string;
  /** The attribute in the data sets' own words. */
  readonly attribute: RuleAttribute;
  /** `progression +1`, `number arithmetic −`. */
  readonly rule: string;
  /** `larger in each column`. */
  readonly meaning: string;
}

/** A rule that a matrix really follows. */
export interface TrueRule extends RuleClass {
  /** Tells what it is about, for comparing. */
  readonly key: string;
}

/** What a rule that CRAB read means. */
export interface RuleWords extends TrueRule {
  /** How well the concept's rules tell of this attribute at all: 0 not, 1 always right. */
  readonly skill: number;
  /** Share of the known matrices nearest to it that had this very rule, 0..1. */
  readonly share: number;
}

/** What a panel shows of one attribute. */
export interface SymbolView {
  /** Levels (of number and position: sets of slots as bits); several if they are drawn alike. */
  readonly levels: readonly number[];
  /** `triangle`, `size 3`, `grey 4`, `top left, centre`. */
  readonly words: string;
  /** 1 in given panels; in painted ones how likely it is. */
  readonly probability: number;
}

/** A rule that CRAB named, from the symbols of all nine panels. */
export interface NamedView extends Pick<TrueRule, 'key' | 'subject'> {
  readonly attribute: RuleGroup;
  /** How many slots the component has. */
  readonly slots: number;
  /** Concepts (1..M) it was read from; empty if none determines it. */
  readonly concepts: readonly number[];
  /** Of all nine panels; null for one that shows nothing known. */
  readonly symbols: readonly (SymbolView | null)[];
  /** Every rule that fits; empty if none does. */
  readonly rules: readonly string[];
  /** What the rule does: `larger in each column`; empty unless one alone fits. */
  readonly meaning: string;
  /** How likely exactly these are right, 0..1. */
  readonly confidence: number;
  /** Whether the painted panels obey them. */
  readonly obeyed: boolean;
}

/** How likely what a painted panel shows of one attribute is right, 0..1. */
export interface SurenessView {
  /** `Shape`, `Left size`, `Position`. */
  readonly subject: string;
  readonly probability: number;
}

export interface AnswerView {
  /** Positions 1..9, rising. */
  readonly missing: readonly number[];
  /** 64x64 values in [0, 1] for each missing position. */
  readonly images: readonly Float32Array[];
  /** Of each missing position; null if the bundle has no vocabulary. */
  readonly sureness: readonly (readonly SurenessView[])[] | null;
  readonly rules: readonly RuleView[];
  /** Null if the bundle has no vocabulary. */
  readonly named: readonly NamedView[] | null;
  readonly milliseconds: number;
}

/** Different answers to the same question. */
export interface AnswersView {
  readonly missing: readonly number[];
  /** The painted one first, then the others by how likely they are; images for each missing position. */
  readonly answers: readonly {
    readonly probability: number;
    readonly images: readonly Float32Array[];
  }[];
  /** Whether there are no more that are nearly as likely. */
  readonly isAll: boolean;
  /** For each missing position its likeliest panels laid over one another: faint where they differ. */
  readonly overlaid: readonly Float32Array[];
}

/** How a person's pictures look to the model. */
export type FitView = Fit;

export interface ChoiceView {
  readonly answer: AnswerView;
  /** Of pictures; null for a matrix made here, which the model knows. */
  readonly fit: FitView | null;
  /** The model's choice, counted from 0; null if there is nothing to choose. */
  readonly index: number | null;
  readonly confidence: number;
  /** A candidate, counted from 0, that looks clearly more like the painted panel than the choice; null if none does. */
  readonly lookalike: number | null;
  readonly candidates: readonly CandidateScore[];
}

export interface CandidateScore {
  readonly probability: number;
  readonly l2: number;
  readonly l2Shares: readonly number[];
  readonly calibrated: number | null;
  readonly calibratedShares: readonly number[] | null;
  /** What painting adds to the calibrated distance; null if the candidate was not painted. */
  readonly painted: number | null;
}

/** The imagined panel with values that one group of concepts takes. */
export interface FilmView {
  readonly frames: readonly {
    readonly image: Float32Array;
    /** What the group stands for in it: `triangle`. */
    readonly words: string;
    /** Whether the imagined panel has it. */
    readonly isOwn: boolean;
  }[];
  /** How many values there are in all. */
  readonly count: number;
}

/** What a chart of a plane shows of it. */
export interface PlaneFrame {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
}

/** Where most matrices with the same true rule lie together. */
export interface PlaneLabel {
  /** Index among the plane's classes. */
  readonly kind: number;
  /** Another rule of which many lie in the same place; null if there is none. */
  readonly also: number | null;
  readonly x: number;
  readonly y: number;
}

/** The plane of rules of one concept. */
export interface PlaneView extends PlaneFrame {
  /** A frame in which the points of every moment lie: early ones may be far from the last. */
  readonly wide: PlaneFrame;
  /** log p(r) of the learned prior on a grid, row by row from the lowest y; empty without a prior. */
  readonly density: Float32Array;
  readonly side: number;
  /** For each moment of training x, y of every point. */
  readonly moments: readonly Float32Array[];
  /** What the points' true rules are called, and for each point the index of its own. */
  readonly classes: readonly RuleClass[];
  readonly classOf: readonly number[];
  /** For each moment the clusters to name; empty while nothing has come apart. */
  readonly labels: readonly (readonly PlaneLabel[])[];
}

/** A rule of another kind to put in the place of the one that CRAB read. */
export interface BendView {
  /** 1..M */
  readonly concept: number;
  /** Its place on the plane of rules. */
  readonly rule: readonly [x: number, y: number];
  /** The rule it takes the place of: `progression +2`. */
  readonly from: string;
  readonly to: RuleClass;
}

/** What the model painted while it was trained. */
export interface RecordedPanels {
  readonly source: MatrixSource;
  /** For each moment the last panel of matrices 0, 1, ... of the source, 64x64 values in [0, 1]. */
  readonly moments: readonly (readonly Float32Array[])[];
}

export interface PointView {
  readonly spec: SampledSpec;
  readonly matrix: MatrixView;
}

export type ExportFormat = 'png' | 'svg' | 'npz';

export interface ExportedFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array;
  /** What its maker must know, and those it is made for must not. */
  readonly notice?: string;
}

/** A file a person gave. */
export interface GivenFile {
  readonly name: string;
  readonly blob: Blob;
}

/** Pictures of a person. */
export interface ReadPictures {
  /** For `PictureSpec`. */
  readonly packed: string;
  /** The layout they were recognised as; null if they are of none. */
  readonly layout: string | null;
}

export interface LoadProgress {
  readonly name: string;
  /** Bytes. */
  readonly loaded: number;
  readonly total: number;
}

/** Rules to use in place of the parsed ones, by the number of their concept. */
export type Imposed = Readonly<Record<number, readonly number[]>>;

/** All that can be asked. A call that fails rejects with a message for people. */
export interface EngineApi {
  matrix(spec: MatrixSpec): Promise<MatrixView>;
  load(name: string, backend: 'auto' | 'wasm' | 'webgpu'): Promise<ModelInfo>;
  /** Downloads a model for use without a network, if it is not kept yet; says how far it is. */
  keep(name: string): Promise<void>;
  solve(spec: MatrixSpec, missing: readonly number[], imposed: Imposed): Promise<AnswerView>;
  /** Paints what is missing and chooses; unless told, what the matrix lacks, or else the last panel. */
  choose(spec: MatrixSpec, missing?: readonly number[]): Promise<ChoiceView>;
  /** All answers that are nearly as likely as the painted one; null if the bundle has no vocabulary. */
  answers(spec: MatrixSpec, missing: readonly number[]): Promise<AnswersView | null>;
  /** The imagined panel with one concept (1..M) taken from a candidate. */
  swap(spec: MatrixSpec, concept: number, candidate: number): Promise<Float32Array>;
  /** Values of a group of concepts, counted from 0 as in `ModelInfo`. */
  film(spec: MatrixSpec, group: number): Promise<FilmView>;
  plane(concept: number): Promise<PlaneView>;
  /** Of all rules that are known by name the one that changes the painted panel most; null if none is. */
  bend(spec: MatrixSpec): Promise<BendView | null>;
  point(index: number): Promise<PointView>;
  recordedPanels(): Promise<RecordedPanels>;
  readPictures(files: readonly GivenFile[]): Promise<ReadPictures>;
  export(spec: MatrixSpec, format: ExportFormat): Promise<ExportedFile>;
  /** So many matrices of this kind, from this one on, to print: a PDF with its key at the end. */
  worksheet(spec: SampledSpec, count: number): Promise<ExportedFile>;
  /** The answer file of matrices, as `crab generate --answers` writes it. */
  answerKey(specs: readonly SampledSpec[]): Promise<ExportedFile>;
}

export type EngineMethod = keyof EngineApi;

export interface EngineCall {
  readonly id: number;
  readonly method: EngineMethod;
  readonly arguments: readonly unknown[];
}

export type EngineReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: string }
  | { readonly progress: LoadProgress };
